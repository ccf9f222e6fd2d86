"""What is said on a pull request once what it brought is settled, and what is remembered of it (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from incumbent.curator.entry import Entry
from incumbent.curator.store import RegressionSet
from incumbent.github.authority import Author
from incumbent.github.check import review_labels
from incumbent.github.command_processing import CommandOutcome
from incumbent.github.decisions import NOTHING
from incumbent.github.judgement import ReviewJudgement, judge_facts
from incumbent.github.ledger_events import applied_events, decision_events, shown_events
from incumbent.github.models import IssueComment, Operation, PullRequest
from incumbent.github.notices import notices_of
from incumbent.github.publish_plan import comment_operations, find_sticky, label_operations
from incumbent.ledger.event_files import is_full
from incumbent.ledger.events import LedgerEvent, events_path
from incumbent.ledger.model import Displayed, LeftQuery, PullRequestRecord, Rejection, Showing
from incumbent.pipeline.review import Platform, Review
from incumbent.reconcile.merged_submissions import AdmissionInputs, MergedSubmission
from incumbent.reconcile.planned_set import is_done
from incumbent.report.escaping import code
from incumbent.report.review_comment import PullRequestReport, marker, render_comment
from incumbent.report.verdict_text import agreeing, listed, quoted
from incumbent.text.digests import digest

SHOWN = 10
"""Entries that a notice names; the rest is counted."""
_OVER = f"{marker(NOTHING)}\nMerged. What of it needed a person was changed or taken out since.\n"

_LOST = f"""\
{marker(NOTHING)}
The ledger lost its record of this pull request: the file cannot be read. Decisions that were given here and are not \
carried out yet no longer count. If it was merged, queries that still need a person are judged again with the next \
pull request that changes their eval set.
"""


@dataclass(frozen=True, kw_only=True)
class ProcessedSubmission:
    """A case after its comments were heard against R as it was ``before`` it, without what people ``turned_down``."""

    case: MergedSubmission
    author: Author | None
    record: PullRequestRecord
    displayed: dict[str, Displayed]
    unseen: tuple[str, ...]
    turned_down: tuple[str, ...]
    outcome: CommandOutcome
    before: Platform


@dataclass(frozen=True, kw_only=True)
class CaseMessages:
    """What is said, the record that is kept while somebody is needed, the queries that are ``left`` outside, and the
    ``rejections`` that outlast the record; ``events`` are what is shown anew.
    """

    operations: tuple[Operation, ...]
    record: PullRequestRecord | None
    left: Mapping[str, LeftQuery]
    rejections: tuple[Rejection, ...] = ()
    events: tuple[LedgerEvent, ...] = ()


def case_messages(
    processed: ProcessedSubmission, platform: Platform, present: Platform, inputs: AdmissionInputs
) -> CaseMessages:
    """What is said on the pull request once all is settled, and what is remembered of it while somebody is needed.

    ``present`` is the same without what is only offered.
    """
    case, outcome = processed.case, processed.outcome
    # What is only offered is shown with the verdict that it is offered on, and may still be decided otherwise.
    judged_on = processed.before if inputs.offering else platform
    judgement = judge_facts(case, judged_on, processed.author, outcome.judgement.decisions, (), processed.unseen)
    review = judgement.review
    assert review is not None
    showing = Showing(
        digest=digest([case.head, [[id, item.verdict] for id, item in judgement.shown.items()]]),
        verdicts=dict(judgement.shown),
    )
    report = PullRequestReport(
        commit=case.head,
        digest=showing.digest,
        notices=(
            _outcome(processed, judgement, review, present.regression_set),
            *notices_of(judgement, outcome, processed.record),
        ),
        problems=(),
        review=review,
        run=inputs.run,
        product=inputs.product,
    )
    pull = case.pull
    left = _left(processed, judgement, review)
    if pull is None:
        return CaseMessages(operations=(), record=None, left=left)
    comments = inputs.comments.get(pull.number, ())
    operations = comment_operations(render_comment(report), *find_sticky(inputs.login, comments, processed.record))
    operations += label_operations(review_labels(review), pull)
    events = decision_events(outcome, processed.record)
    if not is_full(inputs.ledger_files.get(events_path(pull.number))):
        events += shown_events(judgement, pull.author, case.at, processed.record)
    pins = [item for item in outcome.judgement.decisions if is_done(item, outcome.judgement, platform)]
    settled = all(is_done(item, outcome.judgement, present) for item in pins) and not (
        inputs.offering and _offered(review)
    )
    if settled and not review.plan.waiting_for_review and not review.unclassified and not processed.turned_down:
        rejections = tuple(
            Rejection(pull_request=pull.number, decision=item) for item in outcome.own if item.action == "reject"
        )
        return CaseMessages(operations=tuple(operations), record=None, left=left, rejections=rejections, events=events)
    record = processed.record.model_copy(
        update={
            "texts": {**processed.record.texts, **judgement.texts},
            "displayed": processed.displayed,
            "showing": showing,
            "disputed": dict.fromkeys(sorted(case.disputed), inputs.run or "") | processed.record.disputed,
            **outcome.recorded,
            "decisions": tuple(item for item in outcome.own if not is_done(item, outcome.judgement, present)),
        }
    )
    # What is displayed by now is found out again from the comment: no reason to write.
    same = record.model_copy(update={"displayed": processed.record.displayed}) == processed.record
    events += applied_events(outcome.own, record, case.at)
    return CaseMessages(
        operations=tuple(operations), record=processed.record if same else record, left={}, events=events
    )


def _left(processed: ProcessedSubmission, judgement: ReviewJudgement, review: Review) -> dict[str, LeftQuery]:
    """What did not enter without anybody having rejected it; what was only pushed nobody was asked about either."""
    case, pull = processed.case, processed.case.pull
    names = [verdict.id for verdict in review.plan.excluded]
    if pull is None:
        names += [*(verdict.id for verdict in review.plan.waiting_for_review), *review.unclassified]
    entries = [judgement.entries[name] for name in names]
    return {
        entry: LeftQuery(
            text=judgement.texts[entry],
            pull_request=None if pull is None else pull.number,
            commit=case.head,
            at=case.at,
        )
        for entry in entries
    }


def _offered(review: Review) -> list[str]:
    """The queries that enter, or wait for a slot, once people merge what is offered."""
    return [verdict.id for verdict in (*review.plan.admitted, *review.plan.waiting_for_slot)]


def _outcome(processed: ProcessedSubmission, judgement: ReviewJudgement, review: Review, present: RegressionSet) -> str:
    """What became of the merged queries, in a few sentences."""
    offered = _offered(review)
    found = {name: entry.id for name, entry in review.settled.items() if isinstance(entry, Entry)}
    entered = [name for name, id in found.items() if id in present.entries]
    waiting = [name for name, id in found.items() if id in present.waiting]
    excluded = {item.id for item in review.plan.excluded}
    turned = [name for name in judgement.entries if name in excluded and name not in processed.unseen]
    text = f"Merged as {code(processed.case.head[:12])}: {len(entered)} of its queries "
    text += f"{agreeing(entered, 'is', 'are')} in the regression set."
    if waiting:
        shown = listed([quoted(name) for name in waiting], SHOWN)
        text += f" {shown} {agreeing(waiting, 'waits', 'wait')} for a slot."
    if offered:
        shown = listed([quoted(name) for name in offered], SHOWN)
        enters = agreeing(offered, "enters", "enter")
        text += f" Once people merge the pull request of the bot's that offers it, {shown} {enters} as well."
    if processed.turned_down:
        shown = listed([quoted(name) for name in processed.turned_down], SHOWN)
        text += f" People closed the pull request that offered {shown}."
    if turned:
        shown = listed([quoted(name) for name in turned], SHOWN)
        text += f" Since people looked, what others brought has made {shown} redundant."
    return text


def closing_operations(
    pull: PullRequest, login: str, comments: Sequence[IssueComment], *, lost: bool = False
) -> tuple[Operation, ...]:
    """What is said on a pull request of which nothing is left to decide, or whose record the ledger ``lost``."""
    sticky, doubled = find_sticky(login, comments)
    words = [] if sticky is None else comment_operations(_LOST if lost else _OVER, sticky, doubled)
    return (*words, *label_operations((), pull))
