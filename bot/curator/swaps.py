"""Swaps: at the ceiling a newcomer enters in the place of the entries that it frees (semantics, section 7; pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.curator.grounds import Grounds
from bot.curator.safe_removals import SafeRemovals
from bot.rater.model import RatedEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """Admit ``admit`` and remove ``remove`` together; a person confirms it."""

    admit: str
    remove: tuple[str, ...]


Freed = Mapping[str, Grounds]
"""Residents that a newcomer frees → the grounds on which they would leave."""


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
