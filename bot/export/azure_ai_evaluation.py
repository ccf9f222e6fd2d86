"""Data of the Azure AI Evaluation SDK, in JSON Lines.

A row has ``query`` and, if known, ``ground_truth`` and ``expected_tool_calls``.  Its further fields (``context``,
``tool_definitions``) are written only for rows that were imported with them.  The target gives the answer.  A row is
one question: conversations are left out, except those that came as messages with the answers in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.export.formatting import lines, sealed
from bot.export.item import ExportItem, ExportWriter, Written
from bot.export.source_fields import Fields, history, is_text, own_fields, structured, wanted_calls, with_answer
from bot.files.documents import Data, as_mapping
from bot.intake.expectations.export_round_trip import CARRIED

_FIELDS: Final[Fields] = {
    "context": is_text,
    "ground_truth": is_text,
    "tool_definitions": lambda value: isinstance(value, list | dict) and bool(value),
}


def _obstacle(item: ExportItem) -> str | None:
    if len(item.turns) > 1 and history(item, "query") is None:
        return f"it is a conversation of {len(item.turns)} turns, and a row there is a single question"
    return None


def _write(items: Sequence[ExportItem]) -> Written:
    return Written({"regression_set.jsonl": lines(map(_row, items))}, structured(items, _FIELDS))


def _row(item: ExportItem) -> dict[str, Data]:
    # As a string: the SDK takes a field `response` at any depth for the agent's answer, where no other is mapped.
    return {"id": item.id, **_fields(item), CARRIED: sealed(item.record(said=item.is_said(_kept(item))))}


def _fields(item: ExportItem) -> dict[str, Data]:
    messages = history(item, "query")
    own = with_answer(own_fields(item.expected, _FIELDS), "ground_truth", item.expectation.answer)
    row: dict[str, Data] = {"query": item.turns[0] if messages is None else messages, **own}
    calls = wanted_calls(item.expectation.tool_calls)
    if calls:
        row["expected_tool_calls"] = [{"type": "tool_call", **as_mapping(call)} for call in calls]
    return row


def _kept(item: ExportItem) -> dict[str, Data]:
    return {key: value for key, value in _fields(item).items() if key != "query" or isinstance(value, list)}


WRITER: Final = ExportWriter(
    name="azure-ai-evaluation",
    title="data of the Azure AI Evaluation SDK (JSON Lines with `query` and `ground_truth`)",
    obstacle=_obstacle,
    write=_write,
    returns=lambda item: (_kept(item),),
)
