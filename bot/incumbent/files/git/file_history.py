"""The commits that changed the files of a folder, as a clone knows them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast

from incumbent.files.git.process import GitProcess, library, moment_of

Change: TypeAlias = Literal["A", "M", "D"]

_FORMAT: Final = "%x1e%H%x1f%ct%x1f%an%x1f%s"
CHANGES: Final[tuple[Change, ...]] = ("A", "M", "D")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHistory:
    """Path → the changes of the file, newest first.

    Not ``is_whole``: the clone is shallow.  Then it has what is there, without what the oldest commits changed, since
    their parents are missing.
    """

    changes: Mapping[str, tuple[FileCommit, ...]]
    is_whole: bool

    def within(self, folder: str) -> FileHistory:
        """The same with paths relative to ``folder``; an empty one is the top of the repository."""
        prefix = f"{folder}/" if folder else ""
        kept = {path.removeprefix(prefix): items for path, items in self.changes.items() if path.startswith(prefix)}
        return FileHistory(changes=kept, is_whole=self.is_whole)


def file_history(folder: Path, below: str, commit: str, kinds: Iterable[Change] = CHANGES) -> FileHistory:
    """The changes of these ``kinds`` of the files ``below`` a folder, up to ``commit``.

    ``folder`` is the top of the working tree, and paths are relative to it.  Raises :class:`OutsideError` if git fails.
    """
    repository = library().Repo(folder)
    return logged(GitProcess(repository.git, Path(repository.git_dir)), below, commit, kinds)


def logged(
    process: GitProcess, below: str, commit: str, kinds: Iterable[Change], alone: Collection[str] = ()
) -> FileHistory:
    """The same by one call of the git ``process``; the commits ``alone`` lack their parents on purpose."""
    output = process.ask(
        *("log", "-z", f"--format={_FORMAT}", "--name-status", "--no-renames", "--no-ext-diff", "--no-textconv"),
        *(f"--diff-filter={''.join(kinds)}", "--first-parent", "--diff-merges=first-parent"),
        *(commit, "--", f":(top,literal){below}"),
    )
    rootless = process.shallow()
    found: dict[str, list[FileCommit]] = {}
    for path, change in _changes(output.decode("utf-8", "replace")):
        if change.commit not in rootless:
            found.setdefault(path, []).append(change)
    changes = {path: tuple(items) for path, items in sorted(found.items())}
    return FileHistory(changes=changes, is_whole=rootless <= set(alone))


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
        elif text in CHANGES:
            letter = text
