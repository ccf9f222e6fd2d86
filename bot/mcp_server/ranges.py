"""The tools for the ranges of steps that are asked for most: an eval set to verdicts, kept scores to verdicts."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from mcp_types import CallToolResult
from pydantic import Field

from bot.classifier.model import Progress
from bot.mcp_server.answers import (
    ClassifyToVerdictAnswer,
    Contradictions,
    CsToVerdictAnswer,
    Turned,
    TurnedRow,
    Unread,
    VerdictCounts,
    coverage_gained,
    page,
    spent,
)
from bot.mcp_server.cuts import SHOWN, Ids, Settled, Unclassified
from bot.mcp_server.desk import Desk
from bot.mcp_server.inputs import (
    Agent,
    Classifier,
    Facts,
    Folder,
    FolderName,
    Inline,
    Limit,
    Offset,
    Rows,
    Scored,
    ShowRemarked,
    Texts,
    Version,
    kept_scores,
)
from bot.mcp_server.untrusted import Named, find_name, mark
from bot.mcp_server.verdict_rows import kept_rows, outcome_of, review_rows, shown, shown_remarked
from bot.mcp_server.working import Call, Report, Workers
from bot.pipeline.consolidate import consolidate
from bot.pipeline.preconditions import refuse_incomplete
from bot.pipeline.review import review
from bot.report.verdict_text import headline

Without: TypeAlias = Annotated[
    list[Named], Field(max_length=200, description="ids of entries to take for gone, as if they had been evicted")
]


class Ranges:
    """The tools over ``desk``, each call worked on by one of ``workers``."""

    def __init__(self, desk: Desk, workers: Workers) -> None:
        self._desk = desk
        self._workers = workers

    async def classify_to_verdict(
        self,
        ctx: Call,
        folder: Folder | None = None,
        queries: Inline | None = None,
        agent: Agent | None = None,
        customer: FolderName | None = None,
        agent_name: FolderName | None = None,
        only: ShowRemarked = "matters",
        facts: Facts = False,
        texts: Texts = False,
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> Annotated[CallToolResult, ClassifyToVerdictAnswer]:
        """The whole pipeline: judge an eval set against the regression set, and say why of each query.

        Give `folder`, or `queries` with `agent`. Start a triage here. Writes nothing; like `incumbent review`.
        """

        def work(progress: Report) -> ClassifyToVerdictAnswer:
            platform = self._desk.platform()
            package = self._desk.package(platform, folder, queries, agent, customer, agent_name)
            backend = self._desk.backend(platform, progress.waiting)
            outcome = review(platform, package, backend, progress)
            refuse_incomplete({}, outcome.stopped)
            if folder is not None:
                self._desk.latest = outcome
            rows = review_rows(outcome, texts=texts, facts=facts)
            part, total, after = page(shown_remarked(rows, only), offset, limit)
            return ClassifyToVerdictAnswer(
                total=total,
                next_offset=after,
                headline=headline(outcome),
                size=len(platform.regression_set.entries),
                ceiling=platform.config.ceiling,
                counts=VerdictCounts.of(rows),
                verdicts=part,
                settled=Settled.of(outcome.settled),
                attempts=Ids.of(outcome.attempts),
                contradictions=Contradictions.of(outcome.contradictions),
                unfamiliar=Ids.of(tuple(outcome.unfamiliar)),
                coverage_gained=coverage_gained(outcome),
                unclassified=Unclassified.of(outcome.shortfalls),
                unread=Unread.of(outcome.problems),
                lagging=len(outcome.lags),
                usage=spent(backend.usage),
            )

        return await self._workers.answer(ctx, work)

    async def cs_to_verdict(
        self,
        ctx: Call,
        queries: Scored,
        taxonomy: Version | None = None,
        classifier: Classifier | None = None,
        without: Without | None = None,
        only: Annotated[
            Literal[Rows, "turned"],
            Field(description="as in `consolidate`; `turned`: whose outcome `without` decides"),
        ] = "all",
        facts: Facts = False,
        texts: Texts = False,
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> Annotated[CallToolResult, CsToVerdictAnswer]:
        """From kept scores to verdicts against an updated regression set: the files as they are now, less `without`.

        Nothing is classified again. `turned` says which queries those entries decide about.
        """

        def work(_: Progress) -> CsToVerdictAnswer:
            platform = self._desk.platform()
            kept = kept_scores(platform, queries, taxonomy, classifier)
            known = {**platform.regression_set.waiting, **platform.regression_set.entries}
            named = [find_name(id, known, "without", "take ids that `find_entries` answers") for id in without or ()]
            gone = list(dict.fromkeys(named))
            found = consolidate(platform, kept, gone)
            as_it_is = consolidate(platform, kept) if gone else found
            now = {item.id: outcome_of(item) for item in as_it_is.verdicts}
            turned = [
                TurnedRow(id=mark(item.id), now=now[item.id], then=outcome_of(item))
                for item in found.verdicts
                if now[item.id] != outcome_of(item)
            ]
            rows = kept_rows(platform, kept, found, texts=texts, facts=facts)
            ids = {item.id for item in turned}
            wanted = [row for row in rows if row.id in ids] if only == "turned" else shown(rows, only)
            part, total, after = page(wanted, offset, limit)
            return CsToVerdictAnswer(
                total=total,
                next_offset=after,
                counts=VerdictCounts.of(rows),
                verdicts=part,
                settled=Settled.of(found.settled),
                lagging=len(found.lags),
                without=Ids.of(gone),
                turned=Turned(count=len(turned), first=turned[:SHOWN]),
            )

        return await self._workers.answer(ctx, work)
