"""Tables of labelled queries: tab-separated rows under a header, the form of label files and exemplar files.

There is no quoting or escaping.  Lines before the header that begin with ``#`` are comments; ``# capabilities:`` and
``# names: SHORT=CAPABILITY`` are directives.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from incumbent.errors import InputError, Problem
from incumbent.files.snapshot import ReadingLimits
from incumbent.text.did_you_mean import did_you_mean

UNKNOWN: Final = "?"
"""The prefix of a label whose truth is unknown."""
_DIRECTIVES: Final = ("capabilities", "names")


@dataclass(frozen=True, slots=True)
class Word:
    """A name as written in a file, and its line."""

    text: str
    line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTable:
    """A parsed table: ``rows`` are the non-empty lines, each with its number (from 1).

    ``header`` is in lower case.  ``capabilities`` are those of the directive (``None`` without one); ``meanings`` maps
    the file's own short names to capabilities.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[int, str], ...]
    capabilities: tuple[Word, ...] | None
    meanings: Mapping[str, Word]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The names in one cell of labels; ``faults`` are messages, each with its fix."""

    true: tuple[str, ...]
    unknown: tuple[str, ...]
    faults: tuple[tuple[str, str], ...] = ()


def read_table(
    text: str, file: str, headers: Collection[tuple[str, ...]], fix: str, limits: ReadingLimits
) -> LabelTable:
    """The table in ``text``, whose header is one of ``headers``.

    Raises :class:`InputError` without such a header; ``fix`` says how to write it.  A table of more cells than
    ``limits.nodes`` is refused before it is split; each line counts as at least one cell.
    """
    if text.count("\n") + text.count("\t") > limits.nodes:
        raise limits.too_many(file, None)
    head = _Head(file)
    lines = text.split("\n")
    number = 0
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            head.comment(number, line.removesuffix("\r"))
        elif line.strip():
            header = tuple(cell.strip().lower() for cell in line.rstrip("\r\t").split("\t"))
            if header not in headers:
                break
            rows = [(place, row) for place, row in enumerate(lines[number:], number + 1) if row and not row.isspace()]
            return LabelTable(
                header=header,
                rows=tuple((place, row.removesuffix("\r")) for place, row in rows),
                capabilities=head.capabilities,
                meanings=head.meanings,
                problems=tuple(head.problems),
            )
    message = "the header is missing, which says what the columns are"
    raise InputError([*head.problems, Problem(file, number, message, fix)])


class _Head:
    """The comments before the header."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.capabilities: tuple[Word, ...] | None = None
        self.meanings: dict[str, Word] = {}
        self.problems: list[Problem] = []

    def comment(self, number: int, line: str) -> None:
        word, colon, rest = line.lstrip("# ").partition(":")
        name = word.strip().lower()
        if not colon or " " in name:
            return
        if name == "capabilities":
            self.capabilities = (*(self.capabilities or ()), *(Word(item, number) for item in listed(rest)))
        elif name == "names":
            for item in listed(rest):
                self._name(number, item)
        elif near := did_you_mean(name, _DIRECTIVES):
            message = f"nothing is called {name!r}{near}"
            self.problems.append(Problem(self._file, number, message, "correct the word, or write another comment"))

    def _name(self, number: int, item: str) -> None:
        name, equals, meaning = (part.strip() for part in item.partition("="))
        if not (name and equals and meaning):
            message = f"{item!r} does not give the meaning of a name"
            self.problems.append(Problem(self._file, number, message, "write NAME=CAPABILITY"))
        elif self.meanings.setdefault(name, Word(meaning, number)).text != meaning:
            message = f"{name!r} means two capabilities"
            self.problems.append(Problem(self._file, number, message, "keep one of the two"))


def read_labels(cell: str) -> Labels:
    """The comma-separated names in ``cell``; a ``?`` marks those that are unknown."""
    true: list[str] = []
    unknown: list[str] = []
    faults: list[tuple[str, str]] = []
    for item in listed(cell, empty=True):
        name = item.removeprefix(UNKNOWN).strip()
        if not name:
            if cell.strip():
                faults.append(("a label has no name", "take out the comma that is too many"))
        elif name in true or name in unknown:
            faults.append((f"{name} is labelled twice", "keep one of the two"))
        else:
            (unknown if item.startswith(UNKNOWN) else true).append(name)
    return Labels(true=tuple(true), unknown=tuple(unknown), faults=tuple(faults))


def listed(text: str, empty: bool = False) -> list[str]:
    """The items of a comma-separated list; ``empty`` keeps empty ones."""
    return [item.strip() for item in text.split(",") if empty or item.strip()]
