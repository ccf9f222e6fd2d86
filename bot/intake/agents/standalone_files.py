"""Readers of files that describe a part of an agent by themselves: its tools, or its public face."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.config import Limits
from bot.errors import InputError, Problem
from bot.files.documents import Document, parse
from bot.files.snapshot import Snapshot
from bot.intake.agents.package import AgentPackage
from bot.intake.node import Parsed
from bot.intake.specification import Specification


@dataclass(frozen=True, slots=True, kw_only=True)
class BareReader:
    """Reads one bare format.

    A file comes into question if its name has one of the ``endings`` and its text shows ``mark`` somewhere; it is then
    parsed, and is of this format if ``fits`` says so.  A broken file is taken to be meant as one if its name is one of
    the ``usual`` ones, or its text shows ``telling``.  ``misfit`` says why a file that says it is of this format does
    not fit.  ``describe`` reads a file; remarks and faults go to the package, which is the whole folder.
    """

    name: str
    looked_for: str
    endings: tuple[str, ...]
    mark: re.Pattern[bytes]
    telling: re.Pattern[bytes]
    usual: re.Pattern[str]
    fits: Callable[[Document], bool]
    describe: Callable[[AgentPackage, Parsed], Specification]
    misfit: Callable[[Document], Problem | None] = lambda _: None

    def read(self, snapshot: Snapshot, path: str, document: Document, limits: Limits) -> Specification:
        """What ``document``, the file at ``path``, describes; references lead all over the folder, never beyond it."""
        package = AgentPackage(snapshot, "", limits)
        specification = self.describe(package, Parsed(path, document))
        package.check()
        return specification

    def was_meant(self, path: str, content: bytes) -> bool:
        """Whether a broken file looks as if it was meant to be of this format."""
        usual = self.usual.fullmatch(posixpath.basename(path).casefold()) is not None
        return path.casefold().endswith(self.endings) and (usual or self.telling.search(content) is not None)


@dataclass(frozen=True, slots=True)
class BareFiles:
    """The bare files of a folder with their readers, the faults of those that may have been meant as such and cannot be
    read, and those that look as if they were meant and are of no format; ``misfits`` are those of a known reason.
    """

    found: tuple[tuple[BareReader, str, Document], ...]
    faults: tuple[Problem, ...]
    unfit: tuple[str, ...]
    misfits: tuple[tuple[BareReader, str, Problem], ...]


def find_bare(snapshot: Snapshot, readers: Sequence[BareReader], limits: Limits) -> BareFiles:
    """The files of ``snapshot`` that one of ``readers`` takes, told by their content; each is parsed once."""
    found: list[tuple[BareReader, str, Document]] = []
    faults: list[Problem] = []
    unfit: list[str] = []
    misfits: list[tuple[BareReader, str, Problem]] = []
    for path in snapshot.paths():
        possible = [reader for reader in readers if path.casefold().endswith(reader.endings)]
        if not possible:
            continue
        try:
            content = snapshot.read(path, limits.reading)
        except InputError as error:
            # Whatever it holds, nobody has seen it.
            faults += error.problems
            continue
        meant = any(reader.was_meant(path, content) for reader in possible)
        marked = [reader for reader in possible if reader.mark.search(content)]
        try:
            if marked or meant:
                document = parse(content, snapshot.name(path), limits.reading)
                fitting = [(reader, path, document) for reader in marked if reader.fits(document)]
                found += fitting
                if meant and not fitting:
                    unfit.append(path)
                    misfits += [(reader, path, why) for reader in possible if (why := reader.misfit(document))]
        except InputError as error:
            faults += error.problems if meant else ()
    return BareFiles(tuple(found), tuple(faults), tuple(unfit), tuple(misfits))
