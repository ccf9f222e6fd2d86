"""Remarks on queries that hold placeholders of a template, which somebody has to fill."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from incumbent.errors import Problem
from incumbent.intake.query import Query
from incumbent.text.placeholders import placeholders

SHOWN: Final = 5
"""How many placeholders of a file are named."""


def placeholder_remarks(queries: Iterable[Query]) -> tuple[Problem, ...]:
    """One remark for each file with ``queries`` that hold placeholders, at the first of them."""
    held: dict[str, dict[str, None]] = {}
    holders: dict[str, list[Query]] = {}
    for query in queries:
        names = placeholders(query.turns)
        if names:
            held.setdefault(query.file, {}).update(dict.fromkeys(names))
            holders.setdefault(query.file, []).append(query)
    return tuple(_remark(found, list(held[file])) for file, found in holders.items())


def _remark(found: list[Query], names: list[str]) -> Problem:
    first = found[0]
    queries = f"{first.id} and {len(found) - 1} more" if len(found) > 1 else first.id
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    message = f"{queries}: placeholders are judged as a neutral word: {', '.join(names[:SHOWN])}{more}"
    return Problem(first.file, first.line, message, "fill them before the queries run, if the runner does not do it")
