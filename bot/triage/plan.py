"""The work folder of a triage: what it is the work of, and how far it is."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bot.digests import digest
from bot.errors import OutsideError, UsageError

_PLAN: Final = "plan.json"


@dataclass(frozen=True)
class Work:
    """A folder of finished steps, each with a marker; a step without one begins anew."""

    folder: Path

    def is_done(self, step: str) -> bool:
        """Whether ``step`` was finished."""
        return (self.folder / f"{step}.done").exists()

    def said(self, step: str) -> Any:
        """What was written down at the end of ``step``."""
        return json.loads((self.folder / f"{step}.done").read_text(encoding="utf-8"))

    def finish(self, step: str, result: Any = None) -> None:
        """Write down that ``step`` is finished, with its ``result`` as JSON."""
        temporary = self.folder / f"{step}.part"
        temporary.write_text(json.dumps(result), encoding="utf-8")
        temporary.replace(self.folder / f"{step}.done")


def open_work(folder: Path, of: Mapping[str, Any], *, anew: bool) -> Work:
    """The ``folder`` in which the work ``of`` these inputs and settings goes on, or begins.

    Raises :class:`UsageError` where it holds other work, unless it is to begin ``anew``.
    """
    plan, found = folder / _PLAN, digest([*sorted(of.items())])
    if folder.exists() and any(folder.iterdir()):
        if not plan.exists():
            raise UsageError(f"{folder} holds something else; name another folder with --work")
        if anew or plan.read_text(encoding="utf-8") != found:
            if not anew:
                fix = "say --force to begin anew, or name another folder with --work"
                raise UsageError(f"{folder} holds the work of other inputs, settings or versions; {fix}")
            shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # Whole at once: a kill in between must not leave a folder that nobody owns.
    temporary = folder / f"{_PLAN}.part"
    temporary.write_text(found, encoding="utf-8")
    temporary.replace(plan)
    return Work(folder)


@contextmanager
def room_for(work: Path) -> Iterator[None]:
    """Where the disk is full, say so, with what to delete and how to go on; raises :class:`OutsideError`."""
    import duckdb

    try:
        yield
    except (OSError, duckdb.IOException, duckdb.OutOfMemoryException) as error:
        is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        if is_full or "No space left" in str(error):
            fix = f"make room, or delete {work} and name a folder on another disk with --work; the same command goes on"
            raise OutsideError(f"the disk is full; {fix}") from None
        if isinstance(error, duckdb.OutOfMemoryException):
            raise OutsideError("the database needs more memory; raise triage.megabytes in the config") from None
        raise
