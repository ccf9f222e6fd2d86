"""Exchanges with R: swaps, repacks and top-ups, chosen one after another (semantics, section 7; pure).

Of each kind the best is taken; then all are derived again with it applied.  So a later one may need an earlier one, on
which it *rests*.  Any part of them that has, with each, all on which it rests may be confirmed, beside any part of what
prune suggests: no floor, no pin and no combination of t capabilities is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from incumbent.curator.prune import Newcomer, SafeRemovals
from incumbent.curator.roles import Grounds
from incumbent.rater.model import RatedEntry

Freed = Mapping[str, Grounds]
"""Residents that a newcomer frees → the grounds on which they would leave."""


class Exchange(NamedTuple):
    """A ``query`` that would enter, what it frees, ΔD of the exchange, and the queries of those on which it rests."""

    query: RatedEntry
    freed: Freed
    gain: float
    rests_on: tuple[str, ...] = ()


class Exchanges:
    """The exchanges that were ``made`` so far; ``removals`` are those of R with all of them applied."""

    def __init__(self, removals: SafeRemovals, filled: float | None = None) -> None:
        """None is made yet.

        ``removals`` have been chosen.  ``filled`` is the number of entries up to which R is topped up, and not
        repacked.
        """
        self.removals = removals
        self.made: list[Exchange] = []
        self._filled = -1.0 if filled is None else filled

    def swaps(
        self,
        waiting: Sequence[RatedEntry],
        excess: int,
        allowed: Callable[[str, Freed], bool] = lambda admit, freed: True,
    ) -> Iterator[Exchange]:
        """The swaps for ``waiting`` queries, each with what it frees.

        The greatest ΔD of the exchange comes first, then the order of ``waiting``.  ``excess`` is by how many entries R
        exceeds its ceiling: no swap may leave it above.  ``allowed`` decides whether a swap may be suggested.  One that
        may not is not made with less either.
        """
        left = {query.id: query for query in waiting}
        while True:
            found = {id: item for id, item in self._freeing(left.values()).items() if len(item[1]) > excess}
            for held in [id for id, (_, freed) in found.items() if not allowed(id, freed)]:
                del found[held], left[held]
            if not found:
                return
            best = max(found, key=lambda id: self.removals.exchange(*found[id]))
            del left[best]
            yield self._make(*found[best])

    def repacks(
        self,
        archived: Sequence[RatedEntry],
        most: int,
        allowed: Callable[[str, Freed], bool] = lambda admit, freed: True,
        refused: Callable[[str, Freed], bool] = lambda admit, freed: False,
    ) -> Iterator[Exchange]:
        """At most ``most`` repacks by ``archived`` queries, each with what it frees, unless R is to be topped up.

        A query must free two entries.  The most entries come first, then the greatest ΔD of the exchange, the lowest
        cost of the query's set-up, and the smallest id.  ``allowed`` decides whether a repack may be suggested.  One
        that people ``refused`` is not made with less either, once others are applied.
        """
        left = {query.id: query for query in sorted(archived, key=lambda query: query.id)}
        for _ in range(most):
            if self.removals.size <= self._filled:
                return
            found = self._freeing(left.values())
            for held in [id for id, (_, freed) in found.items() if refused(id, freed)]:
                del found[held], left[held]
            ranked = sorted(
                [id for id, (_, freed) in found.items() if len(freed) > 1],
                key=lambda id: (-len(found[id][1]), -self.removals.exchange(*found[id]), left[id].setup_cost),
            )
            best = next((id for id in ranked if allowed(id, found[id][1])), None)
            if best is None:
                return
            del left[best]
            yield self._make(*found[best])

    def top_ups(
        self, archived: Sequence[RatedEntry], most: int, allowed: Callable[[str], bool] = lambda admit: True
    ) -> Iterator[Exchange]:
        """At most ``most`` top-ups by ``archived`` queries that raise expected detection, as long as there is room.

        The greatest ΔD comes first, then the lowest cost of the query's set-up, and the smallest id.  ``allowed``
        decides whether a top-up may be suggested.
        """
        left = {query.id: query for query in archived}
        for _ in range(most):
            if self.removals.size >= self._filled:
                return
            newcomers = {id: self.removals.arriving(query) for id, query in left.items()}
            gains = {id: self.removals.gain(newcomer) for id, newcomer in newcomers.items()}
            ranked = sorted([id for id in left if gains[id] > 0], key=lambda id: (-gains[id], left[id].setup_cost, id))
            best = next((id for id in ranked if allowed(id)), None)
            if best is None:
                return
            del left[best]
            yield self._make(newcomers[best], {})

    def _freeing(self, queries: Iterable[RatedEntry]) -> dict[str, tuple[Newcomer, Freed]]:
        """Those of ``queries`` that free an entry by now, and what each frees."""
        newcomers = [self.removals.arriving(query) for query in queries]
        found = {newcomer.entry.id: (newcomer, self.removals.freed(newcomer)) for newcomer in newcomers}
        return {id: item for id, item in found.items() if item[1]}

    def _make(self, newcomer: Newcomer, freed: Freed) -> Exchange:
        concerned = {name for id in freed for name in self.removals.scores(id)}
        rests_on = tuple(
            earlier.query.id
            for earlier in self.made
            if not concerned.isdisjoint(earlier.query.scores) or (not freed and len(earlier.freed) > 1)
        )
        made = Exchange(newcomer.entry, freed, self.removals.exchange(newcomer, freed), rests_on)
        self.removals = self.removals.after(newcomer, freed)
        self.made.append(made)
        return made
