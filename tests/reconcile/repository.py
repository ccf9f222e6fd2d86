"""git as values: commits are mappings from paths to texts, and the real readers see nothing else."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from incumbent.files.git import ChangedFile, CommitSnapshot, ObjectStore
from incumbent.files.git.file_history import Change, FileCommit, FileHistory
from incumbent.files.git.snapshot import Listing

Files = Mapping[str, str]


@dataclass(frozen=True)
class Made:
    """A commit: its files, its parents, its time, and all that came before it, itself included."""

    files: Files
    parents: tuple[str, ...]
    at: str
    place: int
    line: frozenset[str]


class Repository(ObjectStore):
    """Commits by id, branches by name; reads like an object store, and fetches from itself."""

    def __init__(self) -> None:
        self.commits: dict[str, Made] = {}
        self.branches: dict[str, str] = {}
        self.authors: dict[str, str] = {}
        self._blobs: dict[str, bytes] = {}
        self._snapshots: dict[str, CommitSnapshot] = {}

    def commit(self, files: Files, parents: Sequence[str], at: str) -> str:
        """A new commit; its id."""
        place = len(self.commits) + 1
        id = hashlib.sha1(f"commit {place}".encode(), usedforsecurity=False).hexdigest()
        line = frozenset({id}).union(*(self.commits[parent].line for parent in parents))
        self.commits[id] = Made(files, tuple(parents), at, place, line)
        return id

    def files(self, branch: str) -> Files:
        """The files of a branch; none where there is no such branch."""
        return self.commits[self.branches[branch]].files if branch in self.branches else {}

    def base_of(self, one: str, other: str) -> str | None:
        """The newest commit that both have come from."""
        common = self.commits[one].line & self.commits[other].line
        return max(common, key=lambda id: self.commits[id].place, default=None)

    def merged(self, ours: str, theirs: str) -> Files | None:
        """The files once ``theirs`` is merged into ``ours``; ``None`` where both changed a file, each its own way."""
        base = self.base_of(ours, theirs)
        assert base is not None
        before, here, there = (self.commits[id].files for id in (base, ours, theirs))
        found = dict(here)
        for path in before.keys() | there.keys():
            old, mine, new = before.get(path), here.get(path), there.get(path)
            if new in (old, mine):
                continue
            if mine != old:
                return None
            if new is None:
                del found[path]
            else:
                found[path] = new
        return found

    # What the product asks of an object store

    def close(self) -> None: ...

    def fetch(
        self,
        url: str,
        refs: Mapping[str, str],
        token: str | None,
        optional: Collection[str] = (),
        sleep: Callable[[float], None] = lambda _: None,
        folders: Mapping[str, Sequence[str]] = MappingProxyType({}),
        ours: Sequence[str] = (),
        ends: Collection[str] = (),
    ) -> dict[str, str]:
        found = {name: self.branches.get(ref.removeprefix("refs/heads/"), ref) for name, ref in refs.items()}
        missing = [name for name, commit in found.items() if commit not in self.commits]
        assert set(missing) <= set(optional), missing
        return {name: commit for name, commit in found.items() if name not in missing}

    def prepare(self, commit: str, places: Sequence[str]) -> None: ...

    def snapshot(self, commit: str, folder: str = "") -> CommitSnapshot:
        if commit not in self._snapshots:
            rows = []
            for path, text in sorted(self.commits[commit].files.items()):
                content = text.encode()
                rows.append(f"100644 blob {self._blob(content)} {len(content)}\t{path}".encode())
            self._snapshots[commit] = CommitSnapshot(Listing(b"\0".join(rows)), self._blobs.__getitem__)
        return self._snapshots[commit].within(folder)

    def changes(self, old: str, new: str, *, contents: bool = True) -> tuple[ChangedFile, ...]:
        base = self.base_of(old, new)
        before = {} if base is None else self.commits[base].files
        after = self.commits[new].files
        gone = {path: text for path, text in before.items() if path not in after}
        found = []
        for path in sorted(after):
            if after[path] == before.get(path):
                continue
            blob = self._blob(after[path].encode())
            if path in before:
                found.append(ChangedFile(path, "modified", None, self._blob(before[path].encode()), blob))
                continue
            previous = max(gone, key=lambda item: _likeness(gone[item], after[path]), default=None)
            if previous is None or _likeness(gone[previous], after[path]) < (0.5 if contents else 1):
                found.append(ChangedFile(path, "added", None, None, blob))
            else:
                found.append(ChangedFile(path, "renamed", previous, self._blob(gone.pop(previous).encode()), blob))
        found += [ChangedFile(path, "deleted", None, self._blob(text.encode())) for path, text in gone.items()]
        return tuple(sorted(found, key=lambda change: change.path))

    def common_ancestor(self, old: str, new: str) -> str | None:
        return self.base_of(old, new)

    def is_ancestor(self, commit: str, of: str) -> bool:
        return commit in self.commits[of].line

    def first_parents(self, since: str, until: str) -> tuple[str, ...]:
        found: list[str] = []
        commit = until
        while commit != since:
            found.append(commit)
            if not self.commits[commit].parents:
                return ()
            commit = self.commits[commit].parents[0]
        return tuple(reversed(found))

    def history(self, commit: str, *paths: str, most: int | None = None) -> tuple[str, ...]:
        line = [commit]
        while self.commits[line[-1]].parents:
            line.append(self.commits[line[-1]].parents[0])
        below = tuple(f"{path}/" for path in paths)
        texts = [
            {path: text for path, text in self.commits[id].files.items() if path in paths or path.startswith(below)}
            for id in line
        ]
        return tuple(id for place, id in enumerate(line) if texts[place] != (*texts, {})[place + 1])[:most]

    def file_history(self, commit: str, below: str) -> FileHistory:
        line = [commit]
        while self.commits[line[-1]].parents:
            line.append(self.commits[line[-1]].parents[0])
        changes: dict[str, tuple[FileCommit, ...]] = {}
        for place, id in enumerate(line):
            made = self.commits[id]
            before = self.commits[line[place + 1]].files if place + 1 < len(line) else {}
            differing: list[tuple[str, Change]] = [
                *((path, "A") for path in made.files.keys() - before.keys()),
                *((path, "D") for path in before.keys() - made.files.keys()),
            ]
            for path, change in differing:
                if path.startswith(f"{below}/"):
                    told = FileCommit(change=change, commit=id, at=made.at, author="x", subject="x")
                    changes[path] = (*changes.get(path, ()), told)
        return FileHistory(changes=changes, is_whole=True)

    def commit_time(self, commit: str) -> str:
        return self.commits[commit].at

    def tree(self, commit: str) -> str:
        return f"tree of {commit}"

    def trees(self, commit: str, *places: str, below: bool = True) -> dict[str, str]:
        found: dict[str, list[str]] = {}
        for path, text in sorted(self.commits[commit].files.items()):
            parts = path.split("/")
            if parts[0] in places:
                for depth in range(1, len(parts) if below else 2):
                    found.setdefault("/".join(parts[:depth]), []).append(f"{path} {self._blob(text.encode())}")
        return {folder: hashlib.sha1(repr(rows).encode()).hexdigest() for folder, rows in found.items()}

    def exists(self, commit: str) -> bool:
        return commit in self.commits

    def _blob(self, content: bytes) -> str:
        id = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
        self._blobs[id] = content
        return id


def _likeness(old: str, new: str) -> float:
    """How much of a file git would find again in another: bytes of common lines, as a share of the larger one."""
    kept = Counter(old.splitlines()) & Counter(new.splitlines())
    return sum(len(line) * count for line, count in kept.items()) / max(len(old), len(new), 1)
