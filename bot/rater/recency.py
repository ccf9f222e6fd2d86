"""Recency: an option by which the inferred scores of old entries count for less (semantics, section 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from bot.rater.model import RatedEntry
from bot.text.moments import seconds

_DAY: Final = 24 * 60 * 60


def ages(residents: Sequence[RatedEntry]) -> list[float]:
    """The age of each of the ``residents``, in days: the time from its admission to the newest admission in R.

    Those that are about to enter (:func:`bot.curator.decisions.resident`) have no time yet; their age is 0.
    """
    moments = [_seconds(resident.admitted_at) for resident in residents]
    newest = max((moment for moment in moments if moment is not None), default=0.0)
    return [0.0 if moment is None else (newest - moment) / _DAY for moment in moments]


def weights(residents: Sequence[RatedEntry], half_life: float | None) -> Iterable[float]:
    """What one inferred point of each resident's scores counts, in (0, 1]; ``half_life`` in days, ``None`` for 1."""
    if half_life is None:
        return [1.0] * len(residents)
    return [2.0 ** (-age / half_life) for age in ages(residents)]


def _seconds(admitted_at: str) -> float | None:
    try:
        return seconds(admitted_at)
    except ValueError:
        return None
