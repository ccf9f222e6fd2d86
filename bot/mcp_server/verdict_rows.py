"""Verdicts as rows: which rows, and the content of each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from bot.consolidator.verdict import Verdict
from bot.mcp_server.answers import ContradictionRow, Outcome, ReviewRow, VerdictRow
from bot.mcp_server.inputs import RemarkedRows, Rows
from bot.mcp_server.untrusted import MarkedStyle, mark, mark_turns
from bot.pipeline.consolidate import Consolidation
from bot.pipeline.review import Platform, Review
from bot.pipeline.submission import Submission
from bot.rater.scores import KeptScores
from bot.report.verdict_text import VerdictContext, why

Row = TypeVar("Row", bound=VerdictRow)


@dataclass(frozen=True)
class _ScoredContext:
    """The context for the reasons of verdicts on scored queries, which have no author."""

    platform: Platform
    origins: Mapping[str, Submission] = field(default_factory=dict)


def outcome_of(verdict: Verdict, full: Collection[str] = ()) -> Outcome:
    """The outcome of a query; ``full`` has those that wait because of the ceiling."""
    if verdict.id in full:
        return "waiting-for-slot"
    if verdict.asks:
        return "waiting-for-review"
    return "admitted" if verdict.admitted else "excluded"


def verdict_rows(
    verdicts: Sequence[Verdict],
    judged: VerdictContext,
    turns: Mapping[str, Sequence[str]],
    full: Collection[str] = (),
    *,
    attempts: Collection[str],
    texts: bool,
    facts: bool,
) -> list[VerdictRow]:
    """A row for each of ``verdicts``; ``turns`` by query id, ``attempts`` are ids of queries."""
    style = MarkedStyle(judged.platform.taxonomy)
    return [
        VerdictRow(
            id=mark(verdict.id),
            outcome=outcome_of(verdict, full),
            attempt=verdict.id in attempts,
            decision=verdict.decision.value,
            route=verdict.route.value,
            reasons=[reason.value for reason in verdict.reasons],
            why=why(verdict, judged, style),
            displaces=[mark(id) for id in verdict.displaces],
            alternate_of=[mark(id) for id in verdict.alternate_of],
            close_calls={call.capability: call.probability for call in verdict.close_calls},
            turns=mark_turns(turns[verdict.id]) if texts else None,
            facts=verdict.facts if facts else None,
        )
        for verdict in verdicts
    ]


def kept_rows(
    platform: Platform, kept: KeptScores, found: Consolidation, *, texts: bool, facts: bool
) -> list[VerdictRow]:
    """A row for each verdict ``found`` on ``kept`` scores."""
    turns = {item.id: item.turns for item in kept.queries}
    attempts = {item.id for item in kept.queries if item.attempt}
    return verdict_rows(found.verdicts, _ScoredContext(platform), turns, attempts=attempts, texts=texts, facts=facts)


def review_rows(review: Review, *, texts: bool, facts: bool) -> list[ReviewRow]:
    """A row for each verdict of ``review``."""
    rows = verdict_rows(
        review.verdicts,
        review,
        {id: query.turns for id, query in review.queries.items()},
        {verdict.id for verdict in review.plan.waiting_for_slot},
        attempts=set(review.attempts),
        texts=texts,
        facts=facts,
    )
    contradictions = {id: ContradictionRow.of(id, found) for id, found in review.contradictions.items()}
    return [
        ReviewRow.of(row, review.unfamiliar.get(verdict.id), contradictions.get(verdict.id))
        for verdict, row in zip(review.verdicts, rows, strict=True)
    ]


def shown_remarked(rows: Sequence[ReviewRow], only: RemarkedRows) -> list[ReviewRow]:
    """The requested ``rows`` of a review."""
    if only == "contradictions":
        return [row for row in rows if row.contradiction is not None]
    if only == "unfamiliar":
        return [row for row in rows if row.unfamiliar is not None]
    return shown(rows, only)


def shown(rows: Sequence[Row], only: Rows) -> list[Row]:
    """The requested ``rows``."""
    if only == "matters":
        return [row for row in rows if row.outcome != "excluded"]
    if only == "attempts":
        return [row for row in rows if row.attempt]
    return [row for row in rows if only in ("all", row.outcome)]
