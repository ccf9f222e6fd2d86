"""The commits that changed the files of a folder, as a local clone knows them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast

from bot.git.process import GitProcess, library, moment_of, refused

Change: TypeAlias = Literal["A", "M", "D"]

_FORMAT: Final = "%x1e%H%x1f%ct%x1f%an%x1f%s"
_CHANGES: Final = frozenset({"A", "M", "D"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCommit:
    """A commit of the main line added (``A``), modified (``M``) or deleted (``D``) a file.

    A merge is one commit, by who merged.  ``at`` is its time (ISO 8601, UTC); ``author`` and ``subject`` are as git has
    them, and from outside.
    """

    change: Change
    commit: str
    at: str
    author: str
    subject: str


def file_history(folder: Path, below: str, commit: str) -> dict[str, tuple[FileCommit, ...]]:
    """Path, relative to the top of the repository → the changes of the files ``below`` a folder of it up to ``commit``.

    Newest first.  Of a shallow clone it has what is there, without what its oldest commits changed: their parents are
    missing.  Raises :class:`OutsideError` if git fails.
    """
    repository = library().Repo(folder)
    process = GitProcess(repository.git, Path(repository.git_dir))
    status, output, reason = process.run(
        *("log", "-z", f"--format={_FORMAT}", "--name-status", "--no-renames", "--no-ext-diff", "--no-textconv"),
        *("--first-parent", "--diff-merges=first-parent", commit, "--", f":(top,literal){below}"),
    )
    if status:
        raise refused("log", reason)
    rootless = process.shallow()
    found: dict[str, list[FileCommit]] = {}
    for path, change in _changes(output.decode("utf-8", "replace")):
        if change.commit not in rootless:
            found.setdefault(path, []).append(change)
    return {path: tuple(changes) for path, changes in sorted(found.items())}


def _changes(output: str) -> Iterator[tuple[str, FileCommit]]:
    """The fields of git's output: per commit a header, and then a letter and a path for each file."""
    header = ["", "0", "", ""]
    letter = ""
    for field in output.split("\0"):
        text = field.lstrip("\n")
        if text.startswith("\x1e"):
            header = text[1:].split("\x1f", 3)
            letter = ""
        elif letter:
            commit, seconds, author, subject = header
            at, change = moment_of(commit, seconds), cast(Change, letter)
            yield text, FileCommit(change=change, commit=commit, at=at, author=author, subject=subject)
            letter = ""
        elif text in _CHANGES:
            letter = text
