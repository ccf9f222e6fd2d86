"""From scores to probabilities: the decision threshold, and logistic curves that meet in it at 0.5.

Both come from out-of-fold scores, which no exemplar that a score is for took part in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bot.classifier.exemplars import HeldOutExemplars
from bot.text.compare import rounded

Floats: TypeAlias = NDArray[np.float64]
Booleans: TypeAlias = NDArray[np.bool_]

_STEEPEST: Final = 64.0
_FLATTEST: Final = 2.0**-6
_HALVINGS: Final = 40


@dataclass(frozen=True, slots=True)
class Calibration:
    """The probability of a score s is σ(slope · (s − threshold)), with a slope for each side of the threshold.

    Platt scaling would put 0.5 where both classes are equally likely, and the best decision is elsewhere when one of
    them is rare; so the decision threshold is where the probability is 0.5, and the curve on each side is fitted to the
    scores on that side.
    """

    threshold: float
    below: float
    above: float

    @property
    def row(self) -> Floats:
        """Its numbers, as a fitted model keeps them."""
        return np.array([self.threshold, self.below, self.above])


NEUTRAL: Final = Calibration(0.0, 1.0, 1.0)
"""For lack of out-of-fold scores: the regression's own probability."""


def calibrate(scores: Floats, truth: Booleans, weights: Floats) -> Calibration:
    """The calibration of out-of-fold ``scores``; both classes must occur."""
    threshold = best_threshold(scores, truth, weights)
    rare = float(weights[truth].sum())
    common = float(weights[~truth].sum())
    # Platt's targets: a class of n is not taken to be certain, but right in (n + 1) of (n + 2) cases.
    targets = np.where(truth, (rare + 1) / (rare + 2), 1 / (common + 2))
    distances = scores - threshold
    under = distances < 0
    return Calibration(
        threshold,
        _slope(distances[under], targets[under], weights[under]),
        _slope(distances[~under], targets[~under], weights[~under]),
    )


def best_threshold(scores: Floats, truth: Booleans, weights: Floats) -> float:
    """The threshold with the highest phi coefficient; of equally good ones, the middle of the widest gap of scores."""
    order = np.argsort(scores, kind="stable")
    ordered, positive, weight = scores[order], truth[order], weights[order]
    hits = np.where(positive, weight, 0.0)
    alarms = np.where(positive, 0.0, weight)
    # At cut i, everything from i on is called positive.
    missed = np.cumsum(hits)[:-1]
    rejected = np.cumsum(alarms)[:-1]
    found = hits.sum() - missed
    raised = alarms.sum() - rejected
    product = (found + raised) * (missed + rejected) * hits.sum() * alarms.sum()
    phi = np.where(product > 0, (found * rejected - raised * missed) / np.sqrt(np.where(product > 0, product, 1)), -1.0)
    gaps = np.diff(ordered)
    phi = np.where(gaps > 0, np.round(phi, 9), -1.0)
    best = np.lexsort((-gaps, -phi))[0]
    return float((ordered[best] + ordered[best + 1]) / 2)


def _slope(distances: Floats, targets: Floats, weights: Floats) -> float:
    """The likeliest slope of a logistic curve through (0, 0.5), by bisection: the likelihood has one maximum."""
    low, high = np.log(_FLATTEST), np.log(_STEEPEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        gradient = float(np.sum(weights * distances * (targets - sigmoid(np.exp(middle) * distances))))
        if gradient > 0:
            low = middle
        else:
            high = middle
    return float(np.exp((low + high) / 2))


def sigmoid(values: Floats) -> Floats:
    """1 / (1 + e^−x), without overflow; 0.5 exactly at 0 and never below for what is not negative."""
    return 1.0 / (1.0 + np.exp(-np.clip(values, -60.0, 60.0)))


_STEPS: Final = 100
"""Probabilities are counted in hundredths."""

_FIRST: Final = _STEPS // 2
"""Below one half nothing is tagged."""

_KINDS: Final = _STEPS - _FIRST + 1

COUNTS: Final = 2 + 2 * _KINDS
"""Numbers per capability: whether parts were left out and not hands, how many exemplars exercise it, and of those that
are tagged with each hundredth from one half on how many do and how many do not."""


def counts_of(probabilities: Floats, truth: Booleans, *, in_parts: bool) -> NDArray[np.int32]:
    """The counts of one capability; each exemplar was judged by a fit without it and its fellows."""
    steps = np.floor(probabilities.round(9) * _STEPS).astype(np.int64) - _FIRST
    tagged = steps >= 0
    kinds = [np.bincount(steps[tagged & kind], minlength=_KINDS) for kind in (truth, ~truth)]
    return np.concatenate([[in_parts, truth.sum()], *kinds]).astype(np.int32)


def held_out(counts: Sequence[int], bar: float) -> HeldOutExemplars:
    """What the ``counts`` of a capability say of tags at ``bar`` and above, in whole hundredths."""
    first = min(max(ceil(rounded(bar * _STEPS)) - _FIRST, 0), _KINDS)
    found, false = sum(counts[2 + first : 2 + _KINDS]), sum(counts[2 + _KINDS + first :])
    return HeldOutExemplars(by="part" if counts[0] else "hand", found=found, false=false, missed=counts[1] - found)
