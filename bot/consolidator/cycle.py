"""A cycle over an eval set: the order in which queries are judged, each against R and what the cycle admitted so far.

Semantics, section 6.  The order is that of an exhaustive search for the greatest key; since no part of a key grows
while R does, a lazy priority queue finds it at the cost of a sort.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from bot.config import Curation
from bot.consolidator.trust import doubt_attempts
from bot.consolidator.verdict import Decision, Reason, Ruling, Verdict
from bot.consolidator.verdict_engine import decide
from bot.rater.contextualizer import LiveSet, Similarity
from bot.rater.model import RelationalFacts, Resident, ScoredQuery
from bot.rater.profile import Profile
from bot.rater.similarity import similarity_matrix

# Similarities are computed for a block of queries at a time: enough for speed, little enough for memory.
BLOCK = 512

Trust: TypeAlias = Callable[[ScoredQuery, RelationalFacts, Ruling, Sequence[str]], Ruling]
"""Gate 7: query, facts, ruling and the ids that this cycle has admitted so far → the ruling, perhaps sent to review."""


def run_cycle(
    queries: Sequence[ScoredQuery], residents: Sequence[Resident], config: Curation, trust: Trust = doubt_attempts
) -> tuple[Verdict, ...]:
    """One verdict per query, in the cycle's order; the order of ``queries`` and ``residents`` does not matter.

    ``trust`` may send a direct admission to review, before the next query is judged.
    """
    ordered = sorted(queries, key=lambda query: query.id)
    live = LiveSet(residents, ordered, config)
    profiles = [live.profile(query) for query in ordered]
    nearest = NearestResidents([profile.text for profile in profiles], [profile.id for profile in profiles])
    nearest.compare_all(sorted(live.members, key=lambda member: member.id))
    verdicts: list[Verdict] = []
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
        ruling = trust(ordered[place], facts, ruling, [item.id for item in verdicts if item.admitted])
        verdict = _verdict(ordered[place].id, facts, ruling)
        verdicts.append(verdict)
        if verdict.admitted:
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


class NearestResidents:
    """maxSim(q) for every query of a cycle, kept up to date while R grows (ties: smaller id)."""

    def __init__(self, texts: Sequence[str], ids: Sequence[str]) -> None:
        self._texts = list(texts)
        self._open = np.ones(len(texts), dtype=bool)
        self._best = np.full(len(texts), -1.0)
        self._resident: list[str | None] = [None] * len(ids)

    def settle(self, place: int) -> None:
        """The query at ``place`` has its verdict: it needs no more comparisons."""
        self._open[place] = False

    def of(self, place: int) -> Similarity:
        """maxSim as of now; 0 for an empty R."""
        resident = self._resident[place]
        return Similarity(0.0 if resident is None else float(self._best[place]), resident)

    def compare_all(self, members: Sequence[Profile]) -> None:
        """Compare every query with ``members``, which are sorted by id."""
        if not members:
            return
        choices = [member.text for member in members]
        for start in range(0, len(self._texts), BLOCK):
            matrix = similarity_matrix(self._texts[start : start + BLOCK], choices)
            # argmax takes the first of equals, and members are sorted by id.
            for offset, winner in enumerate(matrix.argmax(axis=1).tolist()):
                self._best[start + offset] = matrix[offset, winner]
                self._resident[start + offset] = members[winner].id

    def compare_one(self, member: Profile) -> None:
        """Compare every open query with ``member``, which has just entered."""
        places = np.flatnonzero(self._open)
        if not places.size:
            return
        values = similarity_matrix([member.text], [self._texts[place] for place in places.tolist()])[0]
        for position in np.flatnonzero(values >= self._best[places]).tolist():
            place = int(places[position])
            held = self._resident[place]
            if values[position] > self._best[place] or held is None or member.id < held:
                self._best[place] = values[position]
                self._resident[place] = member.id
