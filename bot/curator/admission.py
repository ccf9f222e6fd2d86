"""Admission under the ceiling: who enters and who waits for a slot (semantics, section 7).

Plans are values; :mod:`bot.curator.file_changes` turns them into file changes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.consolidator.verdict import Verdict


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
