"""The oracle's own values: it borrows none from ``incumbent``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Moment = str | int
Doubts = Mapping[str, tuple[float, tuple[str, ...]]]
"""Capability → P, and the others of which a query exercises at most one together with it."""


@dataclass(frozen=True)
class Knobs:
    """The six knobs; ``per_capability`` maps a capability to other values of the three that may be overridden.

    No verdict rests on those on ``trial``.  ``recency`` is the half-life of inferred scores, in days; ``rule_values``
    and ``win_needs_bar`` are the options that say who may win and be champion.
    """

    competence_bar: float
    winning_margin: float
    clone_cutoff: float
    redundancy_floor: float
    concentration_cap: float
    honesty_floor: float
    per_capability: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    trial: frozenset[str] = frozenset()
    recency: float | None = None
    rule_values: Literal["scored", "counted"] = "counted"
    win_needs_bar: bool = True

    def bar(self, capability: str) -> float:
        """τ_c."""
        return self.per_capability.get(capability, {}).get("competence_bar", self.competence_bar)

    def margin(self, capability: str) -> float:
        """δ_c."""
        return self.per_capability.get(capability, {}).get("winning_margin", self.winning_margin)

    def floor(self, capability: str) -> float:
        """N_c."""
        return self.per_capability.get(capability, {}).get("redundancy_floor", self.redundancy_floor)


@dataclass(frozen=True)
class Options:
    """The options on which the paper and the shipped config differ."""

    novelty: Literal["signature", 1, 2, 3]
    honesty_scope: Literal["all", "evidence"]
    clone_rescue: bool
    fill_floor: bool = False
    close_call: float = 1.0
    uncombinable: frozenset[str] = frozenset()
    fill_from_any: frozenset[str] = frozenset()
    flakiness: float = 0.3
    trusted: int = 3
    fill_to: float | None = None
    ceiling: int = 150


@dataclass(frozen=True)
class Results:
    """In how many releases an entry ran, and how many of these failed."""

    ran: int = 0
    failed: int = 0


@dataclass(frozen=True)
class Item:
    """A query or an entry: ``scores`` has exactly the capabilities of its signature.

    Those ``by_rule`` are rule values.
    """

    id: str
    turns: tuple[str, ...]
    scores: Mapping[str, float]
    admitted_at: Moment = 0
    pin: str | None = None
    displaces: tuple[str, ...] = ()
    setup_cost: float = 1.0
    arbitrated: frozenset[str] = frozenset()
    customer: str | None = None
    familiar: bool = True
    doubts: Doubts = field(default_factory=dict)
    by_rule: frozenset[str] = frozenset()
    results: Results = Results()


@dataclass(frozen=True)
class Facts:
    """What a verdict rests on. ``held_by`` are the waiting queries that carry a combination R does not."""

    competent: tuple[str, ...] = ()
    new_capabilities: tuple[str, ...] = ()
    new_combinations: tuple[tuple[str, ...], ...] = ()
    wins: Mapping[str, str] = field(default_factory=dict)
    max_similarity: float = 0.0
    most_similar: str | None = None
    held_by: tuple[str, ...] = ()
    fills: Mapping[str, int] = field(default_factory=dict)

    @property
    def novel(self) -> bool:
        return bool(self.new_combinations)


@dataclass(frozen=True)
class Verdict:
    """The answer for one query."""

    id: str
    decision: Literal["INCLUDE", "EXCLUDE", "REPLACE", "KEEP-BOTH"]
    route: Literal["direct", "review"]
    reasons: tuple[str, ...]
    facts: Facts
    displaces: tuple[str, ...] = ()
    alternate_of: tuple[str, ...] = ()
    close_call: tuple[tuple[str, ...], float] | None = None

    def plain(self) -> dict[str, Any]:
        """As JSON would have it, with ``max_similarity`` rounded to 9 decimals."""
        return {
            "id": self.id,
            "decision": self.decision,
            "route": self.route,
            "reasons": list(self.reasons),
            "displaces": list(self.displaces),
            "alternate_of": list(self.alternate_of),
            "close_call": self.close_call
            and {"capabilities": list(self.close_call[0]), "likelihood": self.close_call[1]},
            "facts": {
                "competent": list(self.facts.competent),
                "new_capabilities": list(self.facts.new_capabilities),
                "fills": dict(self.facts.fills),
                "new_combinations": [list(combination) for combination in self.facts.new_combinations],
                "wins": dict(self.facts.wins),
                "max_similarity": round(self.facts.max_similarity, 9),
                "most_similar": self.facts.most_similar,
                "novel": self.facts.novel,
            },
        }


Kind = Literal["displaced", "redundant", "source-deleted", "customer-left"]


@dataclass(frozen=True)
class Grounds:
    """Why an eviction is suggested, and what a refusal is remembered by. A redundant entry yields to nobody by name."""

    id: str
    kind: Kind
    yields_to: tuple[str, ...] = ()
