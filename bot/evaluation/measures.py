"""All measures of one classifier, or the difference between two, over the same labels (semantics, section 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bot.evaluation.bootstrap import Interval, Sampling, interval, macro, phis
from bot.evaluation.cells import Cells, Numbers
from bot.evaluation.metrics import Bin, Confusion, brier, calibration_error, confusion, reliability


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityMeasures:
    """One capability, over the queries that are ``labelled`` with it, ``support`` of them as TRUE.

    ``phi`` is ``None`` where the labels have one class only.  ``interval`` rests on ``resamples``, those that have both
    classes.  ``always_false`` is the accuracy of answering FALSE to everything.  ``precision`` is ``None`` where
    nothing is predicted TRUE, ``recall`` where nothing is labelled so.  All others are in [0, 1].
    """

    capability: str
    labelled: int
    support: int
    phi: float | None
    interval: Interval | None
    resamples: int
    accuracy: float
    always_false: float
    precision: float | None
    recall: float | None
    brier: float
    calibration_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """A classifier against labels.

    ``macro_phi`` is the mean of phi over the capabilities that have one.  ``brier``, ``calibration_error`` and ``bins``
    pool all ``labels`` of all capabilities.
    """

    queries: int
    labels: int
    capabilities: tuple[CapabilityMeasures, ...]
    macro_phi: float | None
    interval: Interval | None
    brier: float
    calibration_error: float
    bins: tuple[Bin, ...]

    @property
    def defined(self) -> tuple[CapabilityMeasures, ...]:
        """The capabilities that have a phi."""
        return tuple(item for item in self.capabilities if item.phi is not None)

    @property
    def undefined(self) -> tuple[CapabilityMeasures, ...]:
        """The capabilities whose labels have one class only, so that nothing can correlate with them."""
        return tuple(item for item in self.capabilities if item.phi is None)


@dataclass(frozen=True, slots=True)
class Difference:
    """How much higher a phi is than the other classifier's, with the interval of the paired bootstrap."""

    value: float
    interval: Interval | None

    @property
    def tells(self) -> bool:
        """Whether the interval leaves out 0: the two classifiers are told apart."""
        return self.interval is not None and (self.interval.low > 0 or self.interval.high < 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A classifier against another on the same labels: ours minus theirs."""

    other: Evaluation
    macro_phi: Difference | None
    capabilities: Mapping[str, Difference]


def evaluate(cells: Cells, sampling: Sampling, bins: int) -> Evaluation:
    """All measures of ``cells``, which hold at least one label for each capability."""
    return _measured(cells, _total(cells), phis([cells], sampling)[0], bins)


def compare(ours: Cells, theirs: Cells, sampling: Sampling, bins: int) -> tuple[Evaluation, Comparison]:
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


def _total(cells: Cells) -> Confusion:
    return confusion(cells, np.ones((1, len(cells.labelled))))


def _measured(cells: Cells, total: Confusion, drawn: Numbers, bins: int) -> Evaluation:
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


def _capability(cells: Cells, total: Confusion, drawn: Numbers, place: int, bins: int) -> CapabilityMeasures:
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
