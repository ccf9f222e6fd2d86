"""Samples of Inspect, in JSON Lines.

A sample has ``id``, ``input``, ``target`` (empty where no answer is expected) and ``metadata``; ``choices`` are written
only for samples that were imported with them.  Inspect submits all messages of a sample at once, so conversations are
left out, except those that came as messages with the answers in between.  Inspect opens what ``files``, ``setup``,
``sandbox`` and images name, on the machine it runs on: none of these is ever written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.export.formatting import is_flat_mapping, lines
from bot.export.item import ExportItem, ExportWriter, Written
from bot.export.source_fields import Fields, history, is_texts, own_fields, structured, wanted_calls, with_answer
from bot.files.documents import Data, as_mapping
from bot.intake.expectations.export_round_trip import CARRIED

_FIELDS: Final[Fields] = {
    "target": lambda value: isinstance(value, str) or is_texts(value),
    "choices": is_texts,
    "metadata": is_flat_mapping,
}
_OPENED: Final = ("files", "sandbox", "setup")


def _obstacle(item: ExportItem) -> str | None:
    opened = [key for key in _OPENED if as_mapping(item.expected).get(key)]
    if opened:
        return f"it needs {', '.join(f'`{key}`' for key in opened)}, which the runner would open or run on its machine"
    if len(item.turns) > 1 and history(item, "input") is None:
        return f"it is a conversation of {len(item.turns)} turns, and Inspect submits those of a sample at once"
    return None


def _write(items: Sequence[ExportItem]) -> Written:
    return Written({"regression_set.jsonl": lines(map(_sample, items))}, structured(items, _FIELDS))


def _sample(item: ExportItem) -> dict[str, Data]:
    fields = _fields(item)
    record = item.record(said=item.is_said(_kept(item)))
    metadata = {**as_mapping(fields.get("metadata")), **_tools(item), CARRIED: record}
    return {"id": item.id, "target": "", **fields, "metadata": metadata}


def _fields(item: ExportItem) -> dict[str, Data]:
    messages = history(item, "input")
    own = with_answer(own_fields(item.expected, _FIELDS), "target", item.expectation.answer)
    return {"input": item.turns[0] if messages is None else messages, **own}


def _tools(item: ExportItem) -> dict[str, Data]:
    calls = wanted_calls(item.expectation.tool_calls)
    return {"expected_tools": calls} if calls else {}


def _kept(item: ExportItem) -> dict[str, Data]:
    fields = _fields(item)
    if not isinstance(fields["input"], list):
        del fields["input"]
    return {"target": "", **fields, "metadata": {**as_mapping(fields.get("metadata")), **_tools(item)}}


WRITER: Final = ExportWriter(
    name="inspect",
    title="samples of Inspect (JSON Lines with `input` and `target`)",
    obstacle=_obstacle,
    write=_write,
    returns=lambda item: (_kept(item),),
)
