"""Fitting: one kernel ridge regression for all capabilities, and what leaving some exemplars out would have given.

With A = (K + λI)⁻¹, a = A(y − b) are the weights of all exemplars.  Leaving the exemplars g out gives them the scores
y_g − A_gg⁻¹ a_g, and the others the weights a − A_·g A_gg⁻¹ a_g, without a further fit (Rifkin and Lippert 2007,
"Notes on regularized least squares", section 4, in blocks).  So members are fits without a fold of the exemplars, and
calibration rests on scores by fits without all that the same author wrote.

Which exemplar goes into which fold follows from a digest of its id and the seed: their order does not matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bot.classifier.embedded.calibration import NEUTRAL, Booleans, Calibration, Floats, calibrate
from bot.classifier.embedded.embedding import Embedder
from bot.classifier.embedded.familiarity import Familiarity
from bot.classifier.embedded.features import (
    Cues,
    FeatureSpace,
    Rows,
    TextRow,
    cue_rows,
    joined,
    text_digest,
    text_rows,
)
from bot.classifier.embedded.kernel import Singles, gram
from bot.classifier.embedded.model import FittedModel
from bot.classifier.embedded.text import read_text
from bot.classifier.embedded.tiles import lower, on_all_cores, spans
from bot.classifier.exemplars import Label, TrainingData, training_data
from bot.config import EmbeddedSettings
from bot.taxonomy.model import Taxonomy

HANDS: Final = 3
"""From how many authors on the exemplars of one of them are left out together."""

_BATCH: Final = 64


def fit_model(
    taxonomy: Taxonomy,
    settings: EmbeddedSettings,
    samples: int,
    embedder: Embedder | None = None,
    known: Mapping[str, TextRow] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> FittedModel:
    """``samples`` members per capability of ``taxonomy`` that has positive exemplars; the same input, the same bits.

    ``known`` are rows by :func:`text_digest` that need not be made again; ``progress`` hears how many of the others
    are made.
    """
    data = training_data(taxonomy)
    space = FeatureSpace(Cues.of(taxonomy.by_id[name].patterns for name in data.capabilities), embedder)
    if not data.capabilities:
        return _nothing(space)
    digests = tuple(text_digest(turns) for turns in data.exemplars)
    rows = _rows(data, digests, space, known or {}, progress)
    weights, intercepts, calibrations = _fit(data, rows, settings, samples)
    return FittedModel(
        capabilities=data.capabilities,
        space=space,
        rows=rows,
        digests=digests,
        familiarity=Familiarity.learn(data.exemplars, [_language(code) for code in data.languages]),
        weights=weights.astype(np.float16),
        intercepts=intercepts,
        calibration=np.array([[item.threshold, item.below, item.above] for item in calibrations]),
    )


def _nothing(space: FeatureSpace) -> FittedModel:
    """The model of a taxonomy without exemplars."""
    rows = joined(text_rows([read_text([""])], space.embedder), np.zeros((1, 0), np.int8))
    return FittedModel(
        capabilities=(),
        space=space,
        rows=rows,
        digests=(text_digest([""]),),
        familiarity=Familiarity.learn((), ()),
        weights=np.zeros((1, 0), np.float16),
        intercepts=np.zeros(0),
        calibration=np.zeros((0, 3)),
    )


def _language(code: str | None) -> str | None:
    """The language of a translation; other wordings in the originals' own (``en-x-windy``) are in none of their own."""
    return None if code is None or "-x-" in code else code


def _rows(
    data: TrainingData,
    digests: Sequence[str],
    space: FeatureSpace,
    known: Mapping[str, TextRow],
    progress: Callable[[int, int], None],
) -> Rows:
    found = {digest: known[digest] for digest in digests if digest in known}
    missing = [place for place, digest in enumerate(digests) if digest not in found]
    reads = [read_text(turns) for turns in data.exemplars]
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        made = text_rows([reads[place] for place in batch], space.embedder)
        found |= {digests[place]: row for place, row in zip(batch, made, strict=True)}
        progress(start + len(batch), len(missing))
    rows = [found[digest] for digest in digests]
    return joined(rows, cue_rows(reads, rows, space.cues))


def _fit(
    data: TrainingData, rows: Rows, settings: EmbeddedSettings, samples: int
) -> tuple[Singles, Floats, list[Calibration]]:
    """Weights of the members, intercepts, and calibrations."""
    import scipy.linalg  # noqa: F401  # its threads can be limited once it is loaded
    from threadpoolctl import threadpool_limits

    truth = np.array(data.labels, np.int8).reshape(len(rows), -1) == Label.POSITIVE
    targets = np.where(truth, np.float32(1), np.float32(-1))
    intercepts = targets.mean(axis=0, dtype=np.float64)
    # One thread for each tile: how a library shares sums out among several would show in the last bits.
    with threadpool_limits(1):
        inverse = _inverse(gram(rows), settings.ridge)
        weights = inverse @ (targets - intercepts.astype(np.float32))
        members = np.stack([_without(inverse, weights, fold) for fold in _folds(data, settings, samples)], axis=2)
        scores = _left_out(inverse, weights, targets, _authors(data))
    judged = np.array([language is None for language in data.languages])
    calibrations = [
        _calibration(scores[judged, column], truth[judged, column]) for column in range(len(data.capabilities))
    ]
    return members.reshape(len(rows), -1), intercepts, calibrations


def _inverse(kernel: Singles, ridge: float) -> Singles:
    """(K + λI)⁻¹, by sweeping one block of columns after another (Goodnight 1979); ``kernel`` is used up."""
    size = len(kernel)
    kernel[np.diag_indices(size)] += np.float32(ridge)
    for pivot in spans(size):
        _sweep(kernel, pivot)
    for one, other in lower(size):
        kernel[other, one] = kernel[one, other].T
    np.negative(kernel, out=kernel)
    return kernel


def _sweep(matrix: Singles, pivot: slice) -> None:
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


def _without(inverse: Singles, weights: Singles, out: NDArray[np.intp]) -> Singles:
    """The weights of the fit without the exemplars ``out``, which have none."""
    found = weights
    if len(out):
        found = weights - inverse[out].T @ _solve(inverse, weights, out)
        found[out] = 0
    return found


def _solve(inverse: Singles, weights: Singles, out: NDArray[np.intp]) -> Singles:
    """A_gg⁻¹ a_g."""
    from scipy.linalg import cho_factor, cho_solve

    found: Singles = cho_solve(cho_factor(inverse[np.ix_(out, out)], lower=True), weights[out])
    return found


def _left_out(inverse: Singles, weights: Singles, targets: Singles, groups: Sequence[NDArray[np.intp]]) -> Floats:
    """The score of each exemplar by the fit without its group."""
    found = np.zeros(targets.shape)
    for group in groups:
        found[group] = targets[group] - _solve(inverse, weights, group)
    return found


def _folds(data: TrainingData, settings: EmbeddedSettings, samples: int) -> list[NDArray[np.intp]]:
    """What each member leaves out: an exemplar together with its translations; nothing if there is one member."""
    if samples == 1:
        return [np.array([], np.intp)]
    salt = f"{settings.seed}\n"
    draws = [int(hashlib.sha256((salt + id).encode()).hexdigest()[:12], 16) % samples for id in data.ids]
    return [np.flatnonzero(np.array(draws) == number) for number in range(samples)]


def _authors(data: TrainingData) -> list[NDArray[np.intp]]:
    """The exemplars of each author; where there are few authors, each exemplar with its translations."""
    keys = data.hands if len(set(data.hands)) >= HANDS else data.ids
    return [np.flatnonzero(np.array(keys) == key) for key in sorted(set(keys))]


def _calibration(scores: Floats, truth: Booleans) -> Calibration:
    if truth.all():
        # Nothing to tell positives from: never TRUE.
        return Calibration(2.0, 1.0, 1.0)
    if not truth.any():
        return NEUTRAL
    return calibrate(scores, truth, np.ones(len(truth)))
