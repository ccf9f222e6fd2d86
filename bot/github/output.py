"""What ``incumbent ci --json`` prints, and the Action's output ``report`` holds (``incumbent schema ci-output``)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from bot.errors import Problem
from bot.files.validation import Checked
from bot.github.fallback_posts import Publication
from bot.github.models import describe
from bot.ledger.model import CommentKey
from bot.report.output import Spent, UsageOutput
from bot.report.review_json import ReviewOutput


class DecisionOutput(BaseModel):
    """What a curator decided of a query."""

    entry: str
    action: str
    by: str
    reason: str | None
    comment: CommentKey


class CiOutput(BaseModel):
    """`incumbent ci --json`."""

    conclusion: Literal["success", "failure", "neutral"] | None = Field(description="of the check; null: none posted")
    title: str
    labels: list[str]
    dry_run: bool
    writes: list[str] = Field(description="what was written or, in a dry run, would be, in order")
    problems: list[Checked[Problem]] = Field(description="faults that left something unread")
    decisions: list[DecisionOutput]
    review: ReviewOutput | None
    usage: Spent

    @staticmethod
    def of(publication: Publication, dry_run: bool) -> CiOutput:
        """``publication`` for output."""
        plan, result = publication.plan, publication.result
        judgement = None if plan is None else plan.judgement
        review = None if judgement is None else judgement.review
        return CiOutput(
            conclusion=None if result is None else result.conclusion,
            title=publication.why if result is None else result.title,
            labels=[] if result is None else [label.value for label in result.labels],
            dry_run=dry_run,
            writes=[describe(operation) for operation in publication.operations],
            problems=[] if judgement is None else list(judgement.facts.problems),
            decisions=[]
            if judgement is None
            else [
                DecisionOutput(
                    entry=item.entry, action=item.action, by=item.by, reason=item.reason, comment=item.comment
                )
                for item in judgement.decisions
            ],
            review=None if review is None else ReviewOutput.of(review, publication.usage),
            usage=UsageOutput.of(publication.usage),
        )
