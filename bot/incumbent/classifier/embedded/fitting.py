"""Fitting: one kernel ridge regression for all capabilities, members, and calibrations.

Members are fits without a fold of the exemplars, and calibration rests on scores by fits without all that the same
author wrote, unless no other author has a capability; so do the counts of what to expect of a capability
(:mod:`incumbent.classifier.exemplars`).  Which exemplar goes into which fold follows from a digest of its id and the
seed: their order does not matter.

With A = (K + λI)⁻¹, a = A(y − b) are the weights of all exemplars.  Leaving the exemplars g out gives them the scores
y_g − A_gg⁻¹ a_g, and the others the weights a − A_·g A_gg⁻¹ a_g, without a further fit (Rifkin and Lippert 2007,
"Notes on regularized least squares", section 4, in blocks).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from incumbent.classifier.embedded.embedding import Embedder, one_thread
from incumbent.classifier.embedded.exact import Floats, product
from incumbent.classifier.embedded.familiarity import Familiarity
from incumbent.classifier.embedded.features import (
    Cues,
    FeatureSpace,
    KnownRow,
    Rows,
    gathered,
    text_digest,
)
from incumbent.classifier.embedded.inverse import UNSEEN, Inverse, Places, inverted
from incumbent.classifier.embedded.kernel import gram, on_all_cores, spans
from incumbent.classifier.embedded.model import (
    COUNTS,
    NEUTRAL,
    Booleans,
    Calibration,
    FittedModel,
    basis_of,
    calibrate,
    calibrated,
    counts_of,
    taught_by,
    whole_weights,
)
from incumbent.classifier.exemplars import ExemplarLabel, TrainingData, training_data
from incumbent.classifier.model import Progress, Stages, silent
from incumbent.taxonomy.config import EmbeddedSettings
from incumbent.taxonomy.model import Taxonomy

HANDS: Final = 3
"""From how many authors on the exemplars of one of them are left out together."""

PARTS: Final = 10
"""Into how many parts the exemplars are divided to say what to expect where one author has a capability alone."""

_BATCH: Final = 64

_SMALL: Final = 128
"""Groups are small that are looked at together, up to so many exemplars."""


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
    data = ordered(training_data(taxonomy), settings, samples)
    space = FeatureSpace(Cues.of(taxonomy.by_id[name].patterns for name in data.capabilities), embedder)
    if not data.capabilities:
        return _nothing(space, settings, samples)
    digests = tuple(text_digest(turns) for turns in data.exemplars)
    rows = rows_of(data, digests, space, known or {}, stages("reading exemplars"))
    with one_thread():
        members, intercepts, calibrations, held_out = _fit(data, rows, settings, samples, stages("fitting"))
    weights, unit = whole_weights(members)
    return FittedModel(
        capabilities=data.capabilities,
        space=space,
        rows=rows,
        digests=digests,
        taught=taught_by(data),
        basis=basis_of(settings, samples, space.cues),
        familiarity=Familiarity.learn(data.exemplars, [_language(code) for code in data.languages]),
        weights=weights,
        unit=unit,
        intercepts=intercepts,
        calibration=np.array([item.row for item in calibrations]),
        held_out=held_out,
    )


def _nothing(space: FeatureSpace, settings: EmbeddedSettings, samples: int) -> FittedModel:
    """The model of a taxonomy without exemplars."""
    rows = space.rows([[""]])
    return FittedModel(
        capabilities=(),
        space=space,
        rows=rows,
        digests=(text_digest([""]),),
        taught=np.zeros(1, np.int32),
        basis=basis_of(settings, samples, space.cues),
        familiarity=Familiarity.learn((), ()),
        weights=np.zeros((1, 0), np.int16),
        unit=1.0,
        intercepts=np.zeros(0),
        calibration=np.zeros((0, 3)),
        held_out=np.zeros((0, COUNTS), np.int32),
    )


def ordered(data: TrainingData, settings: EmbeddedSettings, samples: int) -> TrainingData:
    """``data`` in an order that follows from themselves: those of a fold together, and in it an exemplar's wordings."""
    draws = _draws(data, settings, samples)
    keys = [(draw, *key) for draw, *key in zip(draws, data.ids, data.exemplars, strict=True)]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return replace(
        data,
        exemplars=tuple(data.exemplars[place] for place in order),
        labels=tuple(data.labels[place] for place in order),
        ids=tuple(data.ids[place] for place in order),
        hands=tuple(data.hands[place] for place in order),
        languages=tuple(data.languages[place] for place in order),
    )


def _language(code: str | None) -> str | None:
    """The language of a translation; other wordings in the originals' own (``en-x-windy``) are in none of their own."""
    return None if code is None or "-x-" in code else code


def rows_of(
    data: TrainingData,
    digests: Sequence[str],
    space: FeatureSpace,
    known: Mapping[str, KnownRow],
    progress: Progress,
) -> Rows:
    """The rows of the exemplars, whose texts have these ``digests``; those that are ``known`` are not made again."""
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
    tiles = len(spans(len(rows)))
    steps = tiles + samples + 1
    targets = np.where(truth, 1.0, -1.0)
    regression = Regression.of(rows, targets, known, settings.ridge, lambda done, _: progress(done, steps))
    folds = folds_of(data, settings, samples)
    members = np.stack(regression.without(folds, lambda done, _: progress(tiles + done, steps)), axis=2)
    progress(tiles + samples, steps)
    judged = known & np.array([[language is None] for language in data.languages])
    hands = np.unique(np.array(data.hands), return_inverse=True)[1]
    # Left out with all others that exercise it, an exemplar says nothing.
    alone = np.array([len(np.unique(hands[own & true])) < 2 for own, true in zip(judged.T, truth.T, strict=True)])
    one_by_one = alone | (len(set(data.hands)) < HANDS)
    none = np.zeros(labels.shape)
    groups = {True: _parts(data), False: _groups(data.hands)}
    by_hand = none if alone.all() else regression.left_out(groups[False])
    by_part = regression.left_out(groups[True]) if alone.any() else none
    scores = np.where(one_by_one, regression.left_out(_groups(data.ids)) if one_by_one.any() else none, by_hand)

    def calibration(column: int) -> tuple[Calibration, NDArray[np.int32]]:
        own, true, in_parts = judged[:, column], truth[:, column], bool(alone[column])
        left = (by_part if in_parts else by_hand)[:, column]
        found = _probabilities(left, scores[:, column], true, own, groups[in_parts])
        counts = counts_of(found[own], true[own], in_parts=in_parts)
        return _calibration(scores[own, column], true[own]), counts

    calibrations, held_out = zip(*on_all_cores(calibration, range(len(alone))), strict=True)
    progress(steps, steps)
    return members.reshape(len(rows), -1), regression.intercepts, list(calibrations), np.array(held_out)


def _draws(data: TrainingData, settings: EmbeddedSettings, samples: int) -> list[int]:
    """Which member leaves each exemplar out: the same one its translations."""
    salt = f"{settings.seed}\n"
    return [int(hashlib.sha256((salt + id).encode()).hexdigest()[:12], 16) % samples for id in data.ids]


def folds_of(data: TrainingData, settings: EmbeddedSettings, samples: int) -> list[Places]:
    """What each member leaves out; nothing if there is one member."""
    if samples == 1:
        return [np.array([], np.intp)]
    draws = np.array(_draws(data, settings, samples))
    return [np.flatnonzero(draws == number) for number in range(samples)]


def _parts(data: TrainingData) -> list[Places]:
    """The exemplars in parts, each with its translations."""
    return _groups([int(hashlib.sha256(id.encode()).hexdigest()[:12], 16) % PARTS for id in data.ids])


def _groups(keys: Sequence[str] | Sequence[int]) -> list[Places]:
    """The places of each of ``keys``."""
    places = np.unique(np.array(keys), return_inverse=True)[1]
    return [np.flatnonzero(places == place) for place in range(places.max() + 1)]


def _probabilities(left: Floats, scores: Floats, true: Booleans, own: Booleans, groups: Sequence[Places]) -> Floats:
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
            curve = calibrate(scores[others], known)
            found[group] = calibrated(left[group][None], curve.row[None])[0]
    return found


def _calibration(scores: Floats, truth: Booleans) -> Calibration:
    if truth.all():
        # Nothing to tell positives from: never TRUE.
        return Calibration(2.0, 1.0, 1.0)
    if not truth.any():
        return NEUTRAL
    return calibrate(scores, truth)


@dataclass(frozen=True)
class Regression:
    """The fit on all exemplars: a row for each of them, a column for each capability.

    ``inverse`` is A, ``weights`` a, ``targets`` y, and ``intercepts`` b, the means of those that are known.
    """

    inverse: Inverse
    weights: Floats
    targets: Floats
    intercepts: Floats

    @staticmethod
    def of(rows: Rows, targets: Floats, known: Booleans, ridge: float, progress: Progress) -> Regression:
        """On ``rows`` and ``targets``: 1 where an exemplar exercises a capability, else −1, with λ = ``ridge``.

        What is not ``known`` pulls no way: its target is the mean.
        """
        # Sums of 1 and −1 are exact.
        intercepts = np.where(known, targets, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        targets = np.where(known, targets, intercepts)
        inverse = Inverse.of(gram(rows), ridge, progress)
        return Regression(inverse, inverse.times(targets - intercepts), targets, intercepts)

    def without(self, groups: Sequence[Places], progress: Progress = UNSEEN) -> list[Floats]:
        """For each of ``groups`` the weights of the fit without its exemplars, whose own are 0."""
        lent = []
        for number, out in enumerate(groups):
            progress(number, len(groups))
            lent.append(np.zeros(self.weights.shape))
            if len(out):
                lent[-1][out] = self.inverse.solve_block(out, self.weights[out])
        # The tiles are looked at once for all groups.
        moved = np.split(self.inverse.times(np.concatenate(lent, axis=1)), len(groups), axis=1)
        found = [self.weights - each for each in moved]
        for out, each in zip(groups, found, strict=True):
            each[out] = 0
        return found

    def left_out(self, groups: Sequence[Places]) -> Floats:
        """The scores of each exemplar by the fit without its group; 0 for those in none."""
        found = np.zeros(self.targets.shape)
        for group in groups:
            if len(group) > _SMALL:
                found[group] = self.targets[group] - self.inverse.solve_block(group, self.weights[group])
        for together in _bundles([group for group in groups if len(group) <= _SMALL]):
            places = np.sort(np.concatenate(together))
            block = self.inverse.block(places)[0][0].astype(np.float64)
            for group in together:
                own = np.searchsorted(places, group)
                found[group] = self.targets[group] - product(inverted(block[np.ix_(own, own)]), self.weights[group])
        return found


def _bundles(groups: Sequence[Places]) -> Iterator[list[Places]]:
    """The ``groups`` in their order, as many together as are still small."""
    bundle: list[Places] = []
    for group in groups:
        if bundle and sum(map(len, bundle)) + len(group) > _SMALL:
            yield bundle
            bundle = []
        bundle.append(group)
    if bundle:
        yield bundle
