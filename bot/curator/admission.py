"""Admission under the ceiling: who enters, who waits for a slot, which swaps would make room (semantics, section 7).

Plans are values; :mod:`bot.curator.file_changes` turns them into file changes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.config import Curation
from bot.consolidator.verdict import Decision, Verdict
from bot.curator.roles import derive_roles
from bot.rater.contextualizer import LiveSet, Similarity
from bot.rater.model import RatedEntry, ScoredQuery

# Later than any time stamp: among equals, the entry that a swap would admit comes last.
_LAST = "~"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionPlan:
    """What becomes of every verdict of a cycle, each list in the cycle's order; no verdict is dropped."""

    admitted: tuple[Verdict, ...]
    waiting_for_slot: tuple[Verdict, ...]
    waiting_for_review: tuple[Verdict, ...]
    excluded: tuple[Verdict, ...]


def plan_admissions(
    verdicts: Sequence[Verdict],
    size: int,
    ceiling: int,
    updates: Collection[str] = (),
    accepted: Collection[str] = (),
) -> AdmissionPlan:
    """Admit directly while the set is below its ceiling; later admissions go to the waitlist, in the same order.

    ``size`` is |R| before the cycle.  An imported set may already be above ``ceiling``; then nothing enters.
    ``updates`` are queries that replace their own entry, so that they need no slot.  Queries that a person ``accepted``
    are admitted like direct admissions, whatever their verdict.
    """
    direct = [verdict for verdict in verdicts if verdict.admitted or verdict.id in accepted]
    entering = slot_holders([verdict.id for verdict in direct], ceiling - size, updates)
    return AdmissionPlan(
        admitted=tuple(verdict for verdict in direct if verdict.id in entering),
        waiting_for_slot=tuple(verdict for verdict in direct if verdict.id not in entering),
        waiting_for_review=tuple(verdict for verdict in verdicts if verdict.asks and verdict.id not in accepted),
        excluded=tuple(
            verdict
            for verdict in verdicts
            if not (verdict.decision.admits or verdict.asks) and verdict.id not in accepted
        ),
    )


def slot_holders(ids: Sequence[str], free: int, updates: Collection[str]) -> frozenset[str]:
    """Those of ``ids`` (first come, first served) that get one of ``free`` slots, or need none because they are
    ``updates``.
    """
    claimants = [id for id in ids if id not in updates]
    return frozenset(claimants[: max(0, free)]).union(id for id in ids if id in updates)


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """Admit ``admit`` and remove ``remove`` together; a person confirms it."""

    admit: str
    remove: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What R would lose if ``id`` went although it cannot go safely.

    ``capabilities`` would fall below their floor or lose their champion; ``combinations`` nobody else carries.
    """

    id: str
    capabilities: tuple[str, ...]
    combinations: tuple[tuple[str, ...], ...]


def suggest_swaps(
    waiting: Sequence[tuple[ScoredQuery, Verdict]],
    residents: Sequence[RatedEntry],
    config: Curation,
    lagging: Collection[str] = (),
) -> tuple[Swap, ...]:
    """One swap for each REPLACE on the waitlist whose beaten champions can go; any of them may be confirmed, in any
    order.

    The verdict counted entries on the waitlist as present; here safety is derived from R alone.  ``lagging`` residents
    are stale: what would be lost with them is unknown, so none is removed.
    """
    swaps: list[Swap] = []
    entered: list[RatedEntry] = []
    present = list(residents)
    for query, verdict in waiting:
        ids = {resident.id for resident in present}
        if verdict.decision is not Decision.REPLACE or not ids.difference(lagging).issuperset(verdict.displaces):
            continue
        if len(present) - len(verdict.displaces) + 1 > config.ceiling:
            continue
        live = LiveSet(present, [query], config)
        facts = live.facts(query, live.profile(query), Similarity(0.0, None))
        if facts.displaced != verdict.displaces or facts.undominated or facts.protected or facts.short_floors:
            continue
        entering = RatedEntry(
            id=query.id,
            turns=query.turns,
            scores=query.scores,
            customer=query.customer,
            admitted_at=_LAST,
            displaces=verdict.displaces,
        )
        if not _safe_in_any_order([*entered, entering], residents, config):
            continue
        swaps.append(Swap(admit=query.id, remove=verdict.displaces))
        entered.append(entering)
        present = [resident for resident in present if resident.id not in verdict.displaces]
        present.append(entering)
    return tuple(swaps)


def _safe_in_any_order(entering: Sequence[RatedEntry], residents: Sequence[RatedEntry], config: Curation) -> bool:
    """Whether every floor and champion survives the swaps that admit ``entering``, in whatever order they come.

    An admission counts only for its own swap: no floor may depend on it, and no champion may be beaten by it alone.
    """
    roles = derive_roles(residents, config)
    brings = derive_roles(entering, config).coverers
    for capability, ids in roles.coverers.items():
        losses = [
            len(set(ids).intersection(item.displaces)) - (item.id in brings.get(capability, ())) for item in entering
        ]
        lost = sum(max(0, loss) for loss in losses)
        if lost and len(ids) - lost < config.redundancy_floor(capability):
            return False
    going = {id for item in entering for id in item.displaces}
    for item in entering:
        others = going.difference(item.displaces)
        staying = [resident for resident in residents if resident.id not in others]
        pinned = derive_roles([*staying, item], config).pinned
        if any(reason.startswith("champion:") for id in item.displaces for reason in pinned.get(id, ())):
            return False
    return True


def least_loss(residents: Sequence[RatedEntry], config: Curation, lagging: Collection[str] = ()) -> tuple[Loss, ...]:
    """Residents by what R would lose with each alone, least first; shown to people when no entry can go safely.

    Entries pinned by a person are left out.  So are ``lagging`` (stale) ones, whose loss is unknown.
    """
    live = LiveSet(residents, (), config)
    names, floors = live.capabilities.names, live.capabilities.floors
    losses = []
    for member in live.members:
        if member.pin is not None or member.id in lagging:
            continue
        capabilities = tuple(
            name
            for index, name in enumerate(names)
            if member.caps >> index & 1
            and (live.coverers[index] - 1 < floors[index] or live.champions[index] is member)
        )
        others = frozenset().union(*(live.capabilities.carried(other) for other in live.members if other is not member))
        combinations = tuple(sorted(map(live.capabilities.named, member.combinations - others)))
        losses.append((Loss(id=member.id, capabilities=capabilities, combinations=combinations), member))
    losses.sort(key=lambda item: (len(item[0].capabilities), len(item[0].combinations), item[1].total, item[0].id))
    return tuple(loss for loss, _ in losses)
