"""Portable names: what a file or folder may be called so that every system can hold a clone (pure)."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from incumbent.text.plain_text import is_shown

NAME_BYTES: Final = 255
"""The most bytes of a name in UTF-8: what Linux and macOS can hold."""
PATH_CHARACTERS: Final = 200
"""The most characters of a path: Windows can hold 259, and the folder of the clone comes before it."""

_SIGNS: Final = '\\:*?"<>|'
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{number}" for port in ("com", "lpt") for number in "0123456789\u00b9\u00b2\u00b3"}
)
"""Names that mean a device on Windows, whatever their ending."""
_OF_GIT: Final = frozenset({".git", "git~1"})


class NameFault(NamedTuple):
    """Why a name is not portable, and the fix."""

    message: str
    fix: str


def fault_of_name(name: str) -> NameFault | None:
    """The fault of the ``name`` of a file or folder, which holds no slash; ``None`` if it is portable."""
    wrong = _wrong(name)
    return None if wrong is None else NameFault(f"the name {wrong}, so not every system can hold it", "rename it")


def _wrong(name: str) -> str | None:
    if not is_shown(name):
        if any(unicodedata.category(sign) == "Cs" for sign in name):
            return "is not UTF-8"
        return "has characters that cannot be seen, such as a line break or a tab"
    found = next((sign for sign in _SIGNS if sign in name), None)
    if found is not None:
        return f"has the character {found}"
    if name.startswith("-"):
        return "begins with a dash, so that programs take it for an option"
    if name.startswith(" ") or name.endswith((" ", ".")):
        return "begins or ends with a space, or ends with a dot"
    if name.partition(".")[0].rstrip(" ").casefold() in _DEVICES:
        return "is reserved for a device on Windows"
    if name.casefold() in _OF_GIT:
        return "is reserved for git"
    size = len(name.encode())
    return None if size <= NAME_BYTES else f"has {size} bytes, more than {NAME_BYTES}"


def name_faults(paths: Iterable[str], within: str = "", only: Collection[str] | None = None) -> Mapping[str, NameFault]:
    """The faults of the names of files and of the folders above them, by path and sorted.

    Names in one folder that differ only by case or by Unicode normalisation are faults of each other.  ``within`` is
    the folder of the repository that the paths are relative to; its own name is not looked at.  ``only`` the faults of
    these files and folders are wanted, which must have all folders that they are in.
    """
    above = len(within) + 1 if within else 0
    paths = set(paths)
    faults: dict[str, NameFault | None] = {}
    alike: dict[tuple[str, str], list[str]] = {}
    found: dict[str, NameFault] = {}
    for place in sorted(_places(paths, only)):
        folder, _, name = place.rpartition("/")
        alike.setdefault((folder, folded(name)), []).append(place)
        if only is not None and place not in only:
            continue
        if name not in faults:
            faults[name] = fault_of_name(name)
        fault, length = faults[name], above + len(place)
        if fault is None and length > PATH_CHARACTERS and place in paths:
            message = f"the path has {length} characters, more than {PATH_CHARACTERS}"
            fault = NameFault(f"{message}, so not every system can hold it", "shorten the names of its folders")
        if fault is not None:
            found[place] = fault
    for twins in alike.values():
        for place in twins if len(twins) > 1 else ():
            message = "another name beside it differs only by case or by how letters with accents are encoded"
            fix = "rename one of them, or move the files of both into one"
            found.setdefault(place, NameFault(f"{message}, so not every system can hold both", fix))
    return dict(sorted((place, fault) for place, fault in found.items() if only is None or place in only))


def _places(paths: Iterable[str], only: Collection[str] | None) -> set[str]:
    """The ``paths`` and the folders that they are in: all, or what is beside one of ``only`` in the same folder."""
    folders = None if only is None else {place.rpartition("/")[0] for place in only}
    found: set[str] = set()
    for path in paths:
        start = 0
        while folders is None or path[: max(start - 1, 0)] in folders:
            end = path.find("/", start)
            found.add(path if end < 0 else path[:end])
            if end < 0:
                break
            start = end + 1
    return found


def folded(name: str) -> str:
    """``name`` such that two names that a system may take for each other are equal."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def with_folders(path: str) -> list[str]:
    """``path`` and the folders that it is in, from the top."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]


def fault_on_the_way(path: str, faults: Collection[str]) -> str | None:
    """The first of ``path`` and the folders above it that is among ``faults``; ``None`` if none is."""
    return next((place for place in with_folders(path) if place in faults), None)
