"""One query enters in the place of the entries that it frees: swaps and repacks (semantics, section 7; pure).

A swap is for a query that waits at the ceiling.  A repack looks back at a query that was excluded once, and that could
now do the work of several entries, or the same work at a lower cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from bot.curator.grounds import Grounds
from bot.curator.safe_removals import Newcomer, SafeRemovals
from bot.rater.model import RatedEntry
from bot.text.compare import rounded


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """Admit ``admit`` and remove ``remove`` together, as a swap or a repack; a person confirms it."""

    admit: str
    remove: tuple[str, ...]


Freed = Mapping[str, Grounds]
"""Residents that a newcomer frees → the grounds on which they would leave."""


def choose_repacks(
    archived: Sequence[RatedEntry],
    removals: SafeRemovals,
    most: int,
    allowed: Callable[[str, Freed], bool] = lambda admit, freed: True,
    refused: Callable[[str, Freed], bool] = lambda admit, freed: False,
) -> Iterator[tuple[RatedEntry, Freed]]:
    """At most ``most`` repacks by ``archived`` queries, each with what it frees; all are safe with the ``removals``.

    A query must free two entries, or one whose set-up costs more than its own.  What saves most comes first: by cost
    freed minus cost needed, then by the number of entries, then by id.  Each is derived with the earlier ones applied.
    ``allowed`` decides whether a repack may be suggested.  One that people ``refused`` is not made with less either,
    once others are applied.
    """
    newcomers = [removals.arriving(query) for query in sorted(archived, key=lambda query: query.id)]
    costs = removals.costs
    for _ in range(most):
        found = [(newcomer, freed) for newcomer in newcomers if (freed := removals.freed(newcomer))]
        held = {newcomer.entry.id for newcomer, freed in found if refused(newcomer.entry.id, freed)}
        newcomers = [newcomer for newcomer in newcomers if newcomer.entry.id not in held]
        found = [item for item in found if item[0].entry.id not in held]
        ranked = sorted(found, key=lambda item: (-_saving(item[0], item[1], costs), -len(item[1])))
        for newcomer, freed in ranked:
            saves = len(freed) > 1 or _saving(newcomer, freed, costs) > 0
            if saves and allowed(newcomer.entry.id, freed):
                break
        else:
            return
        removals.swap(newcomer, freed)
        newcomers.remove(newcomer)
        yield newcomer.entry, freed


def _saving(newcomer: Newcomer, freed: Freed, costs: Mapping[str, float]) -> float:
    """The cost freed minus the cost needed."""
    return rounded(fsum(costs[id] for id in freed) - newcomer.entry.setup_cost)


def choose_swaps(
    waiting: Sequence[RatedEntry],
    removals: SafeRemovals,
    excess: int,
    allowed: Callable[[str, Freed], bool] = lambda admit, freed: True,
) -> Iterator[tuple[RatedEntry, Freed]]:
    """The swaps for ``waiting`` queries, in this order, each with what it frees; all are safe with the ``removals``.

    ``excess`` is by how many entries R exceeds its ceiling: no swap may leave it above.  ``allowed`` decides whether a
    swap may be suggested.  Those that are go into ``removals``.
    """
    for query in waiting:
        newcomer = removals.arriving(query)
        freed = removals.freed(newcomer)
        if freed and len(freed) > excess and allowed(query.id, freed):
            removals.swap(newcomer, freed)
            yield query, freed
