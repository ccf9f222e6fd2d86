"""Edits the texts of exemplar files: adds rows, and adds labels to rows (pure).

All else stays byte for byte.  The files must be valid (:mod:`incumbent.taxonomy.exemplars`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from incumbent.files.label_tables import LabelTable, listed, read_labels, read_table
from incumbent.taxonomy.config import REVIEWED_FILES
from incumbent.taxonomy.exemplars import HEADER, ORIGINAL_HEADERS, SHORT_HEADER, TRANSLATION_HEADER, is_translation
from incumbent.taxonomy.model import Exemplar
from incumbent.text.compare import normalise

_LINE: Final = 110
"""Preferred maximum length of a line of names."""
# Characters that would end the cell, the row or the file.
_NOT_IN_CELLS: Final = re.compile("[\t\n\r\0]+")


def with_rows(
    files: Mapping[str, str], rows: Iterable[Exemplar], path: str, prefix: str, head: str = "\t".join(HEADER) + "\n"
) -> dict[str, str]:
    """The changed texts among ``files`` (all exemplar files by path) after ``rows`` are added.

    If a row or its translation already has the query, that row gets the labels.  Other queries are appended to the file
    at ``path``, with ids of ``prefix`` and a number; a new file begins with ``head``.
    """
    tables = {name: _TableLines(text, is_translation(name)) for name, text in files.items()}
    by_id = {id: (table, place) for table in tables.values() if not table.translates for id, place in table.ids.items()}
    by_text = {
        text: by_id[id]
        for table in sorted(tables.values(), key=lambda item: item.translates, reverse=True)
        for id, text in table.texts()
        if id in by_id
    }
    new: list[Exemplar] = []
    for row in merged(rows):
        known = by_text.get(normalise(row.turns))
        if known is None:
            new.append(row)
        else:
            table, place = known
            table.label(place, row.exercises, row.resembles)
    if new:
        target = tables.get(path)
        if target is None:
            target = tables[path] = _TableLines(head, False)
        for row, id in zip(new, _free_ids(prefix, len(new), by_id), strict=True):
            target.append(id, row)
    return {name: table.text for name, table in tables.items() if table.text != files.get(name)}


def table_head(comments: Sequence[str], capabilities: Iterable[str]) -> str:
    """The beginning of an exemplar file, with short names for those of ``capabilities`` that can have one."""
    lines = (*(f"# {line}" for line in comments), *_directives(short_names(capabilities)), "\t".join(HEADER))
    return "\n".join(lines) + "\n"


def short_names(capabilities: Iterable[str]) -> dict[str, str]:
    """Short names for ``capabilities``: the last part of an id of several parts, if it is unique."""
    ids = tuple(dict.fromkeys(capabilities))
    parts = [id.rpartition(".")[2] for id in ids]
    return {
        part: id
        for part, id in zip(parts, ids, strict=True)
        if part != id and parts.count(part) == 1 and part not in ids
    }


def merged(rows: Iterable[Exemplar]) -> list[Exemplar]:
    """``rows`` merged by text, in the order of first appearance; an exercised capability is no lookalike."""
    found: dict[str, Exemplar] = {}
    for row in rows:
        turns = tuple(map(as_cell, row.turns))
        text = normalise(turns)
        before = found.get(text, Exemplar(turns=turns))
        exercises = tuple(dict.fromkeys((*before.exercises, *row.exercises)))
        resembles = dict.fromkeys((*before.resembles, *row.resembles))
        found[text] = Exemplar(
            turns=before.turns,
            exercises=exercises,
            resembles=tuple(id for id in resembles if id not in exercises),
        )
    return list(found.values())


def as_cell(turn: str) -> str:
    """``turn`` as a cell: on one line, with spaces in place of tabs."""
    return _NOT_IN_CELLS.sub(" ", turn)


def _directives(names: Mapping[str, str]) -> list[str]:
    """The directives that define ``names``."""
    lines: list[str] = []
    for name, id in names.items():
        said = f"{name}={id}"
        if lines and len(lines[-1]) + len(said) + 2 <= _LINE:
            lines[-1] += f", {said}"
        else:
            lines.append(f"# names: {said}")
    return lines


def _free_ids(prefix: str, count: int, taken: Mapping[str, object]) -> list[str]:
    """``count`` ids after the last one of ``prefix`` in ``taken``."""
    numbers = [int(id[len(prefix) :]) for id in taken if id.startswith(prefix) and id[len(prefix) :].isdecimal()]
    first = max(numbers, default=0) + 1
    return [f"{prefix}{number:04}" for number in range(first, first + count)]


@dataclass(slots=True)
class _TableLines:
    """The lines of one file; ``ids`` maps the id of a row to its line (from 0)."""

    text: str
    translates: bool
    ids: dict[str, int] = field(init=False)
    _table: LabelTable = field(init=False)
    _names: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        headers = (TRANSLATION_HEADER,) if self.translates else ORIGINAL_HEADERS
        self._table = read_table(self.text.removeprefix("\ufeff"), "", headers, "", REVIEWED_FILES)
        self._names = {word.text: name for name, word in self._table.meanings.items()}
        self.ids = {row.partition("\t")[0]: line - 1 for line, row in self._table.rows if not row.startswith("#")}

    def texts(self) -> Iterable[tuple[str, str]]:
        """The id and the normalised text of each row."""
        first = len(self._table.header) - 1
        lines = self.text.split("\n")
        for id, place in self.ids.items():
            yield id, normalise(lines[place].rstrip("\r\t").split("\t")[first:])

    def label(self, place: int, exercises: Sequence[str], resembles: Sequence[str]) -> None:
        """Add labels and lookalikes to the row in line ``place``."""
        if resembles and self._table.header == SHORT_HEADER:
            self._add_column()
        lines = self.text.split("\n")
        cells = lines[place].split("\t")
        cells[1] = self._with_labels(cells[1], exercises)
        if resembles:
            cells[2] = self._with_labels(cells[2], resembles)
        lines[place] = "\t".join(cells)
        self.text = "\n".join(lines)

    def append(self, id: str, row: Exemplar) -> None:
        """Append a row."""
        labels = self._with_labels("", row.exercises)
        looks = self._with_labels("", row.resembles)
        if looks and self._table.header == SHORT_HEADER:
            self._add_column()
        cells = (id, labels, *((looks,) if self._table.header == HEADER else ()), *row.turns)
        end = "\r\n" if "\r\n" in self.text else "\n"
        gap = "" if self.text.endswith("\n") else end
        self.text += gap + "\t".join(cells) + end

    def _with_labels(self, cell: str, ids: Sequence[str]) -> str:
        said = read_labels(cell)
        known = {self._meaning(name) for name in (*said.true, *said.unknown)}
        return ",".join((*listed(cell), *(self._names.get(id, id) for id in ids if id not in known)))

    def _meaning(self, name: str) -> str:
        word = self._table.meanings.get(name)
        return name if word is None else word.text

    def _add_column(self) -> None:
        """Add an empty column of lookalikes to a file without one."""
        lines = self.text.split("\n")
        header = next(place for place, line in enumerate(lines) if line.strip() and line.lstrip("\ufeff")[0] != "#")
        for place, cell in ((header, HEADER[2]), *((place, "") for place in self.ids.values())):
            id, labels, turns = lines[place].split("\t", 2)
            lines[place] = "\t".join((id, labels, cell, turns))
        self.text = "\n".join(lines)
        self._table = read_table(self.text.removeprefix("\ufeff"), "", ORIGINAL_HEADERS, "", REVIEWED_FILES)
