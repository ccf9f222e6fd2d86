"""Datasets of LangSmith, exported by its application, command line or API: JSON, JSON Lines and CSV.

An example has ``inputs`` and ``outputs`` (``reference_outputs``), both custom mappings, and also ``id``,
``dataset_id``, ``metadata``, ``split``, ``attachments`` and times.  In a table the mappings are cells of JSON, or each
value has a column such as ``inputs.question`` or ``input_question``.  Chats may also be exported for the fine-tuning of
OpenAI models: JSON Lines with ``messages``, in which the assistant's messages are the expected answers.
See https://docs.langchain.com/langsmith/manage-datasets and ``Example`` in ``langsmith.schemas``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from incumbent.errors import Problem
from incumbent.files.documents import Node
from incumbent.intake.eval_sets.inputs import Flattening, Inputs
from incumbent.intake.eval_sets.messages import is_messages
from incumbent.intake.eval_sets.reader import EvalSetReader, EvalSetRow, EvalSetRows, SourceFile
from incumbent.intake.eval_sets.records import Records, listed
from incumbent.intake.query import Setup

_NAME: Final = "langsmith"
_COLUMN: Final = re.compile(r"(inputs?|(?:reference_)?outputs?)[._](.+)", re.DOTALL)
_FLATTENING: Final = Flattening(
    column=_COLUMN,
    groups={
        "inputs": "inputs",
        "input": "inputs",
        "outputs": "outputs",
        "output": "outputs",
        "reference_outputs": "reference_outputs",
        "reference_output": "reference_outputs",
        "metadata": "metadata",
        "split": "split",
        "attachments": "attachments",
    },
    inputs="inputs",
)
_WHOLE: Final = frozenset({"outputs", "reference_outputs", "dataset_id", "source_run_id"})
_FINE_TUNING: Final = frozenset(
    {"messages", "tools", "functions", "tool_choice", "function_call", "parallel_tool_calls", "weight"}
)
_OTHERS: Final = frozenset({"expectations"})
"""Keys of MLflow's evaluation datasets, which have ``inputs`` too."""


def _records(source: SourceFile) -> Records:
    if source.root.is_mapping:
        return listed(source.root["examples"])
    return source.records


def _recognises(source: SourceFile) -> bool:
    records = _records(source)
    keys = source.keys_of(records)
    if not source.is_table:
        return (
            records.any(lambda record: record["inputs"].is_mapping) and _OTHERS.isdisjoint(keys)
        ) or _is_fine_tuning(records)
    split = {match[1] for key in keys if (match := _COLUMN.fullmatch(key))}
    has_inputs = "inputs" in keys or not split.isdisjoint({"inputs", "input"})
    has_outputs = not _WHOLE.isdisjoint(keys) or any("output" in group for group in split)
    return has_inputs and (has_outputs or any(key.startswith("inputs.") for key in keys))


def _is_fine_tuning(records: Records) -> bool:
    """Whether the records are chats that end with an answer of the assistant, and have no other keys."""
    return (
        "messages" in records.keys
        and records.keys <= _FINE_TUNING
        and records.any(lambda record: is_messages(record["messages"]) and _ends_with_answer(record))
    )


def _ends_with_answer(record: Node) -> bool:
    return record["messages"].items[-1]["role"].text == "assistant"


def _read(source: SourceFile) -> EvalSetRows:
    records = _records(source)
    if source.is_table:
        source, records = _FLATTENING.undone(source)
    key = "messages" if "inputs" not in records.keys and _is_fine_tuning(records) else "inputs"
    inputs = Inputs(format=_NAME, key=key, source=source)

    def row(record: Node, problems: list[Problem]) -> EvalSetRow | None:
        return inputs.row(record, problems, Setup(attachments=tuple(_attachments(record["attachments"], problems))))

    return inputs.reading(records, row)


def _attachments(place: Node, problems: list[Problem]) -> Iterator[str]:
    """The names of an example's attachments: the keys of a mapping, or the items of a list."""
    if place.is_mapping:
        yield from (key for key, _ in place.entries)
        return
    for item in place.items:
        name = item.text or item["name"].text or item["filename"].text
        if name:
            yield name
        else:
            problems.append(item.problem(f"{item.name}: has no name", 'write `{"name": "..."}`'))
    if place.text:
        yield place.text
    elif not (place.absent or place.is_list or place.data == ""):
        message = f"{place.name}: must be an object with the attachments by name"
        problems.append(place.problem(message, 'write `{"name": {...}}`'))


READER: Final = EvalSetReader(
    name=_NAME,
    title="LangSmith dataset in JSON, JSON Lines or CSV (`inputs` and `outputs`; or `messages` for fine-tuning)",
    endings=(".json", ".jsonl", ".ndjson", ".csv", ".tsv"),
    mark=re.compile(r'"inputs"\s*+:\s*+\{|"messages"\s*+:\s*+\[|\A\s*+[^\n]*?(?<![\w.])(?:inputs\b|inputs?_\w)'),
    recognises=_recognises,
    read=_read,
    names_columns=True,
)
