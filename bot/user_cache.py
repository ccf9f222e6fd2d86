"""The folder in which this user's programs keep what they can make again, and what was checked before."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from bot.whole_file import write_whole

FOLDER_VARIABLE: Final = "INCUMBENT_CACHE"
KEPT_MARKS: Final = 200
"""How many contents are remembered as checked: those that were edited since pile up otherwise."""


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


class Checked(Protocol):
    """Contents that passed all checks before, by what identifies them."""

    def holds(self, key: str) -> bool:
        """Whether the content ``key`` passed before."""
        ...

    def note(self, key: str) -> None:
        """Remember that the content ``key`` passed."""
        ...


class CheckedFiles:
    """Marks in ``folder``: an empty file, named after a digest of the content and of the checks, says that it passed.

    Anyone who may write to the folder may have content pass unchecked.  It is for the machine of a user: a job that
    reads the files of a pull request is not handed any.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder / "checked"

    def holds(self, key: str) -> bool:
        """Whether the content ``key`` passed before."""
        try:
            return self._folder is not None and self._file(self._folder, key).is_file()
        except OSError:
            return False

    def note(self, key: str) -> None:
        """Remember that the content ``key`` passed, if the folder can be written."""
        if self._folder is not None and write_whole(self._file(self._folder, key), b""):
            with suppress(OSError):
                _tidy(self._folder)

    @staticmethod
    def _file(folder: Path, key: str) -> Path:
        return folder / hashlib.sha256(key.encode()).hexdigest()


def _tidy(folder: Path) -> None:
    """Remove all but the newest marks."""
    ages = sorted(((path.stat().st_mtime, path.name) for path in folder.iterdir()), reverse=True)
    for _, name in ages[KEPT_MARKS:]:
        (folder / name).unlink(missing_ok=True)
