"""A cycle over an eval set: the order in which queries are judged, each against R and what the cycle admitted so far.

Semantics, section 6.  The order is that of an exhaustive search for the greatest key; since no part of a key grows
while R does, a lazy priority queue finds it at the cost of a sort.  A query without merit stays so, and none enters or
waits: they come last, in the order of their scores, and all are judged against the same set.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias, TypeVar

from bot.config import Curation
from bot.consolidator.judging import Moment, Trust
from bot.consolidator.trust import doubt_text
from bot.consolidator.verdict import Verdict
from bot.rater.contextualizer import Key, LiveSet, without_merit
from bot.rater.model import Resident, ScoredQuery
from bot.rater.profile import Profile

Tie = TypeVar("Tie", int, str)
_Waiting: TypeAlias = tuple[Key, Tie, ScoredQuery, Profile]
"""A query by its key, then by its id or its place in their order."""


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
    queue: list[_Waiting[int]] = []
    redundant: list[tuple[float, int]] = []
    for place, profile in enumerate(profiles):
        key = descending(live, profile)
        if without_merit(key):
            redundant.append((key[4], place))
        else:
            queue.append((key, place, ordered[place], profile))
    # No two have the same place, so that nothing after it is compared.
    queue.sort()
    for key, place, query, profile in _in_turn(live, queue):
        if without_merit(key):
            redundant.append((key[4], place))
            continue
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


def judge_arriving(
    arriving: Iterable[tuple[Key, ScoredQuery]], live: LiveSet, config: Curation, trust: Trust = doubt_text
) -> Iterator[tuple[ScoredQuery, Verdict]]:
    """The verdicts of :func:`run_cycle` on the queries that have merit at their turn, where not all can be held.

    ``arriving`` are those with merit against ``live`` as it is, with their keys (:func:`descending`), sorted by key and
    id.  ``live`` grows.  Queries that have no merit at first, or lose it on the way, are left out: none of them enters.
    """
    # As above.
    from bot.consolidator.nearest import nearest_of

    admitted: list[str] = []
    moment = Moment(live, config, trust, admitted)
    profiled = ((key, query.id, query, live.profile(query)) for key, query in arriving)
    for key, _, query, profile in _in_turn(live, profiled):
        if without_merit(key):
            continue
        verdict = moment.verdict(query, profile, nearest_of(profile, live.members))
        moment.follow(query, profile, verdict.ruling)
        if verdict.admitted:
            admitted.append(verdict.id)
        yield query, verdict


def descending(live: LiveSet, profile: Profile) -> Key:
    """key(q) with its parts negated: the smallest comes first."""
    new, fills, contested, combinations, total = live.key(profile)
    return -new, -fills, -contested, -combinations, -total


def _in_turn(live: LiveSet, arriving: Iterable[_Waiting[Tie]]) -> Iterator[_Waiting[Tie]]:
    """Each of ``arriving`` at its turn, with its key of that moment; one without merit as soon as that is seen.

    They are sorted.  While ``live`` grows a key only falls behind, so that none is needed before all that are held
    stand behind the key that it had at first.
    """
    coming = iter(arriving)
    following = next(coming, None)
    queue: list[_Waiting[Tie]] = []
    while queue or following is not None:
        while following is not None and (not queue or following < queue[0]):
            heapq.heappush(queue, following)
            following = next(coming, None)
        key, tie, query, profile = queue[0]
        current = descending(live, profile)
        if current == key:
            yield heapq.heappop(queue)
        elif without_merit(current):
            heapq.heappop(queue)
            yield current, tie, query, profile
        else:
            heapq.heapreplace(queue, (current, tie, query, profile))
