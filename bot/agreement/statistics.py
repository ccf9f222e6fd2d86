"""How sure a share is, and how far people agree beyond chance (semantics, section 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import Annotated, Final, TypeVar

from pydantic import Field

from bot.files.validation import Score

LEVEL: Final = 0.95
"""How often an interval holds the share that it speaks of (semantics, section 8)."""

Value = TypeVar("Value", bound=Hashable)

_DEVIATIONS: Final = NormalDist().inv_cdf((1 + LEVEL) / 2)  # 1.96: so many standard deviations hold that much


@dataclass(frozen=True, slots=True)
class ShareInterval:
    """The bounds of a share, both in [0, 1]."""

    low: Annotated[Score, Field(description="lower bound of Wilson's 95 % interval")]
    high: Annotated[Score, Field(description="its upper bound")]


def wilson(count: int, total: int) -> ShareInterval | None:
    """Wilson's score interval of the share of ``count`` (0 to ``total``) in ``total``; ``None`` where that is 0.

    Those shares that ``count`` would be no surprise under, so that it stays within [0, 1] and says something even
    where all or none were counted.  Source: E. B. Wilson, Probable inference, the law of succession, and statistical
    inference, Journal of the American Statistical Association 22 (1927), 209–212.
    """
    if not total:
        return None
    share, square = count / total, _DEVIATIONS**2
    scale = 1 + square / total
    middle = (share + square / (2 * total)) / scale
    half = _DEVIATIONS / scale * sqrt(share * (1 - share) / total + square / (4 * total**2))
    # At both ends the formula gives the bound itself, but for the last digit.
    return ShareInterval(max(0.0, middle - half) if count else 0.0, min(1.0, middle + half) if count < total else 1.0)


def alpha(units: Iterable[tuple[Mapping[Value, int], int]]) -> float | None:
    """Krippendorff's alpha for nominal values; each kind of unit is how many people said what of one, and their number.

    1: all agree; 0: as chance would have it; below 0: they disagree more than that.  Any number of people may have
    judged any of the units; one with a single judgement says nothing.  ``None`` where alpha is not defined: no unit
    was judged by two, or all judgements of such units are the same, so that chance alone would have them agree.
    Source: K. Krippendorff, Content Analysis, 4th edition (2019), chapter 12.
    """
    totals: Counter[Value] = Counter()
    differing = Fraction(0)  # pairs within a unit that differ, each unit weighing as much as it has values
    for said, number in units:
        size = sum(said.values())
        if size > 1:
            totals.update({value: count * number for value, count in said.items()})
            differing += number * Fraction(size**2 - sum(count**2 for count in said.values()), size - 1)
    total = totals.total()
    by_chance = total**2 - sum(count**2 for count in totals.values())
    return None if not by_chance else float(1 - (total - 1) * differing / by_chance)
