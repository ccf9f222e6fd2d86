"""What ``incumbent review --format json`` prints, as a model (``incumbent schema review-output``)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from incumbent.classifier.corrections import Correction
from incumbent.classifier.model import Classification, Identity
from incumbent.classifier.usage import Usage
from incumbent.consolidator.verdict import Verdict
from incumbent.curator.entry import StaleEntry
from incumbent.curator.losses import Coverage
from incumbent.curator.provisions import Provision
from incumbent.curator.suggestions import Swap
from incumbent.errors import Problem
from incumbent.files.validation import Checked
from incumbent.files.views import HowMany, View
from incumbent.pipeline.review import Review
from incumbent.pipeline.submission import Submission
from incumbent.report.output import OF_JUDGED, VERDICT_TYPES, JudgedQuery, PreviewNote, Spent
from incumbent.report.query_context import ExpectedTool, RemarksOutput, expected_tools, remarks_on
from incumbent.report.verdict_text import PlainStyle, TextStyle, headline, why

Outcome: TypeAlias = Literal["admitted", "waiting-for-slot", "waiting-for-review", "excluded"]


@dataclass(frozen=True, kw_only=True)
class ReviewedQuery(JudgedQuery):
    """A query of a review and its verdict, also in words; ``said`` is the classifier's."""

    said: Classification
    outcome: Outcome
    entry: Annotated[str, Field(description="id of the entry that the query has or would have")]
    scores: Annotated[Mapping[str, float], Field(description="cs by TRUE capability")]
    expected_tools: Annotated[
        tuple[ExpectedTool, ...] | None,
        Field(
            description="as the eval set names them; declared ones decide which tools are called; empty: no call is "
            "expected; null: it does not say"
        ),
    ]


ReviewedQueryOutput: TypeAlias = Annotated[
    ReviewedQuery,
    View(
        f"{OF_JUDGED} outcome why entry turns=query.turns attachments=query.setup.attachments scores expected_tools "
        "file=query.file line=query.line",
        **VERDICT_TYPES,
    ),
]
"""What looks like a secret in ``turns`` and ``attachments`` is left out when it is printed."""
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
    corrected: dict[str, dict[str, Annotated[Correction, View("value by at")]]] = Field(
        description="query: capability: the correction of a curator that decides it"
    )
    attempts: list[str] = Field(description="queries that argue with the classifier, or hide text from people")
    personal_data: dict[str, dict[str, int]] = Field(
        description="query that nothing settles: kind of personal data in it: how many values"
    )
    off_taxonomy: dict[str, list[str]] = Field(description="query: exactly-one groups none of whose members fits")
    coverage: list[Checked[Coverage]] = Field(description="in the taxonomy's order")
    stale: list[Checked[StaleEntry]]
    problems: list[Checked[Problem]] = Field(description="rows that could not be read")
    notes: list[Checked[Problem]] = Field(description="remarks on the agent specification")
    usage: Spent
    preview: PreviewNote

    @staticmethod
    def of(review: Review, usage: Usage | None = None, preview: str | None = None) -> ReviewOutput:
        """``review`` for output; ``usage`` is what classifying has cost now, ``preview`` why a quick model judged."""
        return ReviewOutput(
            **dict(remarks_on(review.classifications)),
            headline=headline(review),
            submissions=list(review.submissions),
            taxonomy=review.platform.taxonomy.version,
            classifier=review.identity,
            size=len(review.platform.regression_set.entries),
            ceiling=review.platform.config.ceiling,
            cost=review.platform.regression_set.cost,
            cost_after=review.cost_after,
            verdicts=reviewed(review, PlainStyle(review.platform.taxonomy)),
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
            stale=list(review.stale),
            problems=list(review.problems),
            notes=list(review.notes),
            usage=usage,
            preview=preview,
        )


def outcome_of(verdict: Verdict, full: Collection[str] = ()) -> Outcome:
    """The outcome of a query; ``full`` has those that wait because of the ceiling."""
    if verdict.id in full:
        return "waiting-for-slot"
    if verdict.asks:
        return "waiting-for-review"
    return "admitted" if verdict.admitted else "excluded"


def reviewed(review: Review, style: TextStyle) -> list[ReviewedQuery]:
    """The verdicts of ``review`` with their queries; first what is admitted directly."""
    full = {verdict.id for verdict in review.plan.waiting_for_slot}
    return [
        ReviewedQuery(
            verdict=verdict,
            query=review.queries[verdict.id],
            why=why(verdict, review, style),
            said=review.classifications[verdict.id],
            outcome=outcome_of(verdict, full),
            entry=review.targets.get(verdict.id, review.entry_id(verdict.id)),
            scores=review.scored[verdict.id].scores,
            expected_tools=expected_tools(review.queries[verdict.id], review.origins[verdict.id]),
        )
        for verdict in review.verdicts
    ]
