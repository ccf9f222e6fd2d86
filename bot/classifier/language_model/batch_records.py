"""What is known of batches between runs: a small file each in the user's cache folder, with no text in it.

A record is written before a batch is asked for, so that whatever ends the run, no request is paid for twice.
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
"""An id that an endpoint gave: a part of paths that are asked for, so that it holds nothing that moves there."""

_LARGEST: Final = 100_000_000
_DAY: Final = 86_400


_README: Final = b"""\
# Batches that Incumbent waits for

One file a batch: its id at the endpoint, and digests of its requests. Who removes a file abandons the batch: the next
run with `--batch` submits those requests again, and the endpoint charges for both.
"""


class BatchRecord(FileModel):
    """One batch, and what is left to do about it.

    ``name`` is a digest of its requests, and stands in the metadata of the batch; ``target`` one of endpoint and model.
    ``abilities``: how it was asked.  ``lines``: how many answers each request wants, by its ``custom_id``.  ``file`` is
    what was uploaded; without ``batch`` nobody knows yet whether the endpoint took it.  ``done`` are the lines whose
    queries are settled; ``counted``: its cost was reported.
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
    """The records in ``folder``; those that nobody touched for ``days`` are forgotten."""

    def __init__(self, folder: Path, days: int) -> None:
        self._folder = folder / "batches"
        self._days = days

    def load(self, target: str, now: float) -> list[BatchRecord]:
        """All records of ``target``; raises :class:`UsageError` for a file that is none.

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
        """Write ``record``; raises :class:`OutsideError` if that cannot be done: without it a batch would be lost."""
        path = self.path(record)
        if not write_whole(path, record.model_dump_json().encode()):
            raise OutsideError(f"{path} cannot be written, and without it a batch would be lost; see INCUMBENT_CACHE")

    def remove(self, record: BatchRecord) -> None:
        """Forget ``record``."""
        remove_whole(self.path(record))

    def path(self, record: BatchRecord) -> Path:
        """Where ``record`` is kept."""
        return self._folder / f"{record.name}.json"

    @contextmanager
    def submitting(self) -> Iterator[None]:
        """Be the only one that submits from here; raises :class:`OutsideError` while another command does."""
        if not write_whole(self._folder / "README.md", _README):
            raise OutsideError(f"{self._folder} cannot be written; see INCUMBENT_CACHE")
        if sys.platform == "win32":
            # There folders cannot be locked.
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
