"""The tools for the pipeline: each step, and the most useful ranges of steps."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from mcp_types import CallToolResult
from pydantic import Field

from bot.classifier.classify import ClassifierResult, classify
from bot.classifier.model import Backend, Progress
from bot.mcp_server.answers import (
    ClassifiedRow,
    ClassifyAnswer,
    ClassifyToVerdictAnswer,
    ConsolidateAnswer,
    Counted,
    CsToVerdictAnswer,
    RateAnswer,
    RatedRow,
    TurnedRow,
    VerdictCounts,
    contradictions_of,
    coverage_gained,
    ids_of,
    known_queries,
    page,
    unclassified,
    unread_input,
)
from bot.mcp_server.inputs import (
    Agent,
    AgentInput,
    Classifier,
    Facts,
    Flag,
    Folder,
    FolderName,
    Inline,
    Limit,
    Offset,
    QueryInput,
    Rows,
    Scored,
    Show,
    ShowRemarked,
    Texts,
    Version,
    kept_scores,
)
from bot.mcp_server.tool_runner import Call, Report, Workers
from bot.mcp_server.untrusted import Named, find_name, mark, mark_turns
from bot.mcp_server.verdict_rows import kept_rows, outcome_of, review_rows, shown, shown_remarked
from bot.mcp_server.workspace import Workspace
from bot.pipeline.admit import refuse_incomplete
from bot.pipeline.consolidate import consolidate
from bot.pipeline.matching import asked, content_key, settle
from bot.pipeline.review import Platform, review, under_corrections
from bot.pipeline.submission import Package
from bot.report.verdict_text import headline


class Steps:
    """The tools on ``workspace``; ``workers`` run their calls."""

    def __init__(self, workspace: Workspace, workers: Workers) -> None:
        self._workspace = workspace
        self._workers = workers

    async def classify(
        self,
        ctx: Call,
        folder: Folder | None = None,
        queries: Inline | None = None,
        agent: Agent | None = None,
        every_value: Annotated[Flag, Field(description="whether the rows hold FALSE capabilities too")] = False,
        texts: Texts = False,
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> Annotated[CallToolResult, ClassifyAnswer]:
        """Step 1: which capabilities each query exercises, and with which confidence.

        Give `folder`, or `queries` with `agent`. Like `incumbent classify`.
        """

        def work(progress: Report) -> ClassifyAnswer:
            platform = self._workspace.platform()
            package, result, backend = self._classified(platform, folder, queries, agent, progress)
            by_id = {query.id: query for query in package.submission.queries}
            rows, total, after = page(result.classifications, offset, limit)
            return ClassifyAnswer(
                total=total,
                next_offset=after,
                taxonomy=platform.taxonomy.version,
                queries=[
                    ClassifiedRow.of(item, by_id[item.query_id], texts=texts, every_value=every_value) for item in rows
                ],
                unclassified=unclassified(result.shortfalls),
                unread=unread_input(package.submission.problems),
                usage=backend.usage,
            )

        return await self._workers.answer(ctx, work)

    async def rate(
        self,
        ctx: Call,
        folder: Folder | None = None,
        queries: Inline | None = None,
        agent: Agent | None = None,
        customer: FolderName | None = None,
        agent_name: FolderName | None = None,
        texts: Texts = False,
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> Annotated[CallToolResult, RateAnswer]:
        """Steps 1 and 2: the score cs of each query for each capability that it exercises.

        Give `folder`, or `queries` with `agent`. Keep rows with their texts, `taxonomy` and `classifier`
        to judge them later with `cs_to_verdict`.
        """

        def work(progress: Report) -> RateAnswer:
            platform = self._workspace.platform()
            package, result, backend = self._classified(
                platform, folder, queries, agent, progress, customer, agent_name
            )
            by_id = {query.id: query for query in package.submission.queries}
            # Queries that come with the call have no customer, and so no entry.
            entries = {} if folder is None else settle([package.submission], platform.regression_set).entries
            longest = platform.config.limits.turn_characters
            rated = [
                platform.rate(item, by_id[item.query_id], package.submission.customer)
                for item in result.classifications
            ]
            rows, total, after = page(rated, offset, limit)
            return RateAnswer(
                total=total,
                next_offset=after,
                taxonomy=platform.taxonomy.version,
                classifier=backend.identity,
                queries=[
                    RatedRow(
                        id=mark(item.id),
                        # In full: similarity is computed on them when they are given back.
                        turns=mark_turns(item.turns, longest) if texts else None,
                        scores=dict(item.scores),
                        arbitrated=sorted(item.arbitrated & item.scores.keys()),
                        customer=None if item.customer is None else mark(item.customer),
                        doubts={
                            doubt.capability: doubt.probability
                            for doubt in item.doubts
                            if doubt.probability >= platform.config.options.close_call
                        },
                        attempt=item.attempt,
                        personal_data=dict(item.personal),
                        familiar=item.familiar,
                        entry=mark(entries[item.id]) if item.id in entries else None,
                        content=content_key(asked(by_id[item.id])) if item.id in entries else None,
                    )
                    for item in rows
                ],
                unclassified=unclassified(result.shortfalls),
                unread=unread_input(package.submission.problems),
                usage=backend.usage,
            )

        return await self._workers.answer(ctx, work)

    async def consolidate(
        self,
        ctx: Call,
        queries: Scored,
        taxonomy: Version | None = None,
        classifier: Classifier | None = None,
        only: Show = "all",
        facts: Facts = False,
        texts: Texts = False,
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> Annotated[CallToolResult, ConsolidateAnswer]:
        """Step 3: verdicts on queries that come with their scores, against the present regression set.

        The ceiling does not count. Like `incumbent consolidate --scores`.
        """

        def work(_: Progress) -> ConsolidateAnswer:
            platform = self._workspace.platform()
            kept = kept_scores(platform, queries, taxonomy, classifier)
            found = consolidate(platform, kept)
            rows = kept_rows(platform, kept, found, texts=texts, facts=facts)
            part, total, after = page(shown(rows, only), offset, limit)
            return ConsolidateAnswer(
                total=total,
                next_offset=after,
                counts=VerdictCounts.of(rows),
                verdicts=part,
                settled=known_queries(found.settled),
                lagging=len(found.lags),
            )

        return await self._workers.answer(ctx, work)

    def _classified(
        self,
        platform: Platform,
        folder: str | None,
        queries: list[QueryInput] | None,
        agent: AgentInput | None,
        progress: Report,
        customer: str | None = None,
        agent_name: str | None = None,
    ) -> tuple[Package, ClassifierResult, Backend]:
        package = self._workspace.package(platform, folder, queries, agent, customer, agent_name)
        backend = self._workspace.backend(platform, progress.waiting)
        result = classify(package.submission.queries, package.specification, platform.taxonomy, backend, progress)
        refuse_incomplete({}, result.stopped)
        return package, under_corrections(platform, package.submission.queries, result), backend


Without: TypeAlias = Annotated[
    list[Named], Field(max_length=200, description="ids of entries to take for gone, as if they had been evicted")
]


class Ranges:
    """The tools on ``workspace``; ``workers`` run their calls."""

    def __init__(self, workspace: Workspace, workers: Workers) -> None:
        self._workspace = workspace
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
        """The whole pipeline: judge an eval set against the regression set, with the reason for each query.

        Give `folder`, or `queries` with `agent`. Start a triage here. Writes nothing. Like `incumbent review`.
        """

        def work(progress: Report) -> ClassifyToVerdictAnswer:
            platform = self._workspace.platform()
            package = self._workspace.package(platform, folder, queries, agent, customer, agent_name)
            backend = self._workspace.backend(platform, progress.waiting)
            outcome = review(platform, package, backend, progress)
            refuse_incomplete({}, outcome.stopped)
            if folder is not None:
                self._workspace.latest = outcome
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
                settled=known_queries(outcome.settled),
                attempts=ids_of(outcome.attempts),
                contradictions=contradictions_of(outcome.contradictions),
                unfamiliar=ids_of(tuple(outcome.unfamiliar)),
                coverage_gained=coverage_gained(outcome),
                unclassified=unclassified(outcome.shortfalls),
                unread=unread_input(outcome.problems),
                lagging=len(outcome.lags),
                usage=backend.usage,
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

        Nothing is classified again. `turned` lists the queries whose verdict depends on those entries.
        """

        def work(_: Progress) -> CsToVerdictAnswer:
            platform = self._workspace.platform()
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
                settled=known_queries(found.settled),
                lagging=len(found.lags),
                without=ids_of(gone),
                turned=Counted[TurnedRow].of(turned, lambda row: row),
            )

        return await self._workers.answer(ctx, work)
