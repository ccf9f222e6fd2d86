"""Readers of files that describe a part of an agent by themselves: its tools, or its public face."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass

from bot.config import Limits
from bot.documents import Document, parse
from bot.errors import InputError
from bot.intake.agents.package import Package
from bot.intake.place import Source
from bot.intake.specification import Specification
from bot.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class BareReader:
    """Reads one bare format.

    A file comes into question if its name has one of the ``endings`` and its text shows ``mark`` somewhere; it is then
    parsed, and is of this format if ``fits`` says so.  ``usual`` are names that tell what a broken file was meant as.
    ``describe`` reads a file; remarks and faults go to the package, which is the whole folder.
    """

    name: str
    looked_for: str
    endings: tuple[str, ...]
    mark: re.Pattern[bytes]
    usual: re.Pattern[str]
    fits: Callable[[Document], bool]
    describe: Callable[[Package, Source], Specification]
    bare: bool = True
    nests: bool = False

    def recognise(self, snapshot: Snapshot, limits: Limits) -> tuple[str, ...]:
        """The files of this format; without any, broken ones of a usual name, so that their faults are shown."""
        found: list[str] = []
        broken: list[str] = []
        for path in snapshot.paths():
            if not path.casefold().endswith(self.endings):
                continue
            usual = self.usual.fullmatch(posixpath.basename(path).casefold()) is not None
            try:
                content = snapshot.read(path, limits.reading)
                if not usual and self.mark.search(content) is None:
                    continue
                if self.fits(parse(content, path, limits.reading)):
                    found.append(path)
            except InputError:
                if usual:
                    broken.append(path)
        return tuple(found or broken)

    def parts(self, snapshot: Snapshot, path: str, limits: Limits) -> tuple[str, ...]:
        """None: what the file refers to is no specification."""
        return ()

    def read(self, snapshot: Snapshot, path: str, limits: Limits) -> Specification:
        """What the file at ``path`` describes; references may lead all over the folder, never beyond it."""
        package = Package(snapshot, "", limits)
        specification = self.describe(package, package.open(path))
        package.check()
        return specification
