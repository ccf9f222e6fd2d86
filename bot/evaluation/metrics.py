"""Measures of a binary classifier over arrays (semantics, section 8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bot.evaluation.cells import Booleans, Cells, Numbers
from bot.text.compare import DECIMALS


@dataclass(frozen=True)
class Confusion:
    """Counts of labels by outcome, each of shape (..., capabilities); weighted counts in a resample."""

    true_positive: Numbers
    false_positive: Numbers
    false_negative: Numbers
    true_negative: Numbers

    @property
    def positive(self) -> Numbers:
        """Labels that are TRUE."""
        return self.true_positive + self.false_negative

    @property
    def negative(self) -> Numbers:
        """Labels that are FALSE."""
        return self.true_negative + self.false_positive

    @property
    def phi(self) -> Numbers:
        """The phi coefficient in [−1, 1]: MCC, and Pearson's correlation of the two as 0 and 1.

        (TP·TN − FP·FN) / √((TP+FP)(TP+FN)(TN+FP)(TN+FN)).  Not a number where the labels have one class only: there is
        nothing to correlate with.  Where both classes are labelled and predictions are constant it is 0, as MCC's
        convention has it: such predictions tell nothing.
        """
        predicted = (self.true_positive + self.false_positive) * (self.true_negative + self.false_negative)
        labelled = self.positive * self.negative
        product = self.true_positive * self.true_negative - self.false_positive * self.false_negative
        # One root of the square of a number is that number, so that perfect predictions have exactly 1.
        scale = np.sqrt(np.where(predicted * labelled > 0, predicted * labelled, 1.0))
        return np.where(labelled > 0, np.clip(product / scale, -1.0, 1.0), np.nan)


def confusion(cells: Cells, weights: Numbers) -> Confusion:
    """The outcomes under ``weights`` of shape (resamples, queries): how often each query was drawn.

    Unknown labels count nowhere.  The result has the shape (resamples, capabilities).
    """
    labelled, actual, predicted = (_floats(item) for item in (cells.labelled, cells.actual, cells.predicted))
    all_, positive = weights @ labelled, weights @ (labelled * actual)
    said, hit = weights @ (labelled * predicted), weights @ (labelled * actual * predicted)
    return Confusion(hit, said - hit, positive - hit, all_ - positive - said + hit)


def _floats(values: Booleans) -> Numbers:
    return values.astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Predictions of about one probability.

    ``low`` and ``high`` bound the bin (the last one holds 1 too); ``count`` predictions are in it, with the mean
    ``probability`` of TRUE, and the share ``true`` of them is TRUE by label.
    """

    low: float
    high: float
    count: int
    probability: float
    true: float


def reliability(probability: Numbers, actual: Booleans, bins: int) -> tuple[Bin, ...]:
    """Predictions in ``bins`` bins of equal width over [0, 1]; bins without any are left out."""
    # Rounded, since 0.29 × 100 is a little less than 29.
    place = np.minimum((probability * bins).round(DECIMALS).astype(np.int64), bins - 1)
    count = np.bincount(place, minlength=bins)
    said = np.bincount(place, weights=probability, minlength=bins)
    true = np.bincount(place, weights=_floats(actual), minlength=bins)
    return tuple(
        Bin(
            low=number / bins,
            high=(number + 1) / bins,
            count=int(count[number]),
            probability=float(said[number] / count[number]),
            true=float(true[number] / count[number]),
        )
        for number in range(bins)
        if count[number]
    )


def brier(probability: Numbers, actual: Booleans) -> float:
    """Brier score in [0, 1]: the mean squared distance of the probability from the label; 0 is best."""
    return float(np.mean((probability - actual) ** 2))


def calibration_error(bins: tuple[Bin, ...]) -> float:
    """Expected calibration error in [0, 1]: |mean probability − share of TRUE|, averaged over all predictions."""
    count = sum(item.count for item in bins)
    return sum(item.count * abs(item.probability - item.true) for item in bins) / count
