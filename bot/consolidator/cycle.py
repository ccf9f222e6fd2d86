"""The cycle over an eval set: judges queries one by one against R and the queries admitted so far.

Semantics, section 6.  Each turn goes to the query with the greatest key.  While R grows a key only falls in
lexicographic order, so a lazy priority queue finds it at the cost of a sort.  Queries without merit stay without, and
never enter or wait: they come last, in the order of their scores, and all are judged against the same set.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from bot.config import Curation
from bot.consolidator.verdict import CloseCall, Decision, Reason, Route, Ruling, Verdict
from bot.consolidator.verdict_engine import REDUNDANT, decide, doubt_text
from bot.rater.contextualizer import Key, LiveSet, Similarity, without_merit
from bot.rater.model import Doubt, RatedEntry, RelationalFacts, ScoredQuery
from bot.rater.profile import Profile

Trust: TypeAlias = Callable[[ScoredQuery, RelationalFacts, Ruling, Sequence[str]], Ruling]
"""Gate 7: query, facts, ruling and the ids admitted by this cycle → the ruling, possibly on the review route."""


@dataclass(frozen=True, slots=True)
class CycleState:
    """The state of a cycle at a query's turn: the live set, the config, gate 7, and the ids ``admitted`` so far."""

    live: LiveSet
    config: Curation
    trust: Trust
    admitted: Sequence[str]

    def judge(self, query: ScoredQuery, profile: Profile, similarity: Similarity) -> tuple[RelationalFacts, Ruling]:
        """Facts and ruling of ``query``, by all gates and with regard to waiting queries."""
        facts = self.live.facts(query, profile, similarity)
        return facts, self._ruling(query, facts)

    def verdict(self, query: ScoredQuery, profile: Profile, similarity: Similarity) -> Verdict:
        """The verdict on ``query``, with close calls if it is redundant."""
        return self._verdict(query, profile, self.live.facts(query, profile, similarity), similarity)

    def without_merit(self, query: ScoredQuery, profile: Profile, similarity: Similarity) -> Verdict:
        """:meth:`verdict` for a ``query`` whose key is without merit."""
        return self._verdict(query, profile, self.live.facts_without_merit(query, profile, similarity), similarity)

    def _ruling(self, query: ScoredQuery, facts: RelationalFacts) -> Ruling:
        """The final ruling: gates 0 to 6, gate 7, and whether the query waits behind others."""
        ruling = self.trust(query, facts, decide(facts, self.config.knobs, self.config.options), self.admitted)
        return REDUNDANT if _waits_behind(facts, ruling) else ruling

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
        """Admit ``query`` or let it wait for review, according to ``ruling``; an unfamiliar one offers nothing."""
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
    """``query`` as if it exercised the capability of ``doubt``, just competently."""
    scores = {name: score for name, score in query.scores.items() if name not in doubt.instead_of}
    bar = config.competence_bar(doubt.capability)
    return replace(query, scores={**scores, doubt.capability: max(bar, doubt.probability)})


def _waits_behind(facts: RelationalFacts, ruling: Ruling) -> bool:
    """Whether a query for review only offers what waiting queries already offer (semantics, section 6)."""
    asks = ruling.decision.admits and ruling.route is Route.REVIEW
    return asks and facts.familiar and not facts.wins and bool(facts.met_by)


Tie = TypeVar("Tie", int, str)
_Waiting: TypeAlias = tuple[Key, Tie, ScoredQuery, Profile]
"""A query, sorted by its key, then by its id or its position."""


def run_cycle(
    queries: Sequence[ScoredQuery], residents: Sequence[RatedEntry], config: Curation, trust: Trust = doubt_text
) -> tuple[Verdict, ...]:
    """One verdict per query, in the cycle's order; independent of the order of ``queries`` and ``residents``.

    ``trust`` may send a direct admission to review before the next query is judged.
    """
    if not queries:
        return ()
    from bot.rater.similarity import NearestResidents

    ordered = sorted(queries, key=lambda query: query.id)
    live = LiveSet(residents, ordered, config)
    profiles = [live.profile(query) for query in ordered]
    nearest = NearestResidents([profile.text for profile in profiles], [profile.id for profile in profiles])
    nearest.compare_all(sorted(live.members, key=lambda member: member.id))
    verdicts: list[Verdict] = []
    admitted: list[str] = []
    moment = CycleState(live, config, trust, admitted)
    # Queries with merit, by key; and those without merit, which come last, since their keys are final.
    queue: list[_Waiting[int]] = []
    redundant: list[tuple[float, int]] = []
    for place, profile in enumerate(profiles):
        key = descending(live, profile)
        if without_merit(key):
            redundant.append((key[4], place))
        else:
            queue.append((key, place, ordered[place], profile))
    # Places are unique, so that sorting never compares the elements after them.
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
    arriving: Iterable[tuple[Key, ScoredQuery]],
    live: LiveSet,
    config: Curation,
    held: int,
    write: Callable[[Iterable[tuple[Key, ScoredQuery]]], Iterator[tuple[Key, ScoredQuery]]],
    trust: Trust = doubt_text,
) -> Iterator[tuple[ScoredQuery, Verdict]]:
    """The verdicts of :func:`run_cycle` on the queries that have merit at their turn, where memory cannot hold all.

    ``arriving`` are the queries with merit against the initial ``live``, with their keys (:func:`descending`), sorted
    by key and id.  ``live`` grows.  Beyond ``held`` in memory, queries that wait for their turn go to ``write``, with
    their keys and in order; it returns an iterator that gives them back one by one.  Queries that have no merit, or
    lose it on the way, are left out: none of them enters.
    """
    from bot.rater.similarity import nearest_of

    admitted: list[str] = []
    moment = CycleState(live, config, trust, admitted)

    def profiled(queries: Iterable[tuple[Key, ScoredQuery]]) -> Iterator[_Waiting[str]]:
        return ((key, query.id, query, live.profile(query)) for key, query in queries)

    def written(waiting: Sequence[_Waiting[str]]) -> Iterator[_Waiting[str]]:
        return profiled(write((key, query) for key, _, query, _ in waiting))

    for key, _, query, profile in _in_turn(live, profiled(arriving), held, written):
        if without_merit(key):
            continue
        verdict = moment.verdict(query, profile, nearest_of(profile, live.members))
        moment.follow(query, profile, verdict.ruling)
        if verdict.admitted:
            admitted.append(verdict.id)
        yield query, verdict


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
