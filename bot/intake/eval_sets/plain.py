"""Plain files: a list of records with what the user says in one column, in whatever order and with whatever beside it.

The columns are found by their usual names, or as ``formats.yaml`` names them.  Records with the same conversation are
the turns of one query, in the file's order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from bot.documents import Data
from bot.errors import InputError, Problem
from bot.intake.eval_sets.columns import FORMATS_FILE, Columns
from bot.intake.eval_sets.messages import read_spoken
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
    keys: list[str] = []
    broken: set[str] = set()

    def row(record: Place, problems: list[Problem]) -> Row | None:
        read = _row(source, record, found, problems)
        key = "" if found.conversation is None else str(record[found.conversation].data or "")
        if problems or read is None:
            broken.add(key)
        else:
            keys.append(key)
        return read

    reading = read_records(records, row)
    return Reading(tuple(_joined(reading.rows, keys, broken - {""})), reading.problems)


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
            example = f"columns: {{{what}: {candidates[0]}}}"
            fix = f"write `{example}` for this file into {FORMATS_FILE} beside it, with the column that is meant"
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
        fix = f"write `columns: {{query: NAME}}` for this file into {FORMATS_FILE} beside it"
        message = f"no column holds the query; there are: {', '.join(known) or 'none'}"
        problems.append(Problem(source.file, line, message, fix))
    if problems:
        raise InputError(problems)
    return found


def _row(source: Source, record: Place, found: _Found, problems: list[Problem]) -> Row | None:
    held = record[found.query]
    if held.absent:
        problems.append(record.problem(f"{found.query}: the record has no query", "write what the user says"))
        return None
    is_table = source.document is None and source.lines is None
    spoken = read_spoken(decoded(held, source.limits) if is_table else held, problems)
    kept = {found.id, found.conversation} | ({found.query} if spoken.is_text else set())
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


def _joined(rows: Sequence[Row], keys: Sequence[str], broken: Collection[str]) -> list[Row]:
    """``rows``, those that share a key that is not empty joined to one; a conversation that lacks a turn is none."""
    groups: dict[str, list[Row]] = {}
    for place, (row, key) in enumerate(zip(rows, keys, strict=True)):
        groups.setdefault(key or f"\n{place}", []).append(row)
    return [group[0] if len(group) == 1 else _conversation(group) for key, group in groups.items() if key not in broken]


def _conversation(group: list[Row]) -> Row:
    first = group[0]
    attachments = tuple(name for row in group for name in row.setup.attachments)
    return Row(
        turns=tuple(turn for row in group for turn in row.turns),
        line=first.line,
        id=next((row.id for row in group if row.id is not None), None),
        expected={"turns": [row.expected or {} for row in group]},
        setup=Setup(attachments=attachments),
    )
