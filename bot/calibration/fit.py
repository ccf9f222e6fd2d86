"""From evidence to proposals, for one knob of one capability at a time: a fit that anyone can verify (pure).

The model is a threshold per capability.  A person finds the value ``x`` enough with probability ``lapse + (1 - 2 lapse)
· σ((x - knob) / spread)``: seldom below the knob, nearly always above it, and with an error rate of ``lapse``.  A
person reads a verdict that no one was asked about with probability ``attention``; a person who has read it and
disagrees says so.  Capabilities are distributed around the global knob with a standard deviation of ``leeway``.  The
estimate is the multiple of ``step`` with the highest likelihood under the weighted evidence and that prior, for the
best-fitting of the config's lapses and attentions.  The search is exhaustive, so that the result is the same everywhere
and no solver can miss it.  All numbers are the config's; docs/calibration.md explains them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import floor
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from bot.calibration.evidence import Knob, KnobEvidence
from bot.config import CalibrationSettings, Curation, KnobFit, Overrides
from bot.text.compare import rounded


class KnobOutcome(StrEnum):
    """The result for one knob of one capability."""

    PROPOSED = "proposed"
    THIN = "thin"
    """Fewer explicit answers than the config's minimum: it keeps its value, the global knob's unless people set
    another.
    """
    CLOSE = "close"
    """The likeliest value is the present one, or differs by less than the least change."""
    UNSURE = "unsure"
    """Another value is likelier, but by less than the least gain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The estimate for one knob of one capability, with its evidence.

    ``likeliest`` is ``None`` if the evidence is thin.  ``gain`` is the natural logarithm of how much likelier it is
    than the ``present`` value, prior included (≥ 0).  ``raising`` are the answers that the present value is too low
    for, ``lowering`` those that it is too high for, and ``against`` those on the wrong side of the likeliest.
    """

    knob: Knob
    capability: str
    outcome: KnobOutcome
    present: float
    likeliest: Annotated[float | None, Field(description="null where there are too few explicit answers")]
    gain: Annotated[
        float, Field(ge=0, description="natural logarithm of how much likelier that is than the present value")
    ]
    evidence: tuple[KnobEvidence, ...]
    raising: tuple[KnobEvidence, ...]
    lowering: tuple[KnobEvidence, ...]
    against: tuple[KnobEvidence, ...]

    @property
    def proposed(self) -> float | None:
        """The proposed value, if there is one."""
        return self.likeliest if self.outcome is KnobOutcome.PROPOSED else None

    @property
    def words(self) -> int:
        """The number of explicit answers."""
        return sum(1 for item in self.evidence if not item.silent)

    @property
    def silent(self) -> int:
        """Merges without a word."""
        return len(self.evidence) - self.words

    @property
    def weight(self) -> float:
        """The total weight of the evidence."""
        return rounded(sum(item.weight for item in self.evidence))


def calibrate(evidence: Sequence[KnobEvidence], config: Curation) -> tuple[Estimate, ...]:
    """One estimate for each knob and capability with ``evidence``, sorted by knob and capability."""
    found: dict[tuple[Knob, str], list[KnobEvidence]] = defaultdict(list)
    for item in evidence:
        found[item.knob, item.capability].append(item)
    return tuple(
        _estimate(knob, capability, tuple(found[knob, capability]), config) for knob, capability in sorted(found)
    )


def with_proposals(config: Curation, estimates: Sequence[Estimate]) -> Curation:
    """``config`` with the proposed values as overrides of their capabilities."""
    overrides = dict(config.per_capability)
    for item in estimates:
        if item.proposed is not None:
            changed = {item.knob.value: in_unit(item.knob, item.proposed)}
            overrides[item.capability] = overrides.get(item.capability, Overrides()).model_copy(update=changed)
    return config.model_copy(update={"per_capability": overrides})


def in_unit(knob: Knob, value: float) -> float | int:
    """``value`` as the config writes it: floors are whole numbers."""
    return int(value) if knob is Knob.REDUNDANCY_FLOOR else value


def present_value(knob: Knob, capability: str, config: Curation) -> float:
    """The present value of ``knob`` for ``capability``."""
    if knob is Knob.COMPETENCE_BAR:
        return config.competence_bar(capability)
    if knob is Knob.WINNING_MARGIN:
        return config.winning_margin(capability)
    return float(config.redundancy_floor(capability))


def _global(knob: Knob, config: Curation) -> float:
    if knob is Knob.COMPETENCE_BAR:
        return config.knobs.competence_bar
    if knob is Knob.WINNING_MARGIN:
        return config.knobs.winning_margin
    return float(config.knobs.redundancy_floor)


def _fit_of(knob: Knob, settings: CalibrationSettings) -> KnobFit:
    if knob is Knob.COMPETENCE_BAR:
        return settings.knobs.competence_bar
    if knob is Knob.WINNING_MARGIN:
        return settings.knobs.winning_margin
    return settings.knobs.redundancy_floor


def _estimate(knob: Knob, capability: str, evidence: tuple[KnobEvidence, ...], config: Curation) -> Estimate:
    settings = config.calibration
    fit = _fit_of(knob, settings)
    present = present_value(knob, capability, config)
    likeliest, gain, outcome = None, 0.0, KnobOutcome.THIN
    if sum(1 for item in evidence if not item.silent) >= settings.minimum:
        values = _candidates(knob, evidence, fit, config.ceiling, present)
        likeliest, gain = _likeliest(knob, evidence, values, present, _global(knob, config), fit, settings)
        far = rounded(abs(likeliest - present)) >= rounded(fit.least_change)
        sure = gain >= settings.least_gain
        outcome = KnobOutcome.CLOSE if not far else KnobOutcome.PROPOSED if sure else KnobOutcome.UNSURE
    return Estimate(
        knob=knob,
        capability=capability,
        outcome=outcome,
        present=present,
        likeliest=likeliest,
        gain=gain,
        evidence=evidence,
        raising=tuple(item for item in evidence if _is_against(item, present) and not item.met),
        lowering=tuple(item for item in evidence if _is_against(item, present) and item.met),
        against=tuple(item for item in evidence if _is_against(item, present if likeliest is None else likeliest)),
    )


def _is_against(item: KnobEvidence, value: float) -> bool:
    """Whether ``item`` is on the wrong side of a knob of this ``value``; a win takes more than the margin."""
    reached = rounded(item.at) > rounded(value) if item.knob is Knob.WINNING_MARGIN else item.at >= rounded(value)
    return reached != item.met


def _likeliest(
    knob: Knob,
    evidence: Sequence[KnobEvidence],
    values: Sequence[float],
    present: float,
    centre: float,
    fit: KnobFit,
    settings: CalibrationSettings,
) -> tuple[float, float]:
    """The likeliest of ``values`` and its gain over ``present``, which is one of them.

    Of equals it is the nearest to ``centre``, then the lower.
    """
    # A score equal to the knob meets a bar or a floor but is no win: a margin turns half a step beside it.
    half = -fit.step / 2 if knob is Knob.WINNING_MARGIN else fit.step / 2
    order = sorted(evidence, key=lambda item: (item.at, item.met, item.silent, item.asked, item.weight))
    at = np.array([item.at + half for item in order])
    weight = np.array([item.weight for item in order])
    met = np.array([item.met for item in order])
    silent = np.array([item.silent for item in order])
    volunteered = np.array([not (item.silent or item.asked) for item in order])
    above = _logistic((at[None, :] - np.array(values)[:, None]) / fit.spread)
    right = np.where(met[None, :], above, 1 - above)
    likelihoods = []
    for lapse in settings.lapses:
        said = lapse + (1 - 2 * lapse) * right
        for attention in settings.attentions:
            seen = np.where(volunteered, attention, 1.0) * said
            likely = np.where(silent, 1 - attention + attention * said, seen)
            likelihoods.append(np.log(likely) @ weight)
    prior = (np.array(values) - centre) ** 2 / (2 * fit.leeway**2)
    scores = [rounded(float(score)) for score in np.max(likelihoods, axis=0) - prior]
    best = max(range(len(values)), key=lambda place: (scores[place], -rounded(abs(values[place] - centre)), -place))
    return values[best], rounded(scores[best] - scores[values.index(present)])


def _candidates(
    knob: Knob, evidence: Sequence[KnobEvidence], fit: KnobFit, ceiling: int, present: float
) -> list[float]:
    """The multiples of the step that the knob may take, and its ``present`` value.

    No floor is above the ``ceiling``: R never has more entries.
    """
    top = 1.0 if knob is not Knob.REDUNDANCY_FLOOR else min(max(item.at for item in evidence) + 1, ceiling)
    steps = floor(rounded(top / fit.step))
    return sorted({*(rounded(count * fit.step) for count in range(steps + 1)), present})


def _logistic(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """σ, with exactly 0 and 1 where exponentials would overflow."""
    return 1 / (1 + np.exp(-np.clip(values, -700, 700)))
