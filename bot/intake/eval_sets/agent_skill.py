"""Evals of agent skills: ``evals/evals.json``, and the queries that a skill's description must or must not answer to.

``evals.json`` is ``{"skill_name": "...", "evals": [{"id": 1, "prompt": "...", "expected_output": "..."}]}``; its ids
count from 1 in every skill, so the skill's name stands before them.  Trigger evals are a list of
``{"query": "...", "should_trigger": true}``.

Source: agentskills.io, "Evaluating skills", and ``references/schemas.md`` of the skill *skill-creator*.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from bot.documents import Data, as_list, as_mapping
from bot.errors import Problem
from bot.intake.eval_sets.prompted import read_prompted
from bot.intake.eval_sets.reader import Reader, Source
from bot.intake.eval_sets.records import listed
from bot.intake.eval_sets.rows import Reading, Row, read_records, rest_of, text_id
from bot.intake.place import Place
from bot.intake.place import Source as Parsed
from bot.intake.query import Setup

_TRIGGER: Final = "should_trigger"
_NAMES: Final = ("path", "src", "name")
_PROMPTS: Final = frozenset({"prompt", "query", "turns"})


def _recognises(source: Source) -> bool:
    data = source.document.data if source.document else None
    if isinstance(data, list):
        return any(_TRIGGER in as_mapping(item) for item in data)
    whole = as_mapping(data)
    evals = [as_mapping(item) for item in as_list(whole.get("evals"))]
    return "evals" in whole and ("skill_name" in whole or any(item.keys() & _PROMPTS for item in evals))


def _read(source: Source) -> Reading:
    if source.document is None:
        return Reading(())
    root = Parsed(source.path, source.document).root
    if root.is_list:
        return read_records(listed(root), partial(_row, root, {}))
    evals = root["evals"]
    if not evals.is_list:
        message = "evals: must be a list of evals"
        return Reading((), (evals.problem(message, 'write `[{"id": 1, "prompt": "..."}]`'),))
    return read_records(listed(evals), partial(_row, root["skill_name"], rest_of(root, "evals")))


def _row(skill: Place, shared: dict[str, Data], record: Place, problems: list[Problem]) -> Row:
    key = "query" if record.has("query") and not record.has("prompt") else "prompt"
    own = text_id(record["id"], problems)
    qualified = own is not None and bool(skill.text)
    turns, attached, expected = read_prompted(record, key, () if qualified else ("id",), problems)
    return Row(
        id=f"{skill.text}/{own}" if qualified else own,
        turns=turns,
        line=record.line,
        expected={**expected, **_beside(shared, expected)} or None,
        setup=Setup(fixtures=_files(record["files"]), attachments=attached),
    )


def _beside(shared: dict[str, Data], expected: dict[str, Data]) -> dict[str, Data]:
    """What the file says of all its evals; where an eval has the same key, the file's stands below it."""
    clash = {key: value for key, value in shared.items() if key in expected}
    apart = {key: value for key, value in shared.items() if key not in expected}
    return apart | ({"evals_file": clash} if clash else {})


def _files(place: Place) -> tuple[str, ...]:
    """The names of the files that stand in a list, as texts or as objects that name them."""
    names = (text for item in place.items for text in (item.text, *(item[key].text for key in _NAMES)) if text)
    return tuple(dict.fromkeys(names))


READER: Final = Reader(
    name="agent-skill",
    title="evals of an agent skill in JSON (`evals` with `prompt`, or a list with `query` and `should_trigger`)",
    endings=(".json", ".yaml", ".yml"),
    mark=re.compile(r"""\b(?:evals|should_trigger)["']?\s*:"""),
    recognises=_recognises,
    read=_read,
)
