"""Records of batches between runs: one small file each in the user's cache folder, without texts.

A record is written before a batch is requested, so that no request is paid for twice, whatever ends the run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from bot.classifier.language_model.endpoint_features import Abilities
from bot.errors import OutsideError, UsageError
from bot.files.atomic_write import read_model, remove_whole, write_whole
from bot.files.validation import FileModel, Tuple

RemoteId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:=-]{0,199}$")]
"""An id from an endpoint: it becomes a part of request paths, so that it contains no characters that change a path."""

_LARGEST: Final = 100_000_000
_DAY: Final = 86_400


_README: Final = b"""\
# Batches that Incumbent waits for

One file a batch: its id at the endpoint, and digests of its requests. Who removes a file abandons the batch: the next
run with `--batch` submits those requests again, and the endpoint charges for both.
"""


class BatchRecord(FileModel):
    """One batch, and the work that is left for it.

    ``name`` is a digest of its requests, and is in the metadata of the batch; ``target`` is a digest of endpoint and
    model.  ``abilities``: how it was asked.  ``lines``: the number of answers that each request wants, by
    ``custom_id``.  ``file`` is the uploaded one; without ``batch`` it is unknown whether the endpoint accepted it.
    ``done`` are the lines whose queries need no more answers; ``counted``: its cost was reported.
    """

    name: Annotated[str, Field(pattern=r"^[0-9a-f]{24}$")]
    target: Annotated[str, Field(pattern=r"^[0-9a-f]{24}$")]
    abilities: Abilities
    lines: dict[str, Annotated[int, Field(ge=1)]]
    file: RemoteId | None = None
    batch: RemoteId | None = None
    done: Tuple[str] = ()
    counted: bool = False


class BatchRecords:
    """The records in ``folder``; those that are unused for ``days`` are deleted."""

    def __init__(self, folder: Path, days: int) -> None:
        self._folder = folder / "batches"
        self._days = days

    def load(self, target: str, now: float) -> list[BatchRecord]:
        """All records of ``target``; raises :class:`UsageError` for an invalid file.

        Such a file may hide a batch that was paid for.
        """
        found = []
        for path in sorted(self._folder.glob("*.json")):
            with suppress(OSError):
                if now - path.stat().st_mtime > self._days * _DAY:
                    remove_whole(path)
                    continue
            record = read_model(path, BatchRecord, _LARGEST)
            if record is None:
                raise UsageError(
                    f"{path} is no record of a batch that can be read; remove it, if no batch of yours is open at the "
                    "endpoint, or its requests may be paid for twice"
                )
            if record.target == target:
                found.append(record)
        return found

    def save(self, record: BatchRecord) -> None:
        """Write ``record``; raises :class:`OutsideError` if that fails: without it a batch would be lost."""
        path = self.path(record)
        if not write_whole(path, record.model_dump_json().encode()):
            raise OutsideError(f"{path} cannot be written, and without it a batch would be lost; see INCUMBENT_CACHE")

    def remove(self, record: BatchRecord) -> None:
        """Delete ``record``."""
        remove_whole(self.path(record))

    def path(self, record: BatchRecord) -> Path:
        """The path of ``record``."""
        return self._folder / f"{record.name}.json"

    @contextmanager
    def submitting(self) -> Iterator[None]:
        """Lock the submission of batches; raises :class:`OutsideError` while another command has the lock."""
        if not write_whole(self._folder / "README.md", _README):
            raise OutsideError(f"{self._folder} cannot be written; see INCUMBENT_CACHE")
        if sys.platform == "win32":
            # Folders cannot be locked there.
            yield
            return
        import fcntl

        descriptor = os.open(self._folder, os.O_RDONLY)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OutsideError("another command is submitting a batch; run this again when it has ended") from None
            yield
        finally:
            os.close(descriptor)
