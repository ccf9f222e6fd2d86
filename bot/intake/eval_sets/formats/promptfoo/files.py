"""Files that a promptfoo config is made of: read once each, and never run."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import Final

from bot.errors import InputError, Problem
from bot.intake.eval_sets.reader import Source
from bot.intake.place import Place

PREFIX: Final = "file://"

_PATTERN: Final = re.compile(r"[*?\[]")
_PROGRAMS: Final = re.compile(
    r"\.(?:[cm]?[jt]s|py|rb|go|sh|bash|exe|bat|cmd|ps1|pl)(?::[\w.]+)?$|^(?:exec|package|python|golang|ruby):"
)
_ELSEWHERE: Final = re.compile(r"^(?!file:)[A-Za-z][A-Za-z0-9+.-]*://")
_BINARY: Final = re.compile(r"\.(?:xlsx?|docx?|pptx?)(?:#.*)?$", re.IGNORECASE)


@dataclass
class Files:
    """The files beside a config, as its places refer to them; ``used`` are the paths of those that were read."""

    config: Source
    used: set[str] = field(default_factory=set)
    _opened: dict[tuple[str, str, bool], Source] = field(default_factory=dict)

    def all(self, place: Place, reference: str, within: Source | None = None) -> tuple[Source, ...]:
        """The file, or the files of the pattern, that ``reference`` names; ``within`` is the file it stands in.

        Raises :class:`InputError` for programs, other places than files, and files that cannot be read.
        """
        return tuple(self._open(place, name, within or self.config) for name in self.names(place, reference, within))

    def text(self, place: Place, name: str) -> Source:
        """The file ``name`` with its text alone; raises :class:`InputError` if it cannot be read."""
        return self._open(place, name, self.config, parsed=False)

    def names(self, place: Place, reference: str, within: Source | None = None) -> tuple[str, ...]:
        """The names of the files that ``reference`` stands for."""
        name = reference.strip().removeprefix(PREFIX)
        if _PROGRAMS.search(name):
            message = f"{place.name}: {name[:80]!r} is a program, which is not run"
            raise InputError([place.problem(message, "write what it gives into a file of the folder, and name that")])
        if _ELSEWHERE.match(name):
            message = f"{place.name}: {name[:80]!r} is no file of the folder, and nothing outside is ever read"
            raise InputError([place.problem(message, "put a copy of it into the folder, and name that")])
        if _BINARY.search(name):
            message = f"{place.name}: {name[:80]!r} is not read"
            raise InputError([place.problem(message, "save it as CSV, and name that")])
        if not _PATTERN.search(name):
            return (name,)
        found = (within or self.config).matching(place, name)
        if not found:
            message = f"{place.name}: no file of the folder fits {name[:80]!r}"
            raise InputError([place.problem(message, "name a file that there is")])
        return found

    def _open(self, place: Place, name: str, within: Source, *, parsed: bool = True) -> Source:
        key = (posixpath.dirname(within.path), name, parsed)
        if key not in self._opened:
            try:
                self._opened[key] = (within.beside if parsed else within.text_beside)(place, name)
            except InputError as error:
                raise InputError(self._told(place, name, problem) for problem in error.problems) from None
            self.used.add(self._opened[key].path)
        return self._opened[key]

    def _told(self, place: Place, name: str, problem: Problem) -> Problem:
        """A fault of a file as a whole, told where the config names it."""
        if problem.line is not None:
            return problem
        return place.problem(f"{place.name}: {name[:80]}: {problem.message}", problem.given_fix)
