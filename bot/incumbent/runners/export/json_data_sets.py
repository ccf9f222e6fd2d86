"""Data sets in JSON and JSON Lines: plain lines, the Azure AI Evaluation SDK, Inspect and DeepEval.

A field that only some of a target's data have is written only for entries that were imported with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from incumbent.files.documents import Data, as_mapping
from incumbent.intake.export_round_trip import CARRIED
from incumbent.runners.export.item import (
    ExportItem,
    ExportRemark,
    ExportWriter,
    Fields,
    Written,
    history,
    is_flat_mapping,
    is_text,
    is_texts,
    json_document,
    lines,
    own_fields,
    sealed,
    structured,
    wanted_calls,
    with_answer,
)

# Plain JSON Lines, one entry a line: `id` and `turns`; `expected_response` (of the last turn) and `expected_tools` if
# known; and under `incumbent` the capabilities, the source, the set-up and what was expected, as the customer wrote it.


def _write_lines(items: Sequence[ExportItem]) -> Written:
    return Written({"regression_set.jsonl": lines(map(_line, items))})


def _line(item: ExportItem) -> dict[str, Data]:
    fields = _line_fields(item)
    return {"id": item.id, "turns": [*item.turns], **fields, CARRIED: item.record(said=item.is_said(fields))}


def _line_fields(item: ExportItem) -> dict[str, Data]:
    answer = item.expectation.answer
    return {**({} if answer is None else {"expected_response": answer}), **_expected_tools(item)}


def _expected_tools(item: ExportItem) -> dict[str, Data]:
    calls = wanted_calls(item.expectation.tool_calls)
    return {"expected_tools": calls} if calls else {}


JSON_LINES: Final = ExportWriter(
    name="jsonl",
    title="plain JSON Lines with `id`, `turns`, `expected_response`, `expected_tools` and everything else",
    obstacle=lambda item: None,
    write=_write_lines,
    returns=lambda item: (_line_fields(item),),
    attaches=True,
)


def _question(item: ExportItem, key: str, fields: Fields, answer: str) -> dict[str, Data]:
    """A row of a target that asks one question: under ``key``, or a conversation that came as messages there."""
    messages = history(item, key)
    own = with_answer(own_fields(item.expected, fields), answer, item.expectation.answer)
    return {key: item.turns[0] if messages is None else messages, **own}


def _without_question(row: Mapping[str, Data], key: str) -> dict[str, Data]:
    """The fields of ``row`` that the target's reader keeps."""
    return {name: value for name, value in row.items() if name != key or isinstance(value, list)}


# The Azure AI Evaluation SDK, in JSON Lines: `query` and, if known, `ground_truth` and `expected_tool_calls`.  The
# target gives the answer.  A row is one question: conversations are left out, except those that came as messages with
# the answers in between.

_AZURE: Final[Fields] = {
    "context": is_text,
    "ground_truth": is_text,
    "tool_definitions": lambda value: isinstance(value, list | dict) and bool(value),
}


def _azure_obstacle(item: ExportItem) -> str | None:
    if len(item.turns) > 1 and history(item, "query") is None:
        return f"it is a conversation of {len(item.turns)} turns, and a row there is a single question"
    return None


def _write_azure(items: Sequence[ExportItem]) -> Written:
    return Written({"regression_set.jsonl": lines(map(_azure_row, items))}, structured(items, _AZURE))


def _azure_row(item: ExportItem) -> dict[str, Data]:
    # As a string: the SDK takes a field `response` at any depth for the agent's answer, where no other is mapped.
    return {"id": item.id, **_azure_fields(item), CARRIED: sealed(item.record(said=item.is_said(_azure_kept(item))))}


def _azure_fields(item: ExportItem) -> dict[str, Data]:
    row = _question(item, "query", _AZURE, "ground_truth")
    calls = wanted_calls(item.expectation.tool_calls)
    if calls:
        row["expected_tool_calls"] = [{"type": "tool_call", **as_mapping(call)} for call in calls]
    return row


def _azure_kept(item: ExportItem) -> dict[str, Data]:
    return _without_question(_azure_fields(item), "query")


AZURE_AI_EVALUATION: Final = ExportWriter(
    name="azure-ai-evaluation",
    title="data of the Azure AI Evaluation SDK (JSON Lines with `query` and `ground_truth`)",
    obstacle=_azure_obstacle,
    write=_write_azure,
    returns=lambda item: (_azure_kept(item),),
)

# Inspect, in JSON Lines: `id`, `input`, `target` (empty where no answer is expected) and `metadata`.  Inspect submits
# all messages of a sample at once, so conversations are left out, except those that came as messages with the answers
# in between.  It opens what `files`, `setup`, `sandbox` and images name, on the machine it runs on: none of these is
# ever written.

_SAMPLE: Final[Fields] = {
    "target": lambda value: isinstance(value, str) or is_texts(value),
    "choices": is_texts,
    "metadata": is_flat_mapping,
}
_OPENED: Final = ("files", "sandbox", "setup")


def _sample_obstacle(item: ExportItem) -> str | None:
    opened = [key for key in _OPENED if as_mapping(item.expected).get(key)]
    if opened:
        return f"it needs {', '.join(f'`{key}`' for key in opened)}, which the runner would open or run on its machine"
    if len(item.turns) > 1 and history(item, "input") is None:
        return f"it is a conversation of {len(item.turns)} turns, and Inspect submits those of a sample at once"
    return None


def _write_samples(items: Sequence[ExportItem]) -> Written:
    return Written({"regression_set.jsonl": lines(map(_sample, items))}, structured(items, _SAMPLE))


def _sample(item: ExportItem) -> dict[str, Data]:
    fields = _question(item, "input", _SAMPLE, "target")
    record = item.record(said=item.is_said(_sample_kept(item)))
    metadata = {**as_mapping(fields.get("metadata")), **_expected_tools(item), CARRIED: record}
    return {"id": item.id, "target": "", **fields, "metadata": metadata}


def _sample_kept(item: ExportItem) -> dict[str, Data]:
    fields = _without_question(_question(item, "input", _SAMPLE, "target"), "input")
    return {"target": "", **fields, "metadata": {**as_mapping(fields.get("metadata")), **_expected_tools(item)}}


INSPECT: Final = ExportWriter(
    name="inspect",
    title="samples of Inspect (JSON Lines with `input` and `target`)",
    obstacle=_sample_obstacle,
    write=_write_samples,
    returns=lambda item: (_sample_kept(item),),
)

# DeepEval, in JSON: one file of single-turn goldens and one of conversational ones, as its data sets require.  A golden
# has `input`, `expected_output` and `expected_tools`, a conversational one `scenario`, `turns` (the user's, as JSON in
# a string, as DeepEval writes them) and `expected_outcome`; both have `name` (the entry's id) and
# `additional_metadata`.

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


def _golden_obstacle(item: ExportItem) -> str | None:
    if any(map(_IMAGE.search, (*item.turns, json.dumps(_golden_fields(item))))):
        return "it holds DeepEval's own mark of an image, which DeepEval would look for"
    return None


def _write_goldens(items: Sequence[ExportItem]) -> Written:
    single = [_golden(item, "input") for item in items if len(item.turns) == 1]
    conversations = [_golden(item, "turns") for item in items if len(item.turns) > 1]
    named = {"goldens.json": single, "conversational_goldens.json": conversations}
    files = {name: json_document([*goldens]) for name, goldens in named.items() if goldens}
    message = "DeepEval takes arguments of tools by name only: its expected tool calls are carried, and not compared"
    tools = tuple(ExportRemark(item.id, message) for item in items if _golden_tools(item) is None)
    return Written(files, (*structured(items, {**_SINGLE, **_CONVERSATION}), *tools))


def _golden(item: ExportItem, key: str) -> dict[str, Data]:
    fields = _golden_fields(item)
    said: Data = item.turns[0] if key == "input" else json.dumps(_user_turns(item), ensure_ascii=False)
    record = item.record(said=item.is_said(_golden_kept(item)))
    metadata = {**as_mapping(fields.get("additional_metadata")), CARRIED: record}
    return {key: said, **fields, "additional_metadata": metadata}


def _golden_fields(item: ExportItem) -> dict[str, Data]:
    """The fields of a golden except its input or turns."""
    answer = item.expectation.answer
    if len(item.turns) > 1:
        own = with_answer(own_fields(item.expected, _CONVERSATION), "expected_outcome", answer)
        numbered = "\n".join(f"{number}. {turn}" for number, turn in enumerate(item.turns, 1))
        return {"name": item.id, "scenario": f"The user says, in this order:\n{numbered}", **own}
    own = with_answer(own_fields(item.expected, _SINGLE), "expected_output", answer)
    calls = _golden_tools(item)
    tools: dict[str, Data] = {"expected_tools": calls} if calls else {}
    return {"name": item.id, **tools, **own}


def _user_turns(item: ExportItem) -> list[Data]:
    return [{"role": "user", "content": turn} for turn in item.turns]


def _golden_kept(item: ExportItem) -> dict[str, Data]:
    turns: dict[str, Data] = {"turns": _user_turns(item)} if len(item.turns) > 1 else {}
    return {**turns, **_golden_fields(item)}


def _golden_tools(item: ExportItem) -> list[Data] | None:
    """The calls that are to be made; ``None`` if DeepEval cannot express their arguments."""
    calls = wanted_calls(item.expectation.tool_calls, "input_parameters")
    return calls if all(isinstance(as_mapping(call).get("input_parameters", {}), dict) for call in calls) else None


DEEPEVAL: Final = ExportWriter(
    name="deepeval",
    title="goldens and conversational goldens of DeepEval (JSON)",
    obstacle=_golden_obstacle,
    write=_write_goldens,
    returns=lambda item: (_golden_kept(item),),
)
