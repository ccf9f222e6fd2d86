"""A quick model of a taxonomy whose exemplars differ little from those of a fitted one: a preview of the whole fit.

What is new gets the weights that fit it best while all others keep theirs; what is gone loses its own.  Calibrations,
counts and what is familiar stay those of the fitted model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from bot.classifier.embedded.embedding import one_thread
from bot.classifier.embedded.exact import Floats, product
from bot.classifier.embedded.features import Cues, FeatureSpace, text_digest
from bot.classifier.embedded.fitting import folds_of, ordered, rows_of
from bot.classifier.embedded.inverse import Places, inverted
from bot.classifier.embedded.kernel import STEPS
from bot.classifier.embedded.model import LARGEST_WEIGHT, FittedModel, basis_of, taught_by
from bot.classifier.exemplars import ExemplarLabel, TrainingData, training_data
from bot.classifier.model import silent
from bot.config import EmbeddedSettings
from bot.taxonomy.model import Taxonomy

LARGEST_SHARE: Final = 0.05
"""Where more of the exemplars differ, the weights of the others would be others, too."""


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
    if len(new):
        with one_thread():
            made = _weights_of(new, model, data, settings, samples)
        weights[new] = np.clip(np.rint(made / model.unit), -LARGEST_WEIGHT, LARGEST_WEIGHT)
    return Preview(model, _difference(len(new), gone, len(before)))


def _difference(new: int, gone: int, size: int) -> str:
    if new:
        return f"{new:,} of {size:,} exemplars {'is' if new == 1 else 'are'} newer than the fitted model"
    if gone:
        return f"the fitted model knows {gone:,} {'exemplar' if gone == 1 else 'exemplars'} too many"
    return "the fitted model knows the exemplars in another order or from other authors"


def _weights_of(
    new: Places, model: FittedModel, data: TrainingData, settings: EmbeddedSettings, samples: int
) -> Floats:
    """The weights of the exemplars ``new``, given those of the others in ``model``.

    (K_EE + λI) a_E = y_E − b − K_E,rest a_rest, for each member without what it leaves out.
    """
    similar = model.reference.similarities(model.rows.at(new.tolist()))
    labels = np.array([data.labels[place] for place in new.tolist()], np.int8)
    targets = np.where(labels == ExemplarLabel.POSITIVE, 1.0, -1.0) - model.intercepts
    wanted = np.where(labels == ExemplarLabel.UNKNOWN, 0.0, targets).repeat(samples, axis=1)
    rest = wanted - (similar @ model.weights.astype(np.float64)) * (model.unit / STEPS)
    among = similar[:, new] / STEPS + settings.ridge * np.eye(len(new))
    found = np.zeros(rest.shape)
    for member, fold in enumerate(folds_of(data, settings, samples)):
        own = np.flatnonzero(~np.isin(new, fold))
        if len(own):
            found[own, member::samples] = product(inverted(among[np.ix_(own, own)]), rest[own, member::samples])
    return found
