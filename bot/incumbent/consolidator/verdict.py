"""The verdict on one query: decision, route, reasons."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from incumbent.rater.model import RelationalFacts


class Decision(StrEnum):
    """The decision on a query."""

    INCLUDE = "INCLUDE"
    EXCLUDE = "EXCLUDE"
    REPLACE = "REPLACE"
    KEEP_BOTH = "KEEP-BOTH"

    @property
    def admits(self) -> bool:
        """Whether the query enters R at the end of its route."""
        return self is not Decision.EXCLUDE


class Route(StrEnum):
    """Whether the decision takes effect directly, or needs a person's review."""

    DIRECT = "direct"
    REVIEW = "review"


class Reason(StrEnum):
    """The gates' codes, in the order of the gates (semantics, section 5)."""

    OFF_TAXONOMY = "OFF_TAXONOMY"
    CLONE = "CLONE"
    REDUNDANT = "REDUNDANT"
    NEW_COVERAGE = "NEW_COVERAGE"
    FILLS_FLOOR = "FILLS_FLOOR"
    SPLIT_OR_FLOOR = "SPLIT_OR_FLOOR"
    CONCENTRATION = "CONCENTRATION"
    DOMINATES = "DOMINATES"
    NOVEL_COMBO = "NOVEL_COMBO"
    LOW_CONFIDENCE = "LOW_CONFIDENCE"
    UNFAMILIAR = "UNFAMILIAR"
    ATTEMPT = "ATTEMPT"
    PERSONAL_DATA = "PERSONAL_DATA"
    UNTRUSTED_AUTHOR = "UNTRUSTED_AUTHOR"
    CUSTOMER_SHARE = "CUSTOMER_SHARE"
    UNSEEN = "UNSEEN"
    CONTESTED = "CONTESTED"
    CONTRADICTED = "CONTRADICTED"


GATE_7: Final = (
    Reason.ATTEMPT,
    Reason.PERSONAL_DATA,
    Reason.UNTRUSTED_AUTHOR,
    Reason.CUSTOMER_SHARE,
    Reason.UNSEEN,
    Reason.CONTESTED,
    Reason.CONTRADICTED,
)
"""The codes of gate 7 in their order: it looks at the query and at who brings it, not at what it covers."""


class VerdictOutcome(StrEnum):
    """What a verdict means for a query; a change turns the verdict where it changes this."""

    ENTERS = "enters"
    WAITS = "waits for a person"
    STAYS_OUT = "stays out"


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision, its route, and the reason codes in the order of the gates."""

    decision: Decision
    route: Route
    reasons: tuple[Reason, ...]

    @property
    def outcome(self) -> VerdictOutcome:
        """What it means; an exclusion that people are asked about waits."""
        if self.route is Route.REVIEW:
            return VerdictOutcome.WAITS
        return VerdictOutcome.ENTERS if self.decision.admits else VerdictOutcome.STAYS_OUT

    @property
    def admitted(self) -> bool:
        """Whether the query enters R or the waitlist without review."""
        return self.decision.admits and self.route is Route.DIRECT


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseCall:
    """What an excluded query would bring that is new, if it competently exercised all of ``capabilities``.

    One capability that is new or would fill a floor, or a new combination; sorted.  ``likelihood`` in [0, 1] is the
    product of the probabilities of those that it does not exercise competently now.
    """

    capabilities: tuple[str, ...]
    likelihood: Annotated[float, Field(ge=0, le=1, description="that it exercises all of them")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A ruling on one query, with the facts behind it.

    ``displaces`` is E for a REPLACE and empty otherwise; ``alternate_of`` are the waiting queries of the same cycle
    that already offer the only merit of this one, or of which it is a clone.  ``close_call`` is that of a redundant
    query, if it is one (semantics, section 5).
    """

    id: str
    ruling: Ruling
    displaces: tuple[str, ...]
    alternate_of: tuple[str, ...]
    facts: RelationalFacts
    close_call: CloseCall | None = None

    @property
    def decision(self) -> Decision:
        """INCLUDE, EXCLUDE, REPLACE or KEEP-BOTH."""
        return self.ruling.decision

    @property
    def route(self) -> Route:
        """Direct or review."""
        return self.ruling.route

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reason codes, in order."""
        return self.ruling.reasons

    @property
    def asks(self) -> bool:
        """Whether a person must decide."""
        return self.route is Route.REVIEW

    @property
    def admitted(self) -> bool:
        """Whether the query enters R or the waitlist without review."""
        return self.ruling.admitted
