"""The data of extension candidates: the observed queries, their traits in words, and a candidate as people see it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

from pydantic import Field

from incumbent.classifier.model import Consensus
from incumbent.files.validation import Digest, Text
from incumbent.taxonomy.model import Identifier
from incumbent.text.compare import normalise
from incumbent.text.digests import digest

MORE: Final = ": {} or more"
"""The suffix of the name of a structural feature that occurs more than once."""

_NUMBERS: Final = {"2": "two", "3": "three"}

PHRASES: Final[dict[str, tuple[str, str]]] = {
    "turns": ("a further turn", "further turns"),
    "sentences": ("a sentence", "sentences"),
    "question marks": ("a question mark", "question marks"),
    "exclamation marks": ("an exclamation mark", "exclamation marks"),
    "commas": ("a comma", "commas"),
    "colons": ("a colon", "colons"),
    "quotes": ("a quotation mark", "quotation marks"),
    "brackets": ("a bracket", "brackets"),
    "slashes": ("a slash", "slashes"),
    "numbers": ("a number", "numbers"),
    "capitalised words": ("a capitalised word", "capitalised words"),
    "shouted words": ("a word in capitals", "words in capitals"),
    "lines": ("a further line", "further lines"),
    "dotted names": ("a dotted name", "dotted names"),
    "longest enumeration": ("an enumeration", "items in an enumeration"),
    "short coordination": ("two things joined", "pairs of things joined"),
    "actions": ("an action", "actions"),
    "coordinated actions": ("an action joined to another", "actions joined to others"),
    "later sentences with an action": ("a further order", "further orders"),
    "begins with an action": ("an order at the start", "orders at the start"),
    "begins with a question word": ("a question at the start", "questions at the start"),
    "reference after a coordination": ("a reference back to an earlier step", "references back to earlier steps"),
    "and": ("an “and”", "uses of “and”"),
    "or": ("an “or”", "uses of “or”"),
    "but": ("a “but”", "uses of “but”"),
    "condition": ("a condition", "conditions"),
    "alternative": ("an alternative", "alternatives"),
    "order": ("words for what comes first or next", "words for what comes first or next"),
    "reference": ("a word that refers back", "words that refer back"),
    "quantity": ("a word for all or every", "words for all or every"),
    "distribution": ("a word for each or both", "words for each or both"),
    "attachment": ("a mention of an attachment", "mentions of attachments"),
    "first person": ("the first person", "uses of the first person"),
    "second person": ("the second person", "uses of the second person"),
    "courtesy": ("a polite word", "polite words"),
    "negation": ("a negation", "negations"),
    "question": ("a question word", "question words"),
    "clauses": ("a clause", "clauses"),
    "clauses that begin with an action": ("a clause that gives an order", "clauses that give orders"),
    "clauses that begin with a question word": ("a clause that asks", "clauses that ask"),
    "later clauses that begin with either": ("a further order or question", "further orders or questions"),
    "conjunctions before an action": ("an order after a conjunction", "orders after conjunctions"),
    "conjunctions before a question word": ("a question after a conjunction", "questions after conjunctions"),
    "clauses that begin alike": ("clauses that begin alike", "further clauses that begin alike"),
    "shared words of neighbouring clauses": ("a word shared by clauses", "words shared by clauses"),
    "repeated words": ("a repeated word", "repeated words"),
    "repeated pairs of words": ("a repeated pair of words", "repeated pairs of words"),
    "words with digits": ("a word with digits", "words with digits"),
    "parallel items": ("parallel items", "further parallel items"),
}
"""The singular and plural name of each counted structural feature."""


def feature(text: str) -> str:
    """The structural feature of a trait's text, without its number."""
    return text.partition(": ")[0]


def spoken(text: str) -> str:
    """The text of a structural trait as people read it."""
    name, _, more = text.partition(": ")
    one, several = PHRASES.get(name, (name, name))
    number = more.partition(" ")[0]
    return f"{_NUMBERS.get(number, number)} or more {several}" if more else one


def called(text: str) -> str:
    """The part of an id for a structural trait: without numbers."""
    name, _, more = text.partition(": ")
    return PHRASES.get(name, (name, name))[1 if more else 0]


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


@dataclass(frozen=True, kw_only=True)
class Observed:
    """A query as the classifier saw it.

    ``id`` is ``customer/agent/item``.  ``beliefs`` has the capabilities that are judged from the text, each with its
    value and the probability of TRUE; ``split`` those that the samples disagree on, and ``off_taxonomy`` the
    exactly-one groups without a fitting member.
    """

    id: str
    customer: str
    turns: tuple[str, ...]
    beliefs: Mapping[str, Consensus]
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
    def is_textual(self) -> bool:
        """Whether a text has it by itself, whatever it was classified with."""
        return self.kind in ("word", "phrase", "structure") and not self.unexplained

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
    customers: Annotated[tuple[Text, ...], Field(min_length=1)]
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
