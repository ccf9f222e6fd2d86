"""The tools for the pipeline: each step, the most useful ranges of steps, and why a verdict is what it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from anyio.from_thread import check_cancelled
from mcp_types import CallToolResult
from pydantic import Field, Strict

from incumbent.classifier.classify import ClassifierResult, classify
from incumbent.classifier.model import Backend, Progress
from incumbent.consolidator.verdict import Verdict
from incumbent.errors import UsageError
from incumbent.mcp.answers import (
    ClassifyAnswer,
    ClassifyToVerdictAnswer,
    ConsolidateAnswer,
    CsToVerdictAnswer,
    ExplainAnswer,
    JudgedRow,
    Page,
    RateAnswer,
    TurnedRow,
    outcomes,
    page,
    reasons,
)
from incumbent.mcp.inputs import (
    WHOLE,
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
    RemarkedRows,
    Rows,
    Scored,
    Show,
    ShowRemarked,
    Texts,
    Version,
    kept_scores,
)
from incumbent.mcp.tool_runner import Call, Report, Workers
from incumbent.mcp.untrusted import MarkedStyle, Named, find_name, mark
from incumbent.mcp.workspace import Workspace
from incumbent.pipeline.admit import refuse_incomplete
from incumbent.pipeline.consolidate import Consolidation, consolidate
from incumbent.pipeline.explain import explain_entry, explain_query
from incumbent.pipeline.matching import asked, content_key, settle
from incumbent.pipeline.review import Platform, Review, review, under_corrections
from incumbent.pipeline.submission import Package, Submission
from incumbent.rater.scores import KeptScores, ScoredQueryFile, ScoresFile
from incumbent.report.classify import ClassifyOutput
from incumbent.report.explanation import ExplainOutput
from incumbent.report.results import shown_results
from incumbent.report.review_json import outcome_of
from incumbent.report.verdict_text import headline, why

Without: TypeAlias = Annotated[
    list[Named], Field(max_length=200, description="ids of entries to take for gone, as if they had been evicted")
]


class PipelineTools:
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

        def work(progress: Report) -> Page[ClassifyOutput]:
            platform = self._workspace.platform()
            package, result, backend = self._classified(platform, folder, queries, agent, progress)
            brought = package.submission
            found = ClassifyOutput.of(result, brought.queries, platform.taxonomy, backend.usage)
            return page(found, offset, limit, {"queries": found.queries}, unread=brought.problems)

        unasked = _unasked(turns=texts, values=every_value)
        return await self._workers.answer(ctx, work, ClassifyAnswer, unasked)

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

        def work(progress: Report) -> Page[ScoresFile]:
            platform = self._workspace.platform()
            package, result, backend = self._classified(
                platform, folder, queries, agent, progress, customer, agent_name
            )
            by_id = {query.id: query for query in package.submission.queries}
            # Queries that come with the call have no customer, and so no entry.
            entries = {} if folder is None else settle([package.submission], platform.regression_set).entries
            found = [
                ScoredQueryFile.of(
                    platform.rate(item, by_id[id], package.submission.customer),
                    platform.config.options.close_call,
                    entry=entries.get(id),
                    content=content_key(asked(by_id[id])) if id in entries else None,
                )
                for id, item in result.classifications.items()
            ]
            kept = ScoresFile(queries=tuple(found), taxonomy=platform.taxonomy.version, classifier=backend.identity)
            return page(
                kept,
                offset,
                limit,
                {"queries": found},
                shortfalls=result.shortfalls,
                unread=package.submission.problems,
                usage=backend.usage,
            )

        return await self._workers.answer(ctx, work, RateAnswer, _unasked(turns=texts))

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

        def work(_: Progress) -> Page[Consolidation]:
            platform = self._workspace.platform()
            kept = kept_scores(platform, queries, taxonomy, classifier)
            found = consolidate(platform, kept)
            rows = _kept_rows(platform, kept, found)
            return page(
                found,
                offset,
                limit,
                {"verdicts": _requested(rows, only)},
                counts=outcomes(rows),
                reasons=reasons(rows),
            )

        return await self._workers.answer(ctx, work, ConsolidateAnswer, _unasked(turns=texts, facts=facts))

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

        def work(progress: Report) -> Page[Review]:
            platform = self._workspace.platform()
            package = self._workspace.package(platform, folder, queries, agent, customer, agent_name)
            backend = self._workspace.backend(platform, progress.waiting)
            outcome = review(platform, package, backend, progress)
            refuse_incomplete({}, outcome.stopped)
            if folder is not None:
                self._workspace.latest = outcome
            rows = _review_rows(outcome)
            return page(
                outcome,
                offset,
                limit,
                {"verdicts": _requested(rows, only)},
                headline=headline(outcome),
                counts=outcomes(rows),
                reasons=reasons(rows),
                usage=backend.usage,
            )

        return await self._workers.answer(ctx, work, ClassifyToVerdictAnswer, _unasked(turns=texts, facts=facts))

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

        def work(_: Progress) -> Page[Consolidation]:
            platform = self._workspace.platform()
            kept = kept_scores(platform, queries, taxonomy, classifier)
            known = {**platform.regression_set.waiting, **platform.regression_set.entries}
            named = [find_name(id, known, "without", "take ids that `find_entries` answers") for id in without or ()]
            gone = list(dict.fromkeys(named))
            found = consolidate(platform, kept, gone)
            as_it_is = consolidate(platform, kept) if gone else found
            now = {item.id: outcome_of(item) for item in as_it_is.verdicts}
            turned = {
                item.id: TurnedRow(id=mark(item.id), now=now[item.id], then=outcome_of(item))
                for item in found.verdicts
                if now[item.id] != outcome_of(item)
            }
            rows = _kept_rows(platform, kept, found)
            wanted = [row for row in rows if row.verdict.id in turned] if only == "turned" else _requested(rows, only)
            return page(
                found,
                offset,
                limit,
                {"verdicts": wanted},
                counts=outcomes(rows),
                reasons=reasons(rows),
                without=gone,
                turned=turned.values(),
            )

        return await self._workers.answer(ctx, work, CsToVerdictAnswer, _unasked(turns=texts, facts=facts))

    async def explain(
        self,
        ctx: Call,
        folder: Folder | None = None,
        query: Annotated[Named, Field(description="id of a query of `folder`")] | None = None,
        entry: Annotated[Named, Field(description="id of an entry, instead of `folder` and `query`")] | None = None,
        customer: FolderName | None = None,
        agent_name: FolderName | None = None,
        most: Annotated[
            int, Strict(), Field(ge=1, le=100, description="changes of each kind to list, 1 to 100"), WHOLE
        ] = 5,
    ) -> Annotated[CallToolResult, ExplainAnswer]:
        """Why a query, or an entry, has its verdict, and the smallest changes that would change the outcome.

        Changes of a score, of a knob, or the absence of an entry; everything else stays as at the query's turn.
        `in_cycle` is the outcome if the whole cycle is judged with the change. The ceiling does not count.
        Give `folder` and `query`, or `entry`. Like `incumbent explain`.
        """

        def work(progress: Report) -> ExplainOutput:
            platform = self._workspace.platform()
            style = MarkedStyle(platform.taxonomy)
            if entry is not None:
                if folder is not None or query is not None:
                    raise UsageError("use `entry` alone: leave `folder` and `query` out")
                known = {**platform.regression_set.waiting, **platform.regression_set.entries}
                id = find_name(entry, known, "entry", "take an id of `find_entries`")
                explained = explain_entry(platform, id, tick=check_cancelled)
                results = shown_results(self._workspace.root, platform)
                history = None if results is None else results.history_of(id)
                return ExplainOutput.of(explained, most=most, style=style, history=history)
            if folder is None or query is None:
                raise UsageError("give `folder` and `query`, or `entry`")
            package = self._workspace.package(platform, folder, customer=customer, agent_name=agent_name)
            name = find_name(
                query,
                {item.id for item in package.submission.queries},
                "query",
                "take an id that `classify_to_verdict` with only=all answers",
            )
            backend = self._workspace.backend(platform, progress.waiting)
            outcome = review(platform, package, backend, progress)
            refuse_incomplete({}, outcome.stopped)
            return ExplainOutput.of(explain_query(outcome, name, check_cancelled), backend.usage, most, style)

        return await self._workers.answer(ctx, work, ExplainAnswer)

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


def _unasked(**asked: bool) -> list[str]:
    return [name for name, is_asked in asked.items() if not is_asked]


@dataclass(frozen=True)
class _ScoredContext:
    """The context for the reasons of verdicts on scored queries, which have no author."""

    platform: Platform
    origins: Mapping[str, Submission] = field(default_factory=dict)


def _kept_rows(platform: Platform, kept: KeptScores, found: Consolidation) -> list[JudgedRow]:
    """A row for each verdict ``found`` on ``kept`` scores."""
    queries = {item.id: item for item in kept.queries}
    context, style = _ScoredContext(platform), MarkedStyle(platform.taxonomy)
    return [
        JudgedRow(
            verdict=verdict,
            outcome=outcome_of(verdict),
            why=why(verdict, context, style),
            turns=queries[verdict.id].turns,
            attempt=queries[verdict.id].attempt,
        )
        for verdict in found.verdicts
    ]


def _review_rows(outcome: Review) -> list[JudgedRow]:
    """A row for each verdict of a review."""
    style = MarkedStyle(outcome.platform.taxonomy)
    full = {verdict.id for verdict in outcome.plan.waiting_for_slot}

    def row(verdict: Verdict) -> JudgedRow:
        said = outcome.classifications[verdict.id]
        return JudgedRow(
            verdict=verdict,
            outcome=outcome_of(verdict, full),
            why=why(verdict, outcome, style),
            turns=outcome.queries[verdict.id].turns,
            attempt=said.attempt,
            said=said,
        )

    return [row(verdict) for verdict in outcome.verdicts]


def _requested(rows: Sequence[JudgedRow], only: RemarkedRows) -> list[JudgedRow]:
    """The requested ``rows``."""
    match only:
        case "matters":
            return [row for row in rows if row.outcome != "excluded"]
        case "attempts":
            return [row for row in rows if row.attempt]
        case "contradictions":
            return [row for row in rows if row.said is not None and row.said.contradiction is not None]
        case "unfamiliar":
            return [row for row in rows if row.said is not None and row.said.unfamiliar is not None]
        case _:
            return [row for row in rows if only in ("all", row.outcome)]
