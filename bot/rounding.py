"""Scores as they take part in comparisons: rounded, so that 0.35 + 0.05 > 0.40 is false everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

DECIMALS: Final = 9
"""Comparisons of scores are made on values rounded to this many decimals (semantics, section 4)."""


_SCALE: Final = 10.0**DECIMALS


def rounded(value: float) -> float:
    """``value`` as it takes part in comparisons."""
    return round(value, DECIMALS)


def all_rounded(values: Iterable[float]) -> tuple[float, ...]:
    """:func:`rounded` of each."""
    # Most have so few decimals already: a quotient that is the value itself shows it, sooner than rounding does.
    return tuple([value if round(value * _SCALE) / _SCALE == value else round(value, DECIMALS) for value in values])
