"""The output of ``incumbent ci --json`` and of the Action's ``report`` (``incumbent schema ci-output``)."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field

from bot.errors import Problem
from bot.files.validation import Checked
from bot.files.views import View
from bot.github.fallback_posts import Publication
from bot.github.models import describe
from bot.ledger.model import DecisionRecord
from bot.report.output import Spent
from bot.report.review_json import ReviewOutput

DecisionOutput: TypeAlias = Annotated[DecisionRecord, View("entry action by reason comment")]


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
            decisions=[] if judgement is None else list(judgement.decisions),
            review=None if review is None else ReviewOutput.of(review, publication.usage),
            usage=publication.usage,
        )
