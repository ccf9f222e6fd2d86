"""A site's folder on disk: it is replaced as a whole, or stays as it was."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Final

from incumbent.errors import OutsideError, UsageError

MARKER: Final = "incumbent-site.txt"
"""The file by which a folder is known as a site of ours, which may be replaced."""
_PARTS: Final = ("config", "eval_sets", "regression_set", "taxonomy")
_MARK: Final = "This folder is written by `incumbent site`, which replaces all of it.\n"


def is_in_site(file: PurePath, top: Path) -> bool:
    """Whether ``file``, relative to ``top``, is in a folder that `incumbent site` wrote below ``top``."""
    return any((top / folder / MARKER).is_file() for folder in file.parents)


def check_folder(folder: Path, platform: Path | None = None) -> None:
    """Raise :class:`UsageError` if ``folder`` has files that `incumbent site` did not write.

    So it does if ``folder`` is where the files of a ``platform`` repository lie: they would be read as some of them.
    """
    if platform is not None:
        for part in _PARTS:
            if folder.resolve().is_relative_to((platform / part).resolve()):
                raise UsageError(f"{folder} is in the platform's {part}/, whose files are read: name another place")
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{folder} is not a folder: name another with --output")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARKER).is_file():
        raise UsageError(
            f"{folder} has files that `incumbent site` did not write, and would replace: name an empty folder with "
            "--output, or a new one"
        )


def write_folder(folder: Path, files: Iterable[tuple[str, bytes]]) -> int:
    """Replace ``folder`` by ``files``, and return how many there are.

    They are written beside it first.  Raises :class:`OutsideError` if the file system refuses.  The folder is then as
    it was before, and so it is if the person who waits stops it.
    """
    check_folder(folder)
    beside: Path | None = None
    count = 0
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        new = beside / "new"
        new.mkdir()
        (new / MARKER).write_text(_MARK, encoding="utf-8")
        made = {new}
        for path, content in files:
            place = new / path
            if place.parent not in made:
                place.parent.mkdir(parents=True, exist_ok=True)
                made.add(place.parent)
            place.write_bytes(content)
            count += 1
        old = beside / "old"
        try:
            if folder.exists():
                folder.rename(old)
            new.rename(folder)
        except BaseException:
            if old.exists() and not folder.exists():
                old.rename(folder)
            raise
    except OSError as error:
        raise OutsideError(f"{folder} cannot be written: {error.strerror}; name another place") from None
    finally:
        if beside is not None:
            with suppress(OSError):
                shutil.rmtree(beside)
    return count
