"""The grounds on which entries are suggested for eviction, by which refusals are remembered (semantics, section 7)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

from bot.curator.roles import Roles
from bot.rater.model import RatedEntry


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
    def recorded(self) -> dict[str, JsonValue]:
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
