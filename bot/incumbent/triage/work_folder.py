"""The work folder of a triage: its inputs and settings, and the steps that are done."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from incumbent.errors import OutsideError, UsageError
from incumbent.files.process import only_command_in
from incumbent.text.digests import digest
from incumbent.triage.tables import PART, SPILL

_PLAN: Final = "plan.json"
_MARK: Final = '{"incumbent triage": "work folder", "plan": "'
"""The first characters of the plan: a user's own file of that name does not begin so."""
_FOLDERS: Final = (
    "keys",
    "texts",
    "bands",
    "pairs",
    "near",
    "names",
    "representatives",
    "estimated",
    "ordered",
    "classified",
)
_FILES: Final = ("keys.done", "texts.done", "near.done", "estimated.done", "distinct.parquet", "hashes", "ray.log")
_TEMPORARY: Final = re.compile(
    rf"{SPILL}\d+-\d+|(keys|texts|near|estimated|{re.escape(_PLAN)}|distinct\.parquet\.\d+){PART}"
)
"""The remains of a killed run in the folder itself; in the folders within, files with the suffix of a part."""
WEIGHTS: Final = "weights"
"""The folder of the weights that processes share while they classify."""
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of a full disk, a used-up quota, and a file above the user's limit."""
_SPILLED_ALL: Final = "max_temp_directory_size"
"""The database's message at its limit for spilled data: it stops short of filling the disk."""


@dataclass(frozen=True)
class Work:
    """A folder of finished steps, each with a marker; a step without one starts over."""

    folder: Path

    def is_done(self, step: str) -> bool:
        """Whether ``step`` was finished."""
        return (self.folder / f"{step}.done").exists()

    def said(self, step: str) -> Any:
        """The result that was written at the end of ``step``."""
        return json.loads((self.folder / f"{step}.done").read_text(encoding="utf-8"))

    def finish(self, step: str, result: Any = None) -> None:
        """Record that ``step`` is finished, with its ``result`` as JSON."""
        temporary = self.folder / f"{step}{PART}"
        temporary.write_text(json.dumps(result), encoding="utf-8")
        temporary.replace(self.folder / f"{step}.done")


@contextmanager
def open_work(folder: Path, of: Mapping[str, Any], *, anew: bool) -> Iterator[Work]:
    """The ``folder`` in which the work on these inputs and settings (``of``) continues, or begins.

    The folder is locked meanwhile.  Other work in it starts over if ``anew``, or if it has no finished step.  Raises
    :class:`UsageError` if it contains other work and ``anew`` is not set, or files that are not of a triage.  Raises
    :class:`OutsideError` while another command uses it.
    """
    plan, wanted = folder / _PLAN, f'{_MARK}{digest([*sorted(of.items())])}"}}'
    folder.mkdir(parents=True, exist_ok=True)
    fix = "wait until it has ended, or name another folder with --work"
    with only_command_in(folder, f"another command works in {folder}; {fix}"):
        found = _plan_in(folder)
        if found not in (None, wanted):
            if not anew and any(folder.glob("*.done")):
                fix = "use --force to start over, or name another folder with --work"
                raise UsageError(f"{folder} holds the work of other inputs, settings or versions; {fix}")
            _remove_work(folder)
        _remove_temporary(folder)
        temporary = folder / f"{_PLAN}{PART}"
        temporary.write_text(wanted, encoding="utf-8")
        temporary.replace(plan)
        yield Work(folder)


def _plan_in(folder: Path) -> str | None:
    """The plan of the work in ``folder``, if any; raises :class:`UsageError` if the folder contains anything else."""
    names = {path.name for path in folder.iterdir()}
    for name in (_PLAN, f"{_PLAN}{PART}"):
        if name in names:
            path = folder / name
            start = path.read_bytes()[:1_000].decode(errors="replace") if path.is_file() else "a folder"
            # A plan that was not written completely has only its beginning.
            if start.startswith(_MARK) or (name != _PLAN and _MARK.startswith(start)):
                if name == _PLAN:
                    return start
                names.remove(name)
    if names:
        raise UsageError(f"{folder} holds something else than work of a triage; name another folder with --work")
    return None


def _remove_work(folder: Path) -> None:
    """Remove what a triage made in ``folder``, except the plan, and nothing else."""
    for name in _FOLDERS:
        for path in (folder / name).glob("*.parquet"):
            path.unlink()
    for name in _FILES:
        (folder / name).unlink(missing_ok=True)


def _remove_temporary(folder: Path) -> None:
    """Remove the remains of a killed run in ``folder``."""
    for path in folder.iterdir():
        if _TEMPORARY.fullmatch(path.name):
            if path.name.startswith(SPILL):
                shutil.rmtree(path)
            else:
                path.unlink()
    for path in (folder / WEIGHTS).glob("*/*/*.npy"):
        path.unlink()
    for name in _FOLDERS:
        for path in (folder / name).glob(f"*.parquet.*{PART}"):
            path.unlink()


@contextmanager
def writing_to(folder: Path, fix: str, *, spilling: bool) -> Iterator[None]:
    """Guards the writing of files in ``folder``: raises :class:`OutsideError` if that fails.

    ``fix`` says what to delete and how to go on.  ``spilling``: databases spill into the folder what exceeds their
    memory; without it, the database's own error about a spilled file is passed on.
    """
    import duckdb

    try:
        yield
    except BrokenPipeError:
        raise
    except duckdb.OutOfMemoryException as error:
        if _SPILLED_ALL not in str(error):
            how = "raise triage.megabytes in the config, and run the same command: it goes on with what is left"
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
