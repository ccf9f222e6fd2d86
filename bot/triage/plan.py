"""The work folder of a triage: what it is the work of, and how far it is."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bot.digests import digest
from bot.errors import OutsideError, UsageError
from bot.triage.tables import PART, SPILL

_PLAN: Final = "plan.json"
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says of a full disk, a used-up quota, and a file beyond the limit of its user."""
_SPILLED_ALL: Final = "max_temp_directory_size"
"""What the database says where it may spill no more: it stops short of filling the disk."""


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
        temporary = self.folder / f"{step}{PART}"
        temporary.write_text(json.dumps(result), encoding="utf-8")
        temporary.replace(self.folder / f"{step}.done")


@contextmanager
def open_work(folder: Path, of: Mapping[str, Any], *, anew: bool) -> Iterator[Work]:
    """The ``folder`` in which the work ``of`` these inputs and settings goes on, or begins.

    Within, no other command may work in it.  Raises :class:`UsageError` where it holds other work, unless it is to
    begin ``anew``, and :class:`OutsideError` while another command works there.
    """
    plan, found = folder / _PLAN, digest([*sorted(of.items())])
    holds = [path.name for path in folder.iterdir() if not path.name.endswith(PART)] if folder.exists() else []
    if holds and not plan.exists():
        raise UsageError(f"{folder} holds something else; name another folder with --work")
    folder.mkdir(parents=True, exist_ok=True)
    with _alone_in(folder):
        if plan.exists() and (anew or plan.read_text(encoding="utf-8") != found):
            if not anew:
                fix = "say --force to begin anew, or name another folder with --work"
                raise UsageError(f"{folder} holds the work of other inputs, settings or versions; {fix}")
            # The plan comes last: a kill in between must not leave a folder that seems to hold something else.
            for path in sorted(folder.iterdir(), key=lambda path: path == plan):
                _remove(path)
        for pattern in (f"**/*{PART}", f"{SPILL}*"):
            for path in folder.glob(pattern):
                _remove(path)
        temporary = folder / f"{_PLAN}{PART}"
        temporary.write_text(found, encoding="utf-8")
        temporary.replace(plan)
        yield Work(folder)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    if sys.platform == "win32":
        # There folders cannot be locked.
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fix = "wait until it has ended, or name another folder with --work"
            raise OutsideError(f"another command works in {folder}; {fix}") from None
        yield
    finally:
        os.close(descriptor)


@contextmanager
def writing_to(folder: Path, fix: str, *, spilling: bool) -> Iterator[None]:
    """Within, files of ``folder`` are written; raises :class:`OutsideError` where that fails.

    ``fix`` says what to delete and how to go on.  ``spilling``: databases keep in it what exceeds their memory; a fault
    of such a file passes through elsewhere.
    """
    import duckdb

    try:
        yield
    except BrokenPipeError:
        raise
    except duckdb.OutOfMemoryException as error:
        if _SPILLED_ALL not in str(error):
            how = "raise triage.megabytes in the config, and run the same command with --force"
            raise OutsideError(f"the database needs more memory: {how}") from None
        if not spilling:
            raise
        raise OutsideError(f"the disk of {folder} is full; {fix}") from None
    except (OSError, duckdb.IOException) as error:
        said = str(error)
        if not spilling and SPILL in said:
            raise
        is_full = any(os.strerror(code) in said for code in _FULL)
        what = f"the disk of {folder} is full" if is_full else f"{folder} could not be written ({_shown(error)})"
        raise OutsideError(f"{what}; {fix}") from None


def _shown(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return str(error).splitlines()[0]
