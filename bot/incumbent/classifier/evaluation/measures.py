"""The predictions of one classifier, or of two, measured against the same labels (semantics, section 8).

Predictions in a file can be compared later without asking the classifier again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numpy as np
import numpy.typing as npt
from pydantic import Field

from incumbent.classifier.evaluation.labels import LabelledQuery
from incumbent.classifier.model import Classification, Identity
from incumbent.errors import UsageError
from incumbent.files.validation import Checked, Digest, FileModel, FormatVersion, Score, Text, Tuple
from incumbent.text.compare import DECIMALS, rounded


class Prediction(FileModel):
    """The prediction for one query."""

    true: Tuple[Text] = Field(description="the capabilities with the value TRUE")
    probabilities: dict[str, Score] = Field(description="capability: the probability that it is TRUE")


class Predictions(FileModel):
    """Predictions by the digest of the query's text; without texts."""

    format: FormatVersion = 1
    classifier: Checked[Identity]
    taxonomy: Text = Field(description="version of the taxonomy")
    specification: Text = Field(description="digest of the agent specification that they were made under")
    queries: dict[Digest, Prediction]

    @property
    def text(self) -> str:
        """The file; equal predictions give equal bytes."""
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def predict(classification: Classification, capabilities: Sequence[str]) -> Prediction:
    """The prediction of ``capabilities`` by ``classification``."""
    judgements = classification.judgements
    return Prediction(
        true=tuple(name for name in capabilities if judgements[name].value),
        probabilities={name: judgements[name].probability for name in capabilities},
    )


def unpredicted(queries: Iterable[LabelledQuery], predictions: Predictions) -> tuple[LabelledQuery, ...]:
    """The ``queries`` without ``predictions``."""
    return tuple(query for query in queries if query.key not in predictions.queries)


Booleans: TypeAlias = npt.NDArray[np.bool_]
Numbers: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class LabelArrays:
    """Labels and predictions as arrays of shape (queries, capabilities).

    ``labelled`` says where a label is known; elsewhere ``actual`` is False and means nothing.  ``probability`` is that
    of TRUE, in [0, 1].
    """

    capabilities: tuple[str, ...]
    labelled: Booleans
    actual: Booleans
    predicted: Booleans
    probability: Numbers


def lay_out(queries: Sequence[LabelledQuery], predictions: Predictions, capabilities: Sequence[str]) -> LabelArrays:
    """``queries`` beside their ``predictions``; every query must have one.

    Only the ``capabilities`` with labels are kept.  Raises :class:`UsageError` where the predictions, made under
    another taxonomy, lack a labelled capability.
    """
    labelled = {name for query in queries for name in query.values}
    kept = tuple(name for name in capabilities if name in labelled)
    found = [predictions.queries[query.key] for query in queries]
    unknown = sorted(
        {
            name
            for query, item in zip(queries, found, strict=True)
            for name in query.values.keys() - item.probabilities.keys()
        }
    )
    if unknown:
        raise UsageError(
            f"the predictions of {predictions.classifier.model} say nothing of {', '.join(unknown)}: "
            "predict again, or leave these labels out with --name NAME=-"
        )
    shape = (len(queries), len(kept))
    return LabelArrays(
        capabilities=kept,
        labelled=np.array([[name in query.values for name in kept] for query in queries], bool).reshape(shape),
        actual=np.array([[query.values.get(name, False) for name in kept] for query in queries], bool).reshape(shape),
        predicted=np.array([[name in item.true for name in kept] for item in found], bool).reshape(shape),
        probability=np.array(
            [[item.probabilities.get(name, 0.0) for name in kept] for item in found], np.float64
        ).reshape(shape),
    )


@dataclass(frozen=True)
class Confusion:
    """Counts of labels by outcome, each of shape (..., capabilities); weighted counts in a resample."""

    true_positive: Numbers
    false_positive: Numbers
    false_negative: Numbers
    true_negative: Numbers

    @property
    def positive(self) -> Numbers:
        return self.true_positive + self.false_negative

    @property
    def negative(self) -> Numbers:
        return self.true_negative + self.false_positive

    @property
    def phi(self) -> Numbers:
        """The phi coefficient in [−1, 1]: MCC, and Pearson's correlation of the two as 0 and 1.

        (TP·TN − FP·FN) / √((TP+FP)(TP+FN)(TN+FP)(TN+FN)).  NaN where the labels have one class only: there is nothing
        to correlate with.  It is 0, by MCC's convention, where both classes are labelled and predictions are constant:
        such predictions carry no information.
        """
        predicted = (self.true_positive + self.false_positive) * (self.true_negative + self.false_negative)
        labelled = self.positive * self.negative
        product = self.true_positive * self.true_negative - self.false_positive * self.false_negative
        # The root of the square of a number is exactly that number, so that perfect predictions have exactly 1.
        scale = np.sqrt(np.where(predicted * labelled > 0, predicted * labelled, 1.0))
        return np.where(labelled > 0, np.clip(product / scale, -1.0, 1.0), np.nan)


def confusion(cells: LabelArrays, weights: Numbers) -> Confusion:
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
    """Predictions in ``bins`` bins of equal width over [0, 1]; empty bins are left out."""
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


LEVEL = 0.95
"""Share of the resamples inside an interval (semantics, section 8)."""
_BLOCK = 4_000_000
"""Maximum number of weights in memory at a time."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """The number of resamples, and the seed of the draws."""

    resamples: Annotated[int, Field(ge=1)]
    seed: Annotated[int, Field(ge=0)]
    level: Annotated[float, Field(description="share of the resamples that an interval holds")] = LEVEL


@dataclass(frozen=True, slots=True)
class PercentileInterval:
    """The middle 95 % of the resamples' values (percentile interval)."""

    low: Annotated[float, Field(description="lower bound of the bootstrap's 95 % percentile interval")]
    high: Annotated[float, Field(description="its upper bound")]


def weights(queries: int, sampling: Sampling) -> Iterator[Numbers]:
    """Blocks of shape (resamples, queries): how often each of ``queries`` is drawn in each resample of the
    same size.
    """
    random = np.random.default_rng(sampling.seed)
    most = max(1, _BLOCK // max(1, queries))
    for begun in range(0, sampling.resamples, most):
        rows = min(most, sampling.resamples - begun)
        drawn = random.integers(0, queries, size=(rows, queries)) + np.arange(rows)[:, None] * queries
        yield np.bincount(drawn.ravel(), minlength=rows * queries).reshape(rows, queries).astype(np.float64)


def phis(several: Sequence[LabelArrays], sampling: Sampling) -> tuple[Numbers, ...]:
    """For each of ``several`` classifiers, phi in every resample, of shape (resamples, capabilities).

    All see the same resamples of the same queries, so that differences are paired.  Phi is NaN in a resample with one
    class only of a capability.
    """
    blocks: list[list[Numbers]] = [[] for _ in several]
    for block in weights(len(several[0].labelled), sampling):
        for cells, found in zip(several, blocks, strict=True):
            found.append(confusion(cells, block).phi)
    return tuple(np.concatenate(found) for found in blocks)


def macro(values: Numbers) -> Numbers:
    """The mean over the last axis without NaNs; NaN where all are."""
    known = np.isfinite(values)
    count = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def interval(values: Numbers) -> PercentileInterval | None:
    """The percentile interval of ``values`` without NaNs; ``None`` if all are."""
    known = values[np.isfinite(values)]
    if not known.size:
        return None
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(known, [tail, 1 - tail])
    return PercentileInterval(float(low), float(high))


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityMeasures:
    """One capability over the ``labelled`` queries; ``support`` of these labels are TRUE.

    ``phi`` is ``None`` where the labels have one class only.  ``interval`` is computed from ``resamples``, those that
    have both classes.  ``always_false`` is the accuracy of answering FALSE to everything.  ``precision`` is ``None``
    where nothing is predicted TRUE, ``recall`` where nothing is labelled TRUE.  All others are in [0, 1].
    """

    capability: str
    labelled: Annotated[int, Field(ge=1, description="queries labelled at all; the others are unknown")]
    support: Annotated[int, Field(ge=0, description="queries labelled TRUE")]
    phi: Annotated[
        float | None, Field(ge=-1, le=1, description="phi coefficient (MCC) of predicted and labelled values")
    ]
    interval: PercentileInterval | None
    resamples: Annotated[int, Field(ge=0, description="resamples that hold both classes, which the interval rests on")]
    accuracy: Score
    always_false: Annotated[Score, Field(description="accuracy of answering FALSE to everything")]
    precision: Annotated[float | None, Field(description="null where nothing is predicted TRUE")]
    recall: Annotated[float | None, Field(description="null where nothing is labelled TRUE")]
    brier: Annotated[Score, Field(description="Brier score of the probability of TRUE")]
    calibration_error: Annotated[Score, Field(description="expected calibration error")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """A classifier measured against labels.

    ``macro_phi`` is the mean of phi over the capabilities that have one.  ``brier``, ``calibration_error`` and ``bins``
    pool all ``labels`` of all capabilities.
    """

    queries: int
    labels: int
    capabilities: tuple[CapabilityMeasures, ...]
    macro_phi: float | None
    interval: PercentileInterval | None
    brier: float
    calibration_error: float
    bins: tuple[Bin, ...]

    @property
    def undefined(self) -> tuple[CapabilityMeasures, ...]:
        """The capabilities whose labels have one class only, so that phi is undefined."""
        return tuple(item for item in self.capabilities if item.phi is None)


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of phi to another classifier, with the interval of the paired bootstrap."""

    value: float
    interval: PercentileInterval | None

    @property
    def is_distinct(self) -> bool:
        """Whether the interval leaves out 0: the two classifiers are told apart."""
        return self.interval is not None and (rounded(self.interval.low) > 0 or rounded(self.interval.high) < 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A classifier compared with another on the same labels: ours minus theirs."""

    other: Evaluation
    macro_phi: Difference | None
    capabilities: Mapping[str, Difference]


def evaluate(cells: LabelArrays, sampling: Sampling, bins: int) -> Evaluation:
    """All measures of ``cells``, which have at least one label for each capability."""
    return _measured(cells, _total(cells), phis([cells], sampling)[0], bins)


def compare(ours: LabelArrays, theirs: LabelArrays, sampling: Sampling, bins: int) -> tuple[Evaluation, Comparison]:
    """Two classifiers on the labels of the same queries, which both have in the same order."""
    total, other_total = _total(ours), _total(theirs)
    drawn, other_drawn = phis([ours, theirs], sampling)
    differences = total.phi[0] - other_total.phi[0]
    resampled = drawn - other_drawn
    known = {
        name: Difference(float(differences[place]), interval(resampled[:, place]))
        for place, name in enumerate(ours.capabilities)
        if np.isfinite(differences[place])
    }
    comparison = Comparison(
        other=_measured(theirs, other_total, other_drawn, bins),
        macro_phi=Difference(float(macro(differences)), interval(macro(resampled))) if known else None,
        capabilities=known,
    )
    return _measured(ours, total, drawn, bins), comparison


def _total(cells: LabelArrays) -> Confusion:
    return confusion(cells, np.ones((1, len(cells.labelled))))


def _measured(cells: LabelArrays, total: Confusion, drawn: Numbers, bins: int) -> Evaluation:
    pooled = cells.probability[cells.labelled], cells.actual[cells.labelled]
    pooled_bins = reliability(*pooled, bins)
    phi = float(macro(total.phi[0]))
    return Evaluation(
        queries=len(cells.labelled),
        labels=int(cells.labelled.sum()),
        capabilities=tuple(_capability(cells, total, drawn, place, bins) for place in range(len(cells.capabilities))),
        macro_phi=phi if np.isfinite(phi) else None,
        interval=interval(macro(drawn)),
        brier=brier(*pooled),
        calibration_error=calibration_error(pooled_bins),
        bins=pooled_bins,
    )


def _capability(cells: LabelArrays, total: Confusion, drawn: Numbers, place: int, bins: int) -> CapabilityMeasures:
    hit = float(total.true_positive[0, place])
    positive, negative = float(total.positive[0, place]), float(total.negative[0, place])
    said = hit + float(total.false_positive[0, place])
    labelled = positive + negative
    phi = float(total.phi[0, place])
    rows = cells.labelled[:, place]
    probability, actual = cells.probability[rows, place], cells.actual[rows, place]
    return CapabilityMeasures(
        capability=cells.capabilities[place],
        labelled=int(labelled),
        support=int(positive),
        phi=phi if np.isfinite(phi) else None,
        interval=interval(drawn[:, place]),
        resamples=int(np.isfinite(drawn[:, place]).sum()),
        accuracy=(hit + float(total.true_negative[0, place])) / labelled,
        always_false=negative / labelled,
        precision=hit / said if said else None,
        recall=hit / positive if positive else None,
        brier=brier(probability, actual),
        calibration_error=calibration_error(reliability(probability, actual, bins)),
    )
