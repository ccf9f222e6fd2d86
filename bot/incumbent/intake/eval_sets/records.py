"""Lists of records: a common form for objects in a JSON list, lines of JSON Lines and rows of a table."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Data, Document, Lines, Node, Parsed, Path, as_mapping, parse_json_text
from incumbent.files.snapshot import MOST_FAULTS, ReadingLimits
from incumbent.intake.eval_sets.table import Header, TableText

_LOOKED_AT: Final = 50
"""Only so many records decide the keys and the format of a file."""

# A text that begins with brackets, such as `[Urgent] ...`, `{name} ...` or `[] ...`, is not JSON.
_BEGINS_LIKE_JSON: Final = re.compile(r"""\[\s*["\[{]|\{\s*"|(?:\[\s*\]|\{\s*\})\Z""")
_BEGINS_LIKE_PYTHON: Final = re.compile(r"\{\s*'|\[\s*\{\s*'")
_OF_PYTHON: Final = re.compile(
    r"""'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|\b(?:None|True|False)\b"""
)
"""Strings and words of Python literals; numbers, lists and dictionaries are written as in JSON."""


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a file in order, each an object, and the problems of items that are not."""

    places: tuple[Node, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        """All keys of the first records."""
        return frozenset(key for place in self.places[:_LOOKED_AT] for key, _ in place.entries)

    def any(self, fits: Callable[[Node], bool]) -> bool:
        """Whether one of the first records ``fits``."""
        return any(map(fits, self.places[:_LOOKED_AT]))


def of_lines(path: str, lines: Lines) -> Records:
    """The objects of the JSON Lines of the file at ``path``."""
    good, problems = _objects([Parsed(path, line).root for line in lines.documents])
    return Records(good, (*lines.problems, *problems))


def listed(place: Node) -> Records:
    """The records of the list at ``place``; none if it is not a list."""
    return Records(*_objects(place.items))


def _objects(places: tuple[Node, ...] | list[Node]) -> tuple[tuple[Node, ...], tuple[Problem, ...]]:
    bad = [place for place in places if not place.is_mapping]
    message = "must be an object"
    problems = [place.problem(f"{place.name or 'the line'}: {message}", "write `{...}`") for place in bad[:MOST_FAULTS]]
    return tuple(place for place in places if place.is_mapping), tuple(problems)


def of_rows(table: TableText, path: str, header: Header) -> Records:
    """The rows of a table: a cell is a string under its header; empty cells are left out."""
    labels = header.labels()
    places: list[Node] = []
    problems: list[Problem] = []
    lines = list(header.rows(table))
    header = header.as_wide_as(lines)
    for line in lines:
        fault = header.fault(line)
        if fault is not None:
            problems.append(Problem(table.file, line.number, *fault))
            continue
        cells: dict[str, Data] = {label: line.cells[place] for place, label in labels.items() if line.cell(place)}
        places.append(Parsed(path, Document(table.file, "", cells, is_json=True, first_line=line.number)).root)
    return Records(tuple(places), tuple(problems))


def decoded(place: Node, limits: ReadingLimits) -> Node:
    """The JSON in the string at ``place``, as in tables and some exports; else ``place`` itself.

    Python literals, which pandas writes into tables, are read as well.

    Raises :class:`~incumbent.errors.InputError` if it begins like JSON and is invalid.
    """
    if _BEGINS_LIKE_PYTHON.match(place.text):
        return _of_python(place, limits)
    if not _BEGINS_LIKE_JSON.match(place.text):
        return place
    try:
        data = parse_json_text(place.text, str(place), limits).data
    except InputError as error:
        problem = error.problems[0]
        fix = "write JSON, with quotes doubled where the file is a table"
        raise InputError([place.problem(f"{place.name}: {problem.message}", fix)]) from None
    return Node(place.source, place.path, data)


def _of_python(place: Node, limits: ReadingLimits) -> Node:
    """The value of a Python literal at ``place``; ``place`` itself if it is none, or cannot be JSON."""
    try:
        written = _OF_PYTHON.sub(_in_json, place.text)
        return Node(place.source, place.path, parse_json_text(written, str(place), limits).data)
    except (ValueError, SyntaxError, InputError):
        return place


def _in_json(token: re.Match[str]) -> str:
    """A string or a word of Python as JSON."""
    text = token.group()
    if text[0] in "'\"":
        return json.dumps(text[1:-1] if "\\" not in text else ast.literal_eval(text))
    return {"None": "null", "True": "true", "False": "false"}[text]


def located(record: Node, name: str) -> Node | None:
    """The value of ``name``, a key or a dotted path, in ``record``; ``None`` if there is none."""
    place, steps = record, name.split(".")
    while steps:
        # A key may contain dots, as headers of tables do.
        taken = next((n for n in range(len(steps), 0, -1) if place.has(".".join(steps[:n]))), 0)
        if not taken:
            return None
        place, steps = place[".".join(steps[:taken])], steps[taken:]
    return place


def beside_places(record: Node, *places: Node | None) -> dict[str, Data]:
    """The data of ``record`` without the values at ``places``."""
    kept = dict(as_mapping(record.data))
    for place in places:
        if place is not None:
            kept = without(kept, place.path[len(record.path) :])
    return kept


def without(data: dict[str, Data], path: Path) -> dict[str, Data]:
    """``data`` without the value at ``path`` and mappings that become empty."""
    kept = dict(data)
    chain = [kept]
    for step in path[:-1]:
        inner = dict(as_mapping(chain[-1].get(str(step))))
        chain[-1][str(step)] = inner
        chain.append(inner)
    chain[-1].pop(str(path[-1]), None)
    for outer, step in reversed(list(zip(chain, path[:-1], strict=False))):
        if not outer[str(step)]:
            del outer[str(step)]
    return kept
