"""Why residents stay and why they may go: their roles, and the grounds of evictions (semantics, section 7).

Roles are derived live from R and never stored (the paper's invariants I1 and I2).  By its grounds a refusal is
remembered.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import RatedEntry
from incumbent.taxonomy.config import Curation


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The role of each resident of R.

    ``champions``: capability → champion; ``coverers``: capability → its competent coverers, sorted; ``pinned``:
    resident → why it may not be evicted (``champion:CAP``, or ``person:REASON``);
    ``displaced``: resident → the residents that displace it and still cover all it covers.  With t-way ``novelty``
    there are none: the displacer carries all of its combinations, so that the role would free no one.
    """

    champions: Mapping[str, str]
    coverers: Mapping[str, tuple[str, ...]]
    pinned: Mapping[str, tuple[str, ...]]
    displaced: Mapping[str, tuple[str, ...]]


def derive_roles(residents: Sequence[RatedEntry], config: Curation) -> Roles:
    """The roles of all ``residents``; capabilities and ids are sorted."""
    return roles_in(LiveSet(residents, (), config))


def roles_in(live: LiveSet) -> Roles:
    """The roles of all residents of ``live``, which has no other members."""
    residents = live.residents
    index_of = live.capabilities.index
    names = sorted(set[str]().union(*(resident.scores for resident in residents)))
    champions = {name: best.id for name in names if (best := live.champions[index_of[name]]) is not None}
    titles: dict[str, list[str]] = {}
    for name in names:
        holder = live.titles[index_of[name]]
        if holder is not None and holder.caps >> index_of[name] & 1:
            titles.setdefault(holder.id, []).append(f"champion:{name}")
    coverers = {
        name: tuple(sorted([member.id for member in live.members if member.caps >> index_of[name] & 1]))
        for name in names
    }
    caps = {member.id: member.caps for member in live.members}
    pinned: dict[str, tuple[str, ...]] = {}
    displaced: dict[str, tuple[str, ...]] = {}
    displacers: dict[str, list[str]] = {}
    for resident in residents if live.capabilities.novelty == "signature" else ():
        for target in resident.displaces:
            if target in caps and target != resident.id and not caps[target] & ~caps[resident.id]:
                displacers.setdefault(target, []).append(resident.id)
    for resident in sorted(residents, key=lambda item: item.id):
        reasons = titles.get(resident.id, [])
        if resident.pin is not None:
            reasons.append(f"person:{resident.pin}")
        if reasons:
            pinned[resident.id] = tuple(reasons)
        if resident.id in displacers:
            displaced[resident.id] = tuple(sorted(displacers[resident.id]))
    return Roles(champions=champions, coverers=coverers, pinned=pinned, displaced=displaced)


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
    out on purpose, since every newcomer changes them.  ``content`` is a digest of its turns and attachments; ``asked``
    is the comment in which a person asked for the eviction, if any.  In a swap ``freed_by`` is the newcomer that frees
    it; a refusal does not depend on it.
    """

    kind: EvictionKind
    yields_to: tuple[str, ...]
    content: str
    taxonomy_major: int
    asked: int | None = None
    freed_by: str | None = None

    @property
    def digest(self) -> str:
        """The digest by which a refusal is remembered."""
        asked = [] if self.asked is None else [self.asked]
        seen = [self.kind, self.yields_to, self.content, self.taxonomy_major, *asked]
        return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:16]

    @property
    def recorded(self) -> dict[str, JsonValue]:
        """The grounds as a tombstone records them."""
        freed: dict[str, JsonValue] = {} if self.freed_by is None else {"freed_by": self.freed_by}
        return {"kind": self.kind.value, "yields_to": list(self.yields_to), "digest": self.digest, **freed}

    @staticmethod
    def on(
        resident: RatedEntry,
        kind: EvictionKind,
        yields_to: tuple[str, ...],
        taxonomy_major: int,
        asked: int | None = None,
        freed_by: str | None = None,
    ) -> Grounds:
        """Grounds of ``kind`` for the current ``resident``."""
        return Grounds(
            kind=kind,
            yields_to=yields_to,
            content=content_digest(resident),
            taxonomy_major=taxonomy_major,
            asked=asked,
            freed_by=freed_by,
        )


def content_digest(resident: RatedEntry) -> str:
    """A digest of a resident's id, turns and attachments; a new classification does not change it."""
    asked = [resident.id, resident.turns, *([resident.attachments] if resident.attachments else [])]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]
