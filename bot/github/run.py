"""What the Action runs: an event in, facts or writes out.  Everything that touches the world is handed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from bot.classifier.model import Backend, Progress
from bot.errors import InputError, OutsideError, UsageError
from bot.github.analyse import analyse
from bot.github.analysis import Analysis
from bot.github.check import Result, result_of
from bot.github.client import GitHubClient, LostRaceError
from bot.github.events import Event, Flow
from bot.github.judgement import judge_facts
from bot.github.publish import Plan, Scene, check_operations, plan_review
from bot.github.values import CheckConclusion, Operation, PostCheck, WriteLedger
from bot.ledger.keys import digest
from bot.ledger.model import BRANCH, FOLDER, PullRequestRecord, StoredClassification
from bot.ledger.store import load_record
from bot.object_store import CommitSnapshot, ObjectStore
from bot.pipeline import Platform, load_platform
from bot.report.pull_request import CHECK_BYTES, PullRequestReport, render_summary

TRIES = 5
"""How often a plan is derived again after a lost race."""


@dataclass(frozen=True, kw_only=True)
class Commits:
    """The commits that a run needs, as they stand now; each is in the object store."""

    base: str
    head: str | None
    ledger: str | None


@dataclass(frozen=True, kw_only=True)
class World:
    """The edges: git's objects, where they come from, and this run's page on GitHub."""

    store: ObjectStore
    url: str
    token: str | None
    run: str | None

    def fetch(self, event: Event, head: bool) -> Commits:
        """Fetch what ``event`` is about; the ``head`` only where hostile data is read."""
        refs = {"base": event.group_base or f"refs/heads/{event.default_branch}", "ledger": f"refs/heads/{BRANCH}"}
        if head and event.flow is Flow.GROUP and event.head is not None:
            refs["head"] = event.head
        elif head and event.pull_request is not None:
            refs["head"] = f"refs/pull/{event.pull_request}/head"
        found = self.store.fetch(self.url, refs, self.token, optional=("ledger",))
        return Commits(base=found["base"], head=found.get("head"), ledger=found.get("ledger"))


def analyse_event(
    event: Event, world: World, backend: Callable[[Platform], Backend], progress: Progress
) -> Analysis | None:
    """The facts of what ``event`` is about; ``None`` where nothing is to be judged.

    Raises :class:`InputError` for faults of the *reviewed* side; those of the head are part of the facts.
    """
    if event.flow not in (Flow.REVIEW, Flow.GROUP):
        return None
    commits = world.fetch(event, head=True)
    assert commits.head is not None
    platform = load_platform(world.store.snapshot(commits.base))
    ledger = None if commits.ledger is None else world.store.snapshot(commits.ledger)
    record = _record(ledger, event)
    return analyse(
        event,
        commits.base,
        commits.head,
        platform,
        world.store.snapshot(commits.head),
        world.store.changes(commits.base, commits.head),
        record,
        _known(ledger, event, record),
        backend(platform),
        progress,
    )


def _record(ledger: CommitSnapshot | None, event: Event) -> PullRequestRecord | None:
    """The pull request's record; a mangled one is as good as none: facts are found again, and people asked again."""
    try:
        return None if event.pull_request is None else load_record(ledger, event.pull_request)
    except InputError:
        return None


def _known(
    ledger: CommitSnapshot | None, event: Event, record: PullRequestRecord | None
) -> Mapping[str, StoredClassification]:
    """The ledger's classifications: the pull request's own, and for a merge group those of all that are open."""
    if event.flow is not Flow.GROUP or ledger is None:
        return {} if record is None else record.classifications
    found: dict[str, StoredClassification] = {}
    for path in ledger.paths(FOLDER):
        name = Path(path).stem
        if name.isdigit():
            other = _record(ledger, replace(event, pull_request=int(name)))
            found |= {} if other is None else other.classifications
    return found


@dataclass(frozen=True, kw_only=True)
class Publication:
    """What a publication wrote or, in a dry run, would write, and how it ended."""

    operations: tuple[Operation, ...]
    result: Result | None
    summary: str
    plan: Plan | None
    why: str = ""


def publish_event(
    event: Event, analysis: Analysis | None, world: World, github: GitHubClient, dry_run: bool
) -> Publication:
    """Judge the facts of ``analysis`` and write what follows; a lost race is read and planned again.

    Raises :class:`OutsideError` when GitHub cannot be reached or refuses.
    """
    if event.flow is Flow.NOTHING:
        return Publication(operations=(), result=None, summary="", plan=None, why=event.why)
    if event.flow is Flow.NOT_CURATED:
        return _plain_check(event, github, "neutral", "Not curated here", event.why, 0, dry_run)
    if analysis is None:
        title = "The analysis did not finish"
        why = "The job that reads the pull request did not finish. Its log says why; mend that and run it again."
        if _observes(event, world):
            return _plain_check(event, github, "success", title, why, 0, dry_run)
        return _plain_check(event, github, "failure", title, why, OutsideError.exit_code, dry_run)
    for _ in range(TRIES):
        try:
            return _publish(event, analysis, world, github, dry_run)
        except LostRaceError:
            continue
    raise OutsideError("other runs kept writing to the ledger; run this one again")


def _observes(event: Event, world: World) -> bool:
    """Whether the reviewed config says so; one that cannot be read does not."""
    try:
        platform = load_platform(world.store.snapshot(world.fetch(event, head=False).base))
    except InputError:
        return False
    return platform.config.mode == "observe"


def _publish(event: Event, analysis: Analysis, world: World, github: GitHubClient, dry_run: bool) -> Publication:
    commits = world.fetch(event, head=False)
    _refuse_foreign_facts(event, analysis, world, commits)
    platform = load_platform(world.store.snapshot(analysis.base))
    if event.flow is Flow.GROUP:
        return _publish_group(event, analysis, platform, world, github, dry_run)
    assert event.pull_request is not None
    pull = github.pull_request(event.pull_request)
    if (pull.head, pull.base) != (analysis.head, event.default_branch):
        why = "the pull request has changed since it was read: the run of its newest commit writes"
        return Publication(operations=(), result=None, summary="", plan=None, why=why)
    ledger = None if commits.ledger is None else world.store.snapshot(commits.ledger)
    scene = Scene(
        login=github.login,
        pull=pull,
        comments=github.comments(pull.number),
        check=github.check(analysis.head),
        ledger=commits.ledger,
        record=_record(ledger, event),
        run=world.run,
    )
    plan = plan_review(analysis, platform, scene, cache(github.permission))
    if not dry_run:
        tree = None if commits.ledger is None else world.store.tree(commits.ledger)
        for operation in plan.operations:
            github.apply(pull.number, operation, tree if isinstance(operation, WriteLedger) else None)
    return Publication(operations=plan.operations, result=plan.result, summary=plan.summary, plan=plan)


def _refuse_foreign_facts(event: Event, analysis: Analysis, world: World, commits: Commits) -> None:
    """Facts must be about this event, and hold by files that were reviewed."""
    about = (analysis.repository, analysis.pull_request)
    if about != (event.repository, event.pull_request):
        raise UsageError("the analysis is about something else than the event")
    if event.flow is Flow.GROUP and analysis.base != event.group_base:
        raise UsageError("the analysis holds by another base than the merge group's")
    if not (world.store.exists(analysis.base) and world.store.is_ancestor(analysis.base, commits.base)):
        raise UsageError("the analysis holds by files that are not on the default branch")


def _publish_group(
    event: Event, analysis: Analysis, platform: Platform, world: World, github: GitHubClient, dry_run: bool
) -> Publication:
    """The same check for a merge group.  Changes of the set by hand were allowed or not on each pull request."""
    judgement = judge_facts(analysis, platform, None, ())
    if not judgement.removed_for_good:
        judgement = replace(judgement, analysis=analysis.model_copy(update={"set_changes": ()}))
    result = result_of(judgement, decided=True)
    report = PullRequestReport(
        commit=analysis.head,
        digest=digest(analysis.head),
        notices=(),
        problems=tuple(item.problem for item in analysis.problems),
        review=judgement.review,
        run=world.run,
    )
    operations = check_operations(judgement, result, render_summary(report, CHECK_BYTES), github.check(analysis.head))
    _apply_all(operations, github, dry_run)
    return Publication(operations=tuple(operations), result=result, summary=render_summary(report), plan=None)


def _plain_check(
    event: Event, github: GitHubClient, conclusion: CheckConclusion, title: str, text: str, code: int, dry_run: bool
) -> Publication:
    head = event.head
    if head is None and event.pull_request is not None:
        head = github.pull_request(event.pull_request).head
    assert head is not None
    external = digest([conclusion, title, text])
    posted = github.check(head)
    result = Result(conclusion=conclusion, title=title, labels=(), exit_code=code)
    if posted is not None and posted.external_id == external:
        return Publication(operations=(), result=result, summary=text, plan=None, why=text)
    check = PostCheck(
        commit=head, conclusion=result.conclusion, title=title, summary=text, annotations=(), external_id=external
    )
    _apply_all([check], github, dry_run)
    return Publication(operations=(check,), result=result, summary=text, plan=None, why=text)


def _apply_all(operations: list[PostCheck] | list[Operation], github: GitHubClient, dry_run: bool) -> None:
    for operation in operations if not dry_run else ():
        github.apply(None, operation)
