"""The object store of a git repository: fetch, list, compare, read."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from incumbent.errors import OutsideError, UsageError
from incumbent.files.git.file_history import FileHistory, logged
from incumbent.files.git.process import (
    OUTPUT_BYTES,
    GitProcess,
    checked,
    damaged,
    is_ref_name,
    library,
    moment_of,
    refused,
)
from incumbent.files.git.remote import MOST_PLACES, PLACE, Remote, bring, fetch, is_shallow
from incumbent.files.git.snapshot import CommitSnapshot, Listing, TreeItem, unit_of


def blob_id(content: str | bytes) -> str:
    """Git's blob id of ``content``; a text is encoded as UTF-8."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def tree_id(folders: Mapping[str, str]) -> str:
    """Git's id of the tree that holds ``folders``, path → id of its tree, and nothing else."""
    entries: dict[str, str] = {}
    inner: dict[str, dict[str, str]] = {}
    for path, id in folders.items():
        name, _, rest = path.partition("/")
        if rest:
            inner.setdefault(name, {})[rest] = id
        else:
            entries[name] = id
    entries |= {name: tree_id(below) for name, below in inner.items()}
    named = ((name.encode("utf-8", "surrogateescape"), id) for name, id in entries.items())
    # Git sorts a folder as if its name ended in a slash.
    rows = sorted(named, key=lambda row: row[0] + b"/")
    data = b"".join(b"40000 %s\0%s" % (name, bytes.fromhex(id)) for name, id in rows)
    return hashlib.sha1(b"tree %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


_DIFF = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none")
# If more files than that are added and deleted, git pairs only those with equal contents.
_RENAMES = ("--find-renames=50%", "-l1000")
_SAME_CONTENT = ("--find-renames=100%",)
_LIST = ("ls-tree", "-r", "-z", "--full-tree")
_PLAIN_PATH = re.compile(r"[\w.-]+(/[\w.-]+)*", re.ASCII)
"""Paths that git takes as they are."""
_MOST_ANSWERS = 1_000
"""Maximum number of answers of git that are remembered."""
_KINDS: Mapping[str, Literal["added", "modified", "deleted", "renamed"]] = {
    "A": "added",
    "M": "modified",
    "T": "modified",
    "D": "deleted",
    "R": "renamed",
}


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that differs between two commits; ``before`` is the former path of a renamed one.

    The old blob id is ``None`` for an added file, the new one for a deleted file.
    """

    path: str
    kind: Literal["added", "modified", "deleted", "renamed"]
    before: str | None = None
    object_before: str | None = None
    object_after: str | None = None


class ObjectStore:
    """The objects of one git repository.  Not thread-safe; close it after use.

    Every method raises :class:`OutsideError` if git fails, :class:`UsageError` for invalid commit ids, and
    :class:`IncompleteError` for trees that are too large to list.
    """

    def __init__(self, git: GitProcess, is_partial: bool = False) -> None:
        self._git = git
        self._is_partial = is_partial
        self._remote: Remote | None = None
        self._ours: set[str] = set()
        self._alone: set[str] = set()
        self._here: dict[str, str] = {}
        self._complete: set[tuple[str, str]] = set()
        # For commands that name what they are about by ids: their answers never change.
        self._ask_once = lru_cache(maxsize=_MOST_ANSWERS)(git.ask)
        self._relations: dict[tuple[str, ...], str | None] = {}
        self._fetched: dict[str, Sequence[str]] = {}
        # Commits that this process made through GitHub, and commits here with the same tree.
        self._twins: dict[str, str] = {}
        self._listings: dict[str, Listing] = {}

    @classmethod
    def create(cls, folder: Path) -> ObjectStore:
        """A new, empty, bare repository in ``folder``, which must be absent or empty.

        Fetches into it get commits and trees; contents of files are fetched on request.
        """
        library()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise UsageError(f"{folder} is not empty: name a folder that is, or one that does not exist yet")
        except OSError as error:
            raise OutsideError(f"{folder} cannot be made: {error.strerror}; name another folder") from None
        git = GitProcess(library().Git(folder.resolve()), folder)
        git.ask("init", "--quiet", "--bare", "--template=", "--object-format=sha1", "--initial-branch=main")
        return cls(git, is_partial=True)

    @classmethod
    def open(cls, folder: Path, output_bytes: int = OUTPUT_BYTES) -> ObjectStore:
        """The repository at ``folder``, bare or with a working tree."""
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
        """End the process that reads objects; reading starts another one."""
        self._git.close()

    def fetch(
        self,
        url: str,
        refs: Mapping[str, str],
        token: str | None,
        optional: Collection[str] = (),
        sleep: Callable[[float], None] = time.sleep,
        folders: Mapping[str, Sequence[str]] = MappingProxyType({}),
        ours: Sequence[str] = (),
        ends: Collection[str] = (),
    ) -> dict[str, str]:
        """Fetch ``refs``: local name → full name of a reference at ``url``, or commit id.

        Returns local name → commit id, without ``optional`` local names that ``url`` does not have.  ``token`` is
        that of a job or an app; neither arguments nor errors show it.  ``sleep`` waits before another attempt.
        ``folders`` maps local names to the top-level folders and files about to be read (all if it names none), so that
        one request fetches them; a new store fetches other contents when they are read, with their whole folder.
        ``ours`` are further top-level folders in which files that were both renamed and changed are recognised.  For
        local names in ``ends`` only the last commit is fetched, without its ancestors.
        """
        remote = Remote(
            url=url,
            token=token,
            sleep=sleep,
            partial=self._is_partial,
            alone=self._alone,
            here=self._here,
            complete=self._complete,
        )
        found = fetch(self._git, remote, refs, optional, ends)
        if self._is_partial:
            self._remote = remote
            self._ours.update(ours, *(tops for local, tops in folders.items() if local not in ends))
            fetched = {found[local]: tuple(tops) for local, tops in folders.items() if local in found}
            bring(self._git, remote, {self._here_as(commit): tops for commit, tops in fetched.items()})
            self._fetched |= {commit: tops or ("",) for commit, tops in fetched.items()}
        return found

    def take_in(
        self, local: str, commit: str, tree: str, parent: str | None, files: Iterable[tuple[str, str | None]]
    ) -> bool:
        """Make ``commit`` known as if it had been fetched as ``local``, without asking for it: this process made it.

        It has ``files``, path → text or ``None`` where the file is deleted, on top of ``parent``, and the id ``tree``.
        What was fetched of ``parent`` is there of it, too.  It has no history here.  Returns whether all that is so:
        where something else comes out, it must be fetched as any other.
        """
        reference = f"{PLACE}{local}"
        parts = [f"commit {reference}\ncommitter incumbent <> 0 +0000\ndata 0\n".encode()]
        if parent is not None:
            parts.append(f"from {self._here_as(parent)}\n".encode())
        items: dict[str, TreeItem | None] = {}
        for path, text in files:
            if not _PLAIN_PATH.fullmatch(path):
                return False
            if text is None:
                parts.append(f"D {path}\n".encode())
                items[path] = None
            else:
                data = text.encode(errors="replace")
                parts.append(b"M 644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data))
                items[path] = TreeItem("100644", blob_id(data), len(data))
        status, _, _ = self._git.run("fast-import", "--quiet", "--force", given=b"".join(parts))
        made = self._git.id_of(f"{reference}^{{commit}}")
        if status or made is None or self._git.id_of(f"{made}^{{tree}}") != tree:
            return False
        if parent is None:
            self._complete.add((made, ""))
            self._fetched[commit] = ("",)
        else:
            own = self._here_as(parent)
            self._complete |= {(made, place) for known, place in self._complete if known == own}
            self._fetched[commit] = self._fetched.get(parent, ())
        self._twins[commit] = made
        self._here[local] = commit
        if parent in self._listings and self._remote is not None:
            self._listings[commit] = self._listings[parent].with_files(items, *self._ways(self._remote, made))
        return True

    def _here_as(self, commit: str) -> str:
        """The id of a commit here with the tree of ``commit``, which must be a full id."""
        return self._twins.get(commit) or checked(commit)

    def snapshot(self, commit: str, folder: str = "") -> CommitSnapshot:
        """The files of ``commit``, or of a ``folder`` of it."""
        return CommitSnapshot(self._list(commit), self._git.content).within(folder)

    def changes(self, old: str, new: str, *, contents: bool = True) -> tuple[ChangedFile, ...]:
        """The changes from the common ancestor of ``old`` and ``new`` to ``new``, sorted by path, as in a pull request.

        A renamed file keeps at least half of its content.  Without a common ancestor, every file that is new or
        different in ``new`` is a change, and none is deleted or renamed.  With several common ancestors, a change is a
        file that differs both from ``old`` and from one of them, and none is renamed: a merge may revert a change of
        one side, which a comparison with a single ancestor would not show.

        Without ``contents`` no content of a file is fetched or looked at: only files that moved unchanged are renamed.
        """
        self._list(new).below("")  # A tree too large to list is too large to compare.
        ancestors = self._ancestors(old, new)
        if not ancestors:
            return self._differ(("--no-renames", "--diff-filter=d"), old, new)
        if len(ancestors) > 1:
            paths = {item.path for each in ancestors for item in self._differ(("--no-renames",), each, new)}
            return tuple(item for item in self._differ(("--no-renames",), old, new) if item.path in paths)
        (ancestor,) = ancestors
        if not contents:
            return self._differ(_SAME_CONTENT, ancestor, new)
        if self._remote is None:
            return self._differ(_RENAMES, ancestor, new)
        found = self._differ(_SAME_CONTENT, ancestor, new)
        # Comparing contents needs them locally: fetch those of the folders that are read, nothing else.
        added, deleted = (
            sorted({unit_of(change.path) for change in found if self._is_ours(change) and change.kind == kind})
            for kind in ("added", "deleted")
        )
        if not (added and deleted):
            return found
        bring(self._git, self._remote, {ancestor: deleted, new: added})
        near = self._differ(_RENAMES, ancestor, new, *(f":(literal){folder}" for folder in sorted(self._ours)))
        kept = [change for change in found if not self._is_ours(change)]
        taken = {path for change in kept for path in (change.path, change.before)}
        return _sorted([*kept, *(item for item in near if not taken & {item.path, item.before or item.path})])

    def _is_ours(self, change: ChangedFile) -> bool:
        """Whether both paths of ``change`` are in the folders that are read."""
        return all(path.partition("/")[0] in self._ours for path in (change.path, change.before or change.path))

    def _differ(self, options: Sequence[str], old: str, new: str, *places: str) -> tuple[ChangedFile, ...]:
        output = self._ask_once(*_DIFF, *options, old, new, "--", *places)
        fields = iter(output.decode("utf-8", "surrogateescape").split("\0"))
        found = []
        for head in filter(None, fields):
            before, after, letter = head.split(" ")[2:]
            previous = next(fields) if letter.startswith("R") else None
            found.append(ChangedFile(next(fields), _KINDS[letter[0]], previous, _present(before), _present(after)))
        return _sorted(found)

    def common_ancestor(self, old: str, new: str) -> str | None:
        """The commit that :meth:`changes` compares ``new`` with; ``None`` without a common ancestor.

        With several common ancestors this is ``old`` itself.
        """
        ancestors = self._ancestors(old, new)
        return old if len(ancestors) > 1 else next(iter(ancestors), None)

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Whether ``commit`` is ``of`` or one of its ancestors."""
        return self._related("--is-ancestor", checked(commit), checked(of)) is not None

    def first_parents(self, since: str, until: str) -> tuple[str, ...]:
        """The commits after ``since`` up to ``until`` along first parents, oldest first: one for each merge.

        Empty if ``since`` is not on that line, for example after a force push.
        """
        output = self._git.ask("rev-list", "--first-parent", "--parents", f"{checked(since)}..{checked(until)}", "--")
        line = [row.split(" ") for row in reversed(output.decode("ascii").splitlines())]
        return tuple(row[0] for row in line) if line and line[0][1:2] == [since] else ()

    def history(self, commit: str, *paths: str, most: int | None = None) -> tuple[str, ...]:
        """The commits along first parents up to ``commit`` that changed one of ``paths``, files or folders.

        The newest comes first; at most ``most``.
        """
        places = [f":(literal){path}" for path in paths]
        limit = () if most is None else (f"--max-count={most}",)
        output = self._git.ask("rev-list", "--first-parent", *limit, checked(commit), "--", *places)
        return tuple(output.decode("ascii").split())

    def file_history(self, commit: str, below: str) -> FileHistory:
        """The files ``below`` a folder that were added or deleted along first parents up to ``commit``."""
        return logged(self._git, below, checked(commit), ("A", "D"), self._alone)

    def commit_time(self, commit: str) -> str:
        """The committer date of ``commit``: ISO 8601 in UTC."""
        heading = self._git.content(checked(commit), "commit").partition(b"\n\n")[0]
        said = re.search(rb"^committer .*> ([0-9]+) [-+][0-9]+$", heading, re.MULTILINE)
        return moment_of(commit, said[1] if said else b"")

    def tree(self, commit: str) -> str:
        """The id of the tree of ``commit``."""
        found = self._git.id_of(f"{self._here_as(commit)}^{{tree}}")
        if found is None:
            raise damaged(commit)
        return found

    def trees(self, commit: str, *places: str, below: bool = True) -> dict[str, str]:
        """Path → tree id of the folders ``places`` of ``commit``, and of all folders ``below`` them."""
        deep = ("-r",) if below else ()
        output = self._git.ask(
            "ls-tree", "-d", *deep, "-z", "--full-tree", f"{self._here_as(commit)}^{{commit}}", "--", *places
        )
        rows = (line.partition(b"\t") for line in output.split(b"\0") if line)
        return {
            path.decode("utf-8", "surrogateescape"): fields[2].decode()
            for head, _, path in rows
            if (fields := head.split())[1] == b"tree"
        }

    def exists(self, commit: str) -> bool:
        """Whether this store contains ``commit``."""
        return self._git.id_of(f"{checked(commit)}^{{commit}}") == commit

    def find(self, reference: str) -> str | None:
        """The commit of ``reference`` (a full name) in this store; ``None`` if it does not exist."""
        if not (reference.startswith("refs/") and is_ref_name(reference)):
            raise UsageError(f"{reference!r} is an unknown reference: write it in full, for example refs/heads/main")
        return self._git.id_of(f"{reference}^{{commit}}")

    def _list(self, commit: str) -> Listing:
        if commit not in self._listings:
            own, remote = self._here_as(commit), self._remote
            tree = f"{own}^{{commit}}"
            if remote is None:
                self._listings[commit] = Listing(self._git.ask(*_LIST, "-l", tree))
            else:
                here = self._fetched.get(commit, ())
                output = self._git.ask(*_LIST, "-l", tree, "--", *filter(None, here)) if here else b""
                self._listings[commit] = Listing(output, *self._ways(remote, own), here)
        return self._listings[commit]

    def _ways(self, remote: Remote, commit: str) -> tuple[Callable[[Sequence[str]], bytes], Callable[[str], bytes]]:
        """How a :class:`Listing` of ``commit`` fetches contents, and lists what it does not have."""
        return partial(self._bring, remote, commit), partial(self._more, f"{commit}^{{commit}}")

    def _more(self, tree: str, name: str) -> bytes:
        """The output of ``git ls-tree`` for a file or folder at the top of ``tree``; without a name for everything."""
        return self._git.ask(*_LIST, tree, "--", *filter(None, [name]))

    def prepare(self, commit: str, places: Sequence[str]) -> None:
        """Fetch the contents of ``places``, folders or files of ``commit``, together before they are read."""
        if places:
            self._list(commit).prepare(places)

    def _bring(self, remote: Remote, commit: str, places: Sequence[str]) -> bytes:
        """Fetch ``places`` of ``commit``; returns the output of ``git ls-tree`` for them."""
        bring(self._git, remote, {commit: places})
        lots = [places[start : start + MOST_PLACES] for start in range(0, len(places), MOST_PLACES)]
        return b"".join(self._git.ask(*_LIST, "-l", commit, "--", *lot) for lot in lots)

    def _ancestors(self, old: str, new: str) -> tuple[str, ...]:
        """The best common ancestors of ``old`` and ``new``."""
        # The answer is the same from both sides.
        return tuple((self._related("--all", *sorted((checked(old), checked(new)))) or "").split())

    def _related(self, *arguments: str) -> str | None:
        """The output of ``git merge-base``; ``None`` if it finds no relation."""
        if arguments not in self._relations:
            status, output, reason = self._git.run("merge-base", *arguments)
            if status not in (0, 1):
                raise refused("merge-base", reason)
            found = None if status else output.decode().strip()
            if is_shallow(self._git, self._alone):
                if status:
                    raise OutsideError(
                        "the repository holds only the end of its history: fetch the whole (fetch-depth: 0)"
                    )
                # A fetch of the rest may find another.
                return found
            self._relations[arguments] = found
        return self._relations[arguments]


def _sorted(changes: Iterable[ChangedFile]) -> tuple[ChangedFile, ...]:
    return tuple(sorted(changes, key=lambda change: change.path))


def _present(object_id: str) -> str | None:
    return object_id if object_id.strip("0") else None
