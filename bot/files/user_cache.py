"""The folder in which this user's programs keep what they can make again, and what was checked before."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, Protocol

from bot.files.atomic_write import write_whole

FOLDER_VARIABLE: Final = "INCUMBENT_CACHE"
KEPT_MARKS: Final = 200
"""How many contents are remembered as checked: those that were edited since pile up otherwise."""
KEPT_PACKS: Final = 20
"""Of how many platform repositories the parsed files are kept."""
LARGEST_PACK: Final = 1 << 26
"""The size in bytes above which parsed files are neither kept nor read."""


def user_cache_folder(environment: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """Where this user's programs keep what they can make again; ``INCUMBENT_CACHE`` names another place.

    ``None`` where the system knows no such place.
    """
    chosen = environment.get(FOLDER_VARIABLE)
    if chosen:
        return Path(chosen)
    if platform == "win32":
        local = environment.get("LOCALAPPDATA")
        return Path(local, "incumbent", "cache") if local else None
    absolute = environment.get("XDG_CACHE_HOME", "")
    if absolute.startswith("/"):
        return Path(absolute, "incumbent")
    home = environment.get("HOME", "")
    if not home.startswith("/"):
        return None
    return Path(home, "Library/Caches" if platform == "darwin" else ".cache", "incumbent")


class Remembered(Protocol):
    """What earlier runs left behind: contents that passed all checks, and files of a repository as they were parsed."""

    def holds(self, key: str) -> bool:
        """Whether the content ``key`` passed before."""
        ...

    def note(self, key: str) -> None:
        """Remember that the content ``key`` passed."""
        ...

    def pack(self) -> bytes | None:
        """What was kept of the parsed files of this repository."""
        ...

    def keep(self, pack: bytes) -> None:
        """Keep ``pack`` in place of what was kept before."""
        ...


class RememberedFiles:
    """What is remembered of the ``repository``, in ``folder``.

    Marks are empty files; one that is named after a digest of a content and of the checks says that it passed. A pack
    is one file for each repository.

    Anyone who may write to the folder may have content pass unchecked.  It is for the machine of a user: a job that
    reads the files of a pull request is not handed any.
    """

    def __init__(self, folder: Path | None, repository: Path) -> None:
        self._marks = None if folder is None else folder / "checked"
        self._packs = None if folder is None else folder / "packed"
        self._pack = None if self._packs is None else _file(self._packs, str(repository.resolve()))

    def holds(self, key: str) -> bool:
        """Whether the content ``key`` passed before."""
        try:
            return self._marks is not None and _file(self._marks, key).is_file()
        except OSError:
            return False

    def note(self, key: str) -> None:
        """Remember that the content ``key`` passed, if the folder can be written."""
        if self._marks is not None and write_whole(_file(self._marks, key), b""):
            _tidy(self._marks, KEPT_MARKS)

    def pack(self) -> bytes | None:
        """What was kept of the parsed files of this repository, unless somebody else could have written it."""
        with suppress(OSError):
            if self._pack is not None and _is_ours(self._pack):
                return self._pack.read_bytes()
        return None

    def keep(self, pack: bytes) -> None:
        """Keep ``pack`` in place of what was kept before, if the folder can be written."""
        if self._packs is None or self._pack is None or len(pack) > LARGEST_PACK:
            return
        if write_whole(self._pack, pack):
            _tidy(self._packs, KEPT_PACKS)


def digest_of_code(files: Iterable[Path], *versions: str) -> str:
    """What tells the code in ``files``, under this Python and ``versions`` of libraries, from all other.

    What older code remembered may not be right by this one.
    """
    found = hashlib.sha256(" ".join([sys.version, *versions]).encode())
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest()


@cache
def digest_of_product() -> str:
    """What tells this version of the product from all other: another may judge otherwise."""
    return digest_of_code(sorted(Path(__file__).parents[1].rglob("*.py")))


def _file(folder: Path, key: str) -> Path:
    return folder / hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def _is_ours(path: Path) -> bool:
    status = path.stat(follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_PACK:
        return False
    # Windows keeps rights elsewhere, and the folder is the user's own there.
    return sys.platform == "win32" or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def _tidy(folder: Path, kept: int) -> None:
    """Remove all but the newest files."""
    with suppress(OSError):
        ages = sorted(((path.stat().st_mtime, path.name) for path in folder.iterdir()), reverse=True)
        for _, name in ages[kept:]:
            (folder / name).unlink(missing_ok=True)
