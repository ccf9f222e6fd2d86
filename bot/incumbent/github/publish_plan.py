"""The second job: from facts, comments and the ledger to a plan of writes.  Only permissions are looked up."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Literal, TypeAlias

from incumbent.classifier.corrections import merged
from incumbent.files.git import ChangedFile
from incumbent.github.authority import NO_CO_AUTHORS, UNKNOWN_PERMISSION, Authority, CoAuthors, author_of
from incumbent.github.check import PullRequestLabel, Result, annotations_of, lasting, post_check, result_of
from incumbent.github.command_processing import CommandOutcome, Read, Reply, process_commands
from incumbent.github.decisions import (
    NOTHING,
    NOTHING_BEFORE,
    NOTHING_RECORDED,
    DecisionContext,
    PriorRejections,
    RecordedCorrections,
    displayed_now,
    noted,
)
from incumbent.github.facts import Analysis
from incumbent.github.governing import governing_changes
from incumbent.github.judgement import RefusedEviction, ReviewJudgement, judge_facts
from incumbent.github.ledger_events import decision_events, shown_events
from incumbent.github.models import (
    AddLabels,
    CheckRun,
    CreateComment,
    DeleteComment,
    EditComment,
    IssueComment,
    Operation,
    PullRequest,
    React,
    Reaction,
    RemoveLabel,
    WriteLedger,
)
from incumbent.github.notices import changes_of, notices_of
from incumbent.ledger.event_files import appended, is_full
from incumbent.ledger.events import events_path
from incumbent.ledger.model import (
    ABILITIES,
    CORRECTIONS,
    NO_ABILITIES,
    RECONCILED,
    AbilityRecord,
    Displayed,
    PullRequestRecord,
    Reconciled,
    Showing,
    record_path,
)
from incumbent.ledger.releases.history import EntryHistory
from incumbent.ledger.store import record_text, shard_changes
from incumbent.pipeline.review import Platform
from incumbent.report.escaping import code
from incumbent.report.review_comment import CHECK_BYTES, PullRequestReport, marker, render_comment, render_summary
from incumbent.text.digests import digest

_MARKER = re.compile(r"<!-- incumbent:verdicts ([0-9a-f]{24}) -->")
_REPLY = re.compile(
    r"<!-- incumbent:(reply|request) ((?:(?:review|inline):[0-9]{1,20}:)?[0-9]{1,20}) ([0-9a-f]{24}) -->"
)

ReplyKind: TypeAlias = Literal["reply", "request"]
LONGEST_ANSWER = 60_000
"""The most bytes of a reply, well below GitHub's limit."""


@dataclass(frozen=True, kw_only=True)
class PublishInputs:
    """The state of GitHub and the ledger for a plan.

    ``login`` is the bot's account; ``ledger`` the commit of the ledger branch, ``record`` its record of this pull
    request (``lost``: it cannot be read), and ``shards`` the ids of its shards by path; ``run`` the page of this run,
    and ``has_site`` whether it keeps the page of what the pull request would change; ``product`` the address of the
    product's files, ``version`` the digest of its code.  ``previous`` are earlier rejections, ``corrections`` the
    recorded ones of the present texts, ``events`` the file of events so far, ``abilities`` the recorded ones of
    endpoints, ``refused`` the evictions by hand that people refused before, ``histories`` what release runs say of
    entries, ``co_authors`` who else counts as an author.  ``changes`` are all files that the head changes, as this job
    found them itself, and ``config_keeps`` tells that the config says the same of who decides.
    """

    login: str
    pull: PullRequest
    comments: tuple[IssueComment, ...]
    check: CheckRun | None
    ledger: str | None
    record: PullRequestRecord | None
    run: str | None
    lost: bool = False
    shards: Mapping[str, str] = field(default_factory=dict)
    product: str | None = None
    version: str | None = None
    has_site: bool = False
    previous: PriorRejections = NOTHING_BEFORE
    corrections: RecordedCorrections = NOTHING_RECORDED
    abilities: AbilityRecord = NO_ABILITIES
    events: str | None = None
    refused: tuple[RefusedEviction, ...] = ()
    histories: Mapping[str, EntryHistory] = field(default_factory=dict)
    co_authors: CoAuthors = NO_CO_AUTHORS
    changes: tuple[ChangedFile, ...] = ()
    config_keeps: bool = False


@dataclass(frozen=True, kw_only=True)
class PublishPlan:
    """The writes in order, and the report of the run."""

    operations: tuple[Operation, ...]
    analysis: Analysis
    judgement: ReviewJudgement
    result: Result
    summary: str


def plan_review(
    analysis: Analysis, platform: Platform, inputs: PublishInputs, permission: Callable[[str], str]
) -> PublishPlan:
    """The plan for a pull request: replies, then the ledger, then comment, check and labels.

    In this order the next run completes what a killed run left: replies are known by their markers, and what the ledger
    is about to show counts as shown only once the comment has its digest.
    """
    facts = analysis.judged
    # Only queries need the permission of their author.
    asked = permission if facts.submissions else lambda login: UNKNOWN_PERMISSION
    author = author_of(inputs.pull, asked)
    observing = platform.config.mode == "observe"
    sticky, doubled = find_sticky(inputs.login, inputs.comments, inputs.record)
    record = inputs.record or PullRequestRecord(pull_request=inputs.pull.number, head=facts.head)
    displayed = displayed_in(sticky, record)
    corrections = merged(platform.taxonomy, [platform.corrections, inputs.corrections.stands])
    governing = governing_changes(inputs.changes, config_keeps=inputs.config_keeps)
    context = DecisionContext(
        judge=lambda decisions, contested, corrections: judge_facts(
            facts, replace(platform, corrections=corrections), author, decisions, contested, governing=governing
        ),
        displayed=displayed,
        author=author,
        authority=Authority(curators=platform.config.curators, permission=permission),
        co_authors=inputs.co_authors,
        texts={**record.texts, **facts.text_digests},
        corrections=corrections,
        lost=inputs.lost,
    )
    if observing:
        unheard = Read(cursor=record.cursor, reviews=record.reviews)
        outcome = CommandOutcome(
            judgement=context.judge((), (), corrections), replies=(), void=(), released=None, read=unheard
        )
    else:
        outcome = process_commands(
            [item for item in inputs.comments if item.author != inputs.login], record, context, inputs.previous
        )
    judgement = replace(outcome.judgement, refused=inputs.refused)
    result = result_of(judgement, analysis)
    showing = Showing(
        digest=digest([facts.head, result.title, [[id, item.verdict] for id, item in judgement.shown.items()]]),
        verdicts=dict(judgement.shown),
    )
    report = PullRequestReport(
        commit=facts.head,
        digest=showing.digest,
        notices=notices_of(
            judgement, outcome, record, analysis, inputs.corrections.ended, author, inputs.histories, lost=inputs.lost
        ),
        problems=facts.problems,
        review=judgement.review,
        run=inputs.run,
        product=inputs.product,
        has_site=inputs.has_site,
        commands=not observing,
        impact=analysis.impact,
        departure=None if judgement.departure is None else (judgement.departure, platform.taxonomy),
    )
    operations: list[Operation] = []
    if sticky is None and not outcome.replies and not report.says_something:
        # Most pull requests of a repository do not concern the bot: the check is enough.
        operations += check_operations(judgement, result, "Nothing to curate.", inputs.check)
        operations += label_operations((), inputs.pull)
        return PublishPlan(
            operations=tuple(operations), analysis=analysis, judgement=judgement, result=result, summary=""
        )
    if not observing:
        operations += replies_to(outcome.replies, inputs.login, inputs.comments)
        operations += _ledger(analysis, record, displayed, showing, outcome, inputs)
    operations += comment_operations(render_comment(report), sticky, doubled)
    if not observing:
        operations += label_operations(result.labels, inputs.pull)
    operations += check_operations(judgement, result, render_summary(report, CHECK_BYTES), inputs.check)
    return PublishPlan(
        operations=tuple(operations),
        analysis=analysis,
        judgement=judgement,
        result=result,
        summary=render_summary(report),
    )


def plan_retraction(why: str, login: str, pull: PullRequest, comments: Sequence[IssueComment]) -> list[Operation]:
    """The removal of comment and labels from a pull request whose base was changed to another branch."""
    sticky, doubled = find_sticky(login, comments)
    operations: list[Operation] = []
    if sticky is not None:
        text = f"{marker(NOTHING)}\nNot curated here: {why}.\n"
        operations += comment_operations(text, sticky, doubled)
    return operations + label_operations((), pull)


def displayed_in(sticky: IssueComment | None, record: PullRequestRecord) -> dict[str, Displayed]:
    """The verdicts that the bot's comment displays, from the ledger."""
    found = _MARKER.match(sticky.body) if sticky is not None else None
    return displayed_now(record, found and found[1], sticky.updated_at if sticky is not None else "")


def find_sticky(
    login: str, comments: Sequence[IssueComment], record: PullRequestRecord | None = None
) -> tuple[IssueComment | None, tuple[IssueComment, ...]]:
    """The bot's comment, by author and marker, and its duplicates from races.

    It is the oldest one that shows what ``record`` was about to show, else the oldest.  Other workflows use the same
    account, and a comment of theirs must not take its place.
    """
    ours = sorted(
        (item for item in comments if item.author == login and item.kind == "comment" and _MARKER.match(item.body)),
        key=lambda item: item.id,
    )
    shown = None if record is None or record.showing is None else marker(record.showing.digest)
    ours.sort(key=lambda item: shown is None or not item.body.startswith(shown))
    return (ours[0], tuple(ours[1:])) if ours else (None, ())


def check_operations(judgement: ReviewJudgement, result: Result, text: str, posted: CheckRun | None) -> list[Operation]:
    """The check on the head, unless it is there already."""
    annotations = annotations_of(judgement)
    return post_check(judgement.facts.head, result.conclusion, result.title, text, posted, annotations)


def comment_operations(body: str, sticky: IssueComment | None, doubled: Sequence[IssueComment]) -> list[Operation]:
    """Make ``body`` the text of the bot's only comment, unless it is already."""
    operations: list[Operation] = []
    if sticky is None:
        operations.append(CreateComment(body=body))
    elif lasting(sticky.body) != lasting(body):
        operations.append(EditComment(id=sticky.id, body=body))
    operations += [DeleteComment(id=item.id) for item in doubled]
    return operations


def label_operations(wanted: Sequence[PullRequestLabel], pull: PullRequest) -> list[Operation]:
    """Labels that differ only in case are the same for GitHub."""
    present = {name.casefold() for name in pull.labels}
    missing = tuple(sorted(label.value for label in wanted if label.value not in present))
    added: list[Operation] = [AddLabels(names=missing)] if missing else []
    ours = {label.value for label in PullRequestLabel if label not in wanted}
    return added + [RemoveLabel(name=name) for name in pull.labels if name.casefold() in ours]


def replies_to(
    replies: Sequence[Reply], login: str, comments: Sequence[IssueComment], kind: ReplyKind = "reply"
) -> list[Operation]:
    """A reaction to every command, and an answer to those that were not followed: once, however often this runs.

    People who may not give commands get one answer each, so that no one can make the bot flood a pull request.
    Duplicates from races are deleted.  ``kind`` distinguishes the answers to one comment in two places.
    """
    answers = _answers(login, comments)
    answered = {found[2] for _, found in answers if found[1] == kind}
    notified = {found[3] for _, found in answers}
    operations = doubled_replies(login, comments)
    for reply in replies:
        comment, key, person = reply.comment, str(reply.comment.key), digest(reply.comment.author)
        if key in answered or (reply.unauthorized and person in notified):
            continue
        if comment.kind != "review":
            reaction: Reaction = "+1" if reply.followed else "confused"
            operations.append(React(comment=comment.id, reaction=reaction, inline=comment.kind == "inline"))
        if not reply.lines:
            continue
        notified.add(person)
        place = "" if comment.kind == "comment" else ", who said it in a review"
        text = (
            f"<!-- incumbent:{kind} {key} {person} -->\nTo {code(comment.author)}{place}:\n\n{_answer(reply.lines)}\n"
        )
        operations.append(CreateComment(body=text))
    return operations


def answers_to(comment: IssueComment, login: str, comments: Sequence[IssueComment]) -> list[IssueComment]:
    """The bot's answers to ``comment`` in its thread."""
    return [item for item, found in _answers(login, comments) if found[2] == str(comment.key)]


def doubled_replies(login: str, comments: Sequence[IssueComment]) -> list[Operation]:
    """Delete answers of the bot to a comment that has an older one."""
    answered: set[tuple[str, str]] = set()
    operations: list[Operation] = []
    for item, found in _answers(login, comments):
        if (found[1], found[2]) in answered:
            operations.append(DeleteComment(id=item.id))
        answered.add((found[1], found[2]))
    return operations


def _answers(login: str, comments: Sequence[IssueComment]) -> list[tuple[IssueComment, re.Match[str]]]:
    talk = [item for item in comments if item.kind == "comment"]
    ours = [item for item in sorted(talk, key=lambda item: item.id) if item.author == login]
    return [(item, found) for item in ours if (found := _REPLY.match(item.body)) is not None]


def _answer(lines: Sequence[str]) -> str:
    """``lines`` as a list, each once; a long list is cut between lines, since a cut code span is not escaped."""
    items = [f"- {line}" if "\n" not in line else f"\n{line}\n" for line in dict.fromkeys(lines)]
    sizes = accumulate(len(item.encode("utf-8")) + 1 for item in items)
    shown = sum(1 for size in sizes if size <= LONGEST_ANSWER)
    rest = [f"- and {len(items) - shown} more."] if shown < len(items) else []
    return "\n".join([*items[:shown], *rest])


def _ledger(
    analysis: Analysis,
    record: PullRequestRecord,
    displayed: dict[str, Displayed],
    showing: Showing,
    outcome: CommandOutcome,
    inputs: PublishInputs,
) -> list[Operation]:
    judgement, judged = outcome.judgement, analysis.judged
    found = dict(analysis.remembered) | {
        query.key: query.classification
        for item in judged.submissions
        for query in item.queries
        if query.key is not None and query.classification is not None
    }
    # Queries that were not read keep their record.
    partial = judged.problems or analysis.held or any(item.unclassified for item in judged.submissions)
    path = record_path(inputs.pull.number)
    shards = shard_changes(path, {**(record.known_to(inputs.version) if partial else {}), **found}, inputs.shards)
    new = record.model_copy(
        update={
            "head": judged.head,
            "version": inputs.version,
            "texts": {**record.texts, **judgement.texts},
            "changes": changes_of(judgement, record),
            "displayed": displayed,
            "showing": showing,
            "released": outcome.released,
            **outcome.recorded,
        }
    )
    known = inputs.corrections
    corrections = noted(known.record, known.ended, outcome.corrected)
    abilities = inputs.abilities.after(analysis.work.abilities)
    same = not shards and corrections == known.record and abilities == inputs.abilities
    if inputs.record is not None and _same(new, inputs.record, outcome) and same:
        return []
    files = {path: record_text(new), **shards}
    if corrections != known.record:
        files[CORRECTIONS] = record_text(corrections)
    if abilities != inputs.abilities:
        files[ABILITIES] = record_text(abilities)
    # Verdicts of an older comment were recorded when they were shown.
    events = decision_events(outcome, record, known.ended, analysis.at)
    if not is_full(inputs.events):
        events = shown_events(judgement, inputs.pull.author, analysis.at, record) + events
    if events:
        files[events_path(inputs.pull.number)] = appended(inputs.events, events)
    if inputs.ledger is None:
        files[RECONCILED] = record_text(Reconciled(commit=judged.base))
    message = f"Pull request {inputs.pull.number} at {judged.head[:12]}"
    return [WriteLedger.of(inputs.ledger, files, message)]


def _same(new: PullRequestRecord, old: PullRequestRecord, outcome: CommandOutcome) -> bool:
    """Whether there is nothing to write: what is displayed can be found out again from the comment itself.

    Comments are noted as read only together with curators' commands, so that comments of people who may not give
    commands do not make the ledger grow.
    """
    blank: dict[str, object] = {"displayed": {}}
    if new.cursor >= old.cursor and all(reply.unauthorized for reply in outcome.replies):
        blank |= {"cursor": 0, "reviews": ()}
    return new.model_copy(update=blank) == old.model_copy(update=blank)
