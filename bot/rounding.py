"""Scores as they take part in comparisons: rounded, so that 0.35 + 0.05 > 0.40 is false everywhere."""

from __future__ import annotations

from typing import Final

DECIMALS: Final = 9
"""Comparisons of scores are made on values rounded to this many decimals (semantics, section 4)."""


def rounded(value: float) -> float:
    """``value`` as it takes part in comparisons."""
    return round(value, DECIMALS)
