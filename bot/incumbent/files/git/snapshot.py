"""Snapshots of commits, read from git's objects."""

from __future__ import annotations

import errno
import os
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from incumbent.errors import InputError, Problem
from incumbent.files.git.process import damaged
from incumbent.files.snapshot import ReadingLimits, normal_path

_LINKS = {
    "120000": ("the path is a symbolic link", "commit the file itself in its place"),
    "160000": ("the path is a submodule", "commit the files themselves in its place"),
}
_DEPTH = 3
"""Depth of the folders whose contents are fetched together: ``eval_sets/<customer>/<agent>``."""
_ORDINARY = re.compile(r"\w[\w.-]*")
"""Names that git takes for nothing else than a name."""


@dataclass(frozen=True, slots=True)
class TreeItem:
    """An entry of a tree; ``size`` in bytes, ``None`` if git cannot read the object or did not list sizes."""

    mode: str
    object_id: str
    size: int | None


class Listing:
    """The tree entries of one commit, shared by the snapshots of its folders.

    What ``more`` gives is listed when it is asked for: a platform repository has a folder for each customer.
    """

    def __init__(
        self,
        output: bytes,
        bring: Callable[[Sequence[str]], bytes] | None = None,
        more: Callable[[str], bytes] | None = None,
        here: Collection[str] = (),
    ) -> None:
        """``output`` is that of ``git ls-tree -r -l -z``: of everything, or only of ``here`` if there is ``more``.

        ``more`` returns the output of ``git ls-tree -r -z`` for a file or folder at the top, or for everything if the
        name is empty.  ``here`` are files and folders whose contents are local if others must be fetched; ``bring``
        fetches those of folders or files, and returns the output of ``git ls-tree -r -l -z`` for them.
        """
        self.items = _items(output)
        self._paths = sorted(self.items)
        self._bring = bring
        self._more = more
        self._brought = set(here)
        self._listed = set(here)

    def with_files(
        self,
        files: Mapping[str, TreeItem | None],
        bring: Callable[[Sequence[str]], bytes],
        more: Callable[[str], bytes],
    ) -> Listing:
        """The listing of a commit that has ``files`` on top of this one, ``None`` where one is deleted.

        ``bring`` and ``more`` are those of that commit; the contents of ``files`` are local.
        """
        above = {place for path in files for place in _and_above(path)}
        kept = {
            path: item
            for path, item in self.items.items()
            if path not in above and files.keys().isdisjoint(_and_above(path))
        }
        found = Listing(b"", bring, more)
        found.items = kept | {path: item for path, item in files.items() if item is not None}
        found._paths = sorted(found.items)
        found._brought, found._listed = set(self._brought), set(self._listed)
        return found

    def item(self, path: str) -> TreeItem:
        """The entry at ``path``, which must be listed; first fetches its content together with :func:`unit_of` it."""
        if not self._is_here(path):
            self.prepare([unit_of(path)])
        return self.items[path]

    def _is_here(self, path: str) -> bool:
        """Whether the content at ``path`` is already local."""
        return self._bring is None or not self._brought.isdisjoint(_and_above(path))

    def prepare(self, places: Sequence[str]) -> None:
        """Fetch the contents of ``places``, folders or files, in as few requests as possible."""
        missing = [place for place in places if not self._is_here(place)]
        if self._bring is not None and missing:
            self._brought.update(missing)
            self.items |= _items(self._bring(missing))

    def _list(self, path: str) -> None:
        """List what is at the top of ``path``, or everything if it is empty; nothing if ``path`` is listed."""
        top = path.partition("/")[0]
        name = top if _ORDINARY.fullmatch(top) else ""
        if self._more is None or not self._listed.isdisjoint(_and_above(path)):
            return
        self._listed.add(name)
        # What was fetched is listed with its size.
        self.items = _items(self._more(name)) | self.items
        self._paths = sorted(self.items)

    def below(self, folder: str) -> list[str]:
        """The paths in ``folder``, sorted; all paths if it is empty."""
        self._list(folder)
        return self._below(folder) if folder else self._paths

    def _below(self, folder: str) -> list[str]:
        # "0" is the character after "/".
        return self._paths[bisect_left(self._paths, f"{folder}/") : bisect_left(self._paths, f"{folder}0")]

    def refusal(self, path: str) -> tuple[str, str] | None:
        """Why ``path`` cannot be read as a file, and the fix; ``None`` if it can."""
        self._list(path)
        place = ""
        for part in path.split("/"):
            if place in self.items:
                return f"the file cannot be read: {os.strerror(errno.ENOTDIR)}", "check that it is there"
            place = f"{place}/{part}" if place else part
            item = self.items.get(place)
            if item is not None and item.mode in _LINKS:
                return _LINKS[item.mode]
            if item is None and not self._below(place):
                return f"the file cannot be read: {os.strerror(errno.ENOENT)}", "check that it is there"
        return None if place in self.items else ("not a regular file", "replace it with one")

    def is_link(self, path: str) -> bool:
        """Whether ``path``, which must be listed, is a symbolic link or a submodule."""
        return self.items[path].mode in _LINKS


def _and_above(path: str) -> Iterator[str]:
    """``path`` and the folders that it is in, from the top, whose name is empty."""
    parts = path.split("/")
    return ("/".join(parts[:depth]) for depth in range(len(parts) + 1))


def unit_of(path: str) -> str:
    """The folder fetched together with the file at ``path``: its own, but at most as deep as an agent's folder."""
    return "/".join(path.split("/")[:-1][:_DEPTH]) or path


def _items(output: bytes) -> dict[str, TreeItem]:
    found: dict[str, TreeItem] = {}
    for line in filter(None, output.split(b"\0")):
        head, _, path = line.partition(b"\t")
        mode, _, object_id, *size = head.decode().split()
        known = int(size[0]) if size and size[0].isdigit() else None
        found[path.decode("utf-8", "surrogateescape")] = TreeItem(mode, object_id, known)
    return found


class CommitSnapshot:
    """A :class:`incumbent.files.snapshot.Snapshot` of a commit, or of a folder of it; ``content`` reads an object by
    its id.

    Files are read by the listed ids, so their contents always match the listing.
    """

    def __init__(self, listing: Listing, content: Callable[[str], bytes], folder: str = "") -> None:
        self._listing = listing
        self._content = content
        self._folder = folder

    def within(self, folder: str) -> CommitSnapshot:
        """The snapshot of ``folder`` below this one; empty if it does not exist."""
        clean = PurePosixPath(folder).as_posix()
        return self if clean == "." else CommitSnapshot(self._listing, self._content, self._at(clean))

    def paths(self, folder: str = "") -> tuple[str, ...]:
        return self._select(folder, links=False)

    def links(self, folder: str = "") -> tuple[str, ...]:
        return self._select(folder, links=True)

    def prepare(self, paths: Collection[str]) -> None:
        """Fetch exactly the files at ``paths``, in as few requests as possible, before they are read."""
        self._listing.prepare(sorted({self._at(path) for path in paths if self.exists(path)}))

    def ids(self, folder: str = "") -> dict[str, str]:
        """Path → blob id of all files below ``folder``."""
        return {path: self._listing.items[self._at(path)].object_id for path in self.paths(folder)}

    def exists(self, path: str) -> bool:
        clean = normal_path(path)
        return clean is not None and self._listing.refusal(self._at(clean)) is None

    def read(self, path: str, limits: ReadingLimits) -> bytes:
        clean = normal_path(path)
        shown = self.name(path)
        if clean is None:
            raise InputError([Problem(shown, None, "the path leaves its folder", "name a file below the folder")])
        refusal = self._listing.refusal(self._at(clean))
        if refusal is not None:
            raise InputError([Problem(shown, None, *refusal)])
        item = self._listing.item(self._at(clean))
        if item.size is None:
            raise damaged(item.object_id)
        if item.size > limits.file_bytes:
            raise limits.too_large(shown, item.size)
        return self._content(item.object_id)

    def name(self, path: str) -> str:
        """``path`` from the repository's root; lone surrogates, which no output can write, are replaced."""
        return self._at(path).encode("utf-8", "replace").decode("utf-8")

    def _at(self, path: str) -> str:
        return f"{self._folder}/{path}" if self._folder else path

    def _select(self, folder: str, links: bool) -> tuple[str, ...]:
        clean = normal_path(folder)
        if folder and clean is None:
            return ()
        start = len(self._folder) + 1 if self._folder else 0
        place = self._at(clean) if clean else self._folder
        found = self._listing.below(place)
        if links and clean and place in self._listing.items:
            found = [place]
        return tuple(path[start:] for path in found if self._listing.is_link(path) == links)
