"""What ``incumbent explain --json`` prints, as a model (``incumbent schema explain-output``)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from bot.classifier.model import Path, Unfamiliar
from bot.classifier.usage import Usage
from bot.consolidator.counterfactuals import Outcome
from bot.consolidator.verdict import Ruling
from bot.pipeline.explain import Explained
from bot.report.output import Spent, UsageOutput, VerdictOutput
from bot.report.remarks import ContradictionOutput
from bot.report.voices import PlainVoice
from bot.report.wording import why_with_advice

OutcomeName = Literal["enters", "waits for a person", "stays out"]


class RulingOutput(BaseModel):
    """A verdict without its facts."""

    outcome: OutcomeName
    decision: Literal["INCLUDE", "EXCLUDE", "REPLACE", "KEEP-BOTH"]
    route: Literal["direct", "review"]
    reasons: list[str]

    @staticmethod
    def of(ruling: Ruling) -> RulingOutput:
        """``ruling`` for output."""
        return RulingOutput(
            outcome=Outcome.of(ruling).value,
            decision=ruling.decision.value,
            route=ruling.route.value,
            reasons=[reason.value for reason in ruling.reasons],
        )


class ContestOutput(BaseModel):
    """How the query stands in one capability that it exercises."""

    capability: str
    score: float = Field(ge=0, le=1, description="cs of the query")
    competence_bar: float = Field(ge=0, le=1, description="score from which on it covers the capability competently")
    champion: str | None = Field(description="who holds the capability; null: nobody exercises it")
    champion_score: float | None = Field(description="cs of the champion, in [0, 1]")
    winning_margin: float = Field(ge=0, le=1, description="by how much that has to be exceeded")
    path: Path | None = Field(description="what decided; null for an entry")


class ScoreChangeOutput(BaseModel):
    """Another score that would turn the verdict."""

    capability: str
    now: float | None = Field(description="cs in [0, 1]; null: the query does not exercise it")
    to: float | None = Field(description="the nearest that turns it; null: not exercised")
    distance: float = Field(ge=0, le=1, description="by how much the score changes")
    then: RulingOutput
    in_cycle: OutcomeName = Field(description="what becomes of it if the whole cycle is judged so")


class AbsenceOutput(BaseModel):
    """An entry, or a query of the same cycle, without which the verdict would turn."""

    id: str
    then: RulingOutput
    in_cycle: OutcomeName = Field(description="what becomes of it if the whole cycle is judged so")


class KnobChangeOutput(BaseModel):
    """Another value of a knob that would turn the verdict."""

    knob: str
    capability: str | None = Field(description="whose override; null: the global knob")
    now: float = Field(ge=0)
    to: float = Field(ge=0, description="the nearest that turns it")
    then: RulingOutput
    in_cycle: OutcomeName = Field(description="what becomes of it if the whole cycle is judged so")


class ExplainOutput(BaseModel):
    """`incumbent explain --json`: why a verdict is what it is, and the smallest changes that would turn it.

    A verdict turns where its outcome changes.  Each change is judged by the whole cascade: `then`, all else being as it
    was at the query's turn; `in_cycle`, where the whole cycle is judged with it, and others may have entered before.
    """

    kind: Literal["query", "entry"] = Field(description="entry: judged as if it came today")
    verdict: VerdictOutput
    outcome: OutcomeName
    why: str = Field(description="the reason in plain words")
    pinned: list[str] = Field(description="what keeps an entry: champion:CAPABILITY or person:REASON")
    contradiction: ContradictionOutput | None = Field(
        description="null: the eval set does not contradict the classifier, or it is an entry"
    )
    unfamiliar: Unfamiliar | None = Field(
        description="why the classifier cannot judge this kind of text; null: it can, or it is an entry"
    )
    contests: list[ContestOutput] = Field(description="by capability that the query exercises")
    scores: list[ScoreChangeOutput] = Field(description="the smallest per capability and outcome, smallest first")
    absences: list[AbsenceOutput] = Field(description="each suffices alone; sorted by id")
    knobs: list[KnobChangeOutput] = Field(description="the smallest of each knob, global ones first")
    usage: Spent

    @staticmethod
    def of(explained: Explained, usage: Usage | None = None, most: int | None = None) -> ExplainOutput:
        """``explained`` for output, with at most ``most`` changes of each kind; ``usage`` is what it has cost now."""
        found, said = explained.explanation, explained.classification
        return ExplainOutput(
            kind=explained.kind,
            verdict=VerdictOutput.of(explained.verdict),
            outcome=found.outcome.value,
            why=why_with_advice(explained.verdict, explained, PlainVoice(explained.platform.taxonomy)),
            pinned=list(explained.pinned),
            contradiction=None
            if said is None or said.contradiction is None
            else ContradictionOutput.of(said.contradiction),
            unfamiliar=None if said is None else said.unfamiliar,
            contests=_contests(explained),
            scores=[
                ScoreChangeOutput(
                    capability=item.capability,
                    now=item.now,
                    to=item.to,
                    distance=item.distance,
                    then=RulingOutput.of(item.ruling),
                    in_cycle=explained.in_cycle(item).value,
                )
                for item in found.scores[:most]
            ],
            absences=[
                AbsenceOutput(id=item.id, then=RulingOutput.of(item.ruling), in_cycle=explained.in_cycle(item).value)
                for item in found.absences[:most]
            ],
            knobs=[
                KnobChangeOutput(
                    knob=item.knob,
                    capability=item.capability,
                    now=item.now,
                    to=item.to,
                    then=RulingOutput.of(item.ruling),
                    in_cycle=explained.in_cycle(item).value,
                )
                for item in found.knobs[:most]
            ],
            usage=UsageOutput.of(usage),
        )


def _contests(explained: Explained) -> list[ContestOutput]:
    return [
        ContestOutput(
            capability=item.capability,
            score=item.score,
            competence_bar=item.bar,
            champion=item.champion,
            champion_score=item.held,
            winning_margin=item.margin,
            path=explained.path(item.capability),
        )
        for item in explained.explanation.contests
    ]
