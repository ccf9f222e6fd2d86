"""Extension candidates as the job that reads hostile data hands them to the job that writes (pure)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bot.extension.model import Candidate, Exemplar, Member, Signal, Telling, Trait
from bot.files.validation import FileModel, Text, Tuple
from bot.ledger.model import Digest
from bot.taxonomy.model import Identifier

_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ExemplarFacts(FileModel):
    """A query that is offered as an exemplar, and whose it is."""

    turns: Annotated[Tuple[Text], Field(min_length=1)]
    source: Text


class MemberFacts(FileModel):
    """A query of the cluster."""

    id: Text
    customer: Text
    turns: Tuple[Text]
    digest: Digest
    signals: Tuple[Literal["low-probability", "off-taxonomy", "split-vote", "far", "unfamiliar"]]


class TellingFacts(FileModel):
    """Something that members have and exemplars hardly do."""

    kind: Text
    text: str
    unexplained: bool
    members: int
    observed: int
    expected: _Amount
    surprise: _Amount


class CandidateFacts(FileModel):
    """One candidate; see :class:`bot.extension.model.Candidate`."""

    kind: Literal["new-behaviour", "missed-capability", "new-combination"]
    core: Annotated[Tuple[Digest], Field(min_length=1)]
    members: Tuple[MemberFacts]
    customers: Tuple[Text]
    id: Identifier
    name: Text
    group: Identifier
    description: Text
    positive: Tuple[ExemplarFacts]
    negative: Tuple[ExemplarFacts]
    telling: Tuple[TellingFacts]
    belongs_to: Tuple[Identifier]
    cohesion: _Amount
    excess: _Amount
    surprise: _Amount
    named_by: Literal["terms", "language model"]

    @staticmethod
    def of(item: Candidate) -> CandidateFacts:
        """``item`` for the document."""
        return CandidateFacts(
            kind=item.kind,
            core=item.core,
            members=tuple(
                MemberFacts(
                    id=each.id,
                    customer=each.customer,
                    turns=each.turns,
                    digest=each.digest,
                    signals=tuple(signal.value for signal in each.signals),
                )
                for each in item.members
            ),
            customers=item.customers,
            id=item.id,
            name=item.name,
            group=item.group,
            description=item.description,
            positive=tuple(ExemplarFacts(turns=each.turns, source=each.source) for each in item.positive),
            negative=tuple(ExemplarFacts(turns=each.turns, source=each.source) for each in item.negative),
            telling=tuple(
                TellingFacts(
                    kind=each.trait.kind,
                    text=each.trait.text,
                    unexplained=each.trait.unexplained,
                    members=each.members,
                    observed=each.observed,
                    expected=each.expected,
                    surprise=each.surprise,
                )
                for each in item.telling
            ),
            belongs_to=item.belongs_to,
            cohesion=item.cohesion,
            excess=item.excess,
            surprise=item.surprise,
            named_by=item.named_by,
        )

    @property
    def candidate(self) -> Candidate:
        """The candidate again."""
        return Candidate(
            kind=self.kind,
            core=self.core,
            members=tuple(
                Member(
                    id=each.id,
                    customer=each.customer,
                    turns=each.turns,
                    digest=each.digest,
                    signals=tuple(Signal(name) for name in each.signals),
                )
                for each in self.members
            ),
            customers=self.customers,
            id=self.id,
            name=self.name,
            group=self.group,
            description=self.description,
            positive=tuple(Exemplar(turns=each.turns, source=each.source) for each in self.positive),
            negative=tuple(Exemplar(turns=each.turns, source=each.source) for each in self.negative),
            telling=tuple(
                Telling(
                    trait=Trait(each.kind, each.text, each.unexplained),
                    members=each.members,
                    observed=each.observed,
                    expected=each.expected,
                    surprise=each.surprise,
                )
                for each in self.telling
            ),
            belongs_to=self.belongs_to,
            cohesion=self.cohesion,
            excess=self.excess,
            surprise=self.surprise,
            named_by=self.named_by,
        )
