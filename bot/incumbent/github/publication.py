"""What a run published, as ``incumbent ci --json`` shows it; and posts without a judgement.

These are on pull requests to other branches, and after failed runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field

from incumbent.classifier.usage import Usage
from incumbent.errors import OutsideError, Problem
from incumbent.files.validation import Checked
from incumbent.files.views import View
from incumbent.github.check import Result, post_check
from incumbent.github.client import GitHubClient
from incumbent.github.events import Event
from incumbent.github.facts import StoppedFacts
from incumbent.github.models import Operation, describe
from incumbent.github.publish_plan import PublishPlan, plan_retraction
from incumbent.ledger.model import DecisionRecord
from incumbent.report.output import Spent
from incumbent.report.review_json import ReviewOutput


@dataclass(frozen=True, kw_only=True)
class Publication:
    """What a run wrote or, in a dry run, would write first, how it ended, and the cost of classifying.

    ``why`` nothing more was written; ``incomplete``: why not every query has a verdict.  ``judged``: its check is a
    verdict, not a failure notice.
    """

    operations: tuple[Operation, ...] = ()
    result: Result | None = None
    summary: str = ""
    plan: PublishPlan | None = None
    why: str = ""
    incomplete: StoppedFacts | None = None
    usage: Usage | None = None
    judged: bool = False


def nothing(why: str) -> Publication:
    """A run that wrote nothing, and ``why``."""
    return Publication(why=why)


def turn_away(event: Event, head: str | None, github: GitHubClient, dry_run: bool) -> Publication:
    """The check on a pull request to another branch, which is not curated.

    Checks belong to a commit: if a curated pull request has the same head, its check is the one that counts.
    """
    assert head is not None
    operations: list[Operation] = []
    if event.left and event.pull_request is not None:
        pull = github.pull_request(event.pull_request)
        operations += plan_retraction(event.why, github.login, pull, github.comments(pull.number))
        apply_all(operations, github, dry_run, pull.number)
    if github.check(head) is not None:
        why = f"{event.why}; the check on its commit does not change"
    elif any(pull.head == head for pull in github.open_pull_requests(event.default_branch)):
        why = f"{event.why}; the check on its commit comes from a pull request that is curated"
    else:
        result = Result(conclusion="neutral", title="Not curated here", labels=(), exit_code=0)
        check = _post(head, github, result, event.why, dry_run)
        return replace(check, operations=(*operations, *check.operations))
    return replace(nothing(why), operations=tuple(operations))


def post_failure(
    event: Event, github: GitHubClient, title: str, why: str, observed: bool, dry_run: bool, over: bool = True
) -> Publication:
    """A check that says ``why`` nothing could be judged; it passes if the bot only observes.

    It replaces an existing check only with ``over``.
    """
    head = event.head
    if head is None and event.pull_request is not None:
        head = github.pull_request(event.pull_request).head
    assert head is not None
    result = Result(
        conclusion="success" if observed else "failure",
        title=title,
        labels=(),
        exit_code=0 if observed else OutsideError.exit_code,
    )
    if not over and github.check(head) is not None:
        return nothing(why)
    return _post(head, github, result, why, dry_run)


def _post(head: str, github: GitHubClient, result: Result, text: str, dry_run: bool) -> Publication:
    operations = tuple(post_check(head, result.conclusion, result.title, text, github.check(head)))
    apply_all(operations, github, dry_run)
    return Publication(operations=operations, result=result, summary=text, why=text)


def apply_all(operations: Sequence[Operation], github: GitHubClient, dry_run: bool, number: int | None = None) -> None:
    """Carry out ``operations``, on pull request ``number`` if they need one."""
    for operation in operations if not dry_run else ():
        github.apply(number, operation)


DecisionOutput: TypeAlias = Annotated[DecisionRecord, View("entry action by reason comment")]


class CiOutput(BaseModel):
    """`incumbent ci --json`, and the Action's output ``report``."""

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
