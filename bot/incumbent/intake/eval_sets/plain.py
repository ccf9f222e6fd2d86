"""Plain files: a list of records with the user's words in one column, and any other columns in any order.

Columns are found by their usual names, or named in ``formats.yaml``.  Records with the same conversation are the turns
of one query, in the file's order; its id is the one that they share, else that of the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from incumbent.errors import InputError, Problem, untrusted_list
from incumbent.files.documents import Data, Node, as_mapping
from incumbent.files.snapshot import MOST_FAULTS
from incumbent.intake.eval_sets.columns import CONVERSATION_NAMES, ID_NAMES, Columns, declaring, named, query_keys
from incumbent.intake.eval_sets.messages import has_messages, is_messages, read_spoken
from incumbent.intake.eval_sets.reader import (
    EvalSetRow,
    EvalSetRows,
    SourceFile,
    beside,
    read_records,
    row_left_out,
    text_id,
)
from incumbent.intake.eval_sets.records import Records, decoded, located, without
from incumbent.intake.query import Setup

ANSWER_KEY: Final = "expected_response"
TOOLS_KEY: Final = "expected_tools"

MARK: Final = re.compile(
    r"quer(?:y|ies)|question|prompt|input|utterance|instruction|message|turns|request|ticket|task|text",
    re.IGNORECASE,
)
"""Words in names of columns of queries."""


def has_query_column(source: SourceFile) -> bool:
    """Whether the records of ``source`` have a column that may contain the user's words."""
    return bool(query_keys(source.keys_of(source.records)))


def read_plain(
    source: SourceFile, records: Records | None = None, shared: Mapping[str, Data] | None = None
) -> EvalSetRows:
    """The records of ``source`` as rows; all but turns, id and conversation is kept as expectation.

    ``records`` are those of a list inside the file, ``shared`` is the file's data for all of them.
    """
    records = source.records if records is None else records
    columns = source.columns or Columns()
    try:
        queries, found = _find(source, records, columns)
    except InputError as error:
        return EvalSetRows((), (*records.problems, *error.problems))
    keys: list[str | None] = []
    broken: dict[str, int | None] = {}

    def row(record: Node, problems: list[Problem]) -> EvalSetRow | None:
        group = _at(record, found.conversation)
        key = None if group is None else text_id(group, problems)
        try:
            read = _row(source, record, queries, found, shared or {}, problems)
        except InputError as error:
            read, problems[:] = None, [*problems, *error.problems]
        if (problems or read is None) and key:
            broken.setdefault(key, record.line)
        elif not problems and read is not None:
            keys.append(key or None)
        return read

    limits = source.folder_limits
    reading = read_records(records, row, limits.queries * (1 if found.conversation is None else limits.turns))
    left_out = [
        row_left_out(source.file, row.line, broken[key])
        for row, key in zip(reading.rows, keys, strict=True)
        if key in broken
    ]
    problems = (*reading.problems, *left_out[:MOST_FAULTS])
    return EvalSetRows(tuple(_joined(reading.rows, keys, broken, found)), problems)


def _find(source: SourceFile, records: Records, columns: Columns) -> tuple[tuple[str, ...], Columns]:
    """The columns of the file: those of the query, of which each record has one, and the others.

    Raises :class:`InputError` if one is ambiguous, or if there is none for the query.
    """
    known = sorted(source.keys_of(records))
    line = records.places[0].line if records.places else 1
    problems: list[Problem] = []

    def column(what: str, declared: str | None, candidates: Sequence[str] = ()) -> str | None:
        if declared is not None:
            if declared not in known and all(located(record, declared) is None for record in records.places):
                message = f"no record has the column {declared!r}, which is named for the {what}"
                problems.append(Problem(source.file, line, message, f"name one of: {untrusted_list(known) or 'none'}"))
            return declared
        if len(candidates) > 1:
            options = " and ".join(map(repr, candidates))
            fix = f"name the column that is meant: {declaration(source, what, candidates[0])}"
            problems.append(Problem(source.file, line, f"several columns could hold the {what}: {options}", fix))
        return candidates[0] if candidates else None

    could_be = query_keys(known)
    is_mixed = columns.query is None and _take_turns(records, could_be)
    query = None if is_mixed else column("query", columns.query, could_be)
    found = columns.model_copy(
        update={
            "id": column("id", columns.id, named(known, frozenset({"id"})) or named(known, ID_NAMES)),
            "conversation": column("conversation", columns.conversation, named(known, CONVERSATION_NAMES)),
            "answer": column("answer", columns.answer),
            "tools": column("tools", columns.tools),
        }
    )
    if query is None and not is_mixed:
        fix = f"name the column (`outer.inner` inside another): {declaration(source, 'query', 'NAME')}"
        message = f"no column holds the query; there are: {', '.join(known) or 'none'}"
        problems.append(Problem(source.file, line, message, fix))
    for meant, name in ((ANSWER_KEY, found.answer), (TOOLS_KEY, found.tools)):
        if name is not None and name != meant and meant in known:
            message = f"the column {meant!r} is next to {name!r}, which is named for the same"
            problems.append(Problem(source.file, line, message, "name that one, or rename one of the two"))
    if problems:
        raise InputError(problems)
    return tuple(could_be) if is_mixed else (query or "",), found


def _take_turns(records: Records, names: Sequence[str]) -> bool:
    """Whether some records have only one of ``names``, and others only another."""
    filled = [_filled(record, names) for record in records.places]
    return len({alone[0] for alone in filled if len(alone) == 1}) > 1


def _filled(record: Node, names: Sequence[str]) -> list[str]:
    """Those of ``names`` that are not empty in ``record``."""
    return [name for name in names if record[name].data not in (None, "", [])]


def declaration(source: SourceFile, what: str, column: str) -> str:
    """A fix: the declaration in ``formats.yaml`` that ``column`` of the file contains ``what``."""
    return declaring(source.file, source.path, kind_of(source), source.columns, **{what: column})


def kind_of(source: SourceFile) -> str:
    """The name of the plain format of ``source``."""
    return "plain-table" if source.is_table else "plain-records"


def _at(record: Node, name: str | None) -> Node | None:
    return None if name is None else located(record, name)


def _row(
    source: SourceFile,
    record: Node,
    queries: Sequence[str],
    found: Columns,
    shared: Mapping[str, Data],
    problems: list[Problem],
) -> EvalSetRow | None:
    filled = _filled(record, queries) if len(queries) > 1 else ()
    if len(filled) > 1:
        both = " and ".join(map(repr, filled))
        problems.append(record.problem(f"the record has {both}, and one of them is the query", "keep that one"))
        return None
    asked = filled[0] if filled else queries[0]
    held = _at(record, asked)
    if held is None or held.absent:
        problems.append(record.problem(f"{' or '.join(queries)}: the record has no query", "write what the user says"))
        return None
    if held.is_mapping and not has_messages(held.data):
        problems.append(_undecided(source, held, asked))
        return None
    spoken = read_spoken(_from_cell(held, source) if source.is_table else held, problems)
    identifier = _at(record, found.id)
    expected = dict(as_mapping(record.data))
    for name, key in ((found.answer, ANSWER_KEY), (found.tools, TOOLS_KEY)):
        place = _at(record, name)
        if place is not None:
            value = decoded(place, source.limits) if source.is_table and key == TOOLS_KEY else place
            expected = without(expected, place.path[len(record.path) :]) | {key: value.data}
    for place in (identifier, held if spoken.is_text else None):
        if place is not None:
            expected = without(expected, place.path[len(record.path) :])
    return EvalSetRow(
        turns=spoken.turns,
        line=record.line,
        id=None if identifier is None else text_id(identifier, problems),
        expected=beside(expected, shared) or None,
        setup=Setup(attachments=spoken.attachments),
    )


def _undecided(source: SourceFile, held: Node, name: str) -> Problem:
    """The problem of a query that is an object: it is unclear which value is the user's."""
    keys = ", ".join(key for key, _ in held.entries[:20]) or "none"
    longest = max(held.entries, key=lambda entry: len(entry[1].text), default=("NAME", held))
    message = f"{held.name}: is an object, of whose values ({keys}) one must be named"
    fix = f"name what the user says: {declaration(source, 'query', f'{name}.{longest[0]}')}"
    return held.problem(message, fix)


def _from_cell(cell: Node, source: SourceFile) -> Node:
    """The content of a cell: turns or messages in JSON, else its text, which may begin with a bracket too."""
    inner = decoded(cell, source.limits)
    texts = inner.is_list and bool(inner.items) and all(isinstance(item.data, str) for item in inner.items)
    return inner if texts or is_messages(inner) or has_messages(inner.data) else cell


def _joined(
    rows: Sequence[EvalSetRow], keys: Sequence[str | None], broken: Collection[str], found: Columns
) -> Iterator[EvalSetRow]:
    """``rows``, with those that share a key joined; conversations with a broken row are left out."""
    groups: dict[str | int, list[EvalSetRow]] = {}
    for place, (row, key) in enumerate(zip(rows, keys, strict=True)):
        groups.setdefault(place if key is None else key, []).append(row)
    for name, group in groups.items():
        if name not in broken:
            yield group[0] if len(group) == 1 else _conversation(str(name), group, found)


def _conversation(key: str, group: list[EvalSetRow], found: Columns) -> EvalSetRow:
    ids = list(dict.fromkeys(row.id for row in group if row.id is not None))
    several = len(ids) > 1
    turns: list[Data] = []
    for row in group:
        rest = {name: value for name, value in as_mapping(row.expected).items() if name != found.conversation}
        if several and found.id is not None and row.id is not None:
            rest = {found.id: row.id, **rest}
        # The expectation of a record with several turns applies to the last of them.
        turns.extend([*({} for _ in row.turns[1:]), rest])
    return EvalSetRow(
        turns=tuple(turn for row in group for turn in row.turns),
        line=group[0].line,
        id=key if several else next(iter(ids), None),
        expected={"conversation": key, "turns": turns},
        setup=Setup(attachments=tuple(name for row in group for name in row.setup.attachments)),
    )
