"""A quick model of a taxonomy whose exemplars differ little from those of a fitted one: a preview of the whole fit.

What is new, and what is most like anything new or gone, gets the weights that fit best while all others keep theirs.
Calibrations, counts and what is familiar stay those of the fitted model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from incumbent.classifier.embedded.embedding import one_thread
from incumbent.classifier.embedded.exact import Floats, product
from incumbent.classifier.embedded.features import Cues, FeatureSpace, Rows, text_digest
from incumbent.classifier.embedded.fitting import folds_of, ordered, rows_of
from incumbent.classifier.embedded.inverse import Places, inverted
from incumbent.classifier.embedded.kernel import STEPS
from incumbent.classifier.embedded.model import LARGEST_WEIGHT, FittedModel, basis_of, taught_by
from incumbent.classifier.exemplars import ExemplarLabel, TrainingData, training_data
from incumbent.classifier.model import silent
from incumbent.taxonomy.config import EmbeddedSettings
from incumbent.taxonomy.model import Taxonomy

LARGEST_SHARE: Final = 0.05
"""Where more of the exemplars differ, the weights of the others would be others, too."""


AROUND: Final = 384
"""So many exemplars get other weights at least: one that is new takes much of its weight from those like it."""


@dataclass(frozen=True, slots=True)
class Preview:
    """A quick ``model``, and ``why`` it is none that was fitted."""

    model: FittedModel
    why: str


def preview_of(earlier: FittedModel, taxonomy: Taxonomy, settings: EmbeddedSettings, samples: int) -> Preview | None:
    """A model of ``taxonomy`` from one that was fitted ``earlier``; ``None`` if too much differs."""
    data = ordered(training_data(taxonomy), settings, samples)
    cues = Cues.of(taxonomy.by_id[name].patterns for name in data.capabilities)
    if not data.capabilities or earlier.basis != basis_of(settings, samples, cues):
        return None
    digests, taught = tuple(map(text_digest, data.exemplars)), taught_by(data)
    places = {key: place for place, key in enumerate(zip(earlier.digests, earlier.taught.tolist(), strict=True))}
    before = np.array([places.get(key, -1) for key in zip(digests, taught.tolist(), strict=True)])
    new, kept = np.flatnonzero(before < 0), np.flatnonzero(before >= 0)
    gone = len(earlier.rows) - len(kept)
    if max(len(new), gone) > LARGEST_SHARE * len(before):
        return None
    space = FeatureSpace(cues, earlier.space.embedder)
    known = {digest: (earlier.rows, place, cues.digests) for place, digest in enumerate(earlier.digests)}
    rows = rows_of(data, digests, space, known, silent(""))
    weights = np.zeros((len(before), earlier.weights.shape[1]), np.int16)
    weights[kept] = earlier.weights[before[kept]]
    model = replace(earlier, space=space, rows=rows, digests=digests, taught=taught, weights=weights)
    lost = np.setdiff1d(np.arange(len(earlier.rows)), before[kept])
    with one_thread():
        block = _around([(rows, new), (earlier.rows, lost)], model)
        found = _weights_of(block, model, data, settings, samples)
    weights[block] = np.clip(np.rint(found / model.unit), -LARGEST_WEIGHT, LARGEST_WEIGHT)
    return Preview(model, _difference(len(new), gone, len(before)))


def _difference(new: int, gone: int, size: int) -> str:
    if new:
        return f"{new:,} of {size:,} exemplars {'is' if new == 1 else 'are'} newer than the fitted model"
    if gone:
        return f"the fitted model knows {gone:,} {'exemplar' if gone == 1 else 'exemplars'} too many"
    return "the fitted model knows the exemplars in another order or from other authors"


def _around(changes: Sequence[tuple[Rows, Places]], model: FittedModel) -> Places:
    """The exemplars of ``model`` that are most like those in ``changes``, in their order."""
    nearest = np.zeros(len(model.rows))
    size = AROUND
    for rows, places in changes:
        size = max(size, 2 * len(places))
        if len(places):
            nearest = np.maximum(nearest, model.reference.similarities(rows.at(places.tolist())).max(axis=0))
    return np.sort(np.argsort(-nearest, kind="stable")[:size])


def _weights_of(
    block: Places, model: FittedModel, data: TrainingData, settings: EmbeddedSettings, samples: int
) -> Floats:
    """The weights of the exemplars of a ``block`` E, given those of the others in ``model``.

    (K_EE + λI) a_E = y_E − b − K_E,rest a_rest, for each member without what it leaves out.
    """
    similar = model.reference.similarities(model.rows.at(block.tolist()))
    among, weights = similar[:, block], model.weights.astype(np.float64)
    labels = np.array([data.labels[place] for place in block.tolist()], np.int8)
    targets = np.where(labels == ExemplarLabel.POSITIVE, 1.0, -1.0) - model.intercepts
    wanted = np.where(labels == ExemplarLabel.UNKNOWN, 0.0, targets).repeat(samples, axis=1)
    # Sums of whole numbers are exact, and so is their difference.
    rest = wanted - (similar @ weights - among @ weights[block]) * (model.unit / STEPS)
    matrix = among / STEPS + settings.ridge * np.eye(len(block))
    found = np.zeros(rest.shape)
    for member, fold in enumerate(folds_of(data, settings, samples)):
        own = np.flatnonzero(~np.isin(block, fold))
        found[own, member::samples] = product(inverted(matrix[np.ix_(own, own)]), rest[own, member::samples])
    return found
