"""The check: its conclusion, and its annotations on lines of the eval set."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from incumbent.errors import IncompleteError, InputError
from incumbent.github.facts import Analysis
from incumbent.github.judgement import ReviewJudgement
from incumbent.github.models import Annotation, CheckConclusion, CheckRun, Level, Operation, PostCheck
from incumbent.pipeline.review import Review
from incumbent.report.escaping import shortened, visible
from incumbent.report.impact import impact_headline
from incumbent.report.review_comment import departure_headline
from incumbent.report.verdict_text import PlainStyle, codes, headline, verdict_words, why
from incumbent.text.digests import digest

MOST_ANNOTATIONS = 50
"""The most annotations that GitHub takes in a request.  The most important come first; the job summary has all."""
LONGEST_TITLE = 255
PLATFORM_ACTS = "The platform has to act, not the customer"

_RUN = re.compile(r"/actions/runs/[0-9]{1,20}")


class PullRequestLabel(StrEnum):
    """The labels by which people filter pull requests."""

    ADMITS = "incumbent: admits"
    NEEDS_CURATOR = "incumbent: needs a curator"
    INCOMPLETE = "incumbent: incomplete"
    AT_FAULT = "incumbent: input at fault"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How a review ended: the check, the labels that apply, and the exit code with the same meaning."""

    conclusion: CheckConclusion
    title: str
    labels: tuple[PullRequestLabel, ...]
    exit_code: int


def review_labels(review: Review) -> tuple[PullRequestLabel, ...]:
    """The labels that follow from ``review`` alone."""
    holds = {
        PullRequestLabel.ADMITS: review.plan.admitted or review.plan.waiting_for_slot,
        PullRequestLabel.NEEDS_CURATOR: review.plan.waiting_for_review,
        PullRequestLabel.INCOMPLETE: review.unclassified,
        PullRequestLabel.AT_FAULT: review.problems,
    }
    return tuple(label for label, found in holds.items() if found)


def result_of(judgement: ReviewJudgement, analysis: Analysis, decided: bool = False) -> Result:
    """The result of ``judgement`` on ``analysis``.

    Incomplete classifications, faults of the input and changes of who decides fail.  Pending reviews pass, unless the
    config says otherwise.  With ``mode: observe`` the check always passes.  In a merge group, what waits was
    ``decided`` before.
    """
    review, config = judgement.review, judgement.platform.config
    labels: list[PullRequestLabel] = []
    titles: list[str] = []
    code = 0
    if review is not None:
        titles.append(headline(review))
        labels += review_labels(review)
    if analysis.impact is not None:
        titles.append(impact_headline(analysis.impact))
    if judgement.refused:
        titles.append("Evicts what people refused to evict")
    if judgement.departure is not None:
        titles.append(departure_headline(judgement.departure))
    if analysis.held:
        titles.append("A first contribution: waits for a curator's `/incumbent run`")
        labels.append(PullRequestLabel.NEEDS_CURATOR)
        code = IncompleteError.exit_code
    if review is not None and review.unclassified:
        code = IncompleteError.exit_code
    if analysis.impact is not None and analysis.impact.is_incomplete:
        labels.append(PullRequestLabel.INCOMPLETE)
        code = IncompleteError.exit_code
    if analysis.work.stopped is not None:
        if analysis.work.stopped.lacks is not None:
            titles.insert(0, f"{PLATFORM_ACTS}: the classifier cannot judge")
        else:
            titles.append("The classifier stopped")
        code = analysis.work.stopped.exit_code
    if judgement.removed_for_good:
        titles.insert(0, "An entry is removed without a tombstone")
    elif judgement.changed_by_hand:
        titles.insert(0, "The regression set is changed by hand")
    at_fault = analysis.judged.problems or (review is not None and review.problems)
    if at_fault or judgement.removed_for_good or judgement.changed_by_hand:
        labels.append(PullRequestLabel.AT_FAULT)
        code = InputError.exit_code
        if analysis.judged.problems:
            count = len(analysis.judged.problems)
            titles.append(f"{count} {'fault' if count == 1 else 'faults'} in the input")
    if judgement.governed_anew:
        titles.insert(0, "It changes who decides: a curator has to allow that")
        labels.append(PullRequestLabel.NEEDS_CURATOR)
        code = code or InputError.exit_code
    if config.mode == "observe":
        code = 0
    blocked = config.block_on_review and not decided and PullRequestLabel.NEEDS_CURATOR in labels
    failed = bool(code) or blocked
    conclusion: CheckConclusion = "failure" if failed and config.mode == "curate" else "success"
    title = visible("; ".join(titles) or "Nothing to curate")
    return Result(
        conclusion=conclusion,
        title=title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + "…",
        labels=tuple(label for label in PullRequestLabel if label in labels),
        exit_code=code,
    )


def lasting(text: str) -> str:
    """``text`` without what changes with each run: a link to another run's summary is no reason to write again."""
    return _RUN.sub("/actions/runs/", text.replace("\r\n", "\n").rstrip())


def post_check(
    commit: str,
    conclusion: CheckConclusion,
    title: str,
    text: str,
    posted: CheckRun | None,
    annotations: tuple[Annotation, ...] = (),
) -> list[Operation]:
    """The check on ``commit``, unless the ``posted`` one says the same."""
    external = digest([conclusion, title, lasting(text), [[a.path, a.line, a.title, a.message] for a in annotations]])
    if posted is not None and posted.external_id == external and posted.conclusion == conclusion:
        return []
    check = PostCheck(
        commit=commit,
        conclusion=conclusion,
        title=title,
        summary=text,
        annotations=annotations,
        external_id=external,
    )
    return [check]


def annotations_of(judgement: ReviewJudgement) -> tuple[Annotation, ...]:
    """The most important annotations on the head: faults, then what needs a person; the comment has the rest."""
    found: list[tuple[int, Annotation]] = []
    review = judgement.review
    for problem in [*judgement.facts.problems, *(review.problems if review is not None else ())]:
        if problem.line is not None:
            message, fix = (shortened(visible(text), 900) for text in (problem.message, problem.fix))
            message = f"{message}\nFix: {fix}"
            found.append((0, _annotation(problem.file, problem.line, "failure", "Input at fault", message)))
    if review is not None:
        style = PlainStyle(review.platform.taxonomy)
        for verdict in review.verdicts:
            query = review.queries[verdict.id]
            if query.line is None or not verdict.asks:
                continue
            title = f"{style.name(verdict.id)}: {verdict_words(verdict)}"
            message = f"{why(verdict, review, style)} [{codes(verdict)}]"
            found.append((1, _annotation(query.file, query.line, "warning", title, message)))
    found.sort(key=lambda item: (item[0], item[1].path, item[1].line, item[1].title))
    return tuple(annotation for _, annotation in found[:MOST_ANNOTATIONS])


def _annotation(path: str, line: int, level: Level, title: str, message: str) -> Annotation:
    # GitHub takes 255 characters of title and 64 KB of message; 2,000 are enough for a message.
    return Annotation(path=path, line=line, level=level, title=title[:250], message=message[:2000])
