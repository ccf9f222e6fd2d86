"""Roles of residents, derived live from R and never stored (the paper's invariants I1 and I2; semantics, section 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.config import Curation
from bot.rater.contextualizer import LiveSet
from bot.rater.model import RatedEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The role of each resident of R.

    ``champions``: capability → champion; ``coverers``: capability → its competent coverers, sorted; ``pinned``:
    resident → why it may not be evicted (``champion:CAP`` or ``person:REASON``); ``displaced``: resident → the
    residents that displace it and still cover all it covers.
    """

    champions: Mapping[str, str]
    coverers: Mapping[str, tuple[str, ...]]
    pinned: Mapping[str, tuple[str, ...]]
    displaced: Mapping[str, tuple[str, ...]]


def derive_roles(residents: Sequence[RatedEntry], config: Curation) -> Roles:
    """The roles of all ``residents``; capabilities and ids are sorted."""
    live = LiveSet(residents, (), config)
    names = live.capabilities.names
    champions = {
        name: champion.id for name, champion in zip(names, live.champions, strict=True) if champion is not None
    }
    coverers = {
        name: tuple(sorted(member.id for member in live.members if member.caps >> index & 1))
        for index, name in enumerate(names)
    }
    caps = {member.id: member.caps for member in live.members}
    pinned: dict[str, tuple[str, ...]] = {}
    displaced: dict[str, tuple[str, ...]] = {}
    displacers: dict[str, list[str]] = {}
    for resident in residents:
        for target in resident.displaces:
            if target in caps and target != resident.id and not caps[target] & ~caps[resident.id]:
                displacers.setdefault(target, []).append(resident.id)
    for resident in sorted(residents, key=lambda item: item.id):
        reasons = [
            f"champion:{name}"
            for index, name in enumerate(names)
            if champions.get(name) == resident.id and caps[resident.id] >> index & 1
        ]
        if resident.pin is not None:
            reasons.append(f"person:{resident.pin}")
        if reasons:
            pinned[resident.id] = tuple(reasons)
        if resident.id in displacers:
            displaced[resident.id] = tuple(sorted(displacers[resident.id]))
    return Roles(champions=champions, coverers=coverers, pinned=pinned, displaced=displaced)
