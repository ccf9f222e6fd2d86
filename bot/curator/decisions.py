"""People's answers to verdicts, and what follows from them for the other queries (semantics, sections 6 and 7)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.config import Curation
from bot.consolidator.cycle import Trust, run_cycle
from bot.consolidator.trust import doubt_text
from bot.consolidator.verdict import Verdict
from bot.rater.model import RatedEntry, ScoredQuery

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
        customer=query.customer,
        admitted_at=f"{_LATER}{place:06d}",
        displaces=verdict.displaces,
    )
