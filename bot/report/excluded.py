"""Excluded queries by the reason that they share, the entry that covers each, and the close calls among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bot.consolidator.verdict import Reason, Verdict
from bot.pipeline.review import Review
from bot.rater.contextualizer import LiveSet
from bot.report.verdict_text import TextStyle, why_of_group
from bot.text.compare import rounded


@dataclass(frozen=True, slots=True)
class ExcludedGroup:
    """Excluded queries that share a ``reason``, in words; ``verdicts`` in the cycle's order."""

    reason: str
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True)
class Excluded:
    """The excluded queries of ``review``, written in ``style``."""

    review: Review
    style: TextStyle

    @cached_property
    def close_calls(self) -> tuple[Verdict, ...]:
        """Those that would have merit if they exercised something competently, the most probable first."""
        found = [verdict for verdict in self.review.plan.excluded if verdict.close_calls]
        return tuple(sorted(found, key=lambda verdict: (-rounded(verdict.close_calls[0].probability), verdict.id)))

    @cached_property
    def groups(self) -> tuple[ExcludedGroup, ...]:
        """All of them by reason, the largest group first, then by the reason's words."""
        found: dict[str, list[Verdict]] = {}
        for verdict in self.review.plan.excluded:
            found.setdefault(why_of_group(verdict, self.review, self.style), []).append(verdict)
        groups = (ExcludedGroup(reason, tuple(verdicts)) for reason, verdicts in found.items())
        return tuple(sorted(groups, key=lambda group: (-len(group.verdicts), group.reason)))

    def in_the_way(self, verdict: Verdict) -> str:
        """The entry that covers all that the query does, or else the one with the most similar text."""
        facts = verdict.facts
        near = "" if facts.most_similar is None else self.style.name(facts.most_similar)
        if Reason.CLONE in verdict.reasons:
            return f"{near} ({facts.max_similarity:.2f})"
        covering = self._coverer(frozenset(facts.competent))
        if covering:
            return f"{self.style.name(covering)} covers all of it"
        return f"nearest text: {near}" if near else ""

    def _coverer(self, competent: frozenset[str]) -> str:
        """The first member of the set, by admission, that covers ``competent``; empty if none does by itself."""
        if competent not in self._coverers:
            index = self._live.capabilities.index
            wanted = sum(1 << index[name] for name in competent if name in index)
            known = bool(competent) and index.keys() >= competent
            covering = (member.id for member in self._live.members if known and not wanted & ~member.caps)
            self._coverers[competent] = next(covering, "")
        return self._coverers[competent]

    @cached_property
    def _coverers(self) -> dict[frozenset[str], str]:
        return {}

    @cached_property
    def _live(self) -> LiveSet:
        """The set once the direct admissions are in."""
        entered = [self.review.scored[verdict.id] for verdict in self.review.verdicts if verdict.admitted]
        live = LiveSet(self.review.residents, entered, self.review.platform.config)
        for query in entered:
            live.admit(live.profile(query))
        return live
