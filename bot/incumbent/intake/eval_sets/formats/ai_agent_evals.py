"""Data files of Microsoft's GitHub Action and Azure DevOps task ``ai-agent-evals``, in JSON.

``{"name": …, "evaluators": […], "data": [{"query": …}]}``; ``data_mapping`` may name another column for the query, as
``user_question``, ``${data.user_question}`` or ``{{item.user_question}}``.  Other data of an item is kept as its
expectation, together with the document's data for all items: evaluators, their parameters, graders and the mapping.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from incumbent.errors import Problem, untrusted
from incumbent.files.documents import Data, Node, as_mapping
from incumbent.intake.eval_sets.inputs import column_of, path_of
from incumbent.intake.eval_sets.messages import read_spoken
from incumbent.intake.eval_sets.reader import (
    EvalSetReader,
    EvalSetRow,
    EvalSetRows,
    SourceFile,
    bundled,
    read_records,
    rest_of,
    text_id,
)
from incumbent.intake.eval_sets.records import listed
from incumbent.intake.query import Setup
from incumbent.text.did_you_mean import did_you_mean

_QUERY: Final = "query"
_MAPPING: Final = "data_mapping"
_TELLING: Final = ("evaluators", _MAPPING, "openai_graders", "evaluator_parameters")
_OF_THE_FILE: Final = ("$schema", "name", "data")
"""Keys about the document, not about its items."""


def _recognises(source: SourceFile) -> bool:
    data = as_mapping(source.document.data if source.document else None)
    return "data" in data and any(key in data for key in _TELLING)


def _read(source: SourceFile) -> EvalSetRows:
    if source.document is None:
        return EvalSetRows((), (Problem(source.file, 1, "the file holds no JSON object", "write one JSON object"),))
    root = source.root
    if not root["data"].is_list:
        message = (
            f"data: must be a list of objects{'' if root.has('data') else did_you_mean('data', as_mapping(root.data))}"
        )
        place = root["data"] if root.has("data") else root
        return EvalSetRows((), (place.problem(message, 'write `"data": [{"query": "..."}]`'),))
    mapping, problems = _mapping(root)
    of_all = bundled(rest_of(root, *_OF_THE_FILE), "file", _MAPPING)

    def row(record: Node, faults: list[Problem]) -> EvalSetRow | None:
        return _row(record, mapping, of_all, faults)

    reading = read_records(listed(root["data"]), row, source.folder_limits.queries)
    return EvalSetRows(reading.rows, (*problems, *reading.problems))


def _mapping(root: Node) -> tuple[Data, list[Problem]]:
    """The mapping of the query's column (``None``: not given), and its faults."""
    mapping = root[_MAPPING]
    if not mapping.is_mapping and not mapping.absent:
        fix = 'write `"data_mapping": {"query": "NAME"}`, or remove it'
        return None, [mapping.problem(f"{_MAPPING}: must be an object", fix)]
    named = mapping[_QUERY]
    if not named.absent and not named.text:
        fix = "write the name of a column, or remove it"
        return None, [named.problem(f"{named.name}: must be the name of a column", fix)]
    return named.data, []


def _row(record: Node, mapping: Data, of_all: Mapping[str, Data], problems: list[Problem]) -> EvalSetRow | None:
    held = as_mapping(record.data)
    # A mapping that fits some items may not fit others.
    path = path_of(mapping, held) or path_of(_QUERY, held)
    place = record
    for step in path:
        place = place[step]
    if not path or place.absent:
        problems.append(_without_query(record, mapping))
        return None
    spoken = read_spoken(place, problems)
    used = (path[0],) if spoken.is_text and len(path) == 1 else ()
    expected = rest_of(record, "id", *used)
    for key, value in of_all.items():
        # An item's own value has precedence; the file's value is kept under another key.
        expected[f"{key} (of the file)" if key in expected else key] = value
    return EvalSetRow(
        turns=spoken.turns,
        line=record.line,
        id=text_id(record["id"], problems),
        expected=expected or None,
        setup=Setup(attachments=spoken.attachments),
    )


def _without_query(record: Node, mapping: Data) -> Problem:
    column = column_of(mapping) or _QUERY
    named = f", which {_MAPPING} names for the query" if column != _QUERY else ""
    keys = set(as_mapping(record.data))
    message = f"{record.name}: the item has no {column!r}{named}{did_you_mean(column, keys - {column})}"
    return record.problem(message, f'write `"{untrusted(column)}": "..."`, or name the column in {_MAPPING}')


READER: Final = EvalSetReader(
    name="ai-agent-evals",
    title="data file of the GitHub Action ai-agent-evals in JSON (`evaluators` and `data`, perhaps `data_mapping`)",
    endings=(".json",),
    mark=re.compile(r'"(?:evaluators|data_mapping|openai_graders|evaluator_parameters)"\s*:'),
    recognises=_recognises,
    read=_read,
)
