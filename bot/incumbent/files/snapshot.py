"""Snapshots: all repository files are listed and read through them, within limits.

Paths are POSIX, relative, without ``..``.  Symbolic links are refused, so nothing outside the folder is ever read.
"""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Protocol

from incumbent.errors import InputError, Problem
from incumbent.files.portable_names import with_folders

MOST_FAULTS: Final = 1_000
"""The check of a file stops after so many faults: each takes time to find, and no one reads them all."""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Limits on a single file.

    ``file_bytes``: size of a file; ``nesting_depth``: depth of nested mappings and sequences; ``nodes``: number of
    values after aliases are expanded.
    """

    file_bytes: int
    nesting_depth: int
    nodes: int

    def too_deep(self, file: str, line: int | None) -> InputError:
        """The error for a file that is nested deeper than allowed."""
        return InputError(
            [
                Problem(
                    file,
                    line,
                    f"the values are nested deeper than {self.nesting_depth}",
                    "flatten the file, or raise limits.nesting_depth in config/curation.yaml",
                )
            ]
        )

    def too_many(self, file: str, line: int | None) -> InputError:
        """The error for a file with more values than allowed."""
        return InputError(
            [
                Problem(
                    file,
                    line,
                    f"the file holds more than {self.nodes:,} values (aliases expanded)",
                    "split the file, write fewer aliases, or raise limits.nodes in config/curation.yaml",
                )
            ]
        )

    def too_long(self, file: str, line: int | None) -> InputError:
        """The error for a file whose texts, repeated by aliases, are longer than a file may be."""
        return InputError(
            [
                Problem(
                    file,
                    line,
                    f"the texts have more than the limit of {self.file_bytes:,} characters (aliases expanded)",
                    "write fewer aliases, or raise limits.file_bytes in config/curation.yaml",
                )
            ]
        )

    def too_large(self, file: str, size: int) -> InputError:
        """The error for a file of ``size`` bytes, more than allowed."""
        return InputError(
            [
                Problem(
                    file,
                    None,
                    f"the file has {size:,} bytes, more than the limit of {self.file_bytes:,}",
                    "split the file, or raise limits.file_bytes in config/curation.yaml",
                )
            ]
        )


class Snapshot(Protocol):
    """The files of a repository, or of a folder of one, at one moment."""

    def paths(self, folder: str = "") -> tuple[str, ...]:
        """All files below ``folder``, sorted; none if it does not exist."""
        ...

    def links(self, folder: str = "") -> tuple[str, ...]:
        """Symbolic links and submodules below ``folder``, or itself if it is one, sorted; they are never read."""
        ...

    def exists(self, path: str) -> bool:
        """Whether ``path`` is a file of this snapshot."""
        ...

    def read(self, path: str, limits: ReadingLimits) -> bytes:
        """The content of the file at ``path``; raises :class:`InputError` if it is absent, a link, or too large."""
        ...

    def name(self, path: str) -> str:
        """``path`` as messages show it."""
        ...


class EmptySnapshot:
    """A folder without files, as a base for an :class:`Overlay`."""

    def paths(self, folder: str = "") -> tuple[str, ...]:
        """An empty tuple."""
        return ()

    def links(self, folder: str = "") -> tuple[str, ...]:
        """An empty tuple."""
        return ()

    def exists(self, path: str) -> bool:
        """Always ``False``."""
        return False

    def read(self, path: str, limits: ReadingLimits) -> bytes:
        """Always raises :class:`InputError`."""
        raise InputError([Problem(self.name(path), None, "the file is not there", "leave out what names it")])

    def name(self, path: str) -> str:
        """``path`` itself."""
        return path


class Overlay:
    """A snapshot with planned files on top, as texts or bytes; ``None`` deletes a file."""

    def __init__(self, below: Snapshot, files: Mapping[str, str | bytes | None]) -> None:
        self._below, self._files = below, files

    def paths(self, folder: str = "") -> tuple[str, ...]:
        """All files below ``folder``, sorted."""
        prefix = f"{folder}/" if folder else ""
        added = {path for path, content in self._files.items() if content is not None and path.startswith(prefix)}
        return tuple(sorted({path for path in self._below.paths(folder) if path not in self._files} | added))

    def links(self, folder: str = "") -> tuple[str, ...]:
        """Symbolic links and submodules below ``folder``."""
        return self._below.links(folder)

    def exists(self, path: str) -> bool:
        """Whether ``path`` is a file."""
        return self._files[path] is not None if path in self._files else self._below.exists(path)

    def read(self, path: str, limits: ReadingLimits) -> bytes:
        """The content of the file at ``path``; raises :class:`InputError` if it is absent."""
        content = self._files.get(path)
        if content is not None:
            return content if isinstance(content, bytes) else content.encode("utf-8")
        if path in self._files:
            raise InputError([Problem(self.name(path), None, "the file is not there", "commit it")])
        return self._below.read(path, limits)

    def name(self, path: str) -> str:
        """``path`` as messages show it."""
        return self._below.name(path)


class ByteBudgetSnapshot:
    """A snapshot that refuses to read more than ``most`` bytes in total; each file counts once.

    It bounds the cost of reading an untrusted folder (``limits.package_bytes``).
    """

    def __init__(self, below: Snapshot, most: int) -> None:
        self._below, self._most = below, most
        self._sizes: dict[str, int] = {}

    def paths(self, folder: str = "") -> tuple[str, ...]:
        """All files below ``folder``, sorted."""
        return self._below.paths(folder)

    def links(self, folder: str = "") -> tuple[str, ...]:
        """Symbolic links and submodules below ``folder``."""
        return self._below.links(folder)

    def exists(self, path: str) -> bool:
        """Whether ``path`` is a file."""
        return self._below.exists(path)

    def read(self, path: str, limits: ReadingLimits) -> bytes:
        """The content of the file at ``path``; raises :class:`InputError` if absent, too large or over the budget."""
        if path in self._sizes or self._left > 0:
            content = self._below.read(path, limits)
            if path in self._sizes or len(content) <= self._left:
                self._sizes[path] = len(content)
                return content
        message = f"with this file the folder holds more than the limit of {self._most:,} bytes, so it is not read"
        fix = "remove files that no agent needs, or raise limits.package_bytes in config/curation.yaml"
        raise InputError([Problem(self.name(path), None, message, fix)])

    def name(self, path: str) -> str:
        """``path`` as messages show it."""
        return self._below.name(path)

    @property
    def taken(self) -> frozenset[str]:
        """The paths of the files read so far."""
        return frozenset(self._sizes)

    @property
    def _left(self) -> int:
        return self._most - sum(self._sizes.values())


_REMOTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")


def path_beside(path: str, reference: str) -> str | None:
    """The path of ``reference``, relative to the file at ``path``; ``None`` if it leaves the folder."""
    wanted = reference.strip().replace("\\", "/")
    return None if _REMOTE.match(wanted) else normal_path(posixpath.join(posixpath.dirname(path), wanted))


def normal_path(path: str) -> str | None:
    """``path`` as a clean relative POSIX path; ``None`` if it is absolute or leaves its folder."""
    if path.startswith("/") or "\\" in path or "\0" in path:
        return None
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        else:
            parts.append(part)
    # A program that expands a home folder or a drive at the front would leave the folder.
    if not parts or parts[0].startswith("~") or ":" in parts[0]:
        return None
    return "/".join(parts)


class WorkingTree:
    """The current files of a folder on disk.

    ``label`` is the prefix of paths in messages, so that they match the folder given on the command line.
    """

    def __init__(self, root: Path, label: str = "") -> None:
        self.root = root
        self.label = label

    def paths(self, folder: str = "") -> tuple[str, ...]:
        clean = normal_path(folder)
        if (folder and clean is None) or self._link_on_the_way(clean or "") is not None:
            return ()
        found: list[str] = []
        for directory, folders, files in self._walk(clean or ""):
            folders[:] = [name for name in folders if name != ".git" and not posixpath.islink(f"{directory}/{name}")]
            base = Path(directory).relative_to(self.root).as_posix()
            prefix = "" if base == "." else f"{base}/"
            found.extend(prefix + name for name in files if not posixpath.islink(f"{directory}/{name}"))
        return tuple(sorted(found))

    def links(self, folder: str = "") -> tuple[str, ...]:
        clean = normal_path(folder)
        if folder and clean is None:
            return ()
        above = self._link_on_the_way(clean or "")
        if above is not None:
            return (above,) if above == clean else ()
        found: list[str] = []
        for directory, folders, files in self._walk(clean or ""):
            found.extend(
                Path(directory, name).relative_to(self.root).as_posix()
                for name in (*folders, *files)
                if posixpath.islink(f"{directory}/{name}")
            )
            folders[:] = [name for name in folders if name != ".git"]
        return tuple(sorted(found))

    def exists(self, path: str) -> bool:
        clean = normal_path(path)
        try:
            return clean is not None and (self.root / clean).is_file() and self._link_on_the_way(clean) is None
        except OSError:
            return False

    def read(self, path: str, limits: ReadingLimits) -> bytes:
        clean = normal_path(path)
        shown = self.name(path)
        if clean is None:
            raise InputError([Problem(shown, None, "the path leaves its folder", "name a file below the folder")])
        target = self.root / clean
        try:
            if self._link_on_the_way(clean) is not None:
                raise InputError(
                    [Problem(shown, None, "the path is a symbolic link", "commit the file itself in its place")]
                )
            status = target.stat()
            # Opening anything else, for example a pipe, could block for ever.
            if not stat.S_ISREG(status.st_mode):
                raise InputError([Problem(shown, None, "not a regular file", "replace it with one")])
            if status.st_size > limits.file_bytes:
                raise limits.too_large(shown, status.st_size)
            return target.read_bytes()
        except OSError as error:
            raise InputError(
                [Problem(shown, None, f"the file cannot be read: {error.strerror}", "check that it is there")]
            ) from None

    def name(self, path: str) -> str:
        # Bytes that are not UTF-8 are lone surrogates in a path, which no output can write.
        shown = path.encode("utf-8", "replace").decode("utf-8")
        return f"{self.label}/{shown}" if self.label else shown

    def _walk(self, folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
        """:func:`os.walk`, but an unreadable folder is an error: it would count as empty."""

        def refuse(error: OSError) -> None:
            if isinstance(error, FileNotFoundError | NotADirectoryError):
                return
            place = Path(error.filename).relative_to(self.root).as_posix()
            raise InputError(
                [Problem(self.name(place), None, f"the folder cannot be read: {error.strerror}", "grant access to it")]
            )

        return os.walk(self.root / folder, followlinks=False, onerror=refuse)

    def _link_on_the_way(self, path: str) -> str | None:
        """The first of ``path`` and the folders above it that is a symbolic link."""
        # Not by pathlib, which takes several times as long: each file of a regression set is looked at.
        return next((place for place in with_folders(path) if posixpath.islink(f"{self.root}/{place}")), None)
