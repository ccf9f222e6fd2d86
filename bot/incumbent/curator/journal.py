"""Atomic change of several files: all of them change or none does, even if the process is killed in between.

All new contents are first written into a folder that git ignores, with a plan: for each file, its state before and
after.  Once the plan is written the change is decided.  Each file is then moved into place atomically, and the folder
is removed.  If the process ends before that, :func:`settle` finishes the change.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from incumbent.errors import InputError, OutsideError, Problem
from incumbent.files.process import only_command_in, uninterrupted
from incumbent.files.user_cache import read_model


@contextmanager
def sole_curator(root: Path, report: Callable[[str], None]) -> Iterator[None]:
    """Lock the platform repository at ``root`` while the set is read and written; the lock ends with the process.

    An interrupted change is finished first; ``report`` receives a sentence about it.  Raises :class:`OutsideError`
    while another command has the lock.
    """
    busy = f"another command is changing the regression set of {root}; run this again when it has ended"
    with only_command_in(root, busy):
        said = settle(root)
        if said is not None:
            report(said)
        yield


_NAME: Final = "incumbent"
_PLAN: Final = "plan.json"
_LARGEST: Final = 64 * 1024 * 1024
"""Maximum size of a plan in bytes; each file of a change takes a few hundred."""

_changed: set[Path] = set()


@dataclass(frozen=True, slots=True)
class State:
    """The content of a file and its permissions."""

    content: bytes
    mode: int = 0o644

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


class _JournalStep(BaseModel):
    """One file of a change: digests of its content before and after (``None``: no file); the new content is in
    ``aside``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    before: str | None
    after: str | None
    aside: str


class _Plan(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: tuple[_JournalStep, ...]


class _Progress(Enum):
    """How far a change got; ``LEFT``: another program has changed its files since."""

    NOT_BEGUN = 0
    HALF = 1
    DONE = 2
    LEFT = 3


_HOLDS: Final = {
    _Progress.NOT_BEGUN: "nothing was changed",
    _Progress.HALF: "a part of them is written: run this again to finish",
    _Progress.DONE: "the change is complete",
    _Progress.LEFT: "others change them too: see `git status`",
}


def write_all(wanted: Mapping[str, State | None], root: Path) -> None:
    """Give the files of ``wanted`` (paths below ``root``) these states, all of them or none; ``None`` deletes one.

    Raises :class:`OutsideError` when the file system refuses something; the message says which state results.
    """
    folder = _folder(root)
    try:
        before = {path: _state(_place(root, path)) for path in wanted}
        steps = _prepare(folder, "new", before, wanted)
        if steps:
            with uninterrupted():
                _carry_through(folder, root, steps, before)
                _changed.add(root)
    except OSError as error:
        raise OutsideError(f"the files could not be written: {error}; nothing was changed") from error
    finally:
        if not (folder / _PLAN).exists():
            shutil.rmtree(folder, ignore_errors=True)


def settle(root: Path) -> str | None:
    """Finish an interrupted change below ``root`` and remove its leftovers; returns what the user should know.

    The caller has the lock (:func:`incumbent.curator.journal.sole_curator`).
    """
    _changed.discard(root)
    folder = _folder(root)
    said = None
    plan = _read(folder)
    if plan is not None:
        _remove([_beside(root / step.path) for step in plan.steps])
        progress = _progress(plan, root)
        if progress is _Progress.HALF:
            try:
                with uninterrupted():
                    _carry_out(folder, root, plan.steps)
                    _changed.add(root)
            except OSError as error:
                message = f"a change that was interrupted could not be finished: {error}; fix that, and run this again"
                raise OutsideError(message) from error
            # A change of one file is never half done.
            said = f"a change that was interrupted is finished now: {len(plan.steps)} files, see `git status`"
        elif progress is _Progress.LEFT:
            said = "a change was interrupted, and is not finished: its files were changed since; see `git status`"
    elif (folder / _PLAN).exists():
        said = "a change was interrupted, and what it left cannot be read; see `git status`"
    _clear(folder)
    _changed.discard(root)
    return said


def refuse_half_written(root: Path) -> None:
    """Raise :class:`InputError` if a change below ``root`` is unfinished: only a part of it would be read."""
    plan = _read(_folder(root))
    if plan is not None and _progress(plan, root) is _Progress.HALF:
        message = "a change of these files was interrupted, or is being made, and a part of them is written"
        fix = "run the command that was interrupted again; any that changes the regression set finishes it first"
        raise InputError([Problem("regression_set", None, message, fix)])


def was_changed(root: Path) -> bool:
    """Whether this process changed files below ``root`` since it finished the changes of earlier ones."""
    return root in _changed


def _folder(root: Path) -> Path:
    """The folder where changes of ``root`` are prepared.

    It is in git's own folder, which is never committed or cloned; without git, beside the files.
    """
    top = root.resolve()
    for place in (top, *top.parents):
        git = _git_folder(place / ".git")
        if git is not None:
            own = top.relative_to(place).as_posix()
            return git / (_NAME if own == "." else f"{_NAME}-{hashlib.sha256(own.encode()).hexdigest()[:12]}")
    return top / f".{_NAME}"


def _git_folder(path: Path) -> Path | None:
    """The folder that ``.git`` at ``path`` is or names (a linked working tree)."""
    with suppress(OSError, ValueError):
        named = path.read_text(encoding="utf-8").removeprefix("gitdir:").strip() if path.is_file() else ""
        found = (path.parent / named) if named else path
        if (found / "HEAD").exists():
            return found.resolve()
    return None


def _place(root: Path, path: str) -> Path:
    """``path`` below ``root``, unless a link on the way leads outside."""
    target = root / path
    if target.resolve() != root.resolve() / path:
        raise OSError(errno.ELOOP, "a symbolic link is in the way", target.as_posix())
    return target


def _state(path: Path) -> State | None:
    try:
        mode = path.stat().st_mode
        # Reading anything else, such as a pipe, could block forever.
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", path.as_posix())
        return State(path.read_bytes(), stat.S_IMODE(mode))
    except FileNotFoundError:
        return None


def _digest(path: Path) -> str | None:
    found = _state(path)
    return None if found is None else found.digest


def _prepare(
    folder: Path, part: str, before: Mapping[str, State | None], wanted: Mapping[str, State | None]
) -> tuple[_JournalStep, ...]:
    """The steps from ``before`` to ``wanted``; their contents are written to ``folder``. Unchanged files need none."""
    steps: list[_JournalStep] = []
    for number, (path, state) in enumerate(wanted.items()):
        was, after = before[path], None if state is None else state.digest
        step = _JournalStep(
            path=path, before=None if was is None else was.digest, after=after, aside=f"{part}-{number}"
        )
        if step.before == step.after:
            continue
        if not steps:
            _make(folder)
            if folder.is_symlink():
                raise OSError(errno.ELOOP, "a symbolic link is in the way", folder.as_posix())
        if state is not None:
            _write(folder / step.aside, state)
        steps.append(step)
    return tuple(steps)


def _carry_through(folder: Path, root: Path, steps: Sequence[_JournalStep], before: Mapping[str, State | None]) -> None:
    """Decide on ``steps`` and carry them out, or restore the state ``before``."""
    made: list[Path] = []
    try:
        _decide(folder, steps)
        _carry_out(folder, root, steps, made)
        (folder / _PLAN).unlink()
    except BaseException as error:
        try:
            _take_back(folder, root, steps, before)
        except BaseException as other:
            reason = str(error) or str(other) or "the run was stopped"
            holds = _HOLDS[_progress(_Plan(steps=tuple(steps)), root)]
            raise OutsideError(f"the files could not be written in order: {reason}; {holds}") from other
        # A folder with a written file is not empty and stays; one that is still empty was not needed.
        for place in reversed(made):
            with suppress(OSError):
                place.rmdir()
        raise


def _take_back(folder: Path, root: Path, steps: Sequence[_JournalStep], before: Mapping[str, State | None]) -> None:
    """Restore the state before ``steps``, by a change that replaces theirs."""
    now = {step.path: _state(root / step.path) for step in steps}
    back = _prepare(folder, "old", now, {step.path: before[step.path] for step in steps})
    if back:
        _decide(folder, back)
        _carry_out(folder, root, back)
    (folder / _PLAN).unlink(missing_ok=True)


def _decide(folder: Path, steps: Sequence[_JournalStep]) -> None:
    """Commit to the change in ``folder``: from now on, the next command that finds it carries it out."""
    written = folder / "plan"
    _write(written, State(_Plan(steps=tuple(steps)).model_dump_json().encode()))
    written.replace(folder / _PLAN)
    _keep(folder)


def _carry_out(folder: Path, root: Path, steps: Sequence[_JournalStep], made: list[Path] | None = None) -> None:
    """Move each file of ``steps`` that is not in place yet; folders created for that are added to ``made``."""
    for step in steps:
        target = _place(root, step.path)
        if step.after is None:
            target.unlink(missing_ok=True)
        elif _digest(target) != step.after:
            _make(target.parent, made)
            _move(folder / step.aside, target)
    for place in dict.fromkeys((root / step.path).parent for step in steps):
        _keep(place)


def _move(source: Path, target: Path) -> None:
    try:
        source.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # Across disks a move is a copy: copy to a file beside the target first, so that the last move is still atomic.
        aside = _beside(target)
        try:
            _write(aside, State(source.read_bytes(), stat.S_IMODE(source.stat().st_mode)))
            aside.replace(target)
        except BaseException:
            with suppress(OSError):
                aside.unlink()
            raise


def _beside(target: Path) -> Path:
    return target.with_name(f".incumbent-{hashlib.sha256(target.name.encode()).hexdigest()[:8]}")


def _write(path: Path, state: State) -> None:
    with path.open("wb") as stream:
        stream.write(state.content)
        stream.flush()
        os.fsync(stream.fileno())
    path.chmod(state.mode)


def _make(folder: Path, made: list[Path] | None = None) -> None:
    for place in reversed((folder, *folder.parents)):
        if not place.exists():
            if made is not None:
                made.append(place)
            place.mkdir()


def _keep(folder: Path) -> None:
    """Flush the entry of ``folder`` to disk, where the system supports it."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _read(folder: Path) -> _Plan | None:
    plan = None if folder.is_symlink() else read_model(folder / _PLAN, _Plan, _LARGEST, shared=True)
    if plan is None:
        return None
    # A command that finds a plan writes only here; the command that wrote the plan updates files elsewhere.
    return _Plan(steps=tuple(step for step in plan.steps if not Path(step.path).is_absolute()))


def _progress(plan: _Plan, root: Path) -> _Progress:
    found = [_reached(step, root) for step in plan.steps]
    if _Progress.DONE not in found:
        return _Progress.NOT_BEGUN
    if _Progress.LEFT in found:
        return _Progress.LEFT
    return _Progress.HALF if _Progress.NOT_BEGUN in found else _Progress.DONE


def _reached(step: _JournalStep, root: Path) -> _Progress:
    try:
        now = _digest(_place(root, step.path))
    except OSError:
        return _Progress.LEFT
    if now == step.after:
        return _Progress.DONE
    return _Progress.NOT_BEGUN if now == step.before else _Progress.LEFT


def _clear(folder: Path) -> None:
    if not folder.is_symlink():
        # The plan goes first: files left without it are removed, and never carried out.
        _remove([folder / _PLAN])
        shutil.rmtree(folder, ignore_errors=True)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()
