"""A cycle over an eval set: the order in which queries are judged, each against R and what the cycle admitted so far.

Semantics, section 6.  The order is that of an exhaustive search for the greatest key; since no part of a key grows
while R does, a lazy priority queue finds it at the cost of a sort.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import TypeAlias

from bot.config import Curation
from bot.consolidator.trust import doubt_attempts
from bot.consolidator.verdict import Decision, Reason, Ruling, Verdict
from bot.consolidator.verdict_engine import decide
from bot.rater.contextualizer import LiveSet
from bot.rater.model import RelationalFacts, Resident, ScoredQuery
from bot.rater.profile import Profile

Trust: TypeAlias = Callable[[ScoredQuery, RelationalFacts, Ruling, Sequence[str]], Ruling]
"""Gate 7: query, facts, ruling and the ids that this cycle has admitted so far → the ruling, perhaps sent to review."""


def run_cycle(
    queries: Sequence[ScoredQuery], residents: Sequence[Resident], config: Curation, trust: Trust = doubt_attempts
) -> tuple[Verdict, ...]:
    """One verdict per query, in the cycle's order; the order of ``queries`` and ``residents`` does not matter.

    ``trust`` may send a direct admission to review, before the next query is judged.
    """
    if not queries:
        return ()
    # What it computes with takes long to import, and most commands that may judge something have nothing to judge.
    from bot.consolidator.nearest import NearestResidents

    ordered = sorted(queries, key=lambda query: query.id)
    live = LiveSet(residents, ordered, config)
    profiles = [live.profile(query) for query in ordered]
    nearest = NearestResidents([profile.text for profile in profiles], [profile.id for profile in profiles])
    nearest.compare_all(sorted(live.members, key=lambda member: member.id))
    verdicts: list[Verdict] = []
    admitted: list[str] = []
    queue = [(_descending(live, profile), place) for place, profile in enumerate(profiles)]
    heapq.heapify(queue)
    while queue:
        key, place = queue[0]
        current = _descending(live, profiles[place])
        if current != key:
            heapq.heapreplace(queue, (current, place))
            continue
        heapq.heappop(queue)
        nearest.settle(place)
        facts = live.facts(ordered[place], profiles[place], nearest.of(place))
        ruling = decide(facts, config.knobs, config.options)
        ruling = trust(ordered[place], facts, ruling, admitted)
        verdict = _verdict(ordered[place].id, facts, ruling)
        verdicts.append(verdict)
        if verdict.admitted:
            admitted.append(verdict.id)
            live.admit(profiles[place])
            nearest.compare_one(profiles[place])
        elif verdict.decision.admits:
            live.await_review(profiles[place])
    return tuple(verdicts)


def _descending(live: LiveSet, profile: Profile) -> tuple[int, int, int, float]:
    new, contested, combinations, total = live.key(profile)
    return -new, -contested, -combinations, -total


def _verdict(id: str, facts: RelationalFacts, ruling: Ruling) -> Verdict:
    return Verdict(
        id=id,
        ruling=ruling,
        displaces=facts.displaced if ruling.decision is Decision.REPLACE else (),
        alternate_of=facts.offered_by if Reason.REDUNDANT in ruling.reasons else (),
        facts=facts,
    )
