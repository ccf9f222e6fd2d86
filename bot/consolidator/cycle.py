"""A cycle over an eval set: the order in which queries are judged, each against R and what the cycle admitted so far.

Semantics, section 6.  The order is that of an exhaustive search for the greatest key; since no part of a key grows
while R does, a lazy priority queue finds it at the cost of a sort.  A query without merit stays so, and none enters or
waits: they come last, in the order of their scores, and all are judged against the same set.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from bot.config import Curation
from bot.consolidator.judging import Moment, Trust
from bot.consolidator.trust import doubt_text
from bot.consolidator.verdict import Verdict
from bot.rater.contextualizer import Key, LiveSet, without_merit
from bot.rater.model import Resident, ScoredQuery
from bot.rater.profile import Profile


def run_cycle(
    queries: Sequence[ScoredQuery], residents: Sequence[Resident], config: Curation, trust: Trust = doubt_text
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
    moment = Moment(live, config, trust, admitted)
    # Those with merit, by their keys, and those without: their keys are final, and all others go before them.
    queue: list[tuple[Key, int]] = []
    redundant: list[tuple[float, int]] = []
    for place, profile in enumerate(profiles):
        key = _descending(live, profile)
        if without_merit(key):
            redundant.append((key[4], place))
        else:
            queue.append((key, place))
    heapq.heapify(queue)
    while queue:
        key, place = queue[0]
        query, profile = ordered[place], profiles[place]
        current = _descending(live, profile)
        if without_merit(current):
            heapq.heappop(queue)
            redundant.append((current[4], place))
            continue
        if current != key:
            heapq.heapreplace(queue, (current, place))
            continue
        heapq.heappop(queue)
        nearest.settle(place)
        verdict = moment.verdict(query, profile, nearest.of(place))
        verdicts.append(verdict)
        moment.follow(query, profile, verdict.ruling)
        if verdict.admitted:
            admitted.append(verdict.id)
            nearest.compare_one(profile)
    verdicts += [
        moment.without_merit(ordered[place], profiles[place], nearest.of(place)) for _, place in sorted(redundant)
    ]
    return tuple(verdicts)


def _descending(live: LiveSet, profile: Profile) -> Key:
    new, fills, contested, combinations, total = live.key(profile)
    return -new, -fills, -contested, -combinations, -total
