"""Prune: which residents could be evicted without losing a floor, a pin or a combination (semantics, section 7).

Nothing is deleted here.  People confirm each suggestion; any subset of them, confirmed in any order, leaves every floor
and every pin intact.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from bot.config import Curation
from bot.curator.grounds import Grounds
from bot.curator.roles import Roles
from bot.curator.safe_removals import SafeRemovals
from bot.rater.model import RatedEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """One eviction for a person to confirm."""

    id: str
    grounds: Grounds
    remaining: Annotated[
        Mapping[str, int],
        Field(description="competent capability: coverers left once all suggestions of the prune are confirmed"),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """The result of a prune: the live roles, and the suggestions in the order in which they were found safe."""

    roles: Roles
    suggestions: tuple[Suggestion, ...]


def prune(
    residents: Sequence[RatedEntry],
    config: Curation,
    taxonomy_major: int,
    open_suggestions: Collection[str] = (),
    refused: Collection[str] = (),
    lagging: Collection[str] = (),
) -> Pruning:
    """The jointly safe evictions among ``residents``.

    ``open_suggestions`` are ids already suggested and open; ``refused`` the digests of refused grounds; ``lagging`` are
    stale residents, whose scores are not all comparable.  What would be lost with these is unknown, so they stay.
    """
    removals = SafeRemovals(residents, config, taxonomy_major, open_suggestions, lagging)
    removals.choose(refused)
    return Pruning(
        roles=removals.roles,
        suggestions=tuple(
            Suggestion(id=id, grounds=grounds, remaining=removals.remaining(id))
            for id, grounds in removals.chosen.items()
        ),
    )
