"""Plain JSON Lines and JSON lists (see :mod:`~bot.intake.eval_sets.plain`)."""

from __future__ import annotations

import re
from typing import Final

from bot.intake.eval_sets.plain import has_query_column, read_plain
from bot.intake.eval_sets.reader import Reader

READER: Final = Reader(
    name="plain-records",
    title="a list of records in JSON Lines or JSON, with the query in a column such as `query`, `prompt` or `question`",
    endings=(".jsonl", ".ndjson", ".json"),
    mark=re.compile(r"quer(?:y|ies)|question|prompt|input|utterance|instruction|message|turns", re.IGNORECASE),
    recognises=has_query_column,
    read=read_plain,
    plain=True,
    names_columns=True,
)
