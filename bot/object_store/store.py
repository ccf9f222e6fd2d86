"""The store: what other parts ask of git's objects."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from bot.errors import OutsideError, UsageError
from bot.object_store.process import OUTPUT_BYTES, GitProcess, checked, is_ref_name, library, refused
from bot.object_store.remote import fetch
from bot.object_store.snapshot import CommitSnapshot, Listing

_DIFF = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none")
# Where more files than that appear and vanish, only those with the same content are paired.
_RENAMES = ("--find-renames=50%", "-l1000")
_KINDS: Mapping[str, Literal["added", "modified", "deleted", "renamed"]] = {
    "A": "added",
    "M": "modified",
    "T": "modified",
    "D": "deleted",
    "R": "renamed",
}


@dataclass(frozen=True, slots=True)
class Change:
    """A file that differs between two commits; ``before`` is the former path of a renamed one.

    The ids of its content are absent where it did not exist before, or no longer does.
    """

    path: str
    kind: Literal["added", "modified", "deleted", "renamed"]
    before: str | None = None
    object_before: str | None = None
    object_after: str | None = None


class ObjectStore:
    """The objects of one git repository.  Not for several threads at once; to be closed after use.

    Every method raises :class:`OutsideError` where git fails, :class:`UsageError` for what is no commit id, and
    :class:`IncompleteError` for trees that are too large to list.
    """

    def __init__(self, git: GitProcess) -> None:
        self._git = git
        self._listings: dict[str, Listing] = {}

    @classmethod
    def create(cls, folder: Path) -> ObjectStore:
        """A new, empty, bare repository in ``folder``, which must be absent or empty."""
        library()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise UsageError(f"{folder} is not empty: name a folder that is, or one that does not exist yet")
        except OSError as error:
            raise OutsideError(f"{folder} cannot be made: {error.strerror}; name another folder") from None
        git = GitProcess(library().Git(folder.resolve()), folder)
        git.ask("init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--initial-branch=main")
        return cls(git)

    @classmethod
    def open(cls, folder: Path, output_bytes: int = OUTPUT_BYTES) -> ObjectStore:
        """The repository, bare or with a working tree, at ``folder``."""
        git = library()
        try:
            with git.Repo(folder.resolve(), expand_vars=False) as repository:
                return cls(GitProcess(repository.git, Path(repository.git_dir), output_bytes))
        except (git.InvalidGitRepositoryError, git.NoSuchPathError):
            raise UsageError(f"{folder} is no git repository: name the folder that holds one") from None

    def __enter__(self) -> ObjectStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process that reads objects; reading starts another."""
        self._git.close()

    def fetch(
        self,
        url: str,
        refs: Mapping[str, str],
        token: str | None,
        optional: Collection[str] = (),
        sleep: Callable[[float], None] = time.sleep,
    ) -> dict[str, str]:
        """Fetch what ``refs`` map their local names to: full names of references at ``url``, or commit ids.

        Returns local name → commit id, without those ``optional`` local names that ``url`` does not have.  ``token`` is
        that of a job or an app; neither arguments nor errors show it.  ``sleep`` waits before another attempt.
        """
        return fetch(self._git, url, refs, token, optional, sleep)

    def snapshot(self, commit: str, folder: str = "") -> CommitSnapshot:
        """The files of ``commit``, or of a ``folder`` of it."""
        return CommitSnapshot(self._list(commit), self._git.content).within(folder)

    def changes(self, old: str, new: str) -> tuple[Change, ...]:
        """What ``new`` changes since it left ``old``, sorted by path, as GitHub shows a pull request.

        A renamed file keeps at least half of its content.  Of histories that never met, all that is new or different in
        ``new`` counts, and nothing is deleted or renamed.
        """
        self._list(new)  # A tree too large to list is too large to compare.
        ancestor = self._related(checked(old), new)
        options = ("--no-renames", "--diff-filter=d") if ancestor is None else _RENAMES
        output = self._git.ask(*_DIFF, *options, ancestor or old, new)
        fields = iter(output.decode("utf-8", "surrogateescape").split("\0"))
        found = []
        for head in filter(None, fields):
            before, after, letter = head.split(" ")[2:]
            former = next(fields) if letter.startswith("R") else None
            found.append(Change(next(fields), _KINDS[letter[0]], former, _present(before), _present(after)))
        return tuple(sorted(found, key=lambda change: change.path))

    def common_ancestor(self, old: str, new: str) -> str | None:
        """Where ``new`` left ``old``; ``None`` where their histories never met."""
        return self._related(checked(old), checked(new))

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Whether ``commit`` is ``of``, or among its ancestors."""
        return self._related("--is-ancestor", checked(commit), checked(of)) is not None

    def first_parents(self, since: str, until: str) -> tuple[str, ...]:
        """The commits after ``since`` up to ``until``, oldest first, on the line of first parents: one for each merge.

        There are none where ``since`` is not on that line, as after a branch was pushed anew by force.
        """
        output = self._git.ask("rev-list", "--first-parent", "--parents", f"{checked(since)}..{checked(until)}", "--")
        line = [row.split(" ") for row in reversed(output.decode("ascii").splitlines())]
        return tuple(row[0] for row in line) if line and line[0][1:2] == [since] else ()

    def history(self, commit: str, *paths: str) -> tuple[str, ...]:
        """The commits that changed one of ``paths``, files or folders, on the line of first parents up to ``commit``.

        The newest comes first.
        """
        places = [f":(literal){path}" for path in paths]
        output = self._git.ask("rev-list", "--first-parent", checked(commit), "--", *places)
        return tuple(output.decode("ascii").split())

    def commit_time(self, commit: str) -> str:
        """When ``commit`` was made, as it says itself: ISO 8601 in UTC."""
        said = self._git.ask("rev-list", "--max-count=1", "--timestamp", checked(commit), "--").split()
        try:
            at = datetime.fromtimestamp(int(said[0]), UTC)
        except (ValueError, OverflowError, OSError):
            raise OutsideError(f"the commit {commit} has a time that no calendar knows: amend its date") from None
        return at.isoformat(timespec="seconds").replace("+00:00", "Z")

    def tree(self, commit: str) -> str:
        """The id of the tree of ``commit``."""
        return self._git.ask_id(f"{checked(commit)}^{{tree}}")

    def exists(self, commit: str) -> bool:
        """Whether ``commit`` is a commit of this store."""
        found = self._git.run("rev-parse", "--verify", "--quiet", f"{checked(commit)}^{{commit}}")[1]
        return found.decode().strip() == commit

    def find(self, reference: str) -> str | None:
        """The commit that ``reference`` (its full name) points to here; ``None`` where there is none."""
        if not (reference.startswith("refs/") and is_ref_name(reference)):
            raise UsageError(f"{reference!r} is no name of a reference: write it in full, as in refs/heads/main")
        status, output, _ = self._git.run("rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}")
        return None if status else output.decode().strip()

    def _list(self, commit: str) -> Listing:
        if commit not in self._listings:
            output = self._git.ask("ls-tree", "-r", "-l", "-z", "--full-tree", f"{checked(commit)}^{{commit}}")
            self._listings[commit] = Listing(output)
        return self._listings[commit]

    def _related(self, *arguments: str) -> str | None:
        """What ``git merge-base`` says, or ``None`` where it finds no relation."""
        status, output, reason = self._git.run("merge-base", *arguments)
        if status not in (0, 1):
            raise refused("merge-base", reason)
        if status and self._git.ask("rev-parse", "--is-shallow-repository").strip() == b"true":
            raise OutsideError("the repository holds only the end of its history: fetch the whole (fetch-depth: 0)")
        return None if status else output.decode().strip()


def _present(object_id: str) -> str | None:
    return object_id if object_id.strip("0") else None
