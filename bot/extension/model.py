"""The data of extension candidates: the observed queries, and a candidate as people see it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Literal, NamedTuple, TypeAlias

from pydantic import Field

from bot.extension.wording import spoken
from bot.files.validation import Text
from bot.ledger.model import Digest
from bot.taxonomy.model import Identifier
from bot.text.compare import normalise
from bot.text.digests import digest

Kind: TypeAlias = Literal["new-behaviour", "missed-capability", "new-combination"]
"""No capability covers it; one covers it and is not recognised; or known ones together deserve a name of their own."""

Core: TypeAlias = Annotated[tuple[Digest, ...], Field(min_length=1)]
"""Digests of a cluster's most central texts, sorted: a refusal is remembered by them."""

Amount: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def holds_core(digests: Collection[str], cores: Iterable[Core], overlap: float) -> bool:
    """Whether at least the share ``overlap`` of one of ``cores`` is among ``digests``, which may be more."""
    members = frozenset(digests)
    return any(core and len(members.intersection(core)) >= overlap * len(set(core)) for core in cores)


class Signal(StrEnum):
    """Why a query is off-distribution."""

    LOW_PROBABILITY = "low-probability"
    """No distinguishing capability is probable."""
    OFF_TAXONOMY = "off-taxonomy"
    """No member of an exactly-one group fits its agent."""
    SPLIT_VOTE = "split-vote"
    """The samples disagree on a capability."""
    FAR = "far"
    """No exemplar resembles it."""
    UNFAMILIAR = "unfamiliar"
    """It shares wording, structure or a combination with other customers' queries that the exemplars hardly have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCapability:
    """The classifier's judgement of a query and a capability: its value, and the probability of TRUE, in [0, 1]."""

    value: bool
    confidence: float


@dataclass(frozen=True, kw_only=True)
class Observed:
    """A query as the classifier saw it.

    ``id`` is ``customer/agent/item``.  ``beliefs`` has the capabilities that are judged from the text, ``split`` those
    that the samples disagree on, and ``off_taxonomy`` the exactly-one groups without a fitting member.
    """

    id: str
    customer: str
    turns: tuple[str, ...]
    beliefs: Mapping[str, ExpectedCapability]
    split: frozenset[str] = frozenset()
    off_taxonomy: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        """The text that identifies it."""
        return normalise(self.turns)

    @cached_property
    def digest(self) -> str:
        """A digest of that text."""
        return digest(self.text)


class Trait(NamedTuple):
    """A property that a query has or lacks.

    ``kind``: a ``word``, a ``phrase`` of two, a ``structure``; a ``combination`` of two capabilities; a ``group`` that
    it is off-taxonomy for; or ``none``, that no capability is probable.  ``unexplained``: no capability is probable
    that goes with the trait.
    """

    kind: str
    text: str
    unexplained: bool = False

    @property
    def words(self) -> str:
        """The trait in words; the text in quotes is a customer's."""
        match self.kind:
            case "word" | "phrase":
                named = f"“{self.text}”"
            case "combination":
                named = f"{self.text} together"
            case "group":
                named = f"fits no member of {self.text}"
            case "none":
                return "no capability is probable"
            case _:
                named = spoken(self.text)
        return f"{named}, unexplained" if self.unexplained else named


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctiveTrait:
    """A trait that members have and exemplars hardly do.

    ``members`` have it, of all; it is in ``observed`` of all queries, where by the exemplars ``expected`` would be.
    ``surprise`` is minus the decimal logarithm of the probability of as many.
    """

    kind: Text
    text: str
    unexplained: bool = False
    members: int
    observed: int
    expected: Amount
    surprise: Amount

    @property
    def trait(self) -> Trait:
        """The trait: its kind, its text and whether it is unexplained."""
        return Trait(self.kind, self.text, self.unexplained)


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftExemplar:
    """A query offered as an exemplar; ``source`` is ``customer/agent/item``, or the capability it is taken from."""

    turns: Annotated[tuple[Text, ...], Field(min_length=1)]
    source: Annotated[Text, Field(description="customer/agent/item; of a negative one the capability that lists it")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A query of a candidate and the signals that it gives."""

    id: Text
    customer: Text
    turns: tuple[Text, ...]
    digest: Digest
    signals: tuple[Signal, ...]


@dataclass(frozen=True, kw_only=True)
class ExtensionCandidate:
    """A capability that the taxonomy may lack.

    ``members`` are the most central first.  ``belongs_to``: the capability that a missed one seems to be, or those that
    a combination joins.  ``cohesion`` is their mean cosine similarity in what is telling; ``excess`` the share of them
    that the exemplars do not lead to expect; ``surprise`` minus the decimal logarithm of the probability of as many.
    All texts of customers (turns, sources, words of traits) are hostile.
    """

    kind: Kind
    core: Annotated[Core, Field(description="by which a refusal is remembered: `--refused` takes it")]
    members: Annotated[tuple[Member, ...], Field(description="the most central first")]
    customers: tuple[Text, ...]
    id: Identifier
    name: Text
    group: Identifier
    description: Text
    positive: tuple[DraftExemplar, ...]
    negative: tuple[DraftExemplar, ...]
    telling: tuple[DistinctiveTrait, ...]
    belongs_to: Annotated[
        tuple[Identifier, ...], Field(description="the missed capability, or those that a combination joins")
    ] = ()
    cohesion: Annotated[Amount, Field(description="mean cosine similarity of its queries in what is telling")]
    excess: Annotated[Amount, Field(description="share of its queries that the exemplars do not lead to expect")]
    surprise: Annotated[Amount, Field(description="minus the decimal logarithm of the probability of as many")]
    named_by: Literal["terms", "language model"] = "terms"

    @property
    def signals(self) -> Mapping[Signal, int]:
        """The number of members with each signal, in the order of :class:`Signal`."""
        counts = {signal: sum(signal in member.signals for member in self.members) for signal in Signal}
        return {signal: count for signal, count in counts.items() if count}


@dataclass(frozen=True, kw_only=True)
class TextCluster:
    """Places of observed texts with distinctive traits in common, the most central first."""

    members: tuple[int, ...]
    telling: tuple[DistinctiveTrait, ...]
    cohesion: float
    excess: float
    surprise: float
    near: tuple[int, ...] = ()
    """Exemplars with most of these traits that are no members, the nearest first."""
