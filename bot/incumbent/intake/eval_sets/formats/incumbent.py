"""The product's own eval set format, in YAML or JSON.

Each query has ``turns`` (or ``query`` for a single one), and optionally an ``id``, the ``expected`` answer (any value,
kept unchanged) and a mock ``setup``.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final, cast

from pydantic import Field, JsonValue

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Data, Document, as_list, as_mapping
from incumbent.files.validation import Checked, FileModel, FormatVersion, Text, Tuple, validate
from incumbent.intake.eval_sets.reader import EvalSetReader, EvalSetRow, EvalSetRows, SourceFile, enough, too_many
from incumbent.intake.query import Setup, SpokenFile


class QueryFile(SpokenFile):
    """One query of an eval set."""

    id: Text | None = Field(default=None, description="unique in the folder; made from the turns if absent")
    expected: JsonValue = Field(default=None, description="what is expected of the answer; carried over unchanged")
    setup: Checked[Setup] = Setup()


class EvalSetFile(FileModel):
    """An eval set in Incumbent's own format, for example ``evals.yaml``."""

    eval_set: FormatVersion = Field(description="version of the format")
    queries: Tuple[QueryFile]


def _recognises(source: SourceFile) -> bool:
    data = as_mapping(source.document.data if source.document else None)
    queries = [as_mapping(item) for item in as_list(data.get("queries"))]
    return "eval_set" in data or any("turns" in query or "query" in query for query in queries)


def _read(source: SourceFile) -> EvalSetRows:
    document = cast(Document, source.document)
    data = dict(as_mapping(document.data))
    rows: list[EvalSetRow] = []
    problems: list[Problem] = []
    items = data.get("queries")
    if isinstance(items, list):
        # Queries are validated one by one, so that a broken one does not affect others.
        data["queries"] = []
        for place, item in enumerate(items):
            problem = partial(document.problem, ("queries", place))
            most = source.folder_limits.queries
            if enough(rows, most, problems, problem) or too_many(problems, problem):
                break
            try:
                rows.append(_row(document, item, place))
            except InputError as error:
                problems.extend(error.problems)
    try:
        validate(EvalSetFile, document, data)
    except InputError as error:
        problems.extend(error.problems)
    return EvalSetRows(tuple(rows), tuple(problems))


def _row(document: Document, item: Data, place: int) -> EvalSetRow:
    query = validate(QueryFile, document, item, ("queries", place))
    return EvalSetRow(
        id=query.id,
        turns=query.spoken,
        line=document.line(("queries", place)),
        expected=query.expected,
        setup=query.setup,
    )


READER: Final = EvalSetReader(
    name="incumbent",
    title="Incumbent's own YAML with `eval_set: 1` and `queries`",
    endings=(".yaml", ".yml", ".json"),
    mark=re.compile(r"""\beval_set\b|\bqueries["']?\s*:"""),
    recognises=_recognises,
    read=_read,
)
