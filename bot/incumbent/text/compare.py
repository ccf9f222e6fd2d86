"""Comparison of texts, scores and moments: normalised texts, rounded scores, times in UTC."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from incumbent.text.digests import digest


def normalise(turns: Sequence[str]) -> str:
    """Normalise ``turns`` for comparison (semantics, section 4).

    Each turn: Unicode NFKC and case folding until neither changes it (folding can undo NFKC), white space collapsed
    to single spaces and stripped.  The turns are joined by newlines.
    """
    return "\n".join(map(_normalise_turn, turns))


def text_key(turns: Sequence[str]) -> str:
    """A digest of a query's normalised text, independent of the agent; corrections refer to it."""
    return digest([normalise([turn]) for turn in turns])


def _normalise_turn(turn: str) -> str:
    if turn.isascii():
        # NFKC does not change ASCII, and case folding is lower case.
        return " ".join(turn.lower().split())
    text = unicodedata.normalize("NFKC", turn)
    while (folded := unicodedata.normalize("NFKC", text.casefold())) != text:
        text = folded
    return " ".join(text.split())


DECIMALS: Final = 9
"""Scores are rounded to this many decimals before they are compared (semantics, section 4)."""


_SCALE: Final = 10.0**DECIMALS


def rounded(value: float) -> float:
    """``value`` rounded for comparison."""
    return round(value, DECIMALS)


def all_rounded(values: Iterable[float]) -> tuple[float, ...]:
    """:func:`rounded` of each."""
    # Most values have few enough decimals already.  This test is faster than rounding.
    return tuple([value if round(value * _SCALE) / _SCALE == value else round(value, DECIMALS) for value in values])


def utc(text: str) -> str:
    """The moment ``text`` (ISO 8601; UTC where it names no zone) in UTC to the second; raises :class:`ValueError`."""
    try:
        moment = _parsed(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("an ISO 8601 time such as 2026-11-21T10:00:00Z") from None
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def seconds(text: str) -> float:
    """Seconds from the start of 1970 to the moment ``text``, as in :func:`utc`; raises :class:`ValueError`."""
    return _parsed(text).timestamp()


def _parsed(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
