"""Data of the Azure AI Evaluation SDK, in JSON Lines or CSV: one record per call of the agent, or per conversation.

The user's words are in ``messages``, else in the ``messages`` of a ``conversation``, else in ``query``: a text or the
messages up to the call.  All messages of the user are turns.  The rest is kept as expectation: ``ground_truth``,
``context``, ``tool_definitions``, and recorded behaviour (``response``, ``tool_calls``, ``actions``).  The SDK has no
ids, but an ``id``, as in data written by ai-agent-evals, is used.
"""

from __future__ import annotations

import re
from typing import Final

from incumbent.errors import Problem
from incumbent.files.documents import Data, Node
from incumbent.files.snapshot import ReadingLimits
from incumbent.intake.eval_sets.messages import has_messages, is_messages, read_spoken
from incumbent.intake.eval_sets.reader import (
    EvalSetReader,
    EvalSetRow,
    EvalSetRows,
    SourceFile,
    read_records,
    rest_of,
    text_id,
)
from incumbent.intake.eval_sets.records import decoded
from incumbent.intake.query import Setup
from incumbent.text.did_you_mean import did_you_mean

_SPOKEN: Final = ("messages", "conversation", "query")
"""Keys of the user's words, in the SDK's order."""

_TELLING: Final = (
    *("response", "ground_truth", "context", "tool_definitions", "tool_calls"),
    *("actions", "expected_actions", "retrieval_ground_truth", "retrieved_documents"),
)
"""Other inputs of the SDK's evaluators."""


def _recognises(source: SourceFile) -> bool:
    return source.records.any(lambda record: _fits(record, source))


def _fits(record: Node, source: SourceFile) -> bool:
    conversation = record["conversation"]
    if has_messages(conversation.data) or (source.is_table and '"messages"' in conversation.text):
        return True
    spoken = record.has("query") or is_messages(record["messages"])
    return spoken and any(record.has(key) for key in _TELLING)


def _read(source: SourceFile) -> EvalSetRows:
    limits = source.limits if source.is_table else None

    def row(record: Node, problems: list[Problem]) -> EvalSetRow | None:
        return _row(record, limits, problems)

    return read_records(source.records, row, source.folder_limits.queries)


def _row(record: Node, limits: ReadingLimits | None, problems: list[Problem]) -> EvalSetRow | None:
    """A record as a row; ``limits`` are given for a table, whose cells are decoded."""
    found = {key: decoded(record[key], limits) if limits else record[key] for key in _SPOKEN}
    given = [key for key in _SPOKEN if _speaks(found[key], key)]
    if not given:
        problems.append(_without_query(record))
        return None
    if "conversation" in given and "query" in given:
        message = "the record has both `conversation` and `query`; the SDK takes one"
        problems.append(record.problem(message, "remove one of them"))
        return None
    key = given[0]
    spoken = read_spoken(found[key], problems)
    expected: dict[str, Data] = {
        name: found[key].data if name == key else value
        for name, value in rest_of(record, "id", *([key] if spoken.is_text else [])).items()
    }
    return EvalSetRow(
        turns=spoken.turns,
        line=record.line,
        id=text_id(record["id"], problems),
        expected=expected or None,
        setup=Setup(attachments=spoken.attachments),
    )


def _speaks(place: Node, key: str) -> bool:
    """Whether ``place`` contains the user's words; a plain value may be a custom name of a conversation."""
    return not place.absent and (key == "query" or place.is_mapping or place.is_list)


def _without_query(record: Node) -> Problem:
    for key in ("conversation", "messages"):
        if not record[key].absent:
            fix = f'write `{{"{key}": {{"messages": [{{"role": "user", "content": "..."}}]}}}}`'
            if key == "messages":
                fix = 'write `{"messages": [{"role": "user", "content": "..."}]}`'
            return record[key].problem(f"{key}: must hold the messages of a conversation", fix)
    hint = did_you_mean("query", {key for key, _ in record.entries} - {*_TELLING, *_SPOKEN})
    return record.problem(f"the record has no `query`{hint}", "write what the user says as `query`")


READER: Final = EvalSetReader(
    name="azure-ai-evaluation",
    title="data of the Azure AI Evaluation SDK in JSON Lines or CSV (`query` with `response`, `context`, "
    "`ground_truth`, ..., or `conversation` with `messages`)",
    endings=(".jsonl", ".ndjson", ".json", ".csv"),
    mark=re.compile(r"\b(?:query|conversation|messages)\b\"?\s*[:,;\n]|[,;]\"?(?:query|conversation|messages)\b"),
    recognises=_recognises,
    read=_read,
)
