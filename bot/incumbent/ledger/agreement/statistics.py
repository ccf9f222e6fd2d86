"""The uncertainty of a share, and agreement between people beyond chance (semantics, section 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from statistics import NormalDist
from typing import Annotated, Final, TypeVar

from pydantic import Field

from incumbent.files.validation import Score

LEVEL: Final = 0.95
"""The confidence level of intervals (semantics, section 8)."""

Value = TypeVar("Value", bound=Hashable)

_DEVIATIONS: Final = NormalDist().inv_cdf((1 + LEVEL) / 2)  # 1.96: so many standard deviations contain that much


@dataclass(frozen=True, slots=True)
class ShareInterval:
    """The bounds of a share, both in [0, 1]."""

    low: Annotated[Score, Field(description="lower bound of Wilson's 95 % interval")]
    high: Annotated[Score, Field(description="its upper bound")]


def wilson(count: int, total: int) -> ShareInterval | None:
    """Wilson's score interval of the share of ``count`` (0 to ``total``) in ``total``; ``None`` if ``total`` is 0.

    It contains the shares under which ``count`` would not be a surprise.  So it stays within [0, 1] and is informative
    even if none or all were counted.  Source: E.  B.  Wilson, Probable inference, the law of succession, and
    statistical inference, Journal of the American Statistical Association 22 (1927), 209–212.
    """
    if not total:
        return None
    share, square = count / total, _DEVIATIONS**2
    scale = 1 + square / total
    middle = (share + square / (2 * total)) / scale
    half = _DEVIATIONS / scale * sqrt(share * (1 - share) / total + square / (4 * total**2))
    # At both ends the formula gives the bound itself, except for rounding in the last digit.
    return ShareInterval(max(0.0, middle - half) if count else 0.0, min(1.0, middle + half) if count < total else 1.0)


def alpha(units: Iterable[tuple[Mapping[Value, int], int]]) -> float | None:
    """Krippendorff's alpha for nominal values.

    ``units`` are kinds of unit: how many people gave each value to one unit, and the number of such units.  Alpha is 1
    if all agree, 0 for agreement by chance, and below 0 if they disagree more than by chance.  Any number of people may
    have judged any of the units; a unit with a single judgement does not count.  ``None`` where alpha is not defined:
    no unit was judged by two, or all judgements of such units are the same.  Source: K.  Krippendorff, Content
    Analysis, 4th edition (2019), chapter 12.
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
