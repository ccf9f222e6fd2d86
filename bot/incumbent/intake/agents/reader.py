"""Readers of agent specifications: their interfaces, and the registry of all modules that bind ``READER``."""

from __future__ import annotations

import pkgutil
import posixpath
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Protocol

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Document, Parsed, parse
from incumbent.files.snapshot import Snapshot
from incumbent.intake import agents
from incumbent.intake.agents.package import AgentPackage
from incumbent.intake.specification import Specification
from incumbent.taxonomy.config import Limits


class AgentReader(Protocol):
    """Reads one format of complete agents; every module of this package that binds ``READER`` is registered.

    A format that describes only a part of an agent has a
    :class:`~incumbent.intake.agents.reader.BareReader` instead.
    """

    @property
    def name(self) -> str:
        """The name of the format in messages."""
        ...

    @property
    def looked_for(self) -> str:
        """What this reader looks for in a folder, in words."""
        ...

    @property
    def nests(self) -> bool:
        """Whether an agent of this format may be made of others, and so is never a part itself."""
        ...

    @property
    def is_fallback(self) -> bool:
        """Whether a file of this format counts only without an agent of another format, which may contain it."""
        ...

    def fits(self, document: Document) -> bool:
        """Whether a file is of this format, by its content alone."""
        ...

    def recognise(self, snapshot: Snapshot, limits: Limits) -> tuple[str, ...]:
        """The files of ``snapshot`` that contain an agent of this format, by their content."""
        ...

    def parts(self, snapshot: Snapshot, path: str, limits: Limits) -> Collection[str]:
        """The specifications that are parts of the one at ``path``, and so not separate agents."""
        ...

    def read(self, snapshot: Snapshot, path: str, limits: Limits) -> Specification:
        """The agent that starts at ``path``; raises :class:`~incumbent.errors.InputError` if it is at fault."""
        ...


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


def find_bare(snapshot: Snapshot, limits: Limits) -> BareFiles:
    """The files of ``snapshot`` that a reader of parts recognises by content; each is parsed once."""
    found: list[tuple[BareReader, str, Document]] = []
    faults: list[Problem] = []
    unfit: list[str] = []
    misfits: list[tuple[BareReader, str, Problem]] = []
    for path in snapshot.paths():
        possible = [reader for reader in bare_readers() if path.casefold().endswith(reader.endings)]
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
                fit = [(reader, path, document) for reader in marked if reader.fits(document)]
                found += fit
                if meant and not fit:
                    unfit.append(path)
                    misfits += [(reader, path, why) for reader in possible if (why := reader.misfit(document))]
        except InputError as error:
            faults += error.problems if meant else ()
    return BareFiles(tuple(found), tuple(faults), tuple(unfit), tuple(misfits))


@cache
def whole_readers() -> tuple[AgentReader, ...]:
    """The readers of complete agents, in the order of their modules' names."""
    return tuple(reader for reader in _bound() if not isinstance(reader, BareReader))


@cache
def bare_readers() -> tuple[BareReader, ...]:
    """The readers of parts of agents, in the order of their modules' names."""
    return tuple(reader for reader in _bound() if isinstance(reader, BareReader))


def fitting(document: Document) -> Sequence[AgentReader | BareReader]:
    """The readers that recognise ``document``; readers of parts only without others."""
    whole = [reader for reader in whole_readers() if reader.fits(document)]
    return whole or [reader for reader in bare_readers() if reader.fits(document)]


def _bound() -> tuple[Any, ...]:
    names = sorted(module.name for module in pkgutil.iter_modules(agents.__path__))
    modules = (import_module(f"{agents.__name__}.{name}") for name in names)
    return tuple(module.READER for module in modules if hasattr(module, "READER"))
