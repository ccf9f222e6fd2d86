"""Variables of promptfoo's tests, and the files with their values."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from bot.errors import InputError, Problem
from bot.files.documents import Data
from bot.intake.eval_sets.formats.promptfoo.template import TemplateFault, TooLongFault, compiled, is_template, rendered
from bot.intake.eval_sets.reader import SourceFile
from bot.intake.node import Node
from bot.intake.templates import as_template, from_template

PREFIX: Final = "file://"

_PATTERN: Final = re.compile(r"[*?\[]")
_PROGRAMS: Final = re.compile(
    r"\.(?:[cm]?[jt]s|py|rb|go|sh|bash|exe|bat|cmd|ps1|pl)(?::[\w.]+)?$|^(?:exec|package|python|golang|ruby):"
)
_ELSEWHERE: Final = re.compile(r"^(?!file:)[A-Za-z][A-Za-z0-9+.-]*://")
_BINARY: Final = re.compile(r"\.(?:xlsx?|docx?|pptx?)(?:#.*)?$", re.IGNORECASE)


@dataclass
class ReferencedFiles:
    """Opens the files to which a config refers; ``used`` are the paths of those that were read."""

    config: SourceFile
    used: set[str] = field(default_factory=set)
    _opened: dict[tuple[str, str, bool], SourceFile] = field(default_factory=dict)

    def all(self, place: Node, reference: str, within: SourceFile | None = None) -> tuple[SourceFile, ...]:
        """The files that ``reference``, a name or a pattern, means; ``within`` is the file that contains it.

        Raises :class:`InputError` for programs, references to anything but files, and unreadable files.
        """
        return tuple(self._open(place, name, within or self.config) for name in self.names(place, reference, within))

    def text(self, place: Node, name: str) -> SourceFile:
        """The file ``name``, not parsed; raises :class:`InputError` if it cannot be read."""
        return self._open(place, name, self.config, parsed=False)

    def names(self, place: Node, reference: str, within: SourceFile | None = None) -> tuple[str, ...]:
        """The names of the files that ``reference`` means."""
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

    def _open(self, place: Node, name: str, within: SourceFile, *, parsed: bool = True) -> SourceFile:
        key = (posixpath.dirname(within.path), name, parsed)
        if key not in self._opened:
            try:
                self._opened[key] = (within.beside if parsed else within.text_beside)(place, name)
            except InputError as error:
                raise InputError(self._located(place, name, problem) for problem in error.problems) from None
            self.used.add(self._opened[key].path)
        return self._opened[key]

    def _located(self, place: Node, name: str, problem: Problem) -> Problem:
        """A problem of a whole file, reported where the config names it."""
        if problem.line is not None:
            return problem
        return place.problem(f"{place.name}: {name[:80]}: {problem.message}", problem.given_fix)


_ATTACHED: Final = re.compile(
    r".*\.(?:png|jpe?g|gif|bmp|webp|svg|tiff?|ico|avif|heic|mp3|wav|ogg|m4a|flac|aac|mp4|webm|mov|mkv|avi|pdf)",
    re.IGNORECASE,
)
_ROUNDS: Final = 5
"""promptfoo replaces variables in variables so many times."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The values of a test's variables, ready for prompts, and the names of attached files."""

    values: Mapping[str, Data]
    attached: tuple[str, ...]


@dataclass
class Variables:
    """Prepares variables for prompts.

    ``most`` is the maximum number of characters of one rendered text, ``room`` the number left for all together.
    """

    files: ReferencedFiles
    most: int
    room: int

    def ready(self, place: Node, values: Mapping[str, Data]) -> Ready:
        """``values`` of the test at ``place``, ready for prompts.

        Raises :class:`~bot.errors.InputError` for a file that cannot be read, and
        :class:`~bot.intake.eval_sets.formats.promptfoo.template.TooLongFault`.
        """
        found = dict(values)
        attached: list[str] = []
        # Variables that are one escaped text: nothing in it is replaced.
        said: set[str] = set()
        for name, value in values.items():
            if isinstance(value, str) and value.startswith(PREFIX):
                found[name] = self._content(place, value, attached)
            elif isinstance(value, str):
                text = from_template(value)
                if text != value and as_template(text) == value:
                    said.add(name)
                    found[name] = text
                else:
                    found[name] = value.removesuffix("\n")
        for _ in range(_ROUNDS):
            changed = False
            for name, value in found.items():
                if isinstance(value, str) and name not in said and is_template(value):
                    found[name] = self._rendered(value, found)
                    changed = changed or found[name] != value
            if not changed:
                break
        return Ready(found, tuple(attached))

    def _rendered(self, value: str, others: Mapping[str, Data]) -> str:
        """``value`` with the others replaced in it; as in promptfoo, an invalid template is a text."""
        try:
            text, size = rendered(compiled(value), others, self.most)
        except TooLongFault:
            raise
        except TemplateFault:
            return value
        self.room -= size
        return text

    def _content(self, place: Node, reference: str, attached: list[str]) -> str:
        """The text of the file in a variable; a picture is attached, and its name is the text."""
        name = reference.removeprefix(PREFIX)
        if _ATTACHED.fullmatch(name):
            attached.append(name)
            return f"[{name}]"
        (source,) = self.files.all(place, reference)
        if source.document is not None and not source.document.is_json:
            return json.dumps(source.document.data, ensure_ascii=False)
        return source.text.strip()
