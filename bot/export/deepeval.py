"""Goldens of DeepEval, in JSON: one file of single-turn goldens and one of conversational ones, as datasets require.

A golden has ``input``, ``expected_output`` and ``expected_tools``, a conversational one ``scenario``, ``turns`` (the
user's, as JSON in a string, as DeepEval writes them) and ``expected_outcome``; both have ``name`` (the entry's id) and
``additional_metadata``.  The other fields are written only for goldens that were imported with them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from bot.export.formatting import is_flat_mapping, json_document
from bot.export.item import ExportItem, ExportRemark, ExportWriter, Written
from bot.export.source_fields import Fields, is_text, is_texts, own_fields, structured, wanted_calls, with_answer
from bot.files.documents import Data, as_mapping
from bot.intake.expectations.export_round_trip import CARRIED

_BOTH: Final[Fields] = {
    "name": is_text,
    "comments": is_text,
    "context": is_texts,
    "custom_column_key_values": lambda value: is_flat_mapping(value) and is_texts([*as_mapping(value).values()]),
    "additional_metadata": is_flat_mapping,
}
_SINGLE: Final[Fields] = {**_BOTH, "expected_output": is_text, "retrieval_context": is_texts}
_CONVERSATION: Final[Fields] = {**_BOTH, "scenario": is_text, "expected_outcome": is_text, "user_description": is_text}
_IMAGE: Final = re.compile(r"\[DEEPEVAL:(?:IMAGE|PDF):")


def _obstacle(item: ExportItem) -> str | None:
    if any(map(_IMAGE.search, (*item.turns, json.dumps(_fields(item))))):
        return "it holds DeepEval's own mark of an image, which DeepEval would look for"
    return None


def _write(items: Sequence[ExportItem]) -> Written:
    single = [_golden(item, "input") for item in items if len(item.turns) == 1]
    conversations = [_golden(item, "turns") for item in items if len(item.turns) > 1]
    named = {"goldens.json": single, "conversational_goldens.json": conversations}
    files = {name: json_document([*goldens]) for name, goldens in named.items() if goldens}
    message = "DeepEval takes arguments of tools by name only: its expected tool calls are carried, and not compared"
    tools = tuple(ExportRemark(item.id, message) for item in items if _tools(item) is None)
    return Written(files, (*structured(items, {**_SINGLE, **_CONVERSATION}), *tools))


def _golden(item: ExportItem, key: str) -> dict[str, Data]:
    fields = _fields(item)
    said: Data = item.turns[0] if key == "input" else json.dumps(_turns(item), ensure_ascii=False)
    metadata = {**as_mapping(fields.get("additional_metadata")), CARRIED: item.record(said=item.is_said(_kept(item)))}
    return {key: said, **fields, "additional_metadata": metadata}


def _fields(item: ExportItem) -> dict[str, Data]:
    """The fields of a golden except its input or turns."""
    answer = item.expectation.answer
    if len(item.turns) > 1:
        own = with_answer(own_fields(item.expected, _CONVERSATION), "expected_outcome", answer)
        numbered = "\n".join(f"{number}. {turn}" for number, turn in enumerate(item.turns, 1))
        return {"name": item.id, "scenario": f"The user says, in this order:\n{numbered}", **own}
    own = with_answer(own_fields(item.expected, _SINGLE), "expected_output", answer)
    calls = _tools(item)
    tools: dict[str, Data] = {"expected_tools": calls} if calls else {}
    return {"name": item.id, **tools, **own}


def _turns(item: ExportItem) -> list[Data]:
    return [{"role": "user", "content": turn} for turn in item.turns]


def _kept(item: ExportItem) -> dict[str, Data]:
    turns: dict[str, Data] = {"turns": _turns(item)} if len(item.turns) > 1 else {}
    return {**turns, **_fields(item)}


def _tools(item: ExportItem) -> list[Data] | None:
    """The calls that are to be made; ``None`` if DeepEval cannot express their arguments."""
    calls = wanted_calls(item.expectation.tool_calls, "input_parameters")
    return calls if all(isinstance(as_mapping(call).get("input_parameters", {}), dict) for call in calls) else None


WRITER: Final = ExportWriter(
    name="deepeval",
    title="goldens and conversational goldens of DeepEval (JSON)",
    obstacle=_obstacle,
    write=_write,
    returns=lambda item: (_kept(item),),
)
