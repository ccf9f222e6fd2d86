"""A fitted model: arrays in, calibrated probabilities out, and its arrays for the cache.

A score becomes a probability by its decision threshold and logistic curves that meet in it at 0.5.  Both come from
out-of-fold scores, which no exemplar that a score is for took part in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, frexp, sqrt
from typing import Any, Final, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from incumbent.classifier.embedded.cache import Arrays, digest_of
from incumbent.classifier.embedded.embedding import Embedder, one_thread
from incumbent.classifier.embedded.exact import Floats, sigmoid, total
from incumbent.classifier.embedded.familiarity import Familiarity
from incumbent.classifier.embedded.features import (
    ASKING_BYTES,
    MANY_PATTERNS,
    TEXT_DIGEST,
    Cues,
    FeatureSpace,
    KnownRow,
    Rows,
    bytes_apart,
    bytes_together,
)
from incumbent.classifier.embedded.kernel import STEPS, ReferenceQueries
from incumbent.classifier.embedded.structure import NAMES
from incumbent.classifier.embedded.text import BUCKETS
from incumbent.classifier.exemplars import HeldOutExemplars, TrainingData, model_capabilities
from incumbent.taxonomy.config import EmbeddedSettings
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import rounded

Booleans: TypeAlias = NDArray[np.bool_]

_STEEPEST: Final = 64.0
_FLATTEST: Final = 2.0**-6
_HALVINGS: Final = 14
"""They find a slope to 1 in 1,000."""


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


def calibrate(scores: Floats, truth: Booleans) -> Calibration:
    """The calibration of out-of-fold ``scores``; both classes must occur."""
    threshold = best_threshold(scores, truth)
    rare = int(truth.sum())
    # Platt's targets: a class of n is not taken to be certain, but right in (n + 1) of (n + 2) cases.
    targets = np.where(truth, (rare + 1) / (rare + 2), 1 / (len(truth) - rare + 2))
    distances = scores - threshold
    under = distances < 0
    return Calibration(threshold, _slope(distances[under], targets[under]), _slope(distances[~under], targets[~under]))


def best_threshold(scores: Floats, truth: Booleans) -> float:
    """The threshold with the highest phi coefficient; of equally good ones, the middle of the widest gap of scores."""
    order = np.argsort(scores, kind="stable")
    ordered, hits = scores[order], truth[order].astype(np.float64)
    hits_in_all = float(hits.sum())
    alarms_in_all = len(hits) - hits_in_all
    # At cut i, everything from i on is called positive.
    missed = np.cumsum(hits)[:-1]
    rejected = np.cumsum(1 - hits)[:-1]
    found, raised = hits_in_all - missed, alarms_in_all - rejected
    product = (found + raised) * (missed + rejected) * hits_in_all * alarms_in_all
    phi = (found * rejected - raised * missed) / np.sqrt(product)
    gaps = np.diff(ordered)
    phi = np.where(gaps > 0, np.round(phi, 9), -1.0)
    best = np.lexsort((-gaps, -phi))[0]
    return float((ordered[best] + ordered[best + 1]) / 2)


def _slope(distances: Floats, targets: Floats) -> float:
    """The likeliest slope of a logistic curve through (0, 0.5), by bisection: the likelihood has one maximum."""
    low, high = _FLATTEST, _STEEPEST
    for _ in range(_HALVINGS):
        middle = sqrt(low * high)
        if total(distances * (targets - sigmoid(middle * distances))) > 0:
            low = middle
        else:
            high = middle
    return sqrt(low * high)


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


DECIMALS: Final = 6
"""Probabilities are rounded to what is meaningful."""

_FINEST: Final = 2.0**-12
LARGEST_WEIGHT: Final = 2**15 - 2
_ADDED_UP: Final = 2**29
"""How much the whole weights of one column are together at most: times k in steps, the bits of a float."""


def whole_weights(weights: Floats) -> tuple[NDArray[np.int16], float]:
    """``weights`` as multiples of a unit, and the unit: a power of two.

    What is rounded off is carried to the next row: rows beside each other are alike, so that they make up for it.
    """
    unit, added_up = _FINEST, total(np.abs(weights)).max(initial=0.0)
    while np.abs(weights).max(initial=0.0) > LARGEST_WEIGHT * unit or added_up + len(weights) * unit > _ADDED_UP * unit:
        unit *= 2
    ends = np.rint(np.cumsum(weights, axis=0) / unit)
    return np.diff(ends, axis=0, prepend=0.0).astype(np.int16), unit


@dataclass(frozen=True, kw_only=True)
class FittedModel:
    """Kernel ridge regressions on the exemplars, several members a capability, with a calibration per capability.

    ``rows`` are the exemplars, ``digests`` those of their texts, ``familiarity`` what they are written in; ``weights``
    has a row for each of them and a column per capability and member (those of a capability together), in multiples of
    ``unit``; ``intercepts`` one number per capability; ``calibration`` a row per capability: threshold, slope below,
    slope above; ``held_out`` a row per capability: counts of exemplars that a fit was made without
    (:mod:`incumbent.classifier.embedded.model`).

    ``taught`` digests what each exemplar teaches and ``basis`` what all rest on (:func:`basis_of`), so that it shows
    what is new in another taxonomy.
    """

    capabilities: tuple[str, ...]
    space: FeatureSpace
    rows: Rows
    digests: tuple[str, ...]
    taught: NDArray[np.int32]
    basis: str
    familiarity: Familiarity
    weights: NDArray[np.int16]
    unit: float
    intercepts: Floats
    calibration: Floats
    held_out: NDArray[np.int32]

    @property
    def members(self) -> int:
        """How many members vote on a capability."""
        return self.weights.shape[1] // len(self.capabilities) if self.capabilities else 0

    @cached_property
    def _weights(self) -> Floats:
        return self.weights.astype(np.float64)

    @cached_property
    def reference(self) -> ReferenceQueries:
        """The exemplars, ready to be compared with."""
        return ReferenceQueries.of(self.rows)

    def probabilities(self, queries: Sequence[Sequence[str]]) -> Floats:
        """The calibrated probability of each capability (rows) by each member (columns), for each of ``queries``.

        Rounded to :data:`DECIMALS`; a query has the same bits whatever is beside it.
        """
        if not queries or not self.capabilities:
            return np.zeros((len(queries), len(self.capabilities), self.members))
        rows = self.space.rows(queries, judged=True)
        with one_thread():
            # Sums of whole numbers: no order shows in them.
            sums = self.reference.similarities(rows) @ self._weights
        scores = (sums * (self.unit / STEPS)).reshape(len(queries), len(self.capabilities), self.members)
        return calibrated(scores + self.intercepts[:, None], self.calibration).round(DECIMALS)


def calibrated(scores: Floats, calibration: Floats) -> Floats:
    """The probabilities that ``scores`` (a row per capability, of one query or of several) stand for."""
    distances = scores - calibration[:, 0:1]
    slopes = (distances < 0) * calibration[:, 1:2] + (distances >= 0) * calibration[:, 2:3]
    return sigmoid(slopes * distances)


METHOD: Final = "kernel-ridge-8"
"""Name and version of the method; a change that moves scores raises the version."""


def kind_of(embedder: Embedder | None) -> str:
    """Names the method and the embedder in file names: rows of one kind can be used again."""
    return hashlib.sha256(f"{METHOD} {None if embedder is None else embedder.name}".encode()).hexdigest()[:8]


def model_key(taxonomy: Taxonomy, settings: EmbeddedSettings, samples: int, embedder: Embedder | None) -> str:
    """A digest of what a fitted model rests on: exemplars and patterns, settings, the method and the embedder."""
    groups = {member.id: group for group, members in taxonomy.exactly_one.items() for member in members}
    taught = [item for item in taxonomy.capabilities if item.exemplars.positive]
    # As they are written: what the training data are made of is much sooner read than they are made.
    rows = [
        (row.id, row.hand, row.language, row.turns, row.exercises, row.resembles, row.unknown)
        for row in taxonomy.exemplars
    ]
    inline = [(item.exemplars.positive, item.exemplars.negative) for item in taxonomy.capabilities]
    depends = {
        "capabilities": [[item.id, groups.get(item.id), item.patterns] for item in taught],
        "exemplars": rows or inline,
        "settings": settings.model_dump(mode="json", exclude={"embedding"}),
        "samples": samples,
        "method": METHOD,
        "embedder": None if embedder is None else embedder.name,
    }
    return hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()[:32]


def basis_of(settings: EmbeddedSettings, samples: int, cues: Cues) -> str:
    """A digest of all but exemplars, method and embedder that a model rests on."""
    depends = [settings.model_dump(mode="json", exclude={"embedding"}), samples, cues.digests]
    return hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()[:TEXT_DIGEST]


def taught_by(data: TrainingData) -> NDArray[np.int32]:
    """A short digest of what each exemplar teaches: its labels, and its id, which says what it is left out with."""
    lessons = (f"{id} {list(map(int, labels))}" for id, labels in zip(data.ids, data.labels, strict=True))
    return np.array([crc32(lesson.encode()) for lesson in lessons], np.uint32).view(np.int32)


def to_arrays(model: FittedModel) -> dict[str, NDArray[Any]]:
    """``model`` as arrays; its patterns, its exemplars and the names of its capabilities stay in the taxonomy."""
    return (
        model.rows.arrays()
        | model.familiarity.arrays()
        | {
            "digests": _packed(model.digests),
            "taught": model.taught,
            "basis": _packed([model.basis]),
            "columns": _packed(model.space.cues.digests),
            "weights": bytes_apart(np.ascontiguousarray(model.weights.T)),
            "unit": np.array([model.unit]),
            "intercepts": model.intercepts,
            "calibration": model.calibration,
            "held_out": model.held_out,
        }
    )


def model_digest(arrays: Arrays) -> str:
    """Names the model of these ``arrays``: the same exemplars, patterns, settings and seed give the same everywhere."""
    return digest_of(arrays)


def from_arrays(arrays: Arrays, taxonomy: Taxonomy, samples: int, embedder: Embedder | None) -> FittedModel | None:
    """The model that :func:`to_arrays` took apart; ``None`` if the arrays are not those of such a model."""
    capabilities = model_capabilities(taxonomy)
    familiarity = Familiarity.from_arrays(arrays)
    if familiarity is None:
        return None
    try:
        model = FittedModel(
            capabilities=capabilities,
            space=FeatureSpace(Cues.of(taxonomy.by_id[name].patterns for name in capabilities), embedder),
            rows=Rows.from_arrays(arrays),
            digests=_unpacked(arrays["digests"]),
            taught=arrays["taught"],
            basis="".join(_unpacked(arrays["basis"])),
            familiarity=familiarity,
            weights=np.ascontiguousarray(bytes_together(arrays["weights"], np.int16).T),
            unit=float(arrays["unit"][0]),
            intercepts=arrays["intercepts"],
            calibration=arrays["calibration"],
            held_out=arrays["held_out"],
        )
        fits = _fits(model, samples)
    except (IndexError, KeyError, TypeError, ValueError):
        return None
    return model if fits else None


def _fits(model: FittedModel, samples: int) -> bool:
    """Whether the shapes and values are those of a model with so many capabilities and members."""
    size, width = len(model.rows), len(model.capabilities)
    return (
        len(model.digests) == len(model.taught) == size
        and len(model.basis) == TEXT_DIGEST
        and _are_rows(model.rows, width, model.space.embedder)
        and model.weights.shape == (size, width * samples)
        and model.intercepts.shape == (width,)
        and model.calibration.shape == (width, 3)
        and model.held_out.shape == (width, COUNTS)
        and bool((model.held_out >= 0).all())
        and all(bool(np.isfinite(part).all()) for part in (model.intercepts, model.calibration))
        and frexp(model.unit)[0] == 0.5
        and int(np.abs(model.weights.astype(np.int64)).sum(axis=0).max(initial=0)) <= _ADDED_UP
    )


def _are_rows(rows: Rows, width: int, embedder: Embedder | None) -> bool:
    """Whether the shapes and values are those of rows with cues of so many capabilities."""
    size = len(rows)
    return (
        size > 0
        and rows.asking.shape == (size, ASKING_BYTES)
        and rows.embedding.ndim == 2
        and len(rows.embedding) == size
        and (rows.embedding.shape[1] == 0) == (embedder is None)
        and rows.structure.shape == (size, len(NAMES))
        and rows.cues.shape == (size, width)
        and bool(((rows.cues >= 0) & (rows.cues <= MANY_PATTERNS)).all())
        and rows.ends.shape == (size + 1,)
        and int(rows.ends[0]) == 0
        and int(rows.ends[-1]) == len(rows.places) == len(rows.values)
        and bool((np.diff(rows.ends) >= 0).all())
        and bool((rows.places < 2 * BUCKETS).all())
    )


def rows_by_text(arrays: Arrays, embedder: Embedder | None) -> dict[str, KnownRow]:
    """The rows in the ``arrays`` of a model under the digests of their texts; none where they are of other features."""
    try:
        rows = Rows.from_arrays(arrays)
        digests, columns = _unpacked(arrays["digests"]), _unpacked(arrays["columns"])
        fits = len(digests) == len(rows) and _are_rows(rows, len(columns), embedder)
    except (IndexError, KeyError, TypeError, ValueError):
        return {}
    return {digest: (rows, place, columns) for place, digest in enumerate(digests)} if fits else {}


def _packed(digests: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer(bytes.fromhex("".join(digests)), np.uint8)


def _unpacked(packed: NDArray[Any]) -> tuple[str, ...]:
    text = packed.tobytes().hex()
    return tuple(text[start : start + TEXT_DIGEST] for start in range(0, len(text), TEXT_DIGEST))
