"""How surprising a count is, given what the exemplars lead to expect."""

from __future__ import annotations

from math import ceil, exp, fsum, lgamma, log
from typing import Final

from bot.text.compare import rounded

_LN10: Final = log(10)
_NEGLIGIBLE: Final = -40.0
"""Terms this much smaller (as logarithms) than the first add nothing."""


def surprise(observed: int, size: int, share: float, reference: int) -> float:
    """Minus the decimal logarithm of the probability that chance gives a sample at least as many, ≥ 0.

    ``observed`` of the ``size`` queries have a trait, and that ``share`` of the ``reference`` exemplars: had both been
    drawn from one source, the queries would hold so many of all that have it, or more, with this (hypergeometric)
    probability.
    """
    total, marked = size + reference, observed + ceil(rounded(share * reference))
    last = min(size, marked)
    first = _log_choose(marked, observed) + _log_choose(total - marked, size - observed) - _log_choose(total, size)
    terms, term = [1.0], 0.0
    for count in range(observed, last):
        term += log((marked - count) * (size - count)) - log((count + 1) * (total - marked - size + count + 1))
        if term < _NEGLIGIBLE:
            break
        terms.append(exp(term))
    return max(0.0, -(first + log(fsum(terms))) / _LN10)


def _log_choose(size: int, chosen: int) -> float:
    return lgamma(size + 1) - lgamma(chosen + 1) - lgamma(size - chosen + 1)


def lift(observed: int, size: int, share: float, reference: int) -> float:
    """How many times as frequent a trait is as its ``share`` of the exemplars; half an exemplar stands in for none."""
    return (observed / size) / ((share * reference + 0.5) / (reference + 1))
