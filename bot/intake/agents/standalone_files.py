"""Readers of standalone files that describe a part of an agent, such as its tools or its public description."""

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
    """Reads one format of standalone files.

    A file is a candidate if its name has one of the ``endings`` and its text contains ``mark``.  It is then parsed, and
    has this format if ``fits`` returns true.  A broken file is considered meant as one if its name matches ``usual`` or
    its text contains ``telling``.  ``misfit`` says why a file that declares this format does not fit.  ``describe``
    reads a file; it adds notes and faults to the package, which is the whole folder.
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
        """The specification in ``document``, the file at ``path``; references may name any file of the folder."""
        package = AgentPackage(snapshot, "", limits)
        specification = self.describe(package, Parsed(path, document))
        package.check()
        return specification

    def was_meant(self, path: str, content: bytes) -> bool:
        """Whether a broken file looks as if it was meant to have this format."""
        usual = self.usual.fullmatch(posixpath.basename(path).casefold()) is not None
        return path.casefold().endswith(self.endings) and (usual or self.telling.search(content) is not None)


@dataclass(frozen=True, slots=True)
class BareFiles:
    """The standalone files ``found`` in a folder, with their readers.

    ``faults`` are the problems of files that cannot be read but may be meant as such.  ``unfit`` are files that look as
    if they were meant as such but have no known format; ``misfits`` are those of them with a known reason.
    """

    found: tuple[tuple[BareReader, str, Document], ...]
    faults: tuple[Problem, ...]
    unfit: tuple[str, ...]
    misfits: tuple[tuple[BareReader, str, Problem], ...]


def find_bare(snapshot: Snapshot, readers: Sequence[BareReader], limits: Limits) -> BareFiles:
    """The files of ``snapshot`` that one of ``readers`` recognises by content; each is parsed once."""
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
            # Its content is unknown, so this is a fault in any case.
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
