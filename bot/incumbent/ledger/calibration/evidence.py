"""The knobs and capabilities that a response concerns, and what it says about them (pure; docs/calibration.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from incumbent.consolidator.verdict import Reason, Route
from incumbent.ledger.agreement.responses import Response
from incumbent.ledger.calibration.override_filter import Weighted
from incumbent.ledger.calibration.replay import Judged, Replayed, judged
from incumbent.text.compare import rounded

REDUNDANT = "redundant"
"""The kind of the suggestions that floors alone decide: the entry is not displaced, and others cover what it covers."""

# Reasons that a person may reject only because of the score; beside any other code, that code may be the cause.
_NEW = {Reason.NEW_COVERAGE, Reason.LOW_CONFIDENCE}
_FILLED = {Reason.FILLS_FLOOR, Reason.LOW_CONFIDENCE}
_WON = {Reason.SPLIT_OR_FLOOR, Reason.DOMINATES, Reason.LOW_CONFIDENCE}


class Knob(StrEnum):
    """The knobs that may differ for one capability, by their names in the config."""

    COMPETENCE_BAR = "competence_bar"
    WINNING_MARGIN = "winning_margin"
    REDUNDANCY_FLOOR = "redundancy_floor"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnobEvidence:
    """What one response says about one knob: that its value is at or below ``at`` (``met``), or above it.

    ``at`` is a score, a lead over the champion, or a number of coverers that remain.  ``weight`` in (0, 1] is the
    response's weight, shared evenly among all the knobs that it may be about.
    """

    knob: Knob
    capability: str
    at: Annotated[float, Field(description="the score, the lead over the champion, or the coverers that remain")]
    met: Annotated[bool, Field(description="whether that is enough for the person")]
    weight: Annotated[float, Field(gt=0, le=1)]
    response: Response

    @property
    def silent(self) -> bool:
        """Whether the response is the merge of a pull request, without an explicit answer to this verdict."""
        return not self.response.explicit

    @property
    def asked(self) -> bool:
        """Whether the verdict asked people; otherwise only those who disagree tend to answer."""
        return self.response.route == Route.REVIEW


def evidence_of(kept: Sequence[Weighted], situations: Mapping[Judged, Replayed]) -> tuple[KnobEvidence, ...]:
    """What the responses that were ``kept`` say about knobs; most are about none.

    ``situations`` are the verdicts replayed under the config of their time.  They show what an EXCLUDE fell short of.
    """
    found: list[KnobEvidence] = []
    for item in kept:
        response = item.response
        about, met = _about(response, situations)
        # The score of a tag that a curator corrected is no measurement.
        given = () if response.facts is None else response.facts.corrected
        about = {key: at for key, at in about.items() if key[1] not in given}
        found += [
            KnobEvidence(knob=knob, capability=name, at=at, met=met, weight=item.weight / len(about), response=response)
            for (knob, name), at in about.items()
        ]
    return tuple(found)


def judged_of(response: Response) -> Judged | None:
    """The shown verdict that ``response`` is on; ``None`` for a suggestion."""
    return None if response.seen is None else judged(response.seen)


def _about(response: Response, situations: Mapping[Judged, Replayed]) -> tuple[dict[tuple[Knob, str], float], bool]:
    """Knob and capability → the measured value, and whether that is enough for the person."""
    reasons = set(response.reasons)
    facts = response.facts
    if response.decision == "EVICT":
        return (_scarcest(response.remaining) if reasons == {REDUNDANT} else {}), response.agrees
    if facts is None:
        return {}, response.agrees
    if response.decision == "EXCLUDE":
        key = judged_of(response)
        situation = situations.get(key) if key is not None and reasons == {Reason.REDUNDANT} else None
        return ({} if situation is None else _short_of(situation)), not response.agrees
    if Reason.NEW_COVERAGE in reasons and reasons <= _NEW:
        return {(Knob.COMPETENCE_BAR, name): facts.scores[name] for name in facts.new}, response.agrees
    if Reason.FILLS_FLOOR in reasons and reasons <= _FILLED:
        # A person who keeps the entry out finds the remaining coverers enough.
        return {(Knob.REDUNDANCY_FLOOR, name): float(count) for name, count in facts.fills.items()}, not response.agrees
    if reasons <= _WON:
        leads = {name: rounded(facts.scores[name] - held) for name, held in facts.won.items()}
        return {(Knob.WINNING_MARGIN, name): lead for name, lead in leads.items()}, response.agrees
    return {}, response.agrees


def _scarcest(remaining: Mapping[str, int]) -> dict[tuple[Knob, str], float]:
    """The capabilities that would keep the fewest coverers: a person would hesitate over these."""
    least = min(remaining.values(), default=0)
    return {(Knob.REDUNDANCY_FLOOR, name): float(count) for name, count in remaining.items() if count == least}


def _short_of(situation: Replayed) -> dict[tuple[Knob, str], float]:
    bars = {(Knob.COMPETENCE_BAR, name): score for name, score in situation.uncovered.items()}
    margins = {(Knob.WINNING_MARGIN, name): lead for name, lead in situation.behind.items()}
    return {**bars, **margins}
