"""Prune: which residents could be evicted without losing a floor, a pin or a combination (semantics, section 7).

Nothing is deleted here.  People confirm each suggestion; any subset of them, confirmed in any order, leaves every floor
and every pin intact.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field, JsonValue

from bot.config import Curation
from bot.curator.roles import Roles, derive_roles
from bot.rater.contextualizer import LiveSet
from bot.rater.model import RatedEntry
from bot.rater.profile import Profile, bits


class EvictionKind(StrEnum):
    """Why a resident could be evicted."""

    DISPLACED = "displaced"
    REDUNDANT = "redundant"
    SOURCE_DELETED = "source-deleted"
    """Its query is no longer in any eval set of its agent."""
    CUSTOMER_LEFT = "customer-left"
    """Its customer no longer has an eval set."""
    UNDONE = "undone"
    """A person wants its admission undone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """The grounds of a suggestion; a refusal applies until one of these changes.

    ``yields_to`` are the residents that displace it; it is empty for a redundant entry.  Counts and coverers are left
    out on purpose, since every newcomer changes them.  ``content`` is a digest of its turns; ``asked`` is the comment
    in which a person asked for the eviction, if any.
    """

    kind: EvictionKind
    yields_to: tuple[str, ...]
    content: str
    taxonomy_major: int
    asked: int | None = None

    @property
    def digest(self) -> str:
        """The digest by which a refusal is remembered."""
        asked = [] if self.asked is None else [self.asked]
        seen = [self.kind, self.yields_to, self.content, self.taxonomy_major, *asked]
        return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:16]

    @property
    def told(self) -> dict[str, JsonValue]:
        """The grounds as a tombstone records them."""
        return {"kind": self.kind.value, "yields_to": list(self.yields_to), "digest": self.digest}

    @staticmethod
    def on(
        resident: RatedEntry,
        kind: EvictionKind,
        yields_to: tuple[str, ...],
        taxonomy_major: int,
        asked: int | None = None,
    ) -> Grounds:
        """Grounds of ``kind`` for the current ``resident``."""
        content = content_digest(resident)
        return Grounds(kind=kind, yields_to=yields_to, content=content, taxonomy_major=taxonomy_major, asked=asked)


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


def content_digest(resident: RatedEntry) -> str:
    """A digest of a resident's id and turns; a new classification does not change it."""
    return hashlib.sha256(json.dumps([resident.id, resident.turns]).encode()).hexdigest()[:16]


def grounds_of(
    resident: RatedEntry, roles: Roles, taxonomy_major: int, leaving: Collection[str] = frozenset()
) -> Grounds:
    """The grounds on which ``resident`` would be suggested now; entries that are ``leaving`` displace no other."""
    displacers = tuple(id for id in roles.displaced.get(resident.id, ()) if id not in leaving)
    kind = EvictionKind.DISPLACED if displacers else EvictionKind.REDUNDANT
    return Grounds.on(resident, kind, displacers, taxonomy_major)


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
    roles = derive_roles(residents, config)
    live = LiveSet(residents, (), config)
    profiles = {member.id: member for member in live.members}
    remaining = list(live.coverers)
    carriers = Counter(mask for member in live.members for mask in live.capabilities.carried(member))

    def order(resident: RatedEntry) -> tuple[bool, bool, float, float, int, str]:
        profile = profiles[resident.id]
        return (
            resident.id not in open_suggestions,
            resident.id not in roles.displaced,
            -resident.setup_cost,
            profile.total,
            profile.rank,
            resident.id,
        )

    chosen: dict[str, tuple[Grounds, Profile]] = {}
    # Displacer → entries that are to leave because of it, alone or with others.
    yielding: dict[str, list[Grounds]] = {}
    for resident in sorted(residents, key=order):
        if resident.id in roles.pinned or resident.id in lagging:
            continue
        profile = profiles[resident.id]
        if not _floors_hold(profile, remaining, live.capabilities.floors):
            continue
        grounds = grounds_of(resident, roles, taxonomy_major, chosen.keys())
        if not grounds.yields_to and any(carriers[mask] < 2 for mask in profile.combinations):
            continue
        # A displaced entry needs a displacer that stays.
        leaving = chosen.keys() | {resident.id}
        if any(leaving.issuperset(other.yields_to) for other in yielding.get(resident.id, ())):
            continue
        if grounds.digest in refused:
            continue
        chosen[resident.id] = grounds, profile
        for displacer in grounds.yields_to:
            yielding.setdefault(displacer, []).append(grounds)
        carriers.subtract(live.capabilities.carried(profile))
        for index in bits(profile.caps):
            remaining[index] -= 1
    names = live.capabilities.names
    return Pruning(
        roles=roles,
        suggestions=tuple(
            Suggestion(
                id=id,
                grounds=grounds,
                remaining={names[index]: remaining[index] for index in bits(profile.caps)},
            )
            for id, (grounds, profile) in chosen.items()
        ),
    )


def _floors_hold(profile: Profile, remaining: Sequence[int], floors: Sequence[int]) -> bool:
    return all(remaining[index] - 1 >= floors[index] for index in bits(profile.caps))
