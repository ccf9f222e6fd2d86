"""The last stage of reconcile: what could go becomes pull requests, and the dashboard tells how things stand."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cache

from bot.curator.prune import EvictionKind
from bot.github.events import is_own
from bot.github.values import CreateIssue, OpenPullRequest, PushCommits
from bot.github.world import records_of, text_of
from bot.ledger.event_files import load_events
from bot.ledger.events import SET_EVENTS
from bot.ledger.model import RunRecord
from bot.ledger.store import load_runs
from bot.reconcile import dashboard_plan, requests
from bot.reconcile.suggestion_plan import plan_suggestions
from bot.reconcile.tip import Staged, Tip
from bot.reconcile.wishes import Branch, Scene, own, wish
from bot.taxonomy.history import History


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
        events=load_events(tip.ledger).events,
        former=History(tip.world.store, tip.commit).all,
        written=tip.written,
    )
    dashboard = dashboard_plan.plan_dashboard(tip.platform, told)
    return Staged(writes=(*plan.operations, *dashboard), carried=tip.carried)


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
