"""Plain JSON Lines: one entry a line.

Every line has ``id`` and ``turns``; ``expected_response`` (of the last turn) and ``expected_tools`` if known; and under
``incumbent`` the capabilities, the source, the set-up and what was expected, as the customer wrote it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.export.formatting import lines
from bot.export.item import ExportItem, ExportWriter, Written
from bot.export.source_fields import wanted_calls
from bot.files.documents import Data
from bot.intake.expectations.export_round_trip import CARRIED

_ANSWER: Final = "expected_response"
_TOOLS: Final = "expected_tools"


def _write(items: Sequence[ExportItem]) -> Written:
    return Written({"regression_set.jsonl": lines(map(_line, items))})


def _line(item: ExportItem) -> dict[str, Data]:
    fields = _fields(item)
    return {"id": item.id, "turns": [*item.turns], **fields, CARRIED: item.record(said=item.is_said(fields))}


def _fields(item: ExportItem) -> dict[str, Data]:
    fields: dict[str, Data] = {}
    if item.expectation.answer is not None:
        fields[_ANSWER] = item.expectation.answer
    calls = wanted_calls(item.expectation.tool_calls)
    if calls:
        fields[_TOOLS] = calls
    return fields


WRITER: Final = ExportWriter(
    name="jsonl",
    title="plain JSON Lines with `id`, `turns`, `expected_response`, `expected_tools` and everything else",
    obstacle=lambda item: None,
    write=_write,
    returns=lambda item: (_fields(item),),
    attaches=True,
)
