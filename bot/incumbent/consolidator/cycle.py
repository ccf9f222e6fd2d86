"""The cycle over an eval set: judges queries one by one against R and the queries admitted so far.

Semantics, section 6.  Each turn goes to the query with the greatest key.  While R grows a key only falls in
lexicographic order, so a lazy priority queue finds it at the cost of a sort.  Queries without merit stay without, and
never enter: they come last, in the order of their scores, and all are judged against the same set.

Queries that wait for a person, and those behind them, are then looked at again without the others: what a direct
admission has covered meanwhile is no question any more.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from incumbent.consolidator.close_calls import close_calls
from incumbent.consolidator.verdict import Decision, Route, Ruling, Verdict
from incumbent.consolidator.verdict_engine import CLONE, OFF_TAXONOMY, REDUNDANT, decide, doubt_text
from incumbent.rater.contextualizer import Key, LiveSet, without_merit
from incumbent.rater.model import RatedEntry, RelationalFacts, ScoredQuery, Similarity
from incumbent.rater.profile import Profile
from incumbent.taxonomy.config import Curation

if TYPE_CHECKING:
    from incumbent.rater.similarity import NearestResidents

Trust: TypeAlias = Callable[[ScoredQuery, RelationalFacts, Ruling, Sequence[str]], Ruling]
"""Gate 7: query, facts, ruling and the ids admitted by this cycle → the ruling, possibly on the review route."""


@dataclass(frozen=True, slots=True)
class CycleState:
    """The state of a cycle at a query's turn: the live set, the config, gate 7, and the ids ``admitted`` so far.

    ``has_texts``: waiting queries have theirs, so that clones of them are seen.
    """

    live: LiveSet
    config: Curation
    trust: Trust
    admitted: list[str]
    has_texts: bool = True

    def judge(self, query: ScoredQuery, profile: Profile, similarity: Similarity) -> tuple[RelationalFacts, Ruling]:
        """Facts and ruling of ``query``, by all gates and with regard to waiting queries."""
        facts = self.live.facts(query, profile, similarity)
        return facts, self._ruling(query, profile, facts)[0]

    def verdict(self, query: ScoredQuery, profile: Profile, similarity: Similarity) -> Verdict:
        """The verdict on ``query``; whether it is a close call is seen at the end of the cycle."""
        return self._verdict(query, profile, self.live.facts(query, profile, similarity))

    def without_merit(
        self, query: ScoredQuery, profile: Profile, similarity: Similarity, known: Sequence[int], since: int
    ) -> Verdict:
        """:meth:`verdict` for a ``query`` whose key is without merit.

        ``known`` are the places of the waiting queries that it is a clone of among the first ``since``.
        """
        facts = self.live.facts_without_merit(query, profile, similarity)
        return self._verdict(query, profile, facts, known, since)

    def _verdict(
        self, query: ScoredQuery, profile: Profile, facts: RelationalFacts, known: Sequence[int] = (), since: int = 0
    ) -> Verdict:
        ruling, behind = self._ruling(query, profile, facts, known, since)
        return Verdict(
            id=query.id,
            ruling=ruling,
            displaces=facts.displaced if ruling.decision is Decision.REPLACE else (),
            alternate_of=self.live.waiting.named(behind) if behind else (),
            facts=facts,
        )

    def _ruling(
        self, query: ScoredQuery, profile: Profile, facts: RelationalFacts, known: Sequence[int] = (), since: int = 0
    ) -> tuple[Ruling, int]:
        """The final ruling, by gates 0 to 7 and waiting queries; and the waiting queries that it waits behind.

        ``known`` are the places of those that it is a clone of among the first ``since``.
        """
        ruling = self.trust(query, facts, decide(facts, self.config.knobs, self.config.options), self.admitted)
        live = self.live
        if not live.waiting.profiles or ruling.admitted or ruling in (CLONE, OFF_TAXONOMY):
            return ruling, 0
        clones = known
        if self.has_texts and since < len(live.waiting.profiles):
            clones = [*known, *live.clones([profile], self.config.knobs.clone_cutoff, since)[0]]
        if clones and (behind := live.behind(profile, facts.wins, clones)):
            return CLONE, behind
        if not query.familiar:
            return ruling, 0
        if ruling == REDUNDANT:
            return ruling, live.offering(profile)
        behind = live.behind(profile, facts.wins)
        return (REDUNDANT, behind) if behind else (ruling, 0)

    def follow(self, query: ScoredQuery, profile: Profile, ruling: Ruling) -> None:
        """Admit ``query`` or let it wait for review, according to ``ruling``."""
        if ruling.admitted:
            self.live.admit(profile)
            self.admitted.append(query.id)
        elif ruling.route is Route.REVIEW:
            self.live.await_review(profile, familiar=query.familiar and ruling.decision.admits)


Tie = TypeVar("Tie", int, tuple[float, str])
_Waiting: TypeAlias = tuple[Key, Tie, ScoredQuery, Profile]
"""A query, sorted by its key, then by its cost and id or its position in their order."""


def run_cycle(
    queries: Sequence[ScoredQuery], residents: Sequence[RatedEntry], config: Curation, trust: Trust = doubt_text
) -> tuple[Verdict, ...]:
    """One verdict per query, in the cycle's order; independent of the order of ``queries`` and ``residents``.

    ``trust`` may send a direct admission to review before the next query is judged.
    """
    if not queries:
        return ()
    from incumbent.rater.similarity import NearestResidents

    ordered = sorted(queries, key=_tie)
    live = LiveSet(residents, ordered, config)
    profiles = [live.profile(query) for query in ordered]
    nearest = NearestResidents([profile.text for profile in profiles], [profile.id for profile in profiles])
    nearest.compare_all(sorted(live.members, key=lambda member: member.id))
    moment = CycleState(live, config, trust, [])
    verdicts: list[tuple[int, Verdict]] = []
    places: Iterable[int] = range(len(ordered))
    while True:
        present = len(live.members)
        latest = list(_turns(moment, ordered, profiles, places, nearest))
        entered = live.members[present:]
        again = {place for place, verdict in latest if verdict.asks or verdict.alternate_of} if entered else set()
        verdicts += [item for item in latest if item[0] not in again]
        if not again:
            break
        places = sorted(again)
        nearest.reopen(places, entered)
        live.forget_waiting()
    close = close_calls(
        live,
        [
            (ordered[place], profiles[place])
            for place, verdict in verdicts
            if verdict.ruling == REDUNDANT and not verdict.alternate_of
        ],
        config.options.close_call,
    )
    return tuple(
        replace(verdict, close_call=close[verdict.id]) if verdict.id in close else verdict for _, verdict in verdicts
    )


def _turns(
    moment: CycleState,
    queries: Sequence[ScoredQuery],
    profiles: Sequence[Profile],
    places: Iterable[int],
    nearest: NearestResidents,
) -> Iterator[tuple[int, Verdict]]:
    """The places of ``queries`` in the order of their turns, each with its verdict; the live set grows."""
    live = moment.live
    # Queries with merit, by key; and those without merit, which come last, since their keys are final.
    queue: list[_Waiting[int]] = []
    redundant: list[tuple[float, int]] = []
    for place in places:
        key = descending(live, profiles[place])
        if without_merit(key):
            redundant.append((key[4], place))
        else:
            queue.append((key, place, queries[place], profiles[place]))
    # Places are unique, so that sorting never compares the elements after them.
    queue.sort()
    for key, place, query, profile in _in_turn(live, queue):
        if without_merit(key):
            redundant.append((key[4], place))
            continue
        nearest.settle(place)
        verdict = moment.verdict(query, profile, nearest.of(place))
        moment.follow(query, profile, verdict.ruling)
        if verdict.admitted:
            nearest.compare_one(profile)
        yield place, verdict
    last = [place for _, place in sorted(redundant)]
    since = len(live.waiting.profiles)
    clones = live.clones([profiles[place] for place in last], moment.config.knobs.clone_cutoff)
    for place, known in zip(last, clones, strict=True):
        nearest.settle(place)
        verdict = moment.without_merit(queries[place], profiles[place], nearest.of(place), known, since)
        moment.follow(queries[place], profiles[place], verdict.ruling)
        yield place, verdict


def judge_arriving(
    arriving: Iterable[tuple[Key, ScoredQuery]],
    live: LiveSet,
    config: Curation,
    held: int,
    write: Callable[[Iterable[tuple[Key, ScoredQuery]]], Iterator[tuple[Key, ScoredQuery]]],
    trust: Trust = doubt_text,
) -> Iterator[tuple[ScoredQuery, Verdict]]:
    """The verdicts of :func:`run_cycle` on the queries that have merit at their turn, where memory cannot hold all.

    ``arriving`` are the queries with merit against the initial ``live``, with their keys (:func:`descending`), sorted
    by key, cost and id.  ``live`` grows.  Beyond ``held`` in memory, queries that wait for their turn go to ``write``,
    with their keys and in order; it returns an iterator that gives them back one by one.  Queries that have no merit,
    or lose it on the way, are left out: none of them enters.
    """
    from incumbent.rater.similarity import nearest_of

    moment = CycleState(live, config, trust, [])

    def profiled(queries: Iterable[tuple[Key, ScoredQuery]]) -> Iterator[_Waiting[tuple[float, str]]]:
        return ((key, _tie(query), query, live.profile(query)) for key, query in queries)

    def written(waiting: Sequence[_Waiting[tuple[float, str]]]) -> Iterator[_Waiting[tuple[float, str]]]:
        return profiled(write((key, query) for key, _, query, _ in waiting))

    while True:
        present = len(live.members)
        # Those that are looked at again if anything enters: with a verdict if they have merit now.
        again: list[tuple[ScoredQuery, Profile, Verdict | None]] = []
        for key, _, query, profile in _in_turn(live, profiled(arriving), held, written):
            if without_merit(key):
                if live.offering(profile):
                    again.append((query, profile, None))
                continue
            verdict = moment.verdict(query, profile, nearest_of(profile, live.members))
            moment.follow(query, profile, verdict.ruling)
            if verdict.asks or verdict.alternate_of:
                again.append((query, profile, verdict))
            else:
                yield query, verdict
        if len(live.members) == present:
            break
        live.forget_waiting()
        arriving = sorted(((descending(live, profile), query) for query, profile, _ in again), key=_in_order)
    yield from ((query, verdict) for query, _, verdict in again if verdict is not None)


def _tie(query: ScoredQuery) -> tuple[float, str]:
    """The order of queries with one key."""
    return query.setup_cost, query.id


def _in_order(item: tuple[Key, ScoredQuery]) -> tuple[Key, tuple[float, str]]:
    return item[0], _tie(item[1])


def descending(live: LiveSet, profile: Profile) -> Key:
    """key(q) with its parts negated, so that the smallest comes first."""
    new, fills, contested, combinations, total = live.key(profile)
    return -new, -fills, -contested, -combinations, -total


def _in_turn(
    live: LiveSet,
    arriving: Iterable[_Waiting[Tie]],
    held: float = math.inf,
    write: Callable[[Sequence[_Waiting[Tie]]], Iterator[_Waiting[Tie]]] = iter,
) -> Iterator[_Waiting[Tie]]:
    """Each of ``arriving`` at its turn, with its key of that moment; one without merit as soon as that is seen.

    They are sorted.  While ``live`` grows a key only falls behind.  So a query is needed only once its earlier key is
    the first, and of those that were needed and fell behind, more than ``held`` are handed to ``write`` again.
    """
    # The first query of each sorted source, and the source. No two are equal, so that no sources are compared.
    heads: list[tuple[_Waiting[Tie], Iterator[_Waiting[Tie]]]] = []
    _add(heads, iter(arriving))
    queue: list[_Waiting[Tie]] = []
    while queue or heads:
        while heads and (not queue or heads[0][0] < queue[0]):
            first, source = heads[0]
            heapq.heappush(queue, first)
            following = next(source, None)
            if following is None:
                heapq.heappop(heads)
            else:
                heapq.heapreplace(heads, (following, source))
        if len(queue) > held:
            queue.sort()
            kept = max(1, int(held) // 2)
            _add(heads, write(queue[kept:]))
            del queue[kept:]
        key, tie, query, profile = queue[0]
        current = descending(live, profile)
        if current == key:
            yield heapq.heappop(queue)
        elif without_merit(current):
            heapq.heappop(queue)
            yield current, tie, query, profile
        else:
            heapq.heapreplace(queue, (current, tie, query, profile))


def _add(heads: list[tuple[_Waiting[Tie], Iterator[_Waiting[Tie]]]], source: Iterator[_Waiting[Tie]]) -> None:
    for first in itertools.islice(source, 1):
        heapq.heappush(heads, (first, source))
