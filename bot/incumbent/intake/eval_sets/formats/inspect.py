"""Samples of Inspect, the evaluation framework of the UK AI Security Institute, in JSON, JSON Lines and CSV.

A sample has an ``input`` (a text, or messages of a chat) and a ``target`` (one or several); further fields are
``choices``, ``id``, ``metadata``, ``sandbox``, ``files``, ``setup`` and ``checkpoint``.  They are read as by Inspect's
own readers (``json_dataset`` and ``csv_dataset`` of ``inspect_ai.dataset``).  Inspect maps fields with other names in
Python; here ``formats.yaml`` names them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Final

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Data, Node
from incumbent.intake.eval_sets.inputs import Inputs, cell
from incumbent.intake.eval_sets.messages import is_messages
from incumbent.intake.eval_sets.reader import EvalSetReader, EvalSetRow, EvalSetRows, SourceFile
from incumbent.intake.eval_sets.records import Records, decoded
from incumbent.intake.query import Setup

_NAME: Final = "inspect"
_TELLING: Final = frozenset({"target", "sandbox", "setup", "checkpoint"})
_FIELDS: Final = _TELLING | {"input", "choices", "id", "description", "metadata", "files"}
_JSON_CELLS: Final = ("metadata", "sandbox", "files", "checkpoint")
_FILE_NAME: Final = re.compile(r"[^\s\0]{1,200}")
_ENDING: Final = re.compile(r".\.[A-Za-z]\w{0,7}$")


def _records(source: SourceFile) -> Records:
    """The samples; a JSON file may be a single one."""
    if source.root.is_mapping:
        return Records((source.root,))
    return source.records


def _recognises(source: SourceFile) -> bool:
    records = _records(source)
    keys = source.keys_of(records)
    if source.document is not None and not source.records.places and not keys <= _FIELDS:
        # A single sample has few distinctive features.
        return False
    spoken = source.is_table or records.any(lambda record: record.has("input") and not record["input"].is_mapping)
    return "input" in keys and not _TELLING.isdisjoint(keys) and spoken


def _read(source: SourceFile) -> EvalSetRows:
    records = _records(source)
    inputs = Inputs(format=_NAME, key="input", source=source)

    def row(record: Node, problems: list[Problem]) -> EvalSetRow | None:
        sample = _sample(source, record, problems)
        if source.columns is None or source.columns.query is None:
            _check_input(sample, problems)
        if problems:
            return None
        return inputs.row(sample, problems, Setup(fixtures=tuple(dict.fromkeys(_fixtures(source, sample)))))

    return inputs.reading(records, row)


def _check_input(sample: Node, problems: list[Problem]) -> None:
    """Report an input that is an object or a list of texts: Inspect accepts a text or messages."""
    place = sample["input"]
    if place.is_mapping or (place.is_list and any(not item.is_mapping for item in place.items)):
        message = f"{place.name}: must be a text or a list of messages"
        problems.append(place.problem(message, 'write a text, or `[{"role": "user", "content": "..."}]`'))


def _sample(source: SourceFile, record: Node, problems: list[Problem]) -> Node:
    """``record`` with the JSON in table cells decoded; adds the faults of its fields to ``problems``."""
    held: dict[str, Data] = {key: place.data for key, place in record.entries}
    in_cells = source.is_table
    for key in _JSON_CELLS:
        try:
            value = decoded(record[key], source.limits)
        except InputError as error:
            problems.extend(error.problems)
            continue
        if in_cells and record.has(key):
            held[key] = value.data
        problems.extend(_fault(value, key))
    if in_cells:
        query = cell(record["input"], source.limits, strict=_looks_like_messages(record["input"]))
        if is_messages(query):
            held["input"] = query.data
    return Node(record.source, record.path, held)


def _looks_like_messages(place: Node) -> bool:
    return re.match(r'\[\s*\{\s*"(?:role|content)"', place.text) is not None


def _fault(value: Node, key: str) -> Iterator[Problem]:
    """The fault of the decoded ``value`` of the field ``key``."""
    if value.absent:
        return
    if key == "sandbox":
        pair = value.is_list and len(value.items) == 2
        if not (value.text or pair or (value.is_mapping and value["type"].text)):
            fix = 'write its type, such as "docker", or `["docker", "compose.yaml"]`'
            yield value.problem(f"{value.name}: must be a type, or a list of a type and a file", fix)
    elif not value.is_mapping:
        yield value.problem(f"{value.name}: must be an object", 'write `{"...": ...}`')
    elif key == "files":
        for name, content in value.entries:
            if not isinstance(content.data, str):
                fix = "write a path, or the content, in quotes"
                yield content.problem(f"{value.name}.{name}: must be a text", fix)


def _fixtures(source: SourceFile, sample: Node) -> Iterator[str]:
    """The files that a runner needs beside the samples, without those whose content is in the sample."""
    files = decoded(sample["files"], source.limits)
    sandbox = decoded(sample["sandbox"], source.limits)
    config = sandbox.items[1] if len(sandbox.items) == 2 else sandbox["config"]
    for place in (*(content for _, content in files.entries), config, sample["setup"]):
        if _is_file_name(place.text):
            yield place.text


def _is_file_name(text: str) -> bool:
    """Whether ``text`` is the name of a file, not its content."""
    if not _FILE_NAME.fullmatch(text) or text.startswith(("data:", "#!")):
        return False
    return _ENDING.search(posixpath.basename(text)) is not None or "/" in text


READER: Final = EvalSetReader(
    name=_NAME,
    title="samples of Inspect in JSON, JSON Lines or CSV (`input` and `target`)",
    endings=(".json", ".jsonl", ".ndjson", ".csv", ".tsv"),
    mark=re.compile(
        r'\A(?=.*?"input"\s*:)(?=.*?"(?:target|sandbox|setup|checkpoint)"\s*:)'
        r"|\A\s*+(?=[^\n]*\binput\b)(?=[^\n]*\b(?:target|sandbox|setup|checkpoint)\b)",
        re.DOTALL,
    ),
    recognises=_recognises,
    read=_read,
    names_columns=True,
)
