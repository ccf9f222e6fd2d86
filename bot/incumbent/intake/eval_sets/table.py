"""Reads CSV tables row by row, so that a broken row does not affect others.

The separator may be a comma, a semicolon (used by spreadsheets in many countries) or a tab.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from incumbent.files.snapshot import ReadingLimits

SEPARATORS: Final = (",", ";", "\t")

_SEPARATOR_LINE: Final = re.compile(r"sep=([,;\t])\s*?\n", re.IGNORECASE)
_BROKEN_ROWS: Final = 50
"""Reading stops after so many rows with broken quotes: for each of them the reader may go to the end of the file."""

_LONGEST_NAME: Final = 1_000

# The limits of files and turns bound the length of a cell; Python's own limit would break the row.
csv.field_size_limit(2**31 - 1)


@dataclass(frozen=True, slots=True)
class TableText:
    """The text of a table, the name of its ``file`` in messages, and its limits."""

    text: str
    file: str
    limits: ReadingLimits


@dataclass(frozen=True, slots=True)
class TableLine:
    """One record of the file: its cells or its fault, the line at which it begins, and whether it is the first."""

    number: int
    cells: tuple[str, ...] = ()
    fault: str | None = None
    is_first: bool = False

    def cell(self, place: int | None) -> str:
        """The cell in column ``place`` without surrounding white space; empty if there is none."""
        return self.cells[place].strip() if place is not None and place < len(self.cells) else ""


@dataclass(frozen=True, slots=True)
class Header:
    """The header row: its cells, their separator and its line; ``width`` counts the columns up to the last name."""

    names: tuple[str, ...]
    separator: str
    line: int
    width: int

    def columns(self, keys: frozenset[str]) -> list[int]:
        """The indices of the columns whose :func:`plain_key` is among ``keys``."""
        return [place for place, name in enumerate(self.names) if plain_key(name) in keys]

    def labels(self, named: Sequence[int | None] = ()) -> Mapping[int, str]:
        """A unique label for each column except those ``named``: its header."""
        labels: dict[int, str] = {}
        taken: set[str] = set()
        # A table may have the same header thousands of times, so the count goes on from the last one.
        counts: dict[str, int] = {}
        for place, name in enumerate(self.names):
            if place in named or not name.strip():
                continue
            label = name.strip()
            count = counts.get(label, 1)
            labelled = label if count == 1 else f"{label} ({count})"
            while labelled in taken:
                count += 1
                labelled = f"{label} ({count})"
            counts[label] = count
            taken.add(labelled)
            labels[place] = labelled
        return labels

    def rows(self, table: TableText) -> Iterator[TableLine]:
        """The records of ``table`` below the header."""
        return (line for line in lines(table, self.separator) if line.number > self.line)

    def as_wide_as(self, rows: Sequence[TableLine]) -> Header:
        """The header without its last columns, if all of several ``rows`` leave these out."""
        widths = [len(row.cells) for row in rows if row.fault is None]
        alike = len(widths) > 1 and len(set(widths)) == 1
        return replace(self, width=widths[0]) if alike and widths[0] < self.width else self

    def fault(self, line: TableLine) -> tuple[str, str] | None:
        """The fault of a record as a row, and its fix."""
        if line.fault is not None:
            return line.fault, 'close every quote; write a quote inside a quoted cell twice: ""'
        cells = list(line.cells)
        while len(cells) > self.width and not cells[-1].strip():
            cells.pop()
        if len(cells) == self.width:
            return None
        fix = (
            "put a cell that holds the separator or a line break into quotes; leave cells empty, but keep their "
            "separators"
        )
        return f"the row has {len(cells)} cells, the header {self.width}", fix


def plain_key(name: str) -> str:
    """A header or key without case, white space and punctuation, which people write differently.

    One that is too long for a name is unchanged: a broken table may have all of its text in the first row.
    """
    return name if len(name) > _LONGEST_NAME else re.sub(r"[\W_]+", "", name.casefold())


def lines(table: TableText, separator: str) -> Iterator[TableLine]:
    """The records of ``table``, without blank ones.

    An unbalanced quote swallows the text after it; reading then goes on below its line, so that valid rows are kept.

    Raises :class:`~incumbent.errors.InputError` for more cells than ``limits.nodes``: they may be small in the file,
    but need much memory.  Like a line of JSON Lines, a row counts as one more value.
    """
    physical = _PhysicalLines(table.text)
    start, broken, begun = 1, 0, False
    count = 0
    while True:
        reader = csv.reader(physical, delimiter=separator, strict=True)
        before = 0
        physical.mark()
        try:
            for cells in reader:
                count += len(cells) + 1
                if count > table.limits.nodes:
                    raise table.limits.too_many(table.file, start + before)
                if "".join(cells).strip():
                    yield TableLine(start + before, tuple(cells), is_first=not begun)
                    begun = True
                before = reader.line_num
                physical.mark()
            return
        except csv.Error as error:
            number = start + before
            yield TableLine(number, fault=f"the row cannot be read: {error}")
            physical.return_below_mark()
            start, broken = number + 1, broken + 1
            if broken == _BROKEN_ROWS:
                yield TableLine(start, fault="too many rows cannot be read; what follows was not looked at")
                return


class _PhysicalLines:
    """The physical lines of a text, read lazily; reading can return to a marked line."""

    def __init__(self, text: str) -> None:
        self._file = io.StringIO(text, newline="")
        self._below: int | None = None

    def mark(self) -> None:
        """Mark the next line as the beginning of a record."""
        self._below = None

    def return_below_mark(self) -> None:
        """Continue below the first line of the record."""
        if self._below is not None:
            self._file.seek(self._below)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._file)
        if self._below is None:
            self._below = self._file.tell()
        return line


def find_header(table: TableText, is_header: Callable[[TableLine], bool], within: int) -> Header | None:
    """The first record that ``is_header`` accepts and that begins within the first ``within`` lines."""
    for separator in SEPARATORS:
        for line in lines(table, separator):
            if line.number > within:
                break
            if is_header(line):
                return header_of(line, separator)
    return None


def first_header(table: TableText) -> Header | None:
    """The first record of ``table`` as a header, with the separator that gives the most columns."""
    # Excel's declaration of the separator.
    declared = _SEPARATOR_LINE.match(table.text)
    separators, start = (declared[1], 2) if declared else (SEPARATORS, 1)
    found = [(line, separator) for separator in separators for line in _first(table, separator, start)]
    if not found:
        return None
    line, separator = max(found, key=lambda pair: len(pair[0].cells))
    return header_of(line, separator)


def _first(table: TableText, separator: str, start: int) -> list[TableLine]:
    line = next((line for line in lines(table, separator) if line.number >= start), None)
    return [line] if line is not None and line.fault is None else []


def header_of(line: TableLine, separator: str) -> Header:
    """``line`` as a header."""
    width = max(number for number, cell in enumerate(line.cells, 1) if cell.strip())
    return Header(line.cells, separator, line.number, width)
