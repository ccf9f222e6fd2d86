"""The tool that explains a verdict and the changes that would change it; writes nothing."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from anyio.from_thread import check_cancelled
from mcp_types import CallToolResult
from pydantic import BaseModel, Field, Strict

from bot.classifier.model import Unfamiliar
from bot.consolidator.counterfactuals import Absence
from bot.consolidator.explanation import CapabilityStanding
from bot.consolidator.verdict import VerdictOutcome
from bot.errors import UsageError
from bot.files.views import View
from bot.mcp_server.answers import ContradictionRow, FactsRow
from bot.mcp_server.inputs import (
    WHOLE,
    Folder,
    FolderName,
)
from bot.mcp_server.tool_runner import Call, Report, Workers
from bot.mcp_server.untrusted import Marked, MarkedStyle, Name, Named, find_name, mark, mark_text
from bot.mcp_server.workspace import Workspace
from bot.pipeline.admit import refuse_incomplete
from bot.pipeline.explain import Explained, explain_entry, explain_query
from bot.pipeline.review import review
from bot.report.explanation import ExplainOutput, InCycleOutput, KnobChangeOutput, RulingOutput, ScoreChangeOutput
from bot.report.output import Spent
from bot.report.verdict_text import why_with_advice

ContestRow: TypeAlias = Annotated[
    CapabilityStanding,
    View(
        "capability score competence_bar=bar champion champion_score=held winning_margin=margin path",
        champion=Annotated[Name | None, Field(description="who holds it; null: no entry")],
    ),
]
AbsenceRow: TypeAlias = Annotated[
    Absence, View("id then=ruling in_cycle", id=Name, then=RulingOutput, in_cycle=InCycleOutput)
]


class ExplainAnswer(BaseModel):
    """Why a verdict is what it is, and the smallest changes that would change its outcome.

    `then` is the outcome after a change, with everything else as at the query's turn; `in_cycle` is the outcome if the
    whole cycle is judged with it.
    """

    kind: Literal["query", "entry"] = Field(description="entry: judged as if it came today")
    id: Marked
    outcome: VerdictOutcome
    ruling: RulingOutput
    why: str = Field(description="the reason in plain words; names in it are marked")
    displaces: list[Marked] = Field(description="entries that become candidates for eviction")
    alternate_of: list[Marked] = Field(description="queries waiting for a person that offer the same")
    facts: FactsRow
    pinned: list[Marked] = Field(description="what keeps an entry: champion:CAPABILITY or person:REASON")
    contradiction: ContradictionRow | None = Field(description="between eval set and classifier")
    unfamiliar: Unfamiliar | None = Field(description="why the classifier cannot judge it, if so")
    contests: list[ContestRow] = Field(description="by capability that the query exercises")
    scores: list[ScoreChangeOutput] = Field(description="other scores that would turn it, the smallest change first")
    absences: list[AbsenceRow] = Field(description="each suffices alone; sorted by id")
    knobs: list[KnobChangeOutput] = Field(description="the smallest change of each knob, global ones first")
    left_out: int = Field(ge=0, description="changes that `most` cut off")
    usage: Spent

    @staticmethod
    def of(explained: Explained, output: ExplainOutput, most: int) -> ExplainAnswer:
        """``output`` of the command on ``explained``, marked, with at most ``most`` changes of each kind."""
        found = explained.explanation
        return ExplainAnswer(
            kind=output.kind,
            id=mark(output.verdict.id),
            outcome=output.outcome,
            ruling=found.ruling,
            why=why_with_advice(explained.verdict, explained, MarkedStyle(explained.platform.taxonomy)),
            displaces=[mark(id) for id in output.verdict.displaces],
            alternate_of=[mark(id) for id in output.verdict.alternate_of],
            facts=explained.verdict.facts,
            pinned=[mark_text(reason) for reason in output.pinned],
            contradiction=None
            if output.contradiction is None
            else ContradictionRow.of(output.verdict.id, output.contradiction),
            unfamiliar=output.unfamiliar,
            contests=output.contests,
            scores=output.scores,
            absences=output.absences,
            knobs=output.knobs,
            left_out=sum(max(0, len(changes) - most) for changes in (found.scores, found.absences, found.knobs)),
            usage=output.usage,
        )


class Explaining:
    """The tool on ``workspace``; ``workers`` run its calls."""

    def __init__(self, workspace: Workspace, workers: Workers) -> None:
        self._workspace = workspace
        self._workers = workers

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

        def work(progress: Report) -> ExplainAnswer:
            platform = self._workspace.platform()
            if entry is not None:
                if folder is not None or query is not None:
                    raise UsageError("use `entry` alone: leave `folder` and `query` out")
                known = {**platform.regression_set.waiting, **platform.regression_set.entries}
                id = find_name(entry, known, "entry", "take an id of `find_entries`")
                explained = explain_entry(platform, id, tick=check_cancelled)
                return ExplainAnswer.of(explained, ExplainOutput.of(explained, most=most), most)
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
            explained = explain_query(outcome, name, check_cancelled)
            return ExplainAnswer.of(explained, ExplainOutput.of(explained, backend.usage, most), most)

        return await self._workers.answer(ctx, work)
