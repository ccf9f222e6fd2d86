"""Eval documents of Microsoft's M365 Copilot Agent Evaluations, schema 1.x.

The schema has no place for an id, for tools or for a set-up: they are written under ``extensions``, which is meant for
other tools' keys.  A document's ``default_evaluators`` apply to all its items, but entries come from documents with
different defaults.  Defaults that all entries share are written once; else each item gets them among its own
evaluators, which then replace the defaults.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from incumbent.files.documents import Data, as_list, as_mapping
from incumbent.intake.export_round_trip import CARRIED
from incumbent.runners.export.item import (
    ExportItem,
    ExportRemark,
    ExportWriter,
    Fields,
    Written,
    is_flat_mapping,
    is_text,
    json_document,
    own_fields,
    structured,
    with_answer,
)

_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*")


def _number(least: float, most: float = float("inf"), *, whole: bool = False) -> Callable[[Data], bool]:
    def fits(value: Data) -> bool:
        known = isinstance(value, int | float) and not isinstance(value, bool)
        return known and least <= float(str(value)) <= most and (not whole or isinstance(value, int))

    return fits


def _text(value: Data) -> bool:
    return isinstance(value, str) and bool(value)


def _texts(value: Data) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _flag(value: Data) -> bool:
    return isinstance(value, bool)


def _expected_items(value: Data) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and item.keys() == {_EXTRACT} and _text(item[_EXTRACT]) for item in value)
    )


_EXTRACT: Final = "retrievalExtract_contains"
_Options = Mapping[str, Callable[[Data], bool]]
_RATED: Final[_Options] = {"threshold": _number(1, 5)}
_OWN: Final[_Options] = {
    "threshold": _number(float("-inf")),
    "options": is_flat_mapping,
}
_OPTIONS: Final[Mapping[str, _Options]] = {
    "Relevance": _RATED,
    "Coherence": _RATED,
    "Groundedness": _RATED,
    "Similarity": _RATED,
    "Citations": {"threshold": _number(1, whole=True), "citation_format": lambda value: isinstance(value, str)},
    "ExactMatch": {"case_sensitive": _flag},
    "PartialMatch": {"threshold": _number(0, 1), "case_sensitive": _flag},
    "RetrievalQuery": {"capability": _text, "selector": _text, "includes": _texts, "excludes": _texts},
    "RetrievalResult": {
        "capability": _text,
        "max_rank": _number(1, whole=True),
        "min_expected_count": _number(1, whole=True),
        "expected_items": _expected_items,
    },
}
_NEEDED: Final[Mapping[str, frozenset[str]]] = {
    "RetrievalQuery": frozenset({"capability", "selector"}),
    "RetrievalResult": frozenset({"capability"}),
}


def are_evaluators(value: Data) -> bool:
    """Whether ``value`` is a mapping of evaluators with options that match the schema."""
    return isinstance(value, dict) and all(_is_evaluator(name, options) for name, options in value.items())


def _is_evaluator(name: str, options: Data) -> bool:
    if not _NAME.fullmatch(name) or not isinstance(options, dict):
        return False
    if not _NEEDED.get(name, frozenset()) <= options.keys():
        return False
    if name == "RetrievalResult" and not options.keys() & {"expected_items", "min_expected_count"}:
        return False
    known = _OPTIONS.get(name, _OWN)
    return all(key in known and known[key](option) for key, option in options.items())


SCHEMA_VERSION: Final = "1.2.0"
MOST_TURNS: Final = 20
"""The schema's limit of turns in a conversation."""

_DEFAULTS: Final = "default_evaluators"
_NOT_RUN: Final = (
    "its `evaluators` are not as the schema has them, or their options are not flat: they are carried, and not run; "
    "write the schema's own options, with single values"
)
_MODES: Final = ("extend", "replace")
_TURN: Final[Fields] = {
    "expected_response": lambda value: isinstance(value, str),
    "context": lambda value: isinstance(value, str),
    "evaluators": are_evaluators,
    "evaluators_mode": lambda value: value in _MODES,
    "extensions": is_flat_mapping,
}
_THREAD: Final[Fields] = {
    "name": is_text,
    "description": is_text,
    "conversation_id": is_text,
    "extensions": is_flat_mapping,
}


def _obstacle(item: ExportItem) -> str | None:
    if len(item.turns) > MOST_TURNS:
        return f"it has {len(item.turns)} turns, more than the {MOST_TURNS} of a conversation there"
    return None


def _write(items: Sequence[ExportItem]) -> Written:
    defaults = [as_mapping(item.expected).get(_DEFAULTS) for item in items]
    shared = bool(defaults[0]) and are_evaluators(defaults[0]) and all(each == defaults[0] for each in defaults)
    whole: dict[str, Data] = {"schemaVersion": SCHEMA_VERSION}
    if shared:
        whole[_DEFAULTS] = defaults[0]
    whole["items"] = [_item(item, shared=shared) for item in items]
    remarks = [ExportRemark(item.id, _NOT_RUN) for item in items if _has_unknown_evaluators(item)]
    structure = structured(items, {"extensions": is_flat_mapping, "context": _TURN["context"]})
    return Written({"regression_set.evals.json": json_document(whole)}, (*structure, *remarks))


def _item(item: ExportItem, *, shared: bool) -> dict[str, Data]:
    written = _fields(item, shared=shared)
    record = item.record(said=item.is_said(_kept(item, shared=shared)))
    return {**written, "extensions": {**as_mapping(written.get("extensions")), CARRIED: record}}


def _fields(item: ExportItem, *, shared: bool) -> dict[str, Data]:
    """``item`` in the fields of the schema; ``shared`` if the document has the default evaluators."""
    held = as_mapping(item.expected)
    defaults = None if shared else held.get(_DEFAULTS)
    if len(item.turns) == 1:
        return _turn(item.turns[0], held, item.expectation.answer, defaults)
    parts = [as_mapping(part) for part in as_list(held.get("turns"))]
    if len(parts) != len(item.turns):
        parts = [{}] * len(item.turns)
    answers = item.expectation.answers
    turns = [_turn(*each, defaults) for each in zip(item.turns, parts, answers, strict=True)]
    return {**own_fields(held, _THREAD), "turns": [*turns]}


def _kept(item: ExportItem, *, shared: bool) -> dict[str, Data]:
    """The fields of ``item`` that the reader keeps."""
    kept = _without_prompt(_fields(item, shared=shared))
    if "turns" in kept:
        kept["turns"] = [_without_prompt(as_mapping(turn)) for turn in as_list(kept["turns"])]
    return {**kept, _DEFAULTS: as_mapping(item.expected)[_DEFAULTS]} if shared else kept


def _returns(item: ExportItem) -> Iterator[Mapping[str, Data]]:
    for shared in (False, True) if as_mapping(item.expected).get(_DEFAULTS) else (False,):
        yield _kept(item, shared=shared)


def _without_prompt(turn: Mapping[str, Data]) -> dict[str, Data]:
    return {key: value for key, value in turn.items() if key != "prompt"}


def _turn(prompt: str, held: Mapping[str, Data], answer: str | None, defaults: Data) -> dict[str, Data]:
    """A turn with its expected response: fields of ``held`` that the schema defines, else ``answer``.

    ``defaults`` are evaluators that apply to the turn and that the document does not have.
    """
    said = {"prompt": prompt, **with_answer(own_fields(held, _TURN), "expected_response", answer)}
    own = said.get("evaluators")
    if defaults and are_evaluators(defaults) and (own is None or said.get("evaluators_mode") != "replace"):
        said["evaluators"] = {**as_mapping(defaults), **as_mapping(own)}
        said["evaluators_mode"] = "replace"
    return said


def _has_unknown_evaluators(item: ExportItem) -> bool:
    held = as_mapping(item.expected)
    places = [held, *(as_mapping(turn) for turn in as_list(held.get("turns")))]
    named = [held.get(_DEFAULTS), *(place.get("evaluators") for place in places)]
    return any(isinstance(each, dict) and not are_evaluators(each) for each in named)


WRITER: Final = ExportWriter(
    name="m365-copilot-eval",
    title="eval document of M365 Copilot Agent Evaluations (JSON, schema 1.x)",
    obstacle=_obstacle,
    write=_write,
    returns=_returns,
)
