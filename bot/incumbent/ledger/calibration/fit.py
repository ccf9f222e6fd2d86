"""From evidence to proposals: a fit of all capabilities together that anyone can verify (pure).

The model is a threshold per capability.  A person finds the value ``x`` enough with probability ``lapse + (1 - 2 lapse)
· σ((x - knob) / spread)``: seldom below the knob, nearly always above it, and with an error rate of ``lapse``.  A
person reads a verdict that no one was asked about with probability ``attention``; a person who has read it and
disagrees says so.

Knobs are normally distributed around that of their group, those of groups around one of all, and this around the
global knob; together with a standard deviation of ``leeway``.  So the answers on one capability say something of the
others too, most of its own group.  How much of the variance is whose (``splits``), lapse and attention are unknown:
each of the config's values is as likely as the others beforehand.  The posterior is a sum over the multiples of
``step``, without sampling.  All numbers are the config's; docs/calibration.md explains them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, floor, sqrt
from typing import Annotated, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from incumbent.ledger.calibration.evidence import Knob, KnobEvidence
from incumbent.taxonomy.config import CalibrationSettings, Curation, KnobFit, Overrides
from incumbent.text.compare import rounded

Floats: TypeAlias = NDArray[np.float64]
_LEAST: Final = 1e-300
"""In place of probabilities that are too small for a number."""
_FAR: Final = 20
"""Standard deviations beyond which no value is looked at: there the numbers of a prior end."""


class KnobOutcome(StrEnum):
    """The result for one knob of one capability."""

    PROPOSED = "proposed"
    THIN = "thin"
    """No explicit answer on it, or fewer on the knob of all capabilities than the config's minimum: it keeps its value,
    the global knob's unless people set another.
    """
    CLOSE = "close"
    """The likeliest value is the present one, or differs by less than the least change."""
    UNSURE = "unsure"
    """Another value is likelier, but by less than the least gain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The estimate for one knob of one capability, with its evidence.

    ``likeliest`` is ``None`` if the evidence is thin.  ``low`` and ``high`` are the ends of the central interval in
    which the knob is with the config's probability.  ``gain`` is the natural logarithm of how much likelier the
    likeliest is than the ``present`` value, given all answers (≥ 0).  ``missing``: about how many more explicit answers
    a proposal takes, ``None`` if these are no obstacle.  ``raising`` are the answers that the present value is
    too low for, ``lowering`` those that it is too high for, and ``against`` those on the wrong side of the likeliest.
    """

    knob: Knob
    capability: str
    outcome: KnobOutcome
    present: float
    likeliest: Annotated[float | None, Field(description="null where there are too few explicit answers")]
    low: Annotated[float, Field(description="the lower end of the interval that the knob is likely in")]
    high: Annotated[float, Field(description="its upper end")]
    missing: Annotated[
        int | None,
        Field(ge=0, description="about how many more explicit answers a proposal takes; null if these are no obstacle"),
    ]
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


def calibrate(evidence: Sequence[KnobEvidence], config: Curation, groups: Mapping[str, str]) -> tuple[Estimate, ...]:
    """One estimate for each knob and capability with ``evidence``, sorted by knob and capability.

    ``groups`` has the group of each capability.
    """
    found: dict[Knob, dict[str, list[KnobEvidence]]] = defaultdict(lambda: defaultdict(list))
    for item in evidence:
        found[item.knob][item.capability].append(item)
    return tuple(
        estimate
        for knob in sorted(found)
        for estimate in _estimates(knob, dict(sorted(found[knob].items())), config, groups)
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


def _estimates(
    knob: Knob, evidence: Mapping[str, Sequence[KnobEvidence]], config: Curation, groups: Mapping[str, str]
) -> list[Estimate]:
    """The estimates of one ``knob`` for the capabilities with ``evidence``."""
    settings, fit = config.calibration, _fit_of(knob, config.calibration)
    centre = _global(knob, config)
    greatest = max(centre, *(present_value(knob, name, config) for name in evidence))
    values = _candidates(knob, evidence, fit, config.ceiling, greatest)
    members: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(evidence):
        members[groups[name]].append(place)
    likelihoods = [_likelihoods(knob, items, values, fit, settings) for items in evidence.values()]
    posteriors = _posteriors(np.stack(likelihoods, axis=1), values, list(members.values()), centre, fit, settings)
    words = sum(1 for items in evidence.values() for item in items if not item.silent)
    return [
        _estimate(knob, name, tuple(items), values, posterior, words, config)
        for (name, items), posterior in zip(evidence.items(), posteriors, strict=True)
    ]


def _estimate(
    knob: Knob,
    capability: str,
    evidence: tuple[KnobEvidence, ...],
    values: Sequence[float],
    posterior: Floats,
    words: int,
    config: Curation,
) -> Estimate:
    """The estimate from the ``posterior`` of its ``values``; there are so many explicit ``words`` on the knob."""
    settings, centre, present = config.calibration, _global(knob, config), present_value(knob, capability, config)
    scores = [rounded(float(score)) for score in np.log(np.maximum(posterior, _LEAST))]
    best = max(range(len(values)), key=lambda place: (scores[place], -rounded(abs(values[place] - centre)), -place))
    here = min(range(len(values)), key=lambda place: (rounded(abs(values[place] - present)), place))
    likeliest, gain = values[best], rounded(scores[best] - scores[here])
    below = [rounded(float(share)) for share in np.cumsum(posterior)]
    tail = (1 - settings.interval) / 2
    low, high = (values[bisect_left(below, rounded(share))] for share in (tail, 1 - tail))
    missing: int | None = None
    if words < settings.minimum or all(item.silent for item in evidence):
        outcome, missing = KnobOutcome.THIN, max(settings.minimum - words, 1)
    elif not gain or rounded(abs(likeliest - present)) < rounded(_fit_of(knob, settings).least_change):
        outcome = KnobOutcome.CLOSE
    elif gain < settings.least_gain:
        # What answers say grows with their number.
        outcome, missing = KnobOutcome.UNSURE, ceil(words * (settings.least_gain / gain - 1))
    else:
        outcome = KnobOutcome.PROPOSED
    is_thin = outcome is KnobOutcome.THIN
    return Estimate(
        knob=knob,
        capability=capability,
        outcome=outcome,
        present=present,
        likeliest=None if is_thin else likeliest,
        # The likeliest value may be at an end of its range.
        low=min(low, likeliest),
        high=max(high, likeliest),
        missing=missing,
        gain=0.0 if is_thin else gain,
        evidence=evidence,
        raising=tuple(item for item in evidence if _is_against(item, present) and not item.met),
        lowering=tuple(item for item in evidence if _is_against(item, present) and item.met),
        against=tuple(item for item in evidence if _is_against(item, present if is_thin else likeliest)),
    )


def _is_against(item: KnobEvidence, value: float) -> bool:
    """Whether ``item`` is on the wrong side of a knob of this ``value``; a win takes more than the margin."""
    reached = rounded(item.at) > rounded(value) if item.knob is Knob.WINNING_MARGIN else item.at >= rounded(value)
    return reached != item.met


def _likelihoods(
    knob: Knob, evidence: Sequence[KnobEvidence], values: Sequence[float], fit: KnobFit, settings: CalibrationSettings
) -> Floats:
    """The log-likelihood of each of ``values``: a row for each pair of lapse and attention."""
    # A score equal to the knob meets a bar or a floor but is no win: a margin turns half a step beside it.
    half = -fit.step / 2 if knob is Knob.WINNING_MARGIN else fit.step / 2
    order = sorted(
        evidence, key=lambda item: (item.at, item.met, item.silent, item.asked, item.response.agrees, item.weight)
    )
    at = np.array([item.at + half for item in order])
    weight = np.array([item.weight for item in order])
    met = np.array([item.met for item in order])
    silent = np.array([item.silent for item in order])
    # How many of those who agree say so is unknown, so that their number says nothing of attention.
    objecting = np.array([not (item.silent or item.asked or item.response.agrees) for item in order])
    above = _logistic((at[None, :] - np.array(values)[:, None]) / fit.spread)
    right = np.where(met[None, :], above, 1 - above)
    found = []
    for lapse in settings.lapses:
        said = lapse + (1 - 2 * lapse) * right
        for attention in settings.attentions:
            seen = np.where(objecting, attention, 1.0) * said
            likely = np.where(silent, 1 - attention + attention * said, seen)
            found.append(np.log(likely) @ weight)
    return np.array(found)


def _posteriors(
    likelihoods: Floats,
    values: Sequence[float],
    groups: Sequence[Sequence[int]],
    centre: float,
    fit: KnobFit,
    settings: CalibrationSettings,
) -> Floats:
    """The probability of each of ``values`` for each capability: rows, of which ``groups`` has the places.

    ``likelihoods`` are by pair of lapse and attention, capability and value.
    """
    found, evidences = [], []
    for split in settings.splits:
        own, group = (_spread_around(values, fit.leeway * sqrt(share)) for share in (split.own, split.group))
        distances = (np.array(values) - centre) / fit.leeway
        prior = np.exp(-(distances**2) / (2 * split.all))
        for each in likelihoods:
            posterior, evidence = _pooled(each, groups, own, group, np.log(np.maximum(prior / prior.sum(), _LEAST)))
            found.append(posterior)
            evidences.append(evidence)
    weights = np.exp(np.array(evidences) - max(evidences))
    total: Floats = np.tensordot(weights / weights.sum(), np.array(found), axes=1)
    return total


def _pooled(
    likelihoods: Floats, groups: Sequence[Sequence[int]], own: Floats, group: Floats, prior: Floats
) -> tuple[Floats, float]:
    """The posterior of each capability, and the logarithm of the evidence for the assumptions.

    Belief propagation in a tree, which is exact: from the capabilities to their groups, to all, and back.
    """
    greatest = likelihoods.max(axis=1, keepdims=True)
    each = np.exp(likelihoods - greatest)
    upwards = _log(each @ own.T)
    sums = [upwards[list(places)].sum(axis=0) for places in groups]
    of_groups = [_log(group @ np.exp(total - total.max())) for total in sums]
    of_all = prior + sum(of_groups)
    posterior = np.empty_like(each)
    for places, total, message in zip(groups, sums, of_groups, strict=True):
        others = of_all - message
        down = _log(np.exp(others - others.max()) @ group)
        for place in places:
            rest = down + total - upwards[place]
            product = _log(np.exp(rest - rest.max()) @ own) + likelihoods[place]
            shares = np.exp(product - product.max())
            posterior[place] = shares / shares.sum()
    evidence = float(greatest.sum() + sum(total.max() for total in sums) + of_all.max())
    return posterior, evidence + float(np.log(np.exp(of_all - of_all.max()).sum()))


def _spread_around(values: Sequence[float], deviation: float) -> Floats:
    """How likely each of ``values`` (columns) is around each of them (rows)."""
    distances = np.array(values)[None, :] - np.array(values)[:, None]
    found = np.exp(-(distances**2) / (2 * deviation**2))
    rows: Floats = found / found.sum(axis=1, keepdims=True)
    return rows


def _log(values: Floats) -> Floats:
    found: Floats = np.log(np.maximum(values, _LEAST))
    return found


def _candidates(
    knob: Knob, evidence: Mapping[str, Sequence[KnobEvidence]], fit: KnobFit, ceiling: int, greatest: float
) -> list[float]:
    """The multiples of the step that the knob may take.

    No floor is above the ``ceiling``, since R never has more entries, or far above all answers and the ``greatest``
    present value.
    """
    top = 1.0
    if knob is Knob.REDUNDANCY_FLOOR:
        answered = max(item.at for items in evidence.values() for item in items) + 1
        top = max(min(answered, ceiling, greatest + _FAR * fit.leeway), greatest)
    return [rounded(count * fit.step) for count in range(floor(rounded(top / fit.step)) + 1)]


def _logistic(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """σ, with exactly 0 and 1 where exponentials would overflow."""
    return 1 / (1 + np.exp(-np.clip(values, -700, 700)))
