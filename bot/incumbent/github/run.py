"""The runs of the Action: an event in, facts or writes out.  The caller provides everything that does I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache

from incumbent.classifier.caching_backend import learnt_by, recall
from incumbent.classifier.corrections import merged
from incumbent.classifier.model import Backend, Progress
from incumbent.errors import InputError, LaterFormatError, OutsideError
from incumbent.files.git import CommitSnapshot
from incumbent.github.analyse_job import ReleaseInputs, analyse
from incumbent.github.border import ForeignFactsError, checked, config_keeps
from incumbent.github.check import result_of
from incumbent.github.client import TRIES, GitHubClient, LostRaceError
from incumbent.github.co_authors import bringing, co_authors_of
from incumbent.github.decisions import PriorRejections, RecordedCorrections, look_up
from incumbent.github.events import Event, Flow, is_own
from incumbent.github.facts import Absence, Analysis, JudgedFacts
from incumbent.github.fitted_models import ModelUse, OpenBackend, is_preview
from incumbent.github.git_state import (
    Commits,
    World,
    abilities_of,
    comment_lookup,
    corrections_of,
    known_in_group,
    models_of,
    read_head,
    record_of,
    recorded_numbers,
    rejections_of,
    remembered_of,
    text_of,
)
from incumbent.github.impact_job import UNTOUCHED, measure_impact
from incumbent.github.judgement import evicted_by_hand, judge_facts, without_derived
from incumbent.github.models import PullRequest, ThreadComment, WriteLedger
from incumbent.github.publication import Publication, apply_all, nothing, post_failure, turn_away
from incumbent.github.publish_plan import PublishInputs, check_operations, plan_review
from incumbent.github.refused_evictions import refused_before
from incumbent.ledger.events import events_path
from incumbent.ledger.model import REQUESTS, SUGGESTIONS, CommentKey, RequestRecord, SuggestionRecord, record_path
from incumbent.ledger.releases.history import histories
from incumbent.ledger.releases.ledger_records import load_releases
from incumbent.ledger.store import readable, shard_ids
from incumbent.pipeline.impact.measure import RESTS_ON
from incumbent.pipeline.review import Platform, load_platform
from incumbent.pipeline.workspace import with_masks, with_results
from incumbent.report.escaping import code
from incumbent.report.review_comment import CHECK_BYTES, PullRequestReport, render_summary
from incumbent.taxonomy.history import History
from incumbent.text.compare import text_key
from incumbent.text.digests import digest

MOVED = "the pull request has changed since it was read: the run of its newest commit writes"
CLOSED = "the pull request is closed"
ELSEWHERE = "only pull requests to {} are curated"


def redirected(event: Event, pull_request: Callable[[int], PullRequest]) -> Event:
    """``event`` with the flow of its pull request, as the event of a comment does not have the base branch."""
    if event.flow is not Flow.REVIEW or not event.commented or event.pull_request is None:
        return event
    pull = pull_request(event.pull_request)
    if pull.closed:
        # Merged or closed since: commands on a merged one are processed by reconcile.
        return replace(event, flow=Flow.RECONCILE if pull.merge else Flow.NOTHING, why="" if pull.merge else CLOSED)
    if pull.base != event.default_branch:
        return replace(event, flow=Flow.NOT_CURATED, head=pull.head, why=ELSEWHERE.format(event.default_branch))
    return replace(event, flow=Flow.RECONCILE) if is_own(pull.branch) else event


def analyse_event(
    event: Event,
    world: World,
    backend: OpenBackend,
    progress: Progress,
    github: Callable[[], GitHubClient],
) -> Analysis | str:
    """The facts of ``event``, or the reason why there is nothing to judge.

    ``github`` is asked about people only if that decides what may be spent.  Raises :class:`InputError` for faults of
    the *reviewed* files; faults of the head are part of the facts.
    """
    if event.flow not in (Flow.REVIEW, Flow.GROUP):
        return event.why
    commits = world.fetch(event, head=True)
    assert commits.head is not None
    platform = with_masks(load_platform(world.store.snapshot(commits.base)))
    ledger = None if commits.ledger is None else world.store.snapshot(commits.ledger)
    changes = world.store.changes(commits.base, commits.head)
    record = record_of(ledger, event.pull_request)
    known = {} if record is None else record.known_to(world.version)
    if event.flow is Flow.GROUP:
        head = commits.head
        known = known_in_group(
            ledger,
            lambda commit: world.store.exists(commit) and world.store.is_ancestor(commit, head),
            world.version,
        )
    abilities = abilities_of(ledger, world.clock()).endpoints
    models = models_of(ledger)
    opened: list[Backend] = []

    def make(of: Platform, use: ModelUse) -> Backend:
        opened.append(recall(backend(of, models, use), abilities))
        return opened[-1]

    asked = make(platform, "review")
    release = ReleaseInputs(event=event, config=platform.config, record=record, github=github)
    measured = UNTOUCHED
    if any(path.startswith(RESTS_ON) for item in changes for path in (item.path, item.before or "")):
        measured = measure_impact(
            world.store,
            commits.base,
            commits.head,
            None if event.flow is Flow.GROUP else make,
            lambda of: is_preview(of, models),
            {**remembered_of(ledger), **known},
            release.is_vouched,
            progress,
            rejected={item.decision.content for item in rejections_of(ledger)},
        )
    analysis = analyse(
        event,
        base=commits.base,
        head=commits.head,
        at=world.store.commit_time(commits.head),
        platform=platform,
        snapshot=world.store.snapshot(commits.head),
        changes=changes,
        release=release,
        known=known,
        backend=asked,
        progress=progress,
        measured=measured,
    )
    work = analysis.work.model_copy(update={"abilities": learnt_by(opened)})
    return analysis.model_copy(update={"work": work})


def publish_event(
    event: Event,
    analysis: Analysis | None,
    world: World,
    github: GitHubClient,
    wait: Callable[[int], None],
    dry_run: bool,
    absence: Absence = "unfinished",
) -> Publication:
    """Judge the facts of ``analysis`` and write the results; after a lost race, read and plan again.

    ``absence`` is why there are no facts, if there are none.  ``wait`` lets other runs finish before a new attempt,
    whose number it gets.  Raises :class:`OutsideError` if GitHub cannot be reached or refuses.
    """
    if event.flow is Flow.NOTHING:
        return nothing(event.why)
    if event.flow is Flow.NOT_CURATED:
        return turn_away(event, event.head, github, dry_run)
    try:
        if analysis is None:
            return _without_facts(event, world, github, dry_run, absence)
        for attempt in range(TRIES):
            if attempt:
                wait(attempt)
            try:
                return _publish(event, analysis, world, github, dry_run)
            except LostRaceError:
                continue
            except ForeignFactsError as error:
                # What was merged or moved meanwhile may contradict the facts: no check is due there.
                why = _elsewhere(event, github)
                if why is not None:
                    return nothing(why)
                observed = observes(event, world)
                text = f"{error}. Run all jobs again, or comment `/incumbent run`."
                return post_failure(event, github, "The analysis cannot be used", text, observed, dry_run)
        raise LostRaceError("other runs kept writing to the ledger; run this one again")
    except (OutsideError, LaterFormatError) as error:
        # Something could not be written: a check that says so is better than none, or than an old one that passes.
        with suppress(OutsideError):
            title = "The review could not be written"
            lost = isinstance(error, LostRaceError)
            post_failure(event, github, title, code(str(error)), observes(event, world), dry_run, over=not lost)
        raise


def _without_facts(event: Event, world: World, github: GitHubClient, dry_run: bool, absence: Absence) -> Publication:
    """There are no facts, for one of the reasons of ``absence``, or because the pull request has changed since."""
    over = _elsewhere(event, github)
    if over is not None:
        return nothing(over)
    title = "Run all jobs again"
    match absence:
        case "quiet":
            # Only the first job's note, because of which no check passes.
            why = (
                "There was nothing to curate when the pull request was looked at first. Before this check could say "
                "so, something changed on it, or GitHub gave no answer. Run all jobs again, or comment "
                "`/incumbent run`."
            )
        case "other-version":
            why = (
                "The first job ran with another version of Incumbent, so that this one cannot read its document. "
                "Run all jobs again, not only the failed ones, or comment `/incumbent run`."
            )
        case "unfinished":
            title = "The analysis did not finish"
            why = "The job that reads the pull request did not finish. Its log says why; fix that and run it again."
    return post_failure(event, github, title, why, observes(event, world), dry_run)


def _elsewhere(event: Event, github: GitHubClient) -> str | None:
    """Why nothing is written on the pull request of ``event`` as it is now; ``None`` if there is no reason."""
    if event.flow is not Flow.REVIEW or event.pull_request is None:
        return None
    return _why_not(event, github.pull_request(event.pull_request), event.head)


def _why_not(event: Event, pull: PullRequest, head: str | None) -> str | None:
    """Why nothing is written on ``pull`` for an ``event`` about its commit ``head``; ``None`` if there is no reason."""
    if pull.base != event.default_branch:
        return ELSEWHERE.format(event.default_branch)
    if pull.closed:
        return CLOSED
    return MOVED if head not in (None, pull.head) else None


def observes(event: Event, world: World) -> bool:
    """Whether the reviewed config says so; no if it cannot be read."""
    try:
        platform = load_platform(world.store.snapshot(world.fetch(event, head=False).base))
    except (InputError, OutsideError):
        return False
    return platform.config.mode == "observe"


def _publish(event: Event, analysis: Analysis, world: World, github: GitHubClient, dry_run: bool) -> Publication:
    commits = world.fetch(event, head=False, names=True)
    assert commits.head is not None
    _refuse_foreign_facts(event, analysis, world, commits)
    if commits.head != analysis.judged.head:
        return nothing(MOVED)
    reviewed = world.store.snapshot(commits.base)
    try:
        platform = with_masks(load_platform(reviewed))
    except InputError as error:
        raise ForeignFactsError(f"The reviewed files have faults: {error}") from None
    ledger = None if commits.ledger is None else world.store.snapshot(commits.ledger)
    platform = with_results(platform, ledger)
    head = read_head(world.store, commits.base, commits.head)
    record = record_of(ledger, event.pull_request)
    release = ReleaseInputs(event=event, config=platform.config, record=record, github=lambda: github)
    held = bool(head.touches) and release.is_held
    analysis = checked(analysis, platform, world.configured(platform), head, reviewed, held)
    evicted = evicted_by_hand(analysis.judged, platform)
    analysis = analysis.model_copy(update={"judged": without_derived(analysis.judged, platform)})
    if event.flow is Flow.GROUP:
        corrections = _corrections(analysis.judged, platform, {}, ledger, world, github)
        corrected = merged(platform.taxonomy, [platform.corrections, corrections.stands])
        platform = replace(platform, corrections=corrected)
        return _publish_group(event, analysis, platform, world, github, dry_run)
    assert event.pull_request is not None
    pull = github.pull_request(event.pull_request)
    why = _why_not(event, pull, analysis.judged.head)
    if why is not None:
        return nothing(why)
    comments = github.said_on(pull.number)
    # A comment of an overlapping run has no meaning under the ledger from before that run.
    if world.fetch(event, head=False).ledger != commits.ledger:
        raise LostRaceError("the ledger has moved")
    here = {item.key: ThreadComment(number=pull.number, comment=item) for item in comments}
    releases, _ = load_releases(ledger, platform.config.results.window)
    record = record_of(ledger, pull.number)
    inputs = PublishInputs(
        login=github.login,
        pull=pull,
        comments=comments,
        check=github.check(analysis.judged.head),
        ledger=commits.ledger,
        record=record,
        lost=record is None and pull.number in recorded_numbers(ledger),
        shards=shard_ids(ledger, [record_path(pull.number)]),
        events=text_of(ledger, events_path(event.pull_request)),
        run=world.run,
        product=world.product,
        version=world.version,
        has_site=world.has_site,
        previous=PriorRejections.of(rejections_of(ledger), set(analysis.judged.contents.values()), github.said_on),
        corrections=_corrections(analysis.judged, platform, here, ledger, world, github),
        abilities=abilities_of(ledger, world.clock()),
        refused=refused_before(
            evicted,
            readable(ledger, SUGGESTIONS, SuggestionRecord),
            readable(ledger, REQUESTS, RequestRecord),
            github.find_pull_request,
            github.find_remark,
        ),
        histories=histories(platform.regression_set.entries, releases, platform.config.results) if releases else {},
        co_authors=co_authors_of(pull.number, ledger, github),
        # What changes who decides is found in these (bot.github.governing).
        changes=head.changes,
        config_keeps=config_keeps(analysis, head, reviewed),
    )
    plan = plan_review(analysis, platform, inputs, github.permission)
    if not dry_run:
        tree = None if commits.ledger is None else world.store.tree(commits.ledger)
        for operation in plan.operations:
            if isinstance(operation, WriteLedger):
                github.apply(pull.number, operation.on(ledger), tree)
            else:
                github.apply(pull.number, operation)
    return Publication(operations=plan.operations, result=plan.result, summary=plan.summary, plan=plan, judged=True)


def _corrections(
    judged: JudgedFacts,
    platform: Platform,
    here: Mapping[CommentKey, ThreadComment],
    ledger: CommitSnapshot | None,
    world: World,
    github: GitHubClient,
) -> RecordedCorrections:
    """Curators' corrections of the texts of ``judged``; ``here`` are comments that were read already."""
    lookups = comment_lookup(github, platform.config.curators)
    lookups = replace(lookups, remark=cache(lambda key: here.get(key) or github.find_remark(key)))
    record = corrections_of(ledger)
    turns = [item.query.turns for facts in judged.submissions for item in facts.queries]
    texts = {text_key(each) for each in turns}
    lookups = replace(lookups, elsewhere=bringing(turns, record.texts, ledger, github))
    return look_up(record, texts, platform.taxonomy, History(world.store, judged.base).all, lookups)


def _refuse_foreign_facts(event: Event, analysis: Analysis, world: World, commits: Commits) -> None:
    """Raise an error unless the facts are about this event, and rest on what the newest reviewed files say, too."""
    judged = analysis.judged
    if (analysis.repository, judged.pull_request) != (event.repository, event.pull_request):
        raise ForeignFactsError("The analysis is about something else than the event")
    if event.flow is Flow.GROUP and (judged.base, judged.head) != (event.group_base, event.head):
        raise ForeignFactsError("The analysis is of other commits than the merge group's")
    if judged.base == commits.base:
        return
    if not (world.store.exists(judged.base) and world.store.is_ancestor(judged.base, commits.base)):
        raise ForeignFactsError("The analysis rests on files that are not on the default branch")
    # The regression set of now is judged against; what is classified rests on the rest.
    before, now = (world.store.trees(each, "config", "taxonomy", below=False) for each in (judged.base, commits.base))
    if before != now:
        raise ForeignFactsError("Taxonomy or config have changed since the analysis")


def _publish_group(
    event: Event, analysis: Analysis, platform: Platform, world: World, github: GitHubClient, dry_run: bool
) -> Publication:
    """The same check for a merge group.  Changes of the set by hand were decided on each pull request."""
    facts = analysis.judged
    judgement = judge_facts(facts, platform, None, ())
    if not judgement.removed_for_good:
        judgement = replace(judgement, facts=replace(judgement.facts, set_changes=()))
    result = result_of(judgement, analysis, decided=True)
    report = PullRequestReport(
        commit=facts.head,
        digest=digest(facts.head),
        notices=(),
        problems=facts.problems,
        review=judgement.review,
        run=world.run,
        product=world.product,
        departure=None if judgement.departure is None else (judgement.departure, platform.taxonomy),
    )
    operations = check_operations(judgement, result, render_summary(report, CHECK_BYTES), github.check(facts.head))
    apply_all(operations, github, dry_run)
    summary = render_summary(report)
    return Publication(operations=tuple(operations), result=result, summary=summary, judged=True)
