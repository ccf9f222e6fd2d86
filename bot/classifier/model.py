"""What the classifier says of a query, and the interface that inference backends fill (semantics, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias, get_args

from bot.classifier.usage import Usage
from bot.intake.specification import Tool

Path: TypeAlias = Literal[
    "specification", "tool", "structure", "expected", "inference", "arbitration", "undeclared"
]
Basis: TypeAlias = Literal["calibrated", "log-probabilities", "stated", "vote"]
"""What a probability rests on: a calibrated score, the log-probabilities of the words true and false, the certainty
that a model states, or nothing but its vote."""
BASES: Final[tuple[Basis, ...]] = get_args(Basis)
"""From the firmest to the weakest."""
Progress: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Identity:
    """Under which classifier a score was given; scores of different identities are never compared."""

    backend: str
    model: str
    prompt: str
    samples: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """A value, its confidence κ ∈ [0, 1], and the path that decided it."""

    value: bool
    confidence: float
    path: Path


@dataclass(frozen=True, slots=True)
class Sample:
    """One inference sample: a boolean vote and an exercise probability in [0, 1] per capability."""

    votes: Mapping[str, bool]
    probabilities: Mapping[str, float]
    basis: Basis = "calibrated"


@dataclass(frozen=True, slots=True)
class Consensus:
    """What the valid samples say of one capability: the majority's value, and κ, their mean probability in [0, 1].

    ``basis`` is the weakest that a sample's probability rests on.
    """

    value: bool
    confidence: float
    basis: Basis = "calibrated"


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """The declared tool a query would call, with the inference's confidence in [0, 1]."""

    tool: str
    confidence: float


@dataclass(frozen=True, slots=True)
class CalledTools:
    """Which declared tools a query calls (semantics, section 2, point 1a).

    ``probability``: that it calls a tool at all, in [0, 1].  ``steps``: for each part of the query that asks for
    something, the probability of each declared tool by its name, given that the query calls one; each sums to ≤ 1.
    """

    probability: float
    steps: tuple[Mapping[str, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceRequest:
    """A query for a backend: its turns and the ids of the capabilities to judge, in the taxonomy's order.

    ``tools`` is not empty when the declared tool that the query would call has to be chosen.
    """

    query_id: str
    turns: tuple[str, ...]
    capabilities: tuple[str, ...]
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A backend's answer: the samples' consensus on each capability asked for, and the chosen tool if one was asked.

    ``attempt``: the query argued with the classifier.  ``shortfall`` says why fewer than a majority of the samples are
    valid; the rest is then empty.
    """

    consensus: Mapping[str, Consensus] = field(default_factory=dict)
    tool: ToolChoice | None = None
    attempt: bool = False
    shortfall: str | None = None


class Backend(Protocol):
    """An inference backend: pure text in, findings out; it never sees specification facts or other queries."""

    @property
    def identity(self) -> Identity:
        """Under which identity its findings are comparable."""
        ...

    @property
    def usage(self) -> Usage | None:
        """What it has cost so far; ``None`` for a backend that costs nothing."""
        ...

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        """Place and finding of each request, in the order in which they are done.

        Raises :class:`bot.errors.OutsideError` when the backend cannot be reached, and
        :class:`bot.errors.IncompleteError` when a budget is used up; what was yielded before holds.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """What the classifier says of one query.

    ``judgements`` holds every capability of the taxonomy in its order; ``off_taxonomy`` the exactly-one groups whose
    members all fail; ``arbitrated`` the members that arbitration alone made TRUE.  ``attempt``: it argued with the
    classifier; ``basis``: the weakest that an inferred confidence rests on (``None``: nothing was inferred).
    """

    query_id: str
    judgements: Mapping[str, Judgement]
    off_taxonomy: tuple[str, ...] = ()
    arbitrated: frozenset[str] = field(default_factory=frozenset)
    attempt: bool = False
    basis: Basis | None = None

    @property
    def signature(self) -> frozenset[str]:
        """sig(q): the capabilities that are TRUE."""
        return frozenset(name for name, judgement in self.judgements.items() if judgement.value)
