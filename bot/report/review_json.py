"""What ``incumbent review --format json`` prints, as a model (``incumbent schema review-output``)."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from bot.classifier.corrections import Correction
from bot.classifier.model import Identity
from bot.classifier.usage import Usage
from bot.curator.entry import StaleEntry
from bot.curator.losses import Coverage
from bot.curator.provisioning import Provision
from bot.curator.swaps import Swap
from bot.errors import Problem
from bot.files.validation import Checked
from bot.files.views import HowMany, View
from bot.pipeline.review import Review
from bot.pipeline.submission import Submission
from bot.report.output import Spent, VerdictOutput
from bot.report.query_context import ExpectedTool, RemarksOutput, expected_tools, remarks_on
from bot.report.verdict_text import PlainStyle, headline, why


class ReviewedQueryOutput(VerdictOutput):
    """One verdict of a review, also in words."""

    outcome: Literal["admitted", "waiting-for-slot", "waiting-for-review", "excluded"]
    why: str = Field(description="the reason in plain words")
    entry: str = Field(description="id of the entry that the query has or would have")
    turns: list[str] = Field(description="what looks like a secret is left out")
    attachments: list[str] = Field(description="names of what is attached; what looks like a secret is left out")
    scores: dict[str, float] = Field(description="cs by TRUE capability")
    expected_tools: list[Checked[ExpectedTool]] | None = Field(
        description="as the eval set names them; declared ones decide which tools are called; empty: no call is "
        "expected; null: it does not say"
    )
    file: str
    line: int | None


SubmissionOutput: TypeAlias = Annotated[Submission, View("customer agent folder queries", queries=HowMany)]


class ReviewOutput(RemarksOutput):
    """`incumbent review --format json`."""

    headline: str
    submissions: list[SubmissionOutput]
    taxonomy: str
    classifier: Checked[Identity]
    size: int = Field(description="entries in the regression set before the review")
    ceiling: int
    cost: float = Field(description="total cost of the set before the review")
    cost_after: float = Field(description="total cost of the set once the admissions are in")
    verdicts: list[ReviewedQueryOutput] = Field(
        description="first what is admitted directly, then what people accepted, then the others in the cycle's order"
    )
    provisions: list[Checked[Provision]] = Field(
        description="what the admitted queries need and no entry in the set needs yet"
    )
    swaps: list[Checked[Swap]]
    settled: dict[str, str] = Field(description="query: the entry or tombstone that settles it")
    edited: dict[str, str] = Field(description="query: its entry in the set, which it was judged without")
    unclassified: list[str]
    shortfalls: dict[str, str] = Field(description="query: why it has no verdict")
    corrected: dict[str, dict[str, Checked[Correction]]] = Field(
        description="query: capability: the correction of a curator that decides it"
    )
    attempts: list[str] = Field(description="queries that argue with the classifier, or hide text from people")
    personal_data: dict[str, dict[str, int]] = Field(
        description="query that nothing settles: kind of personal data in it: how many values"
    )
    off_taxonomy: dict[str, list[str]] = Field(description="query: exactly-one groups none of whose members fits")
    coverage: list[Checked[Coverage]] = Field(description="in the taxonomy's order")
    lagging: list[Checked[StaleEntry]]
    problems: list[Checked[Problem]] = Field(description="rows that could not be read")
    notes: list[Checked[Problem]] = Field(description="remarks on the agent specification")
    usage: Spent

    @staticmethod
    def of(review: Review, usage: Usage | None = None) -> ReviewOutput:
        """``review`` for output; ``usage`` is what classifying has cost now."""
        return ReviewOutput(
            **dict(remarks_on(review.classifications.values())),
            headline=headline(review),
            submissions=list(review.submissions),
            taxonomy=review.platform.taxonomy.version,
            classifier=review.identity,
            size=len(review.platform.regression_set.entries),
            ceiling=review.platform.config.ceiling,
            cost=review.platform.regression_set.cost,
            cost_after=review.cost_after,
            verdicts=_reviewed(review),
            provisions=list(review.provisions),
            swaps=list(review.swaps),
            settled={query: record.id for query, record in review.settled.items()},
            edited={query: entry.id for query, entry in review.edited.items()},
            unclassified=list(review.unclassified),
            shortfalls=dict(review.shortfalls),
            corrected={query: dict(tags) for query, tags in review.corrected.items()},
            attempts=list(review.attempts),
            personal_data={id: dict(kinds) for id, kinds in review.personal.items()},
            off_taxonomy={query: list(groups) for query, groups in review.off_taxonomy.items()},
            coverage=list(review.coverage),
            lagging=list(review.lags),
            problems=list(review.problems),
            notes=list(review.notes),
            usage=usage,
        )


def _reviewed(review: Review) -> list[ReviewedQueryOutput]:
    full = {verdict.id for verdict in review.plan.waiting_for_slot}
    style = PlainStyle(review.platform.taxonomy)
    outputs = []
    for verdict in review.verdicts:
        query = review.queries[verdict.id]
        tools = expected_tools(query, review.origins[verdict.id])
        outcome: Literal["admitted", "waiting-for-slot", "waiting-for-review", "excluded"] = "excluded"
        if verdict.id in full:
            outcome = "waiting-for-slot"
        elif verdict.asks:
            outcome = "waiting-for-review"
        elif verdict.decision.admits:
            outcome = "admitted"
        outputs.append(
            ReviewedQueryOutput(
                **dict(VerdictOutput.of(verdict)),
                outcome=outcome,
                why=why(verdict, review, style),
                entry=review.targets.get(verdict.id, review.entry_id(verdict.id)),
                turns=list(query.turns),
                attachments=list(query.setup.attachments),
                scores=dict(review.scored[verdict.id].scores),
                expected_tools=None if tools is None else list(tools),
                file=query.file,
                line=query.line,
            )
        )
    return outputs
