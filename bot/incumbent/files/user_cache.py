"""The user's cache, and cache files: written atomically, and treated as missing if they cannot be written or read;
and digests of the code, by which they end with it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, Protocol, TypeVar

from pydantic import BaseModel

Model = TypeVar("Model", bound=BaseModel)


def write_whole(path: Path, content: bytes) -> bool:
    """Write ``content`` to ``path`` atomically; ``False`` if that fails."""
    temporary: Path | None = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(suffix=".tmp", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        temporary.replace(path)
    except OSError:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
        return False
    return True


def remove_whole(path: Path) -> None:
    """Remove the file at ``path``, if it exists and can be removed."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def read_model(path: Path, model: type[Model], largest: int, *, shared: bool = False) -> Model | None:
    """The ``model`` in the JSON file at ``path``.

    ``None`` if it is invalid, larger than ``largest`` bytes, or, unless it is ``shared``, if another user could have
    written it.
    """
    # Pydantic's ValidationError is a ValueError.
    with suppress(OSError, ValueError):
        if (path.is_file() and path.stat().st_size <= largest) if shared else is_ours(path, largest):
            return model.model_validate_json(path.read_bytes())
    return None


FOLDER_VARIABLE: Final = "INCUMBENT_CACHE"
KEPT_MARKS: Final = 200
"""Maximum number of contents remembered as checked, since outdated ones pile up."""
KEPT_PACKS: Final = 20
"""Maximum number of platform repositories whose parsed files are kept."""
LARGEST_PACK: Final = 1 << 26
"""Maximum size in bytes of the parsed files of a repository; larger ones are neither kept nor read."""


def user_cache_folder(environment: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    """The user's cache folder, or that of ``INCUMBENT_CACHE``.

    ``None`` if the system has no such folder.
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
    """The cache of earlier runs: contents that passed all checks, and the parsed files of a repository."""

    def holds(self, key: str) -> bool:
        """Whether the content with digest ``key`` passed before."""
        ...

    def note(self, key: str) -> None:
        """Remember that the content with digest ``key`` passed."""
        ...

    def pack(self) -> bytes | None:
        """The parsed files of this repository, if they were kept."""
        ...

    def keep(self, pack: bytes) -> None:
        """Keep ``pack``; it replaces the one kept before."""
        ...


class RememberedFiles:
    """:class:`Remembered` for ``repository``, as files in ``folder``; ``what`` tells several packs of it apart.

    Marks are empty files.  A mark is named after a digest of a content and of the checks, and says that it passed.  A
    pack is one file for each repository.

    Anyone with write access to the folder can make content pass unchecked.  So only commands on a user's machine use
    it, never a job that reads the files of a pull request.
    """

    def __init__(self, folder: Path | None, repository: Path, what: str = "") -> None:
        self._marks = None if folder is None else folder / "checked"
        self._packs = None if folder is None else folder / "packed"
        self._pack = (
            None if self._packs is None else _file(self._packs, f"{repository.resolve()}{what and chr(0)}{what}")
        )

    def holds(self, key: str) -> bool:
        """Whether the content with digest ``key`` passed before; a mark of another user does not count."""
        try:
            return self._marks is not None and is_ours(_file(self._marks, key), 0)
        except OSError:
            return False

    def note(self, key: str) -> None:
        """Remember that the content with digest ``key`` passed, if the folder can be written."""
        if self._marks is not None and write_whole(_file(self._marks, key), b""):
            _tidy(self._marks, KEPT_MARKS)

    def pack(self) -> bytes | None:
        """The kept parsed files of this repository, unless another user could have written them."""
        with suppress(OSError):
            if self._pack is not None and is_ours(self._pack, LARGEST_PACK):
                return self._pack.read_bytes()
        return None

    def keep(self, pack: bytes) -> None:
        """Keep ``pack``, if the folder can be written; it replaces the one kept before."""
        if self._packs is None or self._pack is None or len(pack) > LARGEST_PACK:
            return
        if write_whole(self._pack, pack):
            _tidy(self._packs, KEPT_PACKS)


def digest_of_code(files: Iterable[Path], *versions: str) -> str:
    """A digest of the code in ``files``, of this Python and of ``versions`` of libraries.

    Results that other code cached may not be valid for this code.
    """
    found = hashlib.sha256(" ".join([sys.version, *versions]).encode())
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest()


@cache
def digest_of_product() -> str:
    """A digest of the product's code: another version may judge differently."""
    return digest_of_code(sorted(Path(__file__).parents[1].rglob("*.py")))


def _file(folder: Path, key: str) -> Path:
    return folder / hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def is_ours(path: Path, largest: int) -> bool:
    """Whether ``path`` is a file of at most ``largest`` bytes that only this user can have written."""
    status = path.stat(follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode) or status.st_size > largest:
        return False
    # Windows has no such mode bits, and its folder belongs to the user.
    return sys.platform == "win32" or (status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def _tidy(folder: Path, kept: int) -> None:
    """Remove all but the newest files."""
    with suppress(OSError):
        ages = sorted(((path.stat().st_mtime, path.name) for path in folder.iterdir()), reverse=True)
        for _, name in ages[kept:]:
            (folder / name).unlink(missing_ok=True)
