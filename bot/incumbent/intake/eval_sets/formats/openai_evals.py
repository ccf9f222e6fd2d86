"""Samples of OpenAI's evals, in JSON Lines, and data of its Evals API.

A sample has an ``input``, messages or a text, and for most evals one or several ``ideal`` answers.  Many samples have
the question in a system message: without a message of the user, the last system message that is not a worked example
(``name: example_user``) is the turn.  Lines of the Evals API are ``{"item": {…}, "sample": {…}}``.  The run, not the
data, says which key of an item is the query, so it is found by its usual names or named in ``formats.yaml``.  An ``id``
at any place is used.
"""

from __future__ import annotations

import re
from typing import Final

from incumbent.errors import InputError, Problem, untrusted
from incumbent.files.documents import Data, Node, as_mapping
from incumbent.intake.eval_sets.columns import Columns, declaring, query_keys
from incumbent.intake.eval_sets.inputs import missing_columns
from incumbent.intake.eval_sets.messages import UserTurns, is_messages, read_spoken
from incumbent.intake.eval_sets.plain import ANSWER_KEY, TOOLS_KEY
from incumbent.intake.eval_sets.reader import (
    EvalSetReader,
    EvalSetRow,
    EvalSetRows,
    SourceFile,
    read_records,
    rest_of,
    text_id,
)
from incumbent.intake.eval_sets.records import beside_places, located
from incumbent.intake.query import Setup
from incumbent.text.did_you_mean import did_you_mean

_TELLING: Final = ("ideal", "choice_strings", "completion", "criteria")
"""Other keys of a sample for the evals of the registry."""
_OF_A_LINE: Final = frozenset({"item", "sample"})
"""Keys of a line of the Evals API; keys of a sample may be flattened, as in `sample.output_text`."""
_LOOKED_AT: Final = 50


def _recognises(source: SourceFile) -> bool:
    return source.records.any(lambda record: _is_sample(record) or (_is_line(record) and _may_be_data(record, source)))


def _is_sample(record: Node) -> bool:
    if not record.has("input") or record.has("target"):
        return False
    return record.has("ideal") or (is_messages(record["input"]) and any(record.has(key) for key in _TELLING))


def _is_line(record: Node) -> bool:
    return record["item"].is_mapping and all(key.split(".")[0] in _OF_A_LINE for key, _ in record.entries)


def _may_be_data(record: Node, source: SourceFile) -> bool:
    """Whether an ``item`` may belong to an eval: other lists have items too."""
    return source.lines is not None or len(record.entries) > 1 or bool(_queries(record["item"]))


def _queries(item: Node) -> list[str]:
    return query_keys(key for key, _ in item.entries)


def _read(source: SourceFile) -> EvalSetRows:
    columns = source.columns or Columns()
    wrong = missing_columns(READER.name, source, [record["item"] for record in source.records.places])
    if wrong:
        return EvalSetRows((), (*source.records.problems, *wrong))
    try:
        column = columns.query or _column(source)
    except InputError as error:
        return EvalSetRows((), (*source.records.problems, *error.problems))

    def row(record: Node, problems: list[Problem]) -> EvalSetRow | None:
        if record.has("item") and not record.has("input"):
            return _item_row(record, column, columns, problems)
        return _sample_row(record, problems)

    return read_records(source.records, row, source.folder_limits.queries)


def _column(source: SourceFile) -> str:
    """The key of the query in items, empty without items; raises :class:`InputError` if it is unclear."""
    items = [record["item"] for record in source.records.places if _is_line(record)][:_LOOKED_AT]
    if not items:
        return ""
    keys = list(dict.fromkeys(key for item in items for key, _ in item.entries))
    found = list(dict.fromkeys(key for item in items for key in _queries(item)))
    if len(found) == 1:
        return found[0]
    if found:
        message, example = f"several keys of `item` could hold the query: {' and '.join(map(repr, found))}", found[0]
    else:
        message, example = (
            f"no key of `item` is known to hold the query; there are: {', '.join(keys) or 'none'}",
            "NAME",
        )
    declared = declaring(source.file, source.path, READER.name, source.columns, query=example)
    fix = f"name the key that holds the query: {declared}"
    raise InputError([items[0].problem(message, fix)])


def _sample_row(record: Node, problems: list[Problem]) -> EvalSetRow | None:
    held = record["input"]
    if held.absent:
        hint = did_you_mean("input", {key for key, _ in record.entries} - {"input", *_TELLING})
        problems.append(record.problem(f"the sample has no `input`{hint}", "write the prompt as `input`"))
        return None
    spoken = _spoken(held, problems)
    return EvalSetRow(
        turns=spoken.turns,
        line=record.line,
        id=text_id(record["id"], problems),
        expected=rest_of(record, "id", *(["input"] if spoken.is_text else [])) or None,
        setup=Setup(attachments=spoken.attachments),
    )


def _item_row(record: Node, column: str, columns: Columns, problems: list[Problem]) -> EvalSetRow | None:
    item = record["item"]
    if not item.is_mapping:
        problems.append(item.problem("item: must be an object", 'write `"item": {...}`'))
        return None
    query = located(item, column)
    if query is None or query.absent:
        hint = did_you_mean(column, {key for key, _ in item.entries} - {column})
        fix = f"write what the user says as `{untrusted(column)}`"
        problems.append(item.problem(f"the item has no {column!r}{hint}", fix))
        return None
    spoken = _spoken(query, problems)
    identifier = located(item, columns.id or "id")
    rest = beside_places(item, identifier, query if spoken.is_text else None)
    named = ((ANSWER_KEY, columns.answer), (TOOLS_KEY, columns.tools))
    said = {key: located(item, name) for key, name in named if name is not None}
    expected: dict[str, Data] = {key: place.data for key, place in said.items() if place is not None}
    if rest:
        expected["item"] = rest
    expected |= rest_of(record, "item")
    return EvalSetRow(
        turns=spoken.turns,
        line=record.line,
        id=None if identifier is None else text_id(identifier, problems),
        expected=expected or None,
        setup=Setup(attachments=spoken.attachments),
    )


def _spoken(place: Node, problems: list[Problem]) -> UserTurns:
    """The turns at ``place``: messages of the user, or of the system without any."""
    found: list[Problem] = []
    spoken = read_spoken(place, found)
    if not spoken.turns and is_messages(place):
        asking = [message for message in place.items if _asks(message)]
        if asking:
            return read_spoken(Node(place.source, place.path, [_as_user(asking[-1])]), problems)
    problems.extend(found)
    return spoken


def _asks(message: Node) -> bool:
    return message["role"].text in ("system", "developer") and not message["name"].text.startswith("example")


def _as_user(message: Node) -> Data:
    return {**as_mapping(message.data), "role": "user"}


READER: Final = EvalSetReader(
    name="openai-evals",
    title="samples of OpenAI evals in JSON Lines (`input` and `ideal`), or data of the Evals API (`item`)",
    endings=(".jsonl", ".ndjson", ".json"),
    mark=re.compile(r'"(?:ideal|item|choice_strings|completion|criteria)"\s*:'),
    recognises=_recognises,
    read=_read,
    names_columns=True,
)
