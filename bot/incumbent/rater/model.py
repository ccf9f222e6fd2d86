"""Values of the rater: scored queries, entries of R, and the relational facts between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A capability that a query may not exercise, with the ``probability`` in [0, 1] that it does.

    ``excludes`` are the other members of its ``exactly-one`` group: a query exercises at most one of them.
    """

    capability: str
    probability: float
    excludes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredQuery:
    """A query with its intrinsic half: cs(q, c) ∈ [0, 1] for every c in sig(q).

    ``by_rule`` are the capabilities whose scores are rule values (semantics, section 3).
    ``customer`` is ``None`` if unknown.  ``arbitrated`` are the capabilities that only arbitration made TRUE; gate 0
    ignores them.  ``doubts`` are about capabilities that it does not exercise, in the taxonomy's order; like low
    scores, they make close calls.  ``attempt``: the query argues with the classifier or hides text (gate 7).
    ``personal``: kind of personal data → number of values in the query (gate 7).  ``familiar``: the classifier can
    judge this kind of text (gate 6).  ``doubted`` are the capabilities that rest on a doubted expectation of calls
    (gate 7).  ``setup_cost`` is the relative cost of the mock set-up (≥ 0), which decides between equals.
    """

    id: str
    turns: tuple[str, ...]
    scores: Mapping[str, float]
    by_rule: frozenset[str] = frozenset()
    customer: str | None = None
    arbitrated: frozenset[str] = frozenset()
    doubts: tuple[Doubt, ...] = ()
    attempt: bool = False
    personal: Mapping[str, int] = field(default_factory=dict)
    familiar: bool = True
    doubted: frozenset[str] = frozenset()
    setup_cost: float = 1.0


class ReleaseResults(IntEnum):
    """What release runs showed of an entry, in the order in which prune lets entries go (semantics, section 7)."""

    PASSED = 0
    """It ran in at least ``results.trusted`` releases and never failed: a test that has had its chance."""
    UNKNOWN = 1
    """It never failed, and ran in fewer releases or in none."""
    FAILED = 2
    """It failed whenever it ran, so that its fixture is in doubt."""
    BOTH = 3
    """It failed and passed: it tells good releases from bad ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedEntry:
    """An entry of R for the rater; ``scores`` contains only the comparable ones (semantics, section 2).

    ``by_rule`` are the capabilities whose scores are rule values (semantics, section 3).
    ``customer`` is ``None`` if unknown; ``admitted_at`` is an ISO 8601 UTC time stamp, ``order`` the place
    among those that entered at that moment, ``pin`` a person's reason,
    ``displaces`` the ids that a REPLACE named, ``setup_cost`` the relative cost of the mock set-up (≥ 0).
    ``attachments`` are a part of what it asks, though no rule looks at their names.
    ``results`` are those of release runs, which order what prune suggests, and decide nothing.
    """

    id: str
    turns: tuple[str, ...]
    scores: Mapping[str, float]
    by_rule: frozenset[str] = frozenset()
    admitted_at: str
    order: int = 0
    customer: str | None = None
    pin: str | None = None
    displaces: tuple[str, ...] = ()
    setup_cost: float = 1.0
    results: ReleaseResults = ReleaseResults.UNKNOWN
    attachments: tuple[str, ...] = ()

    @property
    def query(self) -> ScoredQuery:
        """The entry as a query, to judge it again."""
        return ScoredQuery(
            id=self.id,
            turns=self.turns,
            scores=self.scores,
            by_rule=self.by_rule,
            customer=self.customer,
            setup_cost=self.setup_cost,
        )


@dataclass(frozen=True, slots=True)
class Similarity:
    """maxSim(q) and the most similar entry (``None`` for an empty R)."""

    value: float
    resident: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationalFacts:
    """The relations between a query and the live R: the only input of the Verdict Engine (semantics, section 4).

    Names are sorted.  The last block is about R' = (R \\ E) ∪ {q}, where E = ``displaced`` are the champions that the
    query beats; it is empty if there are none.
    """

    exercised: bool
    """Whether sig(q) holds more than what arbitration alone made TRUE."""
    competent: Annotated[
        tuple[str, ...], Field(description="caps(q): capabilities whose score reaches the competence bar")
    ]
    new_capabilities: tuple[str, ...]
    """newCaps(q): competent capabilities without a competent coverer in R."""
    new_combinations: tuple[tuple[str, ...], ...]
    """newCombos(q): combinations that nobody in R, and no waiting query of this cycle, carries."""
    fills: Annotated[
        Mapping[str, int],
        Field(
            description="fills(q): competent capabilities with too few competent coverers in R, none of q's customer"
        ),
    ] = field(default_factory=dict)
    wins: Annotated[
        Mapping[str, str],
        Field(description="wins(q): capability: the champion that q beats by more than the winning margin"),
    ]
    max_similarity: Annotated[float, Field(ge=0, le=1)]
    most_similar: str | None
    top_score: float
    """The highest score of q; 0 without scores."""
    familiar: bool = True
    """Whether the classifier can judge this kind of text."""
    personal: Mapping[str, int] = field(default_factory=dict)
    """Kind of personal data in q → number of values, for reports."""
    displaced: tuple[str, ...] = ()
    """E: the beaten champions."""
    undominated: tuple[str, ...] = ()
    """Members of E with a competent capability that q lacks."""
    protected: tuple[str, ...] = ()
    """Members of E pinned by a person, or still champion at or above the bar of a capability in R ∪ {q}."""
    short_floors: tuple[str, ...] = ()
    """Capabilities of E with fewer competent coverers in R' than the redundancy floor."""
    sole: tuple[str, ...] = ()
    """Capabilities for which q would be the sole competent coverer in R'."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """cs(q, ·)."""
    champion_scores: Mapping[str, float] = field(default_factory=dict)
    """champ_cs of the capabilities won, as much as they count, for reports."""
    faded: Mapping[str, float] = field(default_factory=dict)
    """cs of the beaten champions whose age makes it count for less, for reports."""

    @property
    def novel(self) -> bool:
        """Whether q has a new combination."""
        return bool(self.new_combinations)
