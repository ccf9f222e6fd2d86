"""Preconditions: no stale entry, no query without a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.classifier.corrections import unheeded
from bot.curator.entry import StaleEntry
from bot.errors import IncompleteError, IncumbentError, InputError, Problem
from bot.pipeline.review import Platform

SHOWN_SHORTFALLS = 10
"""The most queries without a verdict that an error names."""


def refuse_incomplete(shortfalls: Mapping[str, str], stopped: IncumbentError | None) -> None:
    """Raise what stopped the classifier, or that queries lack a verdict; ``shortfalls`` gives the reason of each."""
    if stopped is not None:
        raise stopped
    if shortfalls:
        shown = [f"{id}: {why}" for id, why in list(shortfalls.items())[:SHOWN_SHORTFALLS]]
        if len(shortfalls) > len(shown):
            shown.append(f"and {len(shortfalls) - len(shown)} more")
        raise IncompleteError(f"not classified: {'; '.join(shown)}; run again, or see the endpoint")


def refuse_uncorrected(platform: Platform) -> None:
    """Raise :class:`InputError` if curators' corrections are not in the entries of the corrected texts yet."""
    known = platform.regression_set
    behind = [
        id
        for id, entry in (*known.entries.items(), *known.waiting.items())
        if unheeded(platform.corrections_of(entry.turns), entry.classified.corrected, platform.taxonomy)
    ]
    if behind:
        message = "a curator corrected tags of its text, and the entry does not have them yet"
        raise InputError(Problem(id, None, message, "run `incumbent reclassify` and commit") for id in behind)


def refuse_lag(lags: Sequence[StaleEntry]) -> None:
    """Raise :class:`InputError` if there are stale entries: old and new scores cannot be compared."""
    if lags:
        raise InputError(
            Problem(
                lag.id,
                None,
                f"the entry is stale: it was {lag.reason}",
                "run `incumbent reclassify` and commit, so that old and new scores can be compared",
            )
            for lag in lags
        )
