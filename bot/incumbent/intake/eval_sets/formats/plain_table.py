"""Plain tables in CSV, separated by commas, semicolons or tabs (see :mod:`~incumbent.intake.eval_sets.plain`)."""

from __future__ import annotations

from typing import Final

from incumbent.intake.eval_sets.plain import MARK, has_query_column, read_plain
from incumbent.intake.eval_sets.reader import EvalSetReader

READER: Final = EvalSetReader(
    name="plain-table",
    title="a table in CSV, with the query in a column such as `query`, `prompt` or `question`",
    endings=(".csv", ".tsv"),
    mark=MARK,
    recognises=has_query_column,
    read=read_plain,
    plain=True,
    names_columns=True,
)
