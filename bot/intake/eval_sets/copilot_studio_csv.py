"""Test sets of Microsoft Copilot Studio, in CSV.

One row is one prompt.  Columns are found by their headers, in any order, whatever the case, spaces and underscores:
the import template, the samples and the exports of Copilot Studio do not agree on them.  Rows that share a value in a
conversation column are the turns of one conversation, in the file's order.  What else a row holds is expectation and
travels along under its header, cells without content left out.  Lines above the header, such as a template's
instructions, are passed over.  The separator may be a comma, a semicolon (as spreadsheets write it in many countries)
or a tab.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from bot.documents import Data
from bot.errors import Problem
from bot.intake.eval_sets.reader import Reader, Reading, Row, Source

_PROMPT: Final = frozenset({"prompt", "question", "utterance", "testutterance", "userutterance"})
_EXPECTED: Final = frozenset({"expectedresponse", "expectedanswer"})
_METHOD: Final = frozenset({"testmethodtype", "testmethod", "testingmethod", "testmethodtype1"})
_SCORE: Final = frozenset({"passingscore", "passscore", "passingscore1"})
_CONVERSATION: Final = frozenset({"conversation", "conversationid", "conversationnumber", "conversationname"})
_ID: Final = frozenset({"id", "testid", "testcaseid", "caseid", "queryid"})
_TELLING: Final = _EXPECTED | _METHOD | _SCORE | _CONVERSATION

_HEADER_WITHIN: Final = 30
"""The header stands within this many lines: no template has as many lines of instructions."""

_BROKEN_ROWS: Final = 50
"""After so many rows with broken quotes the rest is not read: each of them may send the reader to the file's end."""

# How long a cell may be is said by the limits of files and turns; Python's own limit would break the row.
csv.field_size_limit(2**31 - 1)


@dataclass(frozen=True, slots=True)
class _Header:
    """The header row: its cells, what separates them, the line it begins at; ``width`` is up to its last name."""

    names: tuple[str, ...]
    separator: str
    line: int
    width: int

    def columns(self, keys: frozenset[str]) -> list[int]:
        return [place for place, name in enumerate(self.names) if _key(name) in keys]


@dataclass(frozen=True, slots=True)
class _Line:
    """One record of the file: its cells, or what is wrong with it, and the line it begins at."""

    number: int
    cells: tuple[str, ...] = ()
    fault: str | None = None


@dataclass(slots=True)
class _Conversation:
    """The rows of one query, as they are collected; ``broken`` if one of them cannot be read."""

    line: int
    ids: dict[str, int] = field(default_factory=dict)
    turns: list[str] = field(default_factory=list)
    expected: list[Data] = field(default_factory=list)
    broken: bool = False


def _key(name: str) -> str:
    """A header without what people write differently: case, white space and punctuation."""
    return re.sub(r"[\W_]+", "", name.casefold())


def _lines(text: str, separator: str, first: int = 1) -> Iterator[_Line]:
    """The records of ``text`` from line ``first`` on, blank ones left out.

    An unbalanced quote swallows what follows; reading then goes on below the line it stands in, so that the good rows
    there are not lost with it.
    """
    physical = io.StringIO(text, newline="").readlines()
    start, broken = first, 0
    while start <= len(physical):
        reader = csv.reader(physical[start - 1 :], delimiter=separator, strict=True)
        offset = start - 1
        try:
            before = 0
            for cells in reader:
                number, before = offset + before + 1, reader.line_num
                if any(cell.strip() for cell in cells):
                    yield _Line(number, tuple(cells))
            return
        except csv.Error as error:
            number = offset + before + 1
            yield _Line(number, fault=f"the row cannot be read: {error}")
            start, broken = number + 1, broken + 1
            if broken == _BROKEN_ROWS:
                yield _Line(start, fault="too many rows cannot be read; what follows was not looked at")
                return


def _find_header(text: str) -> _Header | None:
    """The first record with a prompt column and another one that Copilot Studio knows, or the prompt column alone.

    Alone it counts only at the top, since below it may be content of a table of another kind.
    """
    for separator in (",", ";", "\t"):
        for place, record in enumerate(_lines(text, separator)):
            if record.number > _HEADER_WITHIN:
                break
            keys = [_key(cell) for cell in record.cells]
            named = [key for key in keys if key]
            alone = len(named) == 1 and place == 0
            if _PROMPT.intersection(named) and (_TELLING.intersection(named) or alone):
                width = max(number for number, cell in enumerate(record.cells, 1) if cell.strip())
                return _Header(record.cells, separator, record.number, width)
    return None


def _recognises(source: Source) -> bool:
    return _find_header(source.text) is not None


def _read(source: Source) -> Reading:
    header = _find_header(source.text)
    if header is None:
        return Reading(())
    problems: list[Problem] = []
    for what, keys in (("the prompt", _PROMPT), ("the conversation", _CONVERSATION), ("the id", _ID)):
        twice = header.columns(keys)
        if len(twice) > 1:
            names = " and ".join(repr(header.names[place].strip()) for place in twice)
            message = f"several columns could hold {what}: {names}"
            problems.append(Problem(source.file, header.line, message, "rename or remove all but one of them"))
    if problems:
        return Reading((), tuple(problems))
    return _read_rows(source, header)


def _read_rows(source: Source, header: _Header) -> Reading:
    prompt = header.columns(_PROMPT)[0]
    conversation = next(iter(header.columns(_CONVERSATION)), None)
    identifier = next(iter(header.columns(_ID)), None)
    labels = _labels(header, {prompt, conversation, identifier})
    problems: list[Problem] = []
    found: dict[str, _Conversation] = {}
    for record in _lines(source.text, header.separator):
        if record.number <= header.line:
            continue
        fault = _fault(record, header)
        key = _cell(record, conversation) or f"\n{record.number}"
        query = found.setdefault(key, _Conversation(record.number))
        if fault is None and not _cell(record, prompt):
            fault = ("the prompt is empty", "write what the user says, or remove the row")
        if fault is not None:
            query.broken = True
            problems.append(Problem(source.file, record.number, *fault))
            continue
        name = _cell(record, identifier)
        if name:
            query.ids.setdefault(name, record.number)
        query.turns.append(record.cells[prompt])
        query.expected.append({label: record.cells[place] for place, label in labels.items() if _cell(record, place)})
    rows: list[Row] = []
    for key, query in found.items():
        if len(query.ids) > 1:
            second = list(query.ids)[1]
            message = f"the conversation {key!r} has a second id, {second!r}"
            fix = "give all rows of a conversation the same id, or only its first"
            problems.append(Problem(source.file, query.ids[second], message, fix))
        elif not query.broken:
            rows.append(_row(query, grouped=not key.startswith("\n"), conversation=key))
    return Reading(tuple(rows), tuple(problems))


def _row(query: _Conversation, *, grouped: bool, conversation: str) -> Row:
    expected: Data = query.expected[0] or None
    if grouped and len(query.turns) > 1:
        expected = {"conversation": conversation, "turns": query.expected}
    return Row(id=next(iter(query.ids), None), turns=tuple(query.turns), line=query.line, expected=expected)


def _labels(header: _Header, named: set[int | None]) -> Mapping[int, str]:
    """What the cells of each other column are called: the header without white space around it, once each."""
    labels: dict[int, str] = {}
    for place, name in enumerate(header.names):
        if place in named or not name.strip():
            continue
        label, count = name.strip(), 1
        while label in labels.values():
            count += 1
            label = f"{name.strip()} ({count})"
        labels[place] = label
    return labels


def _fault(record: _Line, header: _Header) -> tuple[str, str] | None:
    """What is wrong with the record as a row, and how to mend it."""
    if record.fault is not None:
        return record.fault, 'close every quote; write a quote inside a quoted cell twice: ""'
    cells = list(record.cells)
    while len(cells) > header.width and not cells[-1].strip():
        cells.pop()
    if len(cells) == header.width:
        return None
    fix = (
        "put a cell that holds the separator or a line break into quotes; leave cells empty, but keep their separators"
    )
    return f"the row has {len(cells)} cells, the header {header.width}", fix


def _cell(record: _Line, place: int | None) -> str:
    """The cell in column ``place`` without white space around it; empty if there is none."""
    return record.cells[place].strip() if place is not None and place < len(record.cells) else ""


READER: Final = Reader(
    name="copilot-studio",
    title=f"Copilot Studio test set in CSV (`Prompt` or `Question`, `Expected response`, ... within {_HEADER_WITHIN} "
    "lines, separated by commas, semicolons or tabs)",
    endings=(".csv",),
    mark=re.compile(
        r"expected[\W_]{0,3}(?:response|answer)|test(?:ing)?[\W_]{0,3}method|pass(?:ing)?[\W_]{0,3}score|\bconversation"
        r"|^\W{0,3}(?:prompt|question|(?:test|user)?[\W_]?utterance)\W{0,3}$",
        re.IGNORECASE | re.MULTILINE,
    ),
    recognises=_recognises,
    read=_read,
)
