"""Fitting: members on stratified subsamples of the exemplars, calibrated on out-of-fold scores.

Which exemplar goes into which subsample or fold follows from digests of its text and the seed, not from a generator's
state: neither the order of the exemplars nor the names of the capabilities matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bot.classifier.embedded.calibration import NEUTRAL, Booleans, Calibration, Floats, average, calibrate
from bot.classifier.embedded.features import Cues, Row, learn_features
from bot.classifier.embedded.model import FittedModel
from bot.classifier.embedded.text import read_text
from bot.classifier.exemplars import Label, TrainingData, training_data
from bot.config import EmbeddedSettings
from bot.taxonomy.model import Taxonomy
from bot.text import normalise

UNLISTED_WEIGHT: Final = 0.5
"""What an exemplar counts for a capability that does not list it: it is probably a negative, but nobody said so."""

_FOLDINGS: Final = 3
"""How many sets of folds the exemplars are cut into: a single one leaves a rare capability to chance."""

_TOLERANCE: Final = 1e-2
_MOST_ITERATIONS: Final = 100_000


def fit_model(taxonomy: Taxonomy, settings: EmbeddedSettings, samples: int) -> FittedModel:
    """``samples`` members per capability of ``taxonomy`` that has positive exemplars; the same input, the same bits."""
    data = training_data(taxonomy)
    reads = [read_text(turns) for turns in data.exemplars]
    space = learn_features(reads, Cues.of(taxonomy.by_id[name].patterns for name in data.capabilities))
    fitting = _Fitting(data, settings, [space.row(read) for read in reads], space.width)
    columns: list[_Line] = []
    calibrations: list[Calibration] = []
    for column in range(len(data.capabilities)):
        members, calibration = fitting.capability(column, samples)
        columns.extend(members)
        calibrations.append(calibration)
    return FittedModel(
        capabilities=data.capabilities,
        space=space,
        weights=np.array([line.weights for line in columns], np.float32).reshape(len(columns), space.width).T.copy(),
        intercepts=np.array([line.intercept for line in columns]),
        calibration=np.array([[item.threshold, item.below, item.above] for item in calibrations]).reshape(-1, 3),
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """A linear score."""

    weights: Floats
    intercept: float


class _Fitting:
    def __init__(self, data: TrainingData, settings: EmbeddedSettings, rows: Sequence[Row], width: int) -> None:
        from scipy.sparse import csr_array

        self.settings = settings
        self.labels = np.array(data.labels, dtype=np.int8).reshape(len(rows), len(data.capabilities))
        self.texts = [normalise(turns) for turns in data.exemplars]
        places = np.array([place for row in rows for place in row[0]], dtype=np.int32)
        values = np.array([value for row in rows for value in row[1]], dtype=np.float64)
        ends = np.cumsum([0, *(len(row[0]) for row in rows)], dtype=np.int32)
        self.matrix: Any = csr_array((values, places, ends), shape=(len(rows), width))
        self.orders: dict[str, NDArray[np.intp]] = {}

    def capability(self, column: int, samples: int) -> tuple[list[_Line], Calibration]:
        """The members of one capability and their calibration."""
        labels = self.labels[:, column]
        truth = labels == Label.POSITIVE
        if truth.all():
            # Nothing to tell positives from: never TRUE.
            return [_Line(np.zeros(self.matrix.shape[1]), 0.0)] * samples, Calibration(1.0, 1.0, 1.0)
        weights = np.where(labels == Label.UNLISTED, UNLISTED_WEIGHT, 1.0)
        members = [self._fit(self._subsample(labels, f"member {number}"), truth, weights) for number in range(samples)]
        return members, self._calibration(labels, truth, weights)

    def _calibration(self, labels: NDArray[np.int8], truth: Booleans, weights: Floats) -> Calibration:
        folds = min(self.settings.folds, int(truth.sum()), int((~truth).sum()))
        if folds < 2:
            return NEUTRAL
        return average(
            [
                calibrate(self._out_of_fold(labels, truth, weights, draw, folds), truth, np.ones(len(truth)))
                for draw in range(_FOLDINGS)
            ]
        )

    def _out_of_fold(self, labels: NDArray[np.int8], truth: Booleans, weights: Floats, draw: int, folds: int) -> Floats:
        """The score of each exemplar by a fit that it took no part in."""
        scores = np.zeros(len(truth))
        fold = self._ranks(labels, f"folds {draw}") % folds
        for number in range(folds):
            held_out = fold == number
            line = self._fit(~held_out, truth, weights)
            scores[held_out] = self.matrix[held_out] @ line.weights + line.intercept
        return scores

    def _fit(self, chosen: Booleans, truth: Booleans, weights: Floats) -> _Line:
        from sklearn.linear_model import LogisticRegression

        regression = LogisticRegression(
            C=self.settings.regularisation,
            class_weight="balanced",
            solver="liblinear",
            dual=True,
            tol=_TOLERANCE,
            max_iter=_MOST_ITERATIONS,
            random_state=self.settings.seed % 2**32,
        )
        regression.fit(self.matrix[chosen], truth[chosen], sample_weight=weights[chosen])
        return _Line(regression.coef_[0], float(regression.intercept_[0]))

    def _subsample(self, labels: NDArray[np.int8], draw: str) -> Booleans:
        """The same share of every label's exemplars, at least one of each."""
        ranks = self._ranks(labels, draw)
        sizes = np.array([max(1, round(self.settings.subsample * int((labels == label).sum()))) for label in Label])
        chosen: Booleans = ranks < sizes[labels]
        return chosen

    def _ranks(self, labels: NDArray[np.int8], draw: str) -> NDArray[np.intp]:
        """Each exemplar's rank among those of its label, in the order that ``draw`` shuffles them into."""
        if draw not in self.orders:
            salt = f"{self.settings.seed}\n{draw}\n"
            keys = [hashlib.sha256((salt + text).encode(errors="surrogatepass")).hexdigest() for text in self.texts]
            self.orders[draw] = np.argsort(np.argsort(np.array(keys), kind="stable"), kind="stable")
        order = self.orders[draw]
        ranks = np.zeros(len(labels), dtype=np.intp)
        for label in Label:
            own = np.flatnonzero(labels == label)
            ranks[own[np.argsort(order[own], kind="stable")]] = np.arange(len(own))
        return ranks
