"""The stages of reconcile: each reads what its plan needs, and returns the writes that are left to do."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

from bot.config import REVIEWED_FILES
from bot.curator.prune import EvictionKind
from bot.errors import InputError, OutsideError
from bot.github.client import GitHubClient
from bot.github.events import OWN_BRANCHES, Event
from bot.github.values import Operation, PullRequest
from bot.github.world import World, records_of
from bot.ledger.model import FOLDER, RECONCILED, SuggestionRecord
from bot.ledger.store import load_suggestions
from bot.object_store import CommitSnapshot
from bot.pipeline import Platform
from bot.reconcile import admission_plan, suggestion_plan
from bot.reconcile.cases import cases_of
from bot.reconcile.inventory import Inventory
from bot.reconcile.suggestion_plan import Branch, own, plan_suggestions, wish

Writes: TypeAlias = tuple[tuple[int | None, Operation], ...]
"""Operations in order, each with the number of the pull request that it is on, if any."""


@dataclass(frozen=True, kw_only=True)
class Tip:
    """The default branch and the ledger as they are now, with the edges to the world.

    ``commit`` is the branch's; the inventory's facts hold for it.  In a ``dry_run`` nothing is written.
    """

    event: Event
    inventory: Inventory
    commit: str
    snapshot: CommitSnapshot
    platform: Platform
    ledger_commit: str | None
    ledger: CommitSnapshot | None
    world: World
    github: GitHubClient
    dry_run: bool


Stage: TypeAlias = Callable[[Tip], Writes]


def admit_merged(tip: Tip) -> Writes:
    """What was merged enters R, and the pull requests are told what became of it."""
    if tip.platform.config.admissions == "by-hand":
        return ()
    pulls = tip.github.closed_pull_requests(tip.event.default_branch)
    records = records_of(tip.ledger)
    cases = cases_of(tip.inventory, pulls, records)
    spoken = [case.pull_request.number for case in cases if case.pull_request is not None]
    scene = admission_plan.Scene(
        login=tip.github.login,
        branch=tip.event.default_branch,
        commit=tip.commit,
        comments={number: tip.github.comments(number) for number in spoken},
        ended=tuple(sorted(pull.number for pull in pulls if pull.number in records)),
        ledger=tip.ledger_commit,
        ledger_files=_files(tip.ledger),
        permission=cache(tip.github.permission),
        texts=lambda path: tip.snapshot.read(path, REVIEWED_FILES).decode("utf-8"),
        run=tip.world.run,
    )
    plan = admission_plan.plan_admissions(tip.inventory, cases, tip.platform, scene)
    return (*((None, item) for item in plan.note), *plan.rest) if tip.dry_run else plan.next


def suggest_changes(tip: Tip) -> Writes:
    """What could go is suggested in pull requests of ours, and these are kept true."""
    scene = _suggestion_scene(tip)
    departed = {id: EvictionKind(kind) for id, kind in tip.inventory.departed.items()}
    wanted = wish(tip.platform, departed, scene)
    # A run that was killed may have left a branch without a pull request.
    missing = {proposal.branch for proposal in wanted.proposals} - scene.branches.keys()
    scene = replace(scene, branches={**scene.branches, **_branches(tip, missing)})
    return plan_suggestions(wanted, tip.platform, scene).operations


def _suggestion_scene(tip: Tip) -> suggestion_plan.Scene:
    github, base = tip.github, tip.event.default_branch
    pulls = tuple(pull for pull in github.open_pull_requests(base) if (pull.branch or "").startswith(OWN_BRANCHES))
    ours = own(pulls, github.login)
    branches = _branches(tip, {pull.branch for pull in ours if pull.branch is not None})
    commits = {branches[pull.branch].commit for pull in ours if pull.branch in branches}
    commits |= {pull.head for pull in pulls if pull not in ours}
    record = SuggestionRecord()
    with suppress(InputError):
        record = load_suggestions(tip.ledger) or record
    return suggestion_plan.Scene(
        login=github.login,
        default_branch=base,
        base=tip.commit,
        open=pulls,
        closed=github.closed_pull_requests(base),
        branches=branches,
        checks={commit: github.check(commit) for commit in sorted(commits)},
        ledger=tip.ledger_commit,
        record=record,
        comments=github.comments,
        pull_request=lambda number: _pull_request(github, number),
    )


def _branches(tip: Tip, names: Collection[str]) -> dict[str, Branch]:
    found = tip.world.fetch_branches(names)
    return {
        name: Branch(commit=commit, blobs=_blobs(tip, commit), has_base=tip.world.store.is_ancestor(tip.commit, commit))
        for name, commit in found.items()
    }


def _pull_request(github: GitHubClient, number: int) -> PullRequest | None:
    try:
        return github.pull_request(number)
    except OutsideError:
        return None


def _blobs(tip: Tip, commit: str) -> dict[str, str | None]:
    """Path → id of the content of what ``commit`` changes since it left the default branch."""
    found: dict[str, str | None] = {}
    for change in tip.world.store.changes(tip.commit, commit):
        if change.before is not None:
            found[change.before] = None
        found[change.path] = change.object_after
    return found


def _files(ledger: CommitSnapshot | None) -> dict[str, str]:
    if ledger is None:
        return {}
    paths = [RECONCILED, *ledger.paths(FOLDER)]
    present = [path for path in paths if ledger.exists(path)]
    return {path: ledger.read(path, REVIEWED_FILES).decode("utf-8", "replace") for path in present}
