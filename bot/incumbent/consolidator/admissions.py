"""What becomes of verdicts: who enters and who waits, what people answer, whom to ask first (pure).

Semantics, sections 6 and 7.  Plans are values; :mod:`incumbent.curator.file_changes` turns them into file changes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from incumbent.consolidator.cycle import Trust, run_cycle
from incumbent.consolidator.verdict import Verdict
from incumbent.consolidator.verdict_engine import doubt_text
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.expected_detection import ExpectedDetection
from incumbent.rater.model import RatedEntry, ScoredQuery
from incumbent.taxonomy.config import Curation


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


# Later than any time stamp: entries that enter now come last among equals.
_LATER = "~"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A person's answer on the query ``id``: whether it shall enter.

    ``reason`` is the person's.  ``insists``: the person knew that the verdict was EXCLUDE and accepted the query
    anyway.
    """

    id: str
    accepts: bool
    by: str
    reason: str | None = None
    insists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """The verdicts after people's answers, and the effect of each answer.

    ``verdicts`` contains direct admissions in the cycle's order, then accepted queries in the order of the answers,
    then all others; rejected queries have none.  ``unheard`` are acceptances without effect: the verdict had become
    EXCLUDE and no one insisted, or no person was needed.
    """

    verdicts: tuple[Verdict, ...]
    accepted: tuple[Answer, ...] = ()
    rejected: tuple[Answer, ...] = ()
    unheard: tuple[Answer, ...] = ()


def derive(
    queries: Sequence[ScoredQuery],
    residents: Sequence[RatedEntry],
    answers: Sequence[Answer],
    config: Curation,
    trust: Trust = doubt_text,
) -> Derivation:
    """One cycle over ``queries`` under people's ``answers``; the last answer on a query counts.

    A rejected query is not judged, so that its best alternate takes its place.  Accepted queries enter after the direct
    admissions, each derived after the one before it; the rest is judged against the set that results.
    """
    last = {answer.id: answer for answer in answers}
    by_id = {query.id: query for query in queries}
    rejected = [answer for answer in last.values() if not answer.accepts and answer.id in by_id]
    turned_away = {answer.id for answer in rejected}
    verdicts = run_cycle([query for query in queries if query.id not in turned_away], residents, config, trust)
    direct = [verdict for verdict in verdicts if verdict.admitted]
    present = [*residents, *(resident(by_id[item.id], item, place) for place, item in enumerate(direct))]
    entered = {verdict.id for verdict in direct}
    asked = [answer for answer in last.values() if answer.accepts and answer.id in by_id]
    insisted = {answer.id for answer in asked if answer.insists}
    taken = accept([by_id[answer.id] for answer in asked if answer.id not in entered], present, config, insisted)
    heard = {verdict.id for verdict, _ in taken}
    rest = [verdict for verdict in verdicts if verdict.id not in entered | heard]
    if taken:
        present += [item for _, item in taken]
        rest = list(run_cycle([by_id[verdict.id] for verdict in rest], present, config, trust))
    return Derivation(
        verdicts=(*direct, *(verdict for verdict, _ in taken), *rest),
        accepted=tuple(answer for answer in asked if answer.id in heard),
        rejected=tuple(rejected),
        unheard=tuple(answer for answer in asked if answer.id not in heard),
    )


def accept(
    queries: Sequence[ScoredQuery], present: Sequence[RatedEntry], config: Curation, insisted: Collection[str] = ()
) -> list[tuple[Verdict, RatedEntry]]:
    """Those of ``queries`` that enter as people accept them in turn, each derived after the one before it.

    A query enters if its verdict admits it or the person ``insisted``.  ``present`` is the set that it is judged
    against.
    """
    found: list[tuple[Verdict, RatedEntry]] = []
    for query in queries:
        (verdict,) = run_cycle([query], (*present, *(item for _, item in found)), config)
        if verdict.decision.admits or query.id in insisted:
            found.append((verdict, resident(query, verdict, len(present) + len(found))))
    return found


def resident(query: ScoredQuery, verdict: Verdict, place: int) -> RatedEntry:
    """``query`` as the resident it becomes, later than all others; ``place`` orders those that enter together."""
    return RatedEntry(
        id=query.id,
        turns=query.turns,
        scores=query.scores,
        by_rule=query.by_rule,
        customer=query.customer,
        admitted_at=f"{_LATER}{place:06d}",
        displaces=verdict.displaces,
        setup_cost=query.setup_cost,
    )


def by_expected_detection(
    queries: Sequence[ScoredQuery], residents: Sequence[RatedEntry], config: Curation
) -> tuple[str, ...]:
    """The ids of ``queries`` in the order in which to ask people about them (semantics, section 7).

    First comes what adds most to the faults that ``residents`` are expected to show, also in capabilities in which it
    is not competent; ties by id.
    """
    live = LiveSet(residents, queries, config)
    detection = ExpectedDetection(live.members, live.capabilities, config.options.flakiness)

    def order(query: ScoredQuery) -> tuple[float, str]:
        profile = live.profile(query)
        return -detection.gain(profile, profile.signature), query.id

    return tuple(query.id for query in sorted(queries, key=order))
