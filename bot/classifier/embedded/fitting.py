"""Fitting: one kernel ridge regression for all capabilities, members, and calibrations.

Members are fits without a fold of the exemplars, and calibration rests on scores by fits without all that the same
author wrote, unless no other author has a capability; so do the counts of what to expect of a capability
(:mod:`bot.classifier.exemplars`).  Which exemplar goes into which fold follows from a digest of its id and the seed:
their order does not matter.

With A = (K + λI)⁻¹, a = A(y − b) are the weights of all exemplars.  Leaving the exemplars g out gives them the scores
y_g − A_gg⁻¹ a_g, and the others the weights a − A_·g A_gg⁻¹ a_g, without a further fit (Rifkin and Lippert 2007,
"Notes on regularized least squares", section 4, in blocks).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bot.classifier.embedded.embedding import Embedder
from bot.classifier.embedded.familiarity import Familiarity
from bot.classifier.embedded.features import (
    Cues,
    FeatureSpace,
    KnownRow,
    Rows,
    gathered,
    text_digest,
)
from bot.classifier.embedded.kernel import gram, lower, on_all_cores, spans
from bot.classifier.embedded.model import (
    COUNTS,
    NEUTRAL,
    Booleans,
    Calibration,
    FittedModel,
    Floats,
    calibrate,
    calibrated,
    counts_of,
)
from bot.classifier.exemplars import ExemplarLabel, TrainingData, training_data
from bot.classifier.model import Progress, Stages, silent
from bot.config import EmbeddedSettings
from bot.taxonomy.model import Taxonomy

HANDS: Final = 3
"""From how many authors on the exemplars of one of them are left out together."""

PARTS: Final = 10
"""Into how many parts the exemplars are divided to say what to expect where one author has a capability alone."""

_BATCH: Final = 64


def fit_model(
    taxonomy: Taxonomy,
    settings: EmbeddedSettings,
    samples: int,
    embedder: Embedder | None = None,
    known: Mapping[str, KnownRow] | None = None,
    stages: Stages = silent,
) -> FittedModel:
    """``samples`` members per capability of ``taxonomy`` that has positive exemplars; the same input, the same bits.

    ``known`` are rows by :func:`text_digest` that need not be made again.
    """
    data = training_data(taxonomy)
    space = FeatureSpace(Cues.of(taxonomy.by_id[name].patterns for name in data.capabilities), embedder)
    if not data.capabilities:
        return _nothing(space)
    digests = tuple(text_digest(turns) for turns in data.exemplars)
    rows = _rows(data, digests, space, known or {}, stages("reading exemplars"))
    weights, intercepts, calibrations, held_out = _fit(data, rows, settings, samples, stages("fitting"))
    return FittedModel(
        capabilities=data.capabilities,
        space=space,
        rows=rows,
        digests=digests,
        familiarity=Familiarity.learn(data.exemplars, [_language(code) for code in data.languages]),
        weights=weights.astype(np.float32),
        intercepts=intercepts,
        calibration=np.array([item.row for item in calibrations]),
        held_out=held_out,
    )


def _nothing(space: FeatureSpace) -> FittedModel:
    """The model of a taxonomy without exemplars."""
    rows = space.rows([[""]])
    return FittedModel(
        capabilities=(),
        space=space,
        rows=rows,
        digests=(text_digest([""]),),
        familiarity=Familiarity.learn((), ()),
        weights=np.zeros((1, 0), np.float32),
        intercepts=np.zeros(0),
        calibration=np.zeros((0, 3)),
        held_out=np.zeros((0, COUNTS), np.int32),
    )


def _language(code: str | None) -> str | None:
    """The language of a translation; other wordings in the originals' own (``en-x-windy``) are in none of their own."""
    return None if code is None or "-x-" in code else code


def _rows(
    data: TrainingData,
    digests: Sequence[str],
    space: FeatureSpace,
    known: Mapping[str, KnownRow],
    progress: Progress,
) -> Rows:
    found = {digest: known[digest] for digest in digests if digest in known}
    missing = [place for place, digest in enumerate(digests) if digest not in found]
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        made = space.rows([data.exemplars[place] for place in batch])
        found |= {digests[place]: (made, number, space.cues.digests) for number, place in enumerate(batch)}
        progress(start + len(batch), len(missing))
    return gathered([found[digest] for digest in digests], data.exemplars, space.cues)


def _fit(
    data: TrainingData, rows: Rows, settings: EmbeddedSettings, samples: int, progress: Progress
) -> tuple[Floats, Floats, list[Calibration], NDArray[np.int32]]:
    """Weights of the members, intercepts, calibrations, and counts of what was held out."""
    labels = np.array(data.labels, np.int8).reshape(len(rows), -1)
    truth, known = labels == ExemplarLabel.POSITIVE, labels != ExemplarLabel.UNKNOWN
    steps = samples + 2
    progress(0, steps)
    regression = Regression.of(rows, np.where(truth, 1.0, -1.0), known, settings.ridge)
    weights: list[Floats] = []
    for fold in _folds(data, settings, samples):
        progress(1 + len(weights), steps)
        weights.append(regression.without(fold))
    members = np.stack(weights, axis=2)
    progress(1 + samples, steps)
    judged = known & np.array([[language is None] for language in data.languages])
    hands = np.unique(np.array(data.hands), return_inverse=True)[1]
    # Left out with all others that exercise it, an exemplar says nothing.
    alone = np.array([len(np.unique(hands[own & true])) < 2 for own, true in zip(judged.T, truth.T, strict=True)])
    scores = regression.left_out(_authors(data))
    if alone.any():
        scores[:, alone] = regression.left_out(_groups(data.ids))[:, alone]
    calibrations = [
        _calibration(scores[own, column], truth[own, column]) for column, own in enumerate(judged.transpose())
    ]
    held_out = np.zeros((len(alone), COUNTS), np.int32)
    for groups, columns in ((_groups(data.hands), ~alone), (_parts(data), alone)):
        if columns.any():
            left = regression.left_out(groups)
            for column in np.flatnonzero(columns):
                own, true = judged[:, column], truth[:, column]
                found = _probabilities(left[:, column], scores[:, column], true, own, groups)
                held_out[column] = counts_of(found[own], true[own], in_parts=bool(alone[column]))
    progress(steps, steps)
    return members.reshape(len(rows), -1), regression.intercepts, calibrations, held_out


def _folds(data: TrainingData, settings: EmbeddedSettings, samples: int) -> list[NDArray[np.intp]]:
    """What each member leaves out: an exemplar together with its translations; nothing if there is one member."""
    if samples == 1:
        return [np.array([], np.intp)]
    salt = f"{settings.seed}\n"
    draws = [int(hashlib.sha256((salt + id).encode()).hexdigest()[:12], 16) % samples for id in data.ids]
    return [np.flatnonzero(np.array(draws) == number) for number in range(samples)]


def _authors(data: TrainingData) -> list[NDArray[np.intp]]:
    """The exemplars of each author; where there are few authors, each exemplar with its translations."""
    return _groups(data.hands if len(set(data.hands)) >= HANDS else data.ids)


def _parts(data: TrainingData) -> list[NDArray[np.intp]]:
    """The exemplars in parts, each with its translations."""
    return _groups([int(hashlib.sha256(id.encode()).hexdigest()[:12], 16) % PARTS for id in data.ids])


def _groups(keys: Sequence[str] | Sequence[int]) -> list[NDArray[np.intp]]:
    """The places of each of ``keys``."""
    places = np.unique(np.array(keys), return_inverse=True)[1]
    return [np.flatnonzero(places == place) for place in range(places.max() + 1)]


def _probabilities(
    left: Floats, scores: Floats, true: Booleans, own: Booleans, groups: Sequence[NDArray[np.intp]]
) -> Floats:
    """What the scores in ``left`` mean: those of each group by the calibration that the ``scores`` of the others give.

    So what is left out counts neither for the fit nor for the calibration that judges it.  Where the others teach
    nothing, nothing is tagged.
    """
    found = np.zeros(len(own))
    for group in groups:
        others = own.copy()
        others[group] = False
        known = true[others]
        if known.any() and not known.all():
            curve = calibrate(scores[others], known, np.ones(len(known)))
            found[group] = calibrated(left[group][None], curve.row[None])[0]
    return found


def _calibration(scores: Floats, truth: Booleans) -> Calibration:
    if truth.all():
        # Nothing to tell positives from: never TRUE.
        return Calibration(2.0, 1.0, 1.0)
    if not truth.any():
        return NEUTRAL
    return calibrate(scores, truth, np.ones(len(truth)))


@dataclass(frozen=True)
class Regression:
    """The fit on all exemplars: a row for each of them, a column for each capability.

    ``inverse`` is A, ``weights`` a, ``targets`` y, and ``intercepts`` b, the means of those that are known.
    """

    inverse: Floats
    weights: Floats
    targets: Floats
    intercepts: Floats

    @staticmethod
    def of(rows: Rows, targets: Floats, known: Booleans, ridge: float) -> Regression:
        """On ``rows`` and ``targets``: 1 where an exemplar exercises a capability, else −1, with λ = ``ridge``.

        What is not ``known`` pulls no way: its target is the mean.  The same bits whatever the number of cores.
        """
        intercepts = np.where(known, targets, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        targets = np.where(known, targets, intercepts)
        with _one_thread():
            inverse = _inverse(gram(rows), ridge)
            return Regression(inverse, inverse @ (targets - intercepts), targets, intercepts)

    def without(self, out: NDArray[np.intp]) -> Floats:
        """The weights of the fit without the exemplars ``out``, whose own are 0."""
        if not len(out):
            return self.weights
        with _one_thread():
            found: Floats = self.weights - self.inverse[out].T @ self._solved(out)
        found[out] = 0
        return found

    def left_out(self, groups: Sequence[NDArray[np.intp]]) -> Floats:
        """The scores of each exemplar by the fit without its group; 0 for those in none."""
        found = np.zeros(self.targets.shape)
        with _one_thread():
            for group in groups:
                found[group] = self.targets[group] - self._solved(group)
        return found

    def _solved(self, out: NDArray[np.intp]) -> Floats:
        """A_gg⁻¹ a_g."""
        from scipy.linalg import cho_factor, cho_solve

        found: Floats = cho_solve(cho_factor(self.inverse[np.ix_(out, out)], lower=True), self.weights[out])
        return found


@contextmanager
def _one_thread() -> Iterator[None]:
    """Holds libraries to one thread: how they share a sum out among several would show in the last bits."""
    import scipy.linalg  # noqa: F401  # its threads can be limited once it is loaded
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


def _inverse(kernel: Floats, ridge: float) -> Floats:
    """(K + λI)⁻¹, by sweeping one block of columns after another (Goodnight 1979); ``kernel`` is used up."""
    size = len(kernel)
    kernel[np.diag_indices(size)] += ridge
    for pivot in spans(size):
        _sweep(kernel, pivot)
    for one, other in lower(size):
        kernel[other, one] = kernel[one, other].T
    np.negative(kernel, out=kernel)
    return kernel


def _sweep(matrix: Floats, pivot: slice) -> None:
    """Exchange the rows and columns ``pivot`` of a symmetric matrix; only what is not above its diagonal is used.

    Once all are exchanged it is its negative inverse.
    """
    inner = np.linalg.inv(matrix[pivot, pivot])
    column = np.concatenate([matrix[pivot, : pivot.start].T, matrix[pivot.start :, pivot]])
    scaled = np.empty_like(column)

    def scale(one: slice) -> None:
        scaled[one] = column[one] @ inner

    def reduce(tile: tuple[slice, slice]) -> None:
        one, other = tile
        matrix[tile] -= scaled[one] @ column[other].T

    on_all_cores(scale, spans(len(matrix)))
    on_all_cores(reduce, [tile for tile in lower(len(matrix)) if pivot not in tile])
    matrix[pivot, : pivot.start] = scaled[: pivot.start].T
    matrix[pivot.stop :, pivot] = scaled[pivot.stop :]
    matrix[pivot, pivot] = -inner
