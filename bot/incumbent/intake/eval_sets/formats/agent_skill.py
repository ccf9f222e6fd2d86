"""Evals of agent skills: ``evals/evals.json``, and trigger evals (queries that must or must not activate a skill).

``evals.json`` is ``{"skill_name": "...", "evals": [{"id": 1, "prompt": "...", "expected_output": "..."}]}``; its ids
count from 1 in every skill, so the skill's name is their prefix.  Trigger evals are a list of
``{"query": "...", "should_trigger": true}``.  In practice skills also write ``cases`` for ``evals``, and ``skill`` for
``skill_name``.

Source: agentskills.io, "Evaluating skills", and ``references/schemas.md`` of the skill *skill-creator*.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from incumbent.errors import Problem
from incumbent.files.documents import Data, Node, as_list, as_mapping
from incumbent.intake.eval_sets.inputs import read_prompted
from incumbent.intake.eval_sets.reader import (
    EvalSetReader,
    EvalSetRow,
    EvalSetRows,
    SourceFile,
    bundled,
    read_records,
    rest_of,
    text_id,
)
from incumbent.intake.eval_sets.records import listed
from incumbent.intake.eval_sets.table import plain_key
from incumbent.intake.query import Setup

_TRIGGER: Final = "shouldtrigger"
_LISTS: Final = ("evals", "cases", "test_cases", "tests", "queries", "prompts", "trigger_evals")
_SKILL: Final = ("skill_name", "skill")
_NAMES: Final = ("path", "src", "name")
_PROMPTS: Final = frozenset({"prompt", "query", "turns"})


def _recognises(source: SourceFile) -> bool:
    data = source.document.data if source.document else None
    if isinstance(data, list):
        return any(_triggers(item) for item in data)
    whole = as_mapping(data)
    evals = as_list(whole.get("evals"))
    named = any(isinstance(whole.get(key), str) for key in _SKILL)
    if "evals" in whole and (named or any(as_mapping(item).keys() & _PROMPTS for item in evals)):
        return True
    items = [item for key in _LISTS for item in as_list(whole.get(key))]
    return any(_triggers(item) or (named and as_mapping(item).keys() & _PROMPTS) for item in items)


def _triggers(item: Data) -> bool:
    """Whether an eval says whether its skill must be used."""
    return any(plain_key(key) == _TRIGGER for key in as_mapping(item))


def _read(source: SourceFile) -> EvalSetRows:
    if source.document is None:
        return EvalSetRows(())
    root = source.root
    if root.is_list:
        return read_records(listed(root), partial(_row, root, {}), source.folder_limits.queries)
    lists = [root[key] for key in _LISTS if root[key].is_list]
    if not lists or (root.has("evals") and not root["evals"].is_list):
        message = "evals: must be a list of evals"
        return EvalSetRows((), (root["evals"].problem(message, 'write `[{"id": 1, "prompt": "..."}]`'),))
    skill = next((root[key] for key in _SKILL if root[key].text), root["skill_name"])
    shared = bundled(rest_of(root, *(str(place.path[-1]) for place in lists)), "evals_file")
    read = partial(_row, skill, shared)
    found = [read_records(listed(place), read, source.folder_limits.queries) for place in lists]
    return EvalSetRows(
        tuple(row for reading in found for row in reading.rows),
        tuple(problem for reading in found for problem in reading.problems),
    )


def _row(skill: Node, shared: dict[str, Data], record: Node, problems: list[Problem]) -> EvalSetRow:
    key = "query" if record.has("query") and not record.has("prompt") else "prompt"
    own = text_id(record["id"], problems)
    qualified = own is not None and bool(skill.text)
    turns, attached, expected = read_prompted(record, key, () if qualified else ("id",), problems)
    return EvalSetRow(
        id=f"{skill.text}/{own}" if qualified else own,
        turns=turns,
        line=record.line,
        expected={**expected, **_beside(shared, expected)} or None,
        setup=Setup(fixtures=_files(record["files"]), attachments=attached),
    )


def _beside(shared: dict[str, Data], expected: dict[str, Data]) -> dict[str, Data]:
    """The file's data for all evals; keys that an eval has too go under ``evals_file``."""
    clash = {key: value for key, value in shared.items() if key in expected}
    apart = {key: value for key, value in shared.items() if key not in expected}
    return apart | ({"evals_file": clash} if clash else {})


def _files(place: Node) -> tuple[str, ...]:
    """The names of the files in a list of texts or objects."""
    names = (text for item in place.items for text in (item.text, *(item[key].text for key in _NAMES)) if text)
    return tuple(dict.fromkeys(names))


READER: Final = EvalSetReader(
    name="agent-skill",
    title="evals of an agent skill in JSON (`evals` with `prompt`, or a list with `query` and `should_trigger`)",
    endings=(".json", ".yaml", ".yml"),
    mark=re.compile(r"""\b(?:evals|should_?trigger|skill|skill_name)["']?\s*:""", re.IGNORECASE),
    recognises=_recognises,
    read=_read,
)
