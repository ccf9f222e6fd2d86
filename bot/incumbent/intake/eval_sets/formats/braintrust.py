"""Datasets of Braintrust, exported by its application or API: JSON, JSON Lines and CSV.

A record has an ``input`` (a text, messages, or a custom mapping) and an ``expected`` value, and also ``id``,
``metadata``, ``tags``, ``created``, ``dataset_id``, ``root_span_id``, ``_xact_id``, ...  The API returns records as
``{"events": [...]}``, answers to its SQL as ``{"data": [...]}``.
See https://www.braintrust.dev/docs/annotate/export and ``DatasetEvent`` in the API's reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from incumbent.errors import Problem
from incumbent.files.documents import Node
from incumbent.intake.eval_sets.inputs import Flattening, Inputs
from incumbent.intake.eval_sets.reader import EvalSetReader, EvalSetRow, EvalSetRows, SourceFile
from incumbent.intake.eval_sets.records import Records, listed
from incumbent.intake.query import Setup

_NAME: Final = "braintrust"
_LISTS: Final = ("events", "rows", "data", "records")
_TELLING: Final = frozenset({"expected", "_xact_id", "_pagination_key", "root_span_id"})
_OTHERS: Final = frozenset({"evaluators", "data_mapping", "openai_graders"})
"""Keys of ai-agent-evals documents, which have ``data`` too."""

_COLUMN: Final = re.compile(r"(input|expected|metadata)\.(.+)", re.DOTALL)
_FLATTENING: Final = Flattening(
    column=_COLUMN,
    groups={key: key for key in ("input", "expected", "output", "metadata", "tags", "origin", "classifications")},
    inputs="input",
)
_ATTACHMENTS: Final = frozenset({"braintrust_attachment", "external_attachment", "inline_attachment"})


def _records(source: SourceFile) -> Records:
    if not source.root.is_mapping:
        return source.records
    root = source.root
    if any(root.has(key) for key in _OTHERS):
        return Records(())
    return next((listed(root[key]) for key in _LISTS if root[key].is_list), Records(()))


def _recognises(source: SourceFile) -> bool:
    keys = source.keys_of(_records(source))
    split = {match[1] for key in keys if (match := _COLUMN.fullmatch(key))} if source.is_table else set()
    return "input" in keys | split and not _TELLING.isdisjoint(keys | split)


def _read(source: SourceFile) -> EvalSetRows:
    records = _records(source)
    if source.is_table:
        source, records = _FLATTENING.undone(source)
    inputs = Inputs(format=_NAME, key="input", source=source)

    def row(record: Node, problems: list[Problem]) -> EvalSetRow | None:
        return inputs.row(record, problems, Setup(attachments=tuple(_attachments(record["input"]))))

    return inputs.reading(records, row)


def _attachments(place: Node) -> Iterator[str]:
    """The names of the files anywhere in an input."""
    waiting = [place]
    while waiting:
        held = waiting.pop()
        if held["type"].text in _ATTACHMENTS:
            yield held["filename"].text or held["url"].text or held["type"].text
        else:
            inner = [*held.items, *(value for _, value in held.entries)]
            waiting.extend(each for each in reversed(inner) if each.is_mapping or each.is_list)


READER: Final = EvalSetReader(
    name=_NAME,
    title="Braintrust dataset in JSON, JSON Lines or CSV (`input` and `expected`)",
    endings=(".json", ".jsonl", ".ndjson", ".csv", ".tsv"),
    mark=re.compile(
        r'\A(?=.*?"input"\s*+:)(?=.*?"(?:expected|_xact_id|_pagination_key|root_span_id)"\s*+:)'
        r"|\A\s*+(?=[^\n]*\binput\b)(?=[^\n]*\b(?:expected|_xact_id|_pagination_key|root_span_id)\b)",
        re.DOTALL,
    ),
    recognises=_recognises,
    read=_read,
    names_columns=True,
)
