"""One query's turn: all gates, whom it stands behind, how close an exclusion was (semantics, sections 5, 6; pure)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from bot.config import Curation
from bot.consolidator.verdict import CloseCall, Decision, Reason, Route, Ruling, Verdict
from bot.consolidator.verdict_engine import REDUNDANT, decide
from bot.rater.contextualizer import LiveSet, Similarity
from bot.rater.model import Doubt, RelationalFacts, ScoredQuery
from bot.rater.profile import Profile

Trust: TypeAlias = Callable[[ScoredQuery, RelationalFacts, Ruling, Sequence[str]], Ruling]
"""Gate 7: query, facts, ruling and the ids that this cycle has admitted so far → the ruling, perhaps sent to review."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The state of a cycle at one query's turn: the live set, the rules, and the ids ``admitted`` so far."""

    live: LiveSet
    config: Curation
    trust: Trust
    admitted: Sequence[str]

    def judge(self, query: ScoredQuery, profile: Profile, similarity: Similarity) -> tuple[RelationalFacts, Ruling]:
        """Facts and ruling, all gates and the queries that wait considered."""
        facts = self.live.facts(query, profile, similarity)
        return facts, self._ruling(query, facts)

    def verdict(self, query: ScoredQuery, profile: Profile, similarity: Similarity) -> Verdict:
        """The verdict on ``query``, with close calls where it is redundant."""
        return self._verdict(query, profile, self.live.facts(query, profile, similarity), similarity)

    def without_merit(self, query: ScoredQuery, profile: Profile, similarity: Similarity) -> Verdict:
        """The same, of a ``query`` whose key is without merit."""
        return self._verdict(query, profile, self.live.facts_without_merit(query, profile, similarity), similarity)

    def _ruling(self, query: ScoredQuery, facts: RelationalFacts) -> Ruling:
        ruling = self.trust(query, facts, decide(facts, self.config.knobs, self.config.options), self.admitted)
        return REDUNDANT if _stands_behind(facts, ruling) else ruling

    def _verdict(self, query: ScoredQuery, profile: Profile, facts: RelationalFacts, similarity: Similarity) -> Verdict:
        ruling = self._ruling(query, facts)
        redundant = Reason.REDUNDANT in ruling.reasons
        return Verdict(
            id=query.id,
            ruling=ruling,
            displaces=facts.displaced if ruling.decision is Decision.REPLACE else (),
            alternate_of=(facts.met_by or self.live.offering(profile)) if redundant else (),
            facts=facts,
            close_calls=self._close_calls(query, profile, similarity) if redundant else (),
        )

    def follow(self, query: ScoredQuery, profile: Profile, ruling: Ruling) -> None:
        """Let ``query`` enter, or wait for a person, as ``ruling`` says; one that is not familiar offers nothing."""
        if ruling.admitted:
            self.live.admit(profile)
        elif ruling.decision.admits and query.familiar:
            self.live.await_review(profile)

    def _close_calls(self, query: ScoredQuery, profile: Profile, similarity: Similarity) -> tuple[CloseCall, ...]:
        found = []
        for doubt in self.live.doubts(query, profile, self.config.options.close_call):
            other = exercising(query, doubt, self.config)
            _, ruling = self.judge(other, self.live.profile(other), similarity)
            if ruling.decision.admits:
                found.append(CloseCall(capability=doubt.capability, probability=doubt.probability, ruling=ruling))
        return tuple(found)


def exercising(query: ScoredQuery, doubt: Doubt, config: Curation) -> ScoredQuery:
    """``query`` as if it exercised what there is ``doubt`` about, just competently."""
    scores = {name: score for name, score in query.scores.items() if name not in doubt.instead_of}
    bar = config.competence_bar(doubt.capability)
    return replace(query, scores={**scores, doubt.capability: max(bar, doubt.probability)})


def _stands_behind(facts: RelationalFacts, ruling: Ruling) -> bool:
    """Whether people are asked about waiting queries that offer the same (semantics, section 6)."""
    asks = ruling.decision.admits and ruling.route is Route.REVIEW
    return asks and facts.familiar and not facts.wins and bool(facts.met_by)
