"""Plain files: a list of records with what the user says in one column, in whatever order and with whatever beside it.

The columns are found by their usual names, or as ``formats.yaml`` names them.  Records with the same conversation are
the turns of one query, in the file's order; its id is the one that they share, else that of the conversation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.documents import Data, as_mapping
from bot.errors import InputError, Problem
from bot.intake.eval_sets.columns import FORMATS_FILE, Columns
from bot.intake.eval_sets.messages import has_messages, is_messages, read_spoken
from bot.intake.eval_sets.reader import Source
from bot.intake.eval_sets.records import Records, decoded
from bot.intake.eval_sets.rows import Reading, Row, read_records, text_id
from bot.intake.eval_sets.table import plain_key
from bot.intake.place import Place
from bot.intake.query import Setup

ANSWER_KEY: Final = "expected_response"
TOOLS_KEY: Final = "expected_tools"

QUERY_NAMES: Final = frozenset(
    {
        *("query", "question", "prompt", "input", "utterance", "instruction", "turns", "messages"),
        *("userquery", "userinput", "userprompt", "usermessage", "userquestion", "userutterance", "testutterance"),
    }
)
_ID_NAMES: Final = frozenset({"id", "qid", "queryid", "questionid", "promptid", "testid", "testcaseid", "caseid"})
_CONVERSATION_NAMES: Final = frozenset({"conversation", "conversationid", "conversationnumber", "conversationname"})

_JSON: Final = re.compile(r"\[\s*[\[{\"]|\{\s*\"")
"""How turns or messages in JSON begin; a text such as `[urgent] ...` does not."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The columns of a file by their names in it; ``None`` where there is none."""

    query: str
    id: str | None
    conversation: str | None
    answer: str | None
    tools: str | None


def has_query_column(source: Source) -> bool:
    """Whether the records of ``source`` have a column that may hold what the user says."""
    return any(plain_key(key) in QUERY_NAMES for key in source.records.keys)


def read_plain(source: Source) -> Reading:
    """The records of ``source`` as rows; what is no turn, id or conversation is expectation, unchanged."""
    records = source.records
    columns = source.columns or Columns()
    try:
        found = _find(source, records, columns)
    except InputError as error:
        return Reading((), (*records.problems, *error.problems))
    keys: list[str | None] = []
    broken: set[str] = set()

    def row(record: Place, problems: list[Problem]) -> Row | None:
        key = None if found.conversation is None else text_id(record[found.conversation], problems)
        try:
            read = _row(source, record, found, problems)
        except InputError as error:
            read, problems[:] = None, [*problems, *error.problems]
        if problems or read is None:
            broken.update({key} if key else ())
        else:
            keys.append(key or None)
        return read

    reading = read_records(records, row)
    return Reading(tuple(_joined(reading.rows, keys, broken, found)), reading.problems)


def _find(source: Source, records: Records, columns: Columns) -> _Found:
    """The columns of the file; raises :class:`InputError` if there are several for one thing, or none for the query."""
    known = sorted(records.keys)
    line = records.places[0].line if records.places else 1
    problems: list[Problem] = []

    def column(what: str, named: str | None, usual: frozenset[str]) -> str | None:
        if named is not None:
            if named not in known:
                message = f"no record has the column {named!r}, which {FORMATS_FILE} names for {what}"
                problems.append(Problem(source.file, line, message, f"name one of: {', '.join(known) or 'none'}"))
            return named
        candidates = [key for key in known if plain_key(key) in usual]
        if len(candidates) > 1:
            told = " and ".join(map(repr, candidates))
            fix = f"write {_declaration(source, what, candidates[0])}, with the column that is meant"
            problems.append(Problem(source.file, line, f"several columns could hold the {what}: {told}", fix))
        return candidates[0] if candidates else None

    query = column("query", columns.query, QUERY_NAMES)
    found = _Found(
        query=query or "",
        id=column("id", columns.id, _ID_NAMES),
        conversation=column("conversation", columns.conversation, _CONVERSATION_NAMES),
        answer=columns.answer and column("answer", columns.answer, frozenset()),
        tools=columns.tools and column("tools", columns.tools, frozenset()),
    )
    if query is None:
        fix = f"write {_declaration(source, 'query', 'NAME')}, with the column's name"
        message = f"no column holds the query; there are: {', '.join(known) or 'none'}"
        problems.append(Problem(source.file, line, message, fix))
    for meant, name in ((ANSWER_KEY, found.answer), (TOOLS_KEY, found.tools)):
        if name is not None and name != meant and meant in known:
            message = f"the column {meant!r} stands beside {name!r}, which {FORMATS_FILE} names for the same"
            problems.append(Problem(source.file, line, message, "name that one, or rename one of the two"))
    if problems:
        raise InputError(problems)
    return found


def _is_table(source: Source) -> bool:
    return source.document is None and source.lines is None


def _declaration(source: Source, what: str, column: str) -> str:
    """The line of ``formats.yaml`` that says which column of the file holds ``what``, and where to write it."""
    columns = {key: value for key, value in (source.columns or Columns()) if value is not None} | {what: column}
    told = ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in columns.items())
    kind = "plain-table" if _is_table(source) else "plain-records"
    line = f"files: {{{json.dumps(source.path)}: {{format: {kind}, columns: {{{told}}}}}}}"
    return f"`formats: 1` and `{line}` into {FORMATS_FILE} of the folder"


def _row(source: Source, record: Place, found: _Found, problems: list[Problem]) -> Row | None:
    held = record[found.query]
    if held.absent:
        problems.append(record.problem(f"{found.query}: the record has no query", "write what the user says"))
        return None
    is_table = _is_table(source)
    spoken = read_spoken(_from_cell(held, source) if is_table else held, problems)
    kept = {found.id} | ({found.query} if spoken.is_text else set())
    renamed = {found.answer: ANSWER_KEY, found.tools: TOOLS_KEY}
    expected: dict[str, Data] = {
        renamed.get(key, key): decoded(place, source.limits).data if is_table and key == found.tools else place.data
        for key, place in record.entries
        if key not in kept
    }
    return Row(
        turns=spoken.turns,
        line=record.line,
        id=text_id(record[found.id], problems) if found.id is not None else None,
        expected=expected or None,
        setup=Setup(attachments=spoken.attachments),
    )


def _from_cell(cell: Place, source: Source) -> Place:
    """What a cell holds: turns or messages in JSON, else its text, which may begin with a bracket like any other."""
    if not _JSON.match(cell.text):
        return cell
    inner = decoded(cell, source.limits)
    texts = inner.is_list and bool(inner.items) and all(isinstance(item.data, str) for item in inner.items)
    return inner if texts or is_messages(inner) or has_messages(inner.data) else cell


def _joined(rows: Sequence[Row], keys: Sequence[str | None], broken: Collection[str], found: _Found) -> Iterator[Row]:
    """``rows``, those that share a key joined to one; a conversation that lacks a turn is none."""
    groups: dict[str | int, list[Row]] = {}
    for place, (row, key) in enumerate(zip(rows, keys, strict=True)):
        groups.setdefault(place if key is None else key, []).append(row)
    for name, group in groups.items():
        if name not in broken:
            yield group[0] if len(group) == 1 else _conversation(str(name), group, found)


def _conversation(key: str, group: list[Row], found: _Found) -> Row:
    ids = list(dict.fromkeys(row.id for row in group if row.id is not None))
    several = len(ids) > 1
    turns: list[Data] = []
    for row in group:
        rest = {name: value for name, value in as_mapping(row.expected).items() if name != found.conversation}
        if several and found.id is not None and row.id is not None:
            rest = {found.id: row.id, **rest}
        # What is expected of several turns that stand in one record is expected of the last of them.
        turns.extend([*({} for _ in row.turns[1:]), rest])
    return Row(
        turns=tuple(turn for row in group for turn in row.turns),
        line=group[0].line,
        id=key if several else next(iter(ids), None),
        expected={"conversation": key, "turns": turns},
        setup=Setup(attachments=tuple(name for row in group for name in row.setup.attachments)),
    )
