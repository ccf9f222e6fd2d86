"""What the classifier says of a query, and the interface that inference backends fill (semantics, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from bot.intake.specification import Tool

Path: TypeAlias = Literal["specification", "inference", "arbitration", "undeclared"]
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


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """The declared tool a query would call, with the inference's confidence in [0, 1]."""

    tool: str
    confidence: float


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
class Inference:
    """A backend's answer: the valid samples (possibly fewer than asked for), and the chosen tool if one was asked."""

    samples: tuple[Sample, ...]
    tool: ToolChoice | None = None


class Backend(Protocol):
    """An inference backend: pure text in, samples out; it never sees specification facts or other queries."""

    @property
    def identity(self) -> Identity:
        """Under which identity its samples are comparable."""
        ...

    def infer(self, requests: Sequence[InferenceRequest], progress: Progress) -> tuple[Inference, ...]:
        """One answer per request, in order; raises :class:`bot.errors.OutsideError` when it cannot be reached."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """What the classifier says of one query.

    ``judgements`` holds every capability of the taxonomy in its order; ``off_taxonomy`` the exactly-one groups whose
    members all fail; ``arbitrated`` the members that arbitration alone made TRUE.
    """

    query_id: str
    judgements: Mapping[str, Judgement]
    off_taxonomy: tuple[str, ...] = ()
    arbitrated: frozenset[str] = field(default_factory=frozenset)

    @property
    def signature(self) -> frozenset[str]:
        """sig(q): the capabilities that are TRUE."""
        return frozenset(name for name, judgement in self.judgements.items() if judgement.value)
