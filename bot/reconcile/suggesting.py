"""The last stage of reconcile: what could go becomes pull requests, and the dashboard tells how things stand."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial

from bot.agreement.agreement import Agreement, Tally, agreement_in
from bot.config import REVIEWED_FILES
from bot.curator.prune import EvictionKind
from bot.errors import InputError
from bot.files.user_cache import digest_of_product
from bot.git import CommitSnapshot
from bot.github.events import is_own
from bot.github.git_state import records_of, text_of
from bot.github.models import CreateIssue, OpenPullRequest, PushCommits
from bot.ledger.counted import CountedFiles
from bot.ledger.event_files import SUFFIX
from bot.ledger.events import EVENTS, SET_EVENTS
from bot.ledger.model import AGREEMENT, COUNTED_FILES, RunRecord
from bot.ledger.store import load_agreement, load_counted, load_runs, record_text
from bot.reconcile import dashboard_plan, requests
from bot.reconcile.counting import carried_to, count, counts_in, recorded, tally_in
from bot.reconcile.suggestion_plan import plan_suggestions
from bot.reconcile.tip import Staged, Tip
from bot.reconcile.wishes import Branch, Scene, own, wish
from bot.taxonomy.history import History
from bot.text.digests import digest


def suggest_changes(tip: Tip) -> Staged:
    """What could go is suggested in pull requests of ours, these are kept true, and the dashboard tells of all."""
    scene = _suggestion_scene(tip)
    departed = tip.inventory.departed_from(tip.platform.regression_set)
    undone = {id: item.comment for id, item in requests.asked(tip.carried.requests, "undo").items()}
    kinds = {id: EvictionKind(kind) for id, kind in departed.items()}
    wanted = wish(tip.platform, kinds, scene, tip.carried.offer, undone)
    # A run that was killed may have left a branch without a pull request.
    missing = {proposal.branch for proposal in wanted.proposals} - scene.branches.keys()
    scene = replace(scene, branches={**scene.branches, **branches_of(tip, missing)})
    plan = plan_suggestions(wanted, tip.platform, scene)
    if plan.operations and not tip.dry_run:
        return Staged(writes=plan.operations, carried=tip.carried)
    issues = tip.github.own_issues()
    if issues is None or (not issues and any(isinstance(item, CreateIssue) for item in tip.written)):
        return Staged(writes=plan.operations, carried=tip.carried)
    agreement, counted = _agreement(tip)
    told = dashboard_plan.Scene(
        commit=tip.commit,
        at=tip.world.store.commit_time(tip.commit),
        address=tip.world.url,
        default_branch=tip.event.default_branch,
        page=tip.world.run,
        open=own(scene.open),
        wanted=wanted,
        beyond=plan.beyond,
        barred=tip.barred,
        left=plan.left,
        pushed=sum(1 for item in tip.left.values() if item.pull_request is None)
        + sum(item.pushed for item in tip.inventory.unchanged.values()),
        records=records_of(tip.ledger),
        issues=issues,
        ledger=tip.ledger_commit,
        runs=tip.known(load_runs, RunRecord()),
        noted=tip.carried.noted,
        agreement=agreement,
        counted=counted,
        written=tip.written,
    )
    dashboard = dashboard_plan.plan_dashboard(tip.platform, told)
    return Staged(writes=(*plan.operations, *dashboard), carried=tip.carried)


def _agreement(tip: Tip) -> tuple[Agreement, dict[str, str | None]]:
    """How far people agree, and the files of the ledger that keep what was counted, where they change."""
    ledger, store = tip.ledger, tip.world.store
    tree = None if ledger is None else store.trees(tip.ledger_commit or "", EVENTS).get(EVENTS)
    if ledger is None or tree is None:
        return agreement_in(Tally()), {}
    history = History(store, tip.commit)
    conditions = digest([history.last, digest_of_product()])
    record = tip.known(load_agreement, None)
    if record is not None and (record.conditions != conditions or not tally_in(record).is_possible):
        record = None
    if record is not None and record.events == tree:
        return agreement_in(tally_in(record)), {}
    places = ledger.paths(COUNTED_FILES)
    ledger.prepare(places)
    known = {path: item for path in places if (item := _counted_at(ledger, path)) is not None}
    events = ledger.within(EVENTS)
    counts = count(
        {name: id for name, id in events.ids().items() if name.endswith(SUFFIX)},
        None if record is None else counts_in(record, known.values()),
        partial(_contents, events),
        carried_to(tip.platform.taxonomy, history.all),
    )
    record, parts = recorded(counts, tree, conditions)
    files: dict[str, str | None] = {AGREEMENT: record_text(record)}
    files |= {path: record_text(part) for path, part in parts.items() if known.get(path) != part}
    files |= dict.fromkeys(set(places) - parts.keys())
    return agreement_in(counts.tally), files


def _counted_at(ledger: CommitSnapshot, path: str) -> CountedFiles | None:
    try:
        return load_counted(ledger, path)
    except InputError:
        return None


def _contents(events: CommitSnapshot, names: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The names and contents of files of events, but for those that are too large."""
    events.prepare(names)
    for name in sorted(names):
        with suppress(InputError):
            content = events.read(name, REVIEWED_FILES)
            yield name, content


def _suggestion_scene(tip: Tip) -> Scene:
    github, base = tip.github, tip.event.default_branch
    found, closed = tip.open_pull_requests(), github.closed_pull_requests(base)
    # What was closed between the two readings is in both; lists may lag behind what the event speaks of.
    ended = {pull.number for pull in closed}
    number = tip.event.pull_request
    if number is not None and number not in ended:
        pull = github.find_pull_request(number)
        if pull is not None and pull.closed and pull.base == base:
            closed, ended = (pull, *closed), {*ended, number}
    pulls = tuple(pull for pull in found if is_own(pull.branch) and pull.number not in ended)
    ours = own(pulls)
    branches = branches_of(tip, {pull.branch for pull in ours if pull.branch is not None})
    commits = {branches[pull.branch].commit for pull in ours if pull.branch in branches}
    commits |= {pull.head for pull in pulls if pull not in ours}
    return Scene(
        login=github.login,
        default_branch=base,
        base=tip.commit,
        open=pulls,
        closed=closed,
        branches=branches,
        checks={commit: github.check(commit) for commit in sorted(commits)},
        ledger=tip.ledger_commit,
        record=tip.suggestions,
        barred=tip.barred,
        opened=frozenset(item.branch for item in tip.written if isinstance(item, OpenPullRequest)),
        takes_no_commits=tip.refused
        or (tip.suggestions.takes_no_commits and not any(isinstance(item, PushCommits) for item in tip.written)),
        comments=github.comments,
        pull_request=github.find_pull_request,
        at=tip.inventory.at,
        events=text_of(tip.ledger, SET_EVENTS),
        merged_by=github.merged_by,
        closed_by=cache(github.closed_by),
    )


def branches_of(tip: Tip, names: Collection[str]) -> dict[str, Branch]:
    """Those of the branches ``names`` that are there."""
    found = tip.world.fetch_branches(names)
    return {
        name: Branch(
            commit=commit,
            blobs=_blobs(tip, commit),
            has_base=tip.world.store.is_ancestor(tip.commit, commit),
            behind=frozenset(change.path for change in tip.world.store.changes(commit, tip.commit)),
        )
        for name, commit in found.items()
    }


def _blobs(tip: Tip, commit: str) -> dict[str, str | None]:
    """Path → id of the content of what ``commit`` changes since it left the default branch."""
    found: dict[str, str | None] = {}
    for change in tip.world.store.changes(tip.commit, commit):
        if change.before is not None:
            found[change.before] = None
        found[change.path] = change.object_after
    return found
