"""Test sets of Microsoft Copilot Studio, in CSV.

One row is one prompt.  Columns are found by their headers, in any order, ignoring case, spaces and underscores: the
import template, the samples and the exports of Copilot Studio differ.  Rows that share a value in a conversation column
are the turns of one conversation, in the file's order.  Other non-empty cells are kept as expectation under their
headers.  Lines above the header, such as a template's instructions, are skipped.  The separator may be a comma, a
semicolon (used by spreadsheets in many countries) or a tab.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Data, as_list, as_mapping
from incumbent.files.snapshot import MOST_FAULTS
from incumbent.intake.eval_sets.reader import EvalSetReader, EvalSetRow, EvalSetRows, SourceFile, row_left_out, too_many
from incumbent.intake.eval_sets.table import Header, TableLine, TableText, find_header, plain_key
from incumbent.intake.export_round_trip import CARRIED

_PROMPT: Final = frozenset({"prompt", "question", "utterance", "testutterance", "userutterance"})
_EXPECTED: Final = frozenset({"expectedresponse", "expectedanswer"})
_METHOD: Final = frozenset({"testmethodtype", "testmethod", "testingmethod", "testmethodtype1"})
_SCORE: Final = frozenset({"passingscore", "passscore", "passingscore1"})
_CONVERSATION: Final = frozenset({"conversation", "conversationid", "conversationnumber", "conversationname"})
_ID: Final = frozenset({"id", "testid", "testcaseid", "caseid", "queryid"})
_TELLING: Final = _EXPECTED | _METHOD | _SCORE | _CONVERSATION

_HEADER_WITHIN: Final = 30
"""The header is within so many lines: no template has as many lines of instructions."""
_PART: Final = re.compile(r"-\d+\Z")


@dataclass(slots=True)
class _Conversation:
    """The rows collected for one query: the ``lines`` of those that can be read, and the first ``broken`` one."""

    line: int
    lines: list[int] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)
    turns: list[str] = field(default_factory=list)
    expected: list[Data] = field(default_factory=list)
    broken: int | None = None


def _find_header(table: TableText) -> Header | None:
    """The first record with a prompt column and another known column, or with the prompt column alone.

    Alone it counts only at the top, since further down it may be content of another table.
    """
    return find_header(table, _is_header, _HEADER_WITHIN)


def _is_header(line: TableLine) -> bool:
    named = [key for cell in line.cells if (key := plain_key(cell))]
    alone = len(named) == 1 and line.is_first
    return not _PROMPT.isdisjoint(named) and (not _TELLING.isdisjoint(named) or alone)


def _recognises(source: SourceFile) -> bool:
    return _find_header(source.table) is not None


def _read(source: SourceFile) -> EvalSetRows:
    header = _find_header(source.table)
    if header is None:
        return EvalSetRows(())
    problems: list[Problem] = []
    for what, keys in (("the prompt", _PROMPT), ("the conversation", _CONVERSATION), ("the id", _ID)):
        twice = header.columns(keys)
        if len(twice) > 1:
            names = " and ".join(repr(header.names[place].strip()) for place in twice)
            message = f"several columns could hold {what}: {names}"
            problems.append(Problem(source.file, header.line, message, "rename or remove all but one of them"))
    if problems:
        return EvalSetRows((), tuple(problems))
    return _read_rows(source, header)


def _read_rows(source: SourceFile, header: Header) -> EvalSetRows:
    prompt = header.columns(_PROMPT)[0]
    entries = _Entries(source)
    conversation = next(iter(header.columns(_CONVERSATION)), None)
    identifier = next(iter(header.columns(_ID)), None)
    labels = header.labels((prompt, conversation, identifier))
    problems: list[Problem] = []
    found: dict[str, _Conversation] = {}
    for record in header.rows(source.table):
        if too_many(problems, partial(Problem, source.file, record.number)):
            break
        fault = header.fault(record)
        key = record.cell(conversation) or f"\n{record.number}"
        query = found.setdefault(key, _Conversation(record.number))
        if fault is None and not record.cell(prompt):
            fault = ("the prompt is empty", "write what the user says, or remove the row")
        if fault is not None:
            query.broken = query.broken or record.number
            problems.append(Problem(source.file, record.number, *fault))
            continue
        name = record.cell(identifier)
        if name:
            query.ids.setdefault(name, record.number)
        query.lines.append(record.number)
        query.turns.append(record.cells[prompt])
        query.expected.append({label: record.cells[place] for place, label in labels.items() if record.cell(place)})
    rows: list[EvalSetRow] = []
    left_out: list[Problem] = []
    for key, query in found.items():
        if len(query.ids) > 1:
            second = list(query.ids)[1]
            message = f"the conversation {key!r} has a second id, {second!r}"
            fix = "give all rows of a conversation the same id, or only its first"
            problems.append(Problem(source.file, query.ids[second], message, fix))
        elif query.broken is not None:
            left_out += [row_left_out(source.file, line, query.broken) for line in query.lines]
        else:
            entry = entries.take(query.turns[0]) if len(query.turns) == 1 else None
            rows.append(_row(query, entry, grouped=not key.startswith("\n"), conversation=key))
    return EvalSetRows(tuple(rows), (*problems, *left_out[:MOST_FAULTS]), frozenset(entries.used))


class _Entries:
    """The entries of the rows of ``source``, from the list beside it, for formats that cannot store an entry.

    The list of ``set.csv``, and of ``set-01.csv``, is ``set.entries.json``; ``used`` is its path, if it has any rows.
    A broken list is ignored here, and reported as a separate file.
    """

    def __init__(self, source: SourceFile) -> None:
        self.used: set[str] = set()
        self._left: dict[str, deque[dict[str, Data]]] = {}
        name = source.path.rpartition("/")[2]
        stem = name.rpartition(".")[0]
        for reference in dict.fromkeys(f"{each}.entries.json" for each in (stem, _PART.sub("", stem))):
            try:
                other = source.beside(source.root, reference)
            except InputError:
                continue
            for record in map(as_mapping, as_list(as_mapping(other.root.data).get("entries"))):
                prompt = record.get("prompt")
                if record.get("file") == name and isinstance(prompt, str):
                    self.used.add(other.path)
                    kept = {key: value for key, value in record.items() if key not in ("file", "case", "prompt")}
                    self._left.setdefault(prompt.strip(), deque()).append(kept)

    def take(self, prompt: str) -> dict[str, Data] | None:
        """The data of the next row with this prompt, even if rows were moved or removed."""
        left = self._left.get(prompt.strip())
        return left.popleft() if left else None


def _row(query: _Conversation, entry: dict[str, Data] | None, *, grouped: bool, conversation: str) -> EvalSetRow:
    carried = {} if entry is None else {CARRIED: entry}
    expected: Data = {**as_mapping(query.expected[0]), **carried} or None
    if grouped and len(query.turns) > 1:
        expected = {"conversation": conversation, "turns": query.expected}
    return EvalSetRow(id=next(iter(query.ids), None), turns=tuple(query.turns), line=query.line, expected=expected)


READER: Final = EvalSetReader(
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
