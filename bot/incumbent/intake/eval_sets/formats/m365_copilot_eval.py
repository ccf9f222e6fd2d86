"""Eval documents of Microsoft's M365 Copilot Agent Evaluations command line tool, in JSON.

The current form (schema 1.x) is ``{"schemaVersion": "1.2.0", "items": [...]}``; an item is one turn (``prompt``) or a
conversation (``turns``).  Two older forms are still in use: a bare list of items, and
``{"prompts": [...], "expected_responses": [...]}``.  Other data of an item is kept as its expectation, together with
the document's defaults (``default_evaluators``, ...), which apply to each item.

The tool's published schema is stricter than files in use, so unknown keys are not faults.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Final, cast

from incumbent.errors import InputError, Problem
from incumbent.files.documents import Data, Document, Path, as_list, as_mapping
from incumbent.intake.eval_sets.reader import EvalSetReader, EvalSetRow, EvalSetRows, SourceFile, enough, too_many
from incumbent.text.did_you_mean import did_you_mean

_KNOWN_VERSION: Final = re.compile(r"1(?:\.\d+){0,2}")
_ITEM_KEYS: Final = ("prompt", "turns", "expected_response")
_DEFAULTS: Final = "default_evaluators"
_DEFAULT: Final = "default_"
"""The prefix of a document's keys that apply to each item."""
_OF_AN_ITEM: Final = frozenset(
    {
        *("id", "name", "prompt", "turns", "expected_response", "context", "conversation_id", "extensions"),
        *("evaluators", "evaluators_mode", "allowed_tools", "allowed_tools_mode"),
        *("response", "scores", "status", "error", "summary"),
    }
)
_OF_PROMPTFOO: Final = frozenset({"providers", "targets", "tests", "scenarios", "defaultTest"})


def _recognises(source: SourceFile) -> bool:
    data = source.document.data if source.document else None
    if isinstance(data, list):
        return _are_items([as_mapping(item) for item in data])
    whole = as_mapping(data)
    if "prompts" in whole:
        prompts = as_list(whole["prompts"])
        if whole.keys() & _OF_PROMPTFOO:
            return False
        return "expected_responses" in whole or (bool(prompts) and all(isinstance(item, str) for item in prompts))
    named = "eval-document" in str(whole.get("$schema", "")) or _DEFAULTS in whole
    items = [as_mapping(item) for item in as_list(whole.get("items"))]
    shaped = any(
        "prompt" in item or any("prompt" in as_mapping(turn) for turn in as_list(item.get("turns"))) for item in items
    )
    return named or shaped or ("schemaVersion" in whole and "items" in whole)


def _are_items(items: list[Mapping[str, Data]]) -> bool:
    """Whether a bare list contains items: lists of other records may have prompts too."""
    prompted = [item for item in items if "prompt" in item]
    known = all(item.keys() <= _OF_AN_ITEM for item in prompted)
    return bool(prompted) and (known or any("expected_response" in item for item in prompted))


def _read(source: SourceFile) -> EvalSetRows:
    document = cast(Document, source.document)
    whole = as_mapping(document.data)
    if isinstance(document.data, list):
        return _read_items(document, document.data, (), {}, source.folder_limits.queries)
    if "prompts" in whole:
        return _read_parallel_lists(document, whole)
    problems: list[Problem] = []
    version = whole.get("schemaVersion", "1.0.0")
    if not isinstance(version, str) or not _KNOWN_VERSION.fullmatch(version):
        message = "schemaVersion: only version 1 of the eval document schema is known"
        problems.append(document.problem(("schemaVersion",), message, 'write it as version 1, such as "1.2.0"'))
    items = whole.get("items")
    if not isinstance(items, list):
        if "items" in whole:
            message, fix = "items: must be a list of evaluation items", 'write `"items": [{"prompt": "..."}]`'
            return EvalSetRows((), (*problems, document.problem(("items",), message, fix)))
        message = f"items: the list of evaluation items is missing{did_you_mean('items', set(whole) - {_DEFAULTS})}"
        problems.append(document.problem(("items",), message, 'add `"items": [...]`'))
        return EvalSetRows((), tuple(problems))
    reading = _read_items(document, items, ("items",), _defaults(whole), source.folder_limits.queries)
    return EvalSetRows(reading.rows, (*problems, *reading.problems))


def _defaults(whole: Mapping[str, Data]) -> dict[str, Data]:
    return {key: value for key, value in whole.items() if key.startswith(_DEFAULT) and value}


def _read_items(
    document: Document, items: list[Data], at: Path, defaults: Mapping[str, Data], most: int
) -> EvalSetRows:
    rows: list[EvalSetRow] = []
    problems: list[Problem] = []
    for place, item in enumerate(items):
        problem = partial(document.problem, (*at, place))
        if enough(rows, most, problems, problem) or too_many(problems, problem):
            break
        try:
            rows.append(_row(document, item, (*at, place), defaults))
        except InputError as error:
            problems.extend(error.problems)
    return EvalSetRows(tuple(rows), tuple(problems))


def _row(document: Document, item: Data, at: Path, defaults: Mapping[str, Data]) -> EvalSetRow:
    """The item at ``at``; raises :class:`InputError` with all its faults."""
    where = ".".join(str(step) for step in at)
    if not isinstance(item, dict):
        fix = 'write `{"prompt": "..."}`'
        raise InputError([document.problem(at, f"{where}: an item must be an object", fix)])
    problems: list[Problem] = []
    turns: tuple[str, ...] = ()
    expected = {key: value for key, value in item.items() if key not in ("id", "prompt")}
    if ("prompt" in item) == ("turns" in item):
        meant = "" if "prompt" in item else did_you_mean("prompt", set(item) - set(_ITEM_KEYS))
        message = f"{where}: an item must have either `prompt` or `turns`{meant}"
        fix = "write `prompt` for a single turn, `turns` for a conversation"
        problems.append(document.problem(at, message, fix))
    elif "prompt" in item:
        turns = (_prompt(document, item, at, problems),)
    else:
        turns, expected["turns"] = _turns(document, item["turns"], (*at, "turns"), problems)
    name = _id(document, item, at, problems)
    if problems:
        raise InputError(problems)
    expected |= defaults
    return EvalSetRow(id=name, turns=turns, line=document.line(at), expected=expected or None)


def _turns(document: Document, turns: Data, at: Path, problems: list[Problem]) -> tuple[tuple[str, ...], list[Data]]:
    """The prompts of a conversation, and the other data of each turn."""
    where = ".".join(str(step) for step in at)
    if not isinstance(turns, list) or not turns:
        problems.append(document.problem(at, f"{where}: must be a list of at least one turn", "write the turns"))
        return (), []
    prompts: list[str] = []
    expected: list[Data] = []
    for place, turn in enumerate(turns):
        if not isinstance(turn, dict):
            message = f"{where}.{place}: a turn must be an object"
            problems.append(document.problem((*at, place), message, 'write `{"prompt": "..."}`'))
            continue
        prompts.append(_prompt(document, turn, (*at, place), problems))
        expected.append({key: value for key, value in turn.items() if key != "prompt"})
    return tuple(prompts), expected


def _prompt(document: Document, holder: Mapping[str, Data], at: Path, problems: list[Problem]) -> str:
    where = ".".join(str(step) for step in at)
    prompt = holder.get("prompt")
    if isinstance(prompt, str) and prompt.strip():
        return prompt
    if "prompt" not in holder:
        message = f"{where}.prompt: the key is missing{did_you_mean('prompt', set(holder) - set(_ITEM_KEYS))}"
    elif isinstance(prompt, str):
        message = f"{where}.prompt: is empty"
    else:
        message = f"{where}.prompt: must be a string"
    problems.append(document.problem((*at, "prompt"), message, "write what the user says, in quotes"))
    return ""


def _id(document: Document, item: Mapping[str, Data], at: Path, problems: list[Problem]) -> str | None:
    """``id``, an addition in some files, else ``conversation_id``, the unique identifier in the schema."""
    for key in ("id", "conversation_id"):
        value = item.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if value is not None:
            message = f"{'.'.join(str(step) for step in at)}.{key}: must be a string or a whole number"
            plain = isinstance(value, bool | float)
            fix = f'put it in quotes: "{key}": "{str(value).lower()}"' if plain else "write a string, in quotes"
            problems.append(document.problem((*at, key), message, fix))
    return None


def _read_parallel_lists(document: Document, whole: Mapping[str, Data]) -> EvalSetRows:
    """Read the older form with prompts and expected responses in two lists, paired by position."""
    problems: list[Problem] = []
    prompts, answers = whole["prompts"], whole.get("expected_responses")
    for key, value in (("prompts", prompts), ("expected_responses", answers)):
        if not isinstance(value, list) and not (key == "expected_responses" and value is None):
            problems.append(document.problem((key,), f"{key}: must be a list", "write `[...]`"))
    if problems:
        return EvalSetRows((), tuple(problems))
    rows: list[EvalSetRow] = []
    expectations = as_list(answers)
    for place, prompt in enumerate(as_list(prompts)):
        at: Path = ("prompts", place)
        problem = partial(document.problem, at)
        if too_many(problems, problem):
            break
        if not isinstance(prompt, str) or not prompt.strip():
            problems.append(problem(f"prompts.{place}: must be a text", "write what the user says, in quotes"))
        elif answers is not None and place >= len(expectations):
            message = f"prompts.{place}: has no counterpart in expected_responses"
            problems.append(problem(message, "add its expected response, or null"))
        else:
            answer = {} if answers is None else {"expected_response": expectations[place]}
            expected = answer | _defaults(whole)
            rows.append(EvalSetRow(turns=(prompt,), line=document.line(at), expected=expected or None))
    unasked = len(expectations) - len(as_list(prompts))
    if unasked > 0:
        first = len(as_list(prompts))
        more = f", nor have the {unasked - 1} after it" if unasked > 1 else ""
        message = f"expected_responses.{first}: has no counterpart in prompts{more}"
        problems.append(document.problem(("expected_responses", first), message, "add its prompt, or remove it"))
    return EvalSetRows(tuple(rows), tuple(problems))


READER: Final = EvalSetReader(
    name="m365-copilot-eval",
    title="M365 Copilot eval document in JSON (`items`, a list of prompts, or `prompts` and `expected_responses`)",
    endings=(".json",),
    mark=re.compile(r'"(?:prompts?|default_evaluators|schemaVersion)"\s*:'),
    recognises=_recognises,
    read=_read,
)
