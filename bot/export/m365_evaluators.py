"""The evaluators of the M365 Copilot eval document schema, and what options each takes.

The tool refuses a whole document for one option that it does not know, so only what the schema allows is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from bot.export.flat_values import is_flat_mapping
from bot.files.documents import Data

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
    """Whether ``value`` is a mapping of evaluators with options as the schema has them."""
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
