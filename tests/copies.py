"""Folders of files that take long to make, such as committed repositories: each is made once, others are copies."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory


def copy_of(make: Callable[[Path], None], folder: Path) -> Path:
    """A copy at ``folder`` of what ``make`` makes in an empty folder."""
    return Path(shutil.copytree(_made(make).name, folder, symlinks=True, dirs_exist_ok=True))


@cache
def _made(make: Callable[[Path], None]) -> TemporaryDirectory[str]:
    kept = TemporaryDirectory()
    make(Path(kept.name))
    # The examples that git puts there are a third of the files.
    shutil.rmtree(Path(kept.name) / ".git" / "hooks", ignore_errors=True)
    settings = Path(kept.name) / ".git" / "config"
    if settings.exists():
        with settings.open("a", encoding="utf-8") as file:
            # A copied file has another inode, by which git would take it for changed.
            file.write("[core]\n\tcheckStat = minimal\n\ttrustctime = false\n")
    return kept
