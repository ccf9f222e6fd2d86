"""What ``incumbent candidates --json`` prints, as a model (``incumbent schema candidates-output``)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from bot.classifier.usage import Usage
from bot.extension.model import DistinctiveTrait, DraftExemplar, ExtensionCandidate, Kind, Member
from bot.files.validation import Checked
from bot.report.output import UsageOutput


class MemberOutput(BaseModel):
    """One query of a candidate."""

    id: str = Field(description="customer/agent/item")
    turns: list[str]
    signals: list[str] = Field(description="why it is off-distribution")

    @staticmethod
    def of(member: Member) -> MemberOutput:
        """``member`` for output."""
        return MemberOutput(
            id=member.id,
            turns=list(member.turns),
            signals=[signal.value for signal in member.signals],
        )


class TellingOutput(BaseModel):
    """What its queries have in common, and exemplars hardly have."""

    trait: str
    members: int = Field(description="queries of the candidate that have it")
    observed: int = Field(description="distinct queries that have it, of all that were observed")
    expected: float = Field(description="how many the exemplars lead to expect")
    surprise: float = Field(description="minus the decimal logarithm of the probability of as many")

    @staticmethod
    def of(told: DistinctiveTrait) -> TellingOutput:
        """``told`` for output."""
        return TellingOutput(
            trait=told.trait.words,
            members=told.members,
            observed=told.observed,
            expected=told.expected,
            surprise=told.surprise,
        )


class CandidateOutput(BaseModel):
    """A capability that the taxonomy may lack, as people read it: traits in words, and signals counted."""

    id: str
    name: str
    group: str
    description: str
    named_by: str = Field(description="`terms` or `language model`")
    kind: Kind
    belongs_to: list[str] = Field(description="the missed capability, or those that a combination joins")
    core: list[str] = Field(description="by which a refusal is remembered: `--refused` takes it")
    customers: list[str]
    signals: dict[str, int] = Field(description="how many of its queries give each signal")
    surprise: float
    excess: float = Field(description="share of its queries that the exemplars do not lead to expect")
    cohesion: float = Field(description="mean cosine similarity of its queries in what is telling")
    telling: list[TellingOutput]
    queries: list[MemberOutput] = Field(description="the most central first")
    positive: tuple[Checked[DraftExemplar], ...]
    negative: tuple[Checked[DraftExemplar], ...]

    @staticmethod
    def of(candidate: ExtensionCandidate) -> CandidateOutput:
        """``candidate`` for output."""
        return CandidateOutput(
            id=candidate.id,
            name=candidate.name,
            group=candidate.group,
            description=candidate.description,
            named_by=candidate.named_by,
            kind=candidate.kind,
            belongs_to=list(candidate.belongs_to),
            core=list(candidate.core),
            customers=list(candidate.customers),
            signals={signal.value: count for signal, count in candidate.signals.items()},
            surprise=candidate.surprise,
            excess=candidate.excess,
            cohesion=candidate.cohesion,
            telling=[TellingOutput.of(item) for item in candidate.telling],
            queries=[MemberOutput.of(item) for item in candidate.members],
            positive=candidate.positive,
            negative=candidate.negative,
        )


class CandidatesOutput(BaseModel):
    """The candidates, the most surprising first."""

    observed: int = Field(description="queries that were looked at")
    candidates: list[CandidateOutput]
    usage: UsageOutput | None = Field(description="what asking a language model has cost; null: none was asked")

    @staticmethod
    def of(observed: int, candidates: Sequence[ExtensionCandidate], usage: Usage | None) -> CandidatesOutput:
        """``candidates`` among so many queries for output."""
        return CandidatesOutput(
            observed=observed,
            candidates=[CandidateOutput.of(item) for item in candidates],
            usage=UsageOutput.of(usage),
        )
