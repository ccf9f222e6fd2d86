"""The stages of reconcile: each reads what its plan needs, and returns the writes that are left to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias, TypeVar

from bot.config import REVIEWED_FILES
from bot.curator.prune import EvictionKind
from bot.errors import InputError
from bot.github.client import GitHubClient
from bot.github.events import Event, is_own
from bot.github.publish import doubled_replies
from bot.github.values import CreateIssue, OpenPullRequest, Operation, PullRequest, PushCommits
from bot.github.world import World, records_of
from bot.ledger.model import (
    FOLDER,
    RECONCILED,
    LeftQuery,
    Reconciled,
    Request,
    RunRecord,
    SuggestionRecord,
)
from bot.ledger.store import load_reconciled, load_requests, load_runs, load_suggestions
from bot.object_store import CommitSnapshot
from bot.pipeline import Platform
from bot.reconcile import admission_plan, dashboard_plan, requests, suggestion_plan
from bot.reconcile.cases import Case, cases_of, has_merit, judged_again
from bot.reconcile.confirmations import confirmed
from bot.reconcile.inventory import Inventory
from bot.reconcile.offers import Offer, turned_down
from bot.reconcile.origins import origins
from bot.reconcile.proposals import ADMIT
from bot.reconcile.suggestion_plan import Branch, own, plan_suggestions, wish

Kind = TypeVar("Kind")
Instead = TypeVar("Instead")


@dataclass(frozen=True, kw_only=True)
class Carried:
    """What stages hand on: ``requests`` of curators that stand, and the ``offer`` that people are asked to merge."""

    requests: tuple[Request, ...] = ()
    offer: Offer | None = None


@dataclass(frozen=True, kw_only=True)
class Staged:
    """What a stage would write: operations in order, each with the number of the pull request that it is on, if any.

    ``carried`` is what it hands on to the stages after it.
    """

    writes: tuple[tuple[int | None, Operation], ...] = ()
    carried: Carried


@dataclass(frozen=True, kw_only=True)
class Tip:
    """The default branch and the ledger as they are now, with the edges to the world.

    ``commit`` is the branch's; the inventory's facts hold for it.  In a ``dry_run`` nothing is written.
    ``written`` is what this run has done so far, ``spoken`` are the pull requests on which it commented, ``barred``
    the branches for which GitHub let it open no pull request, or that take no commits of ours; ``carried`` is what the
    stages before hand on.
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
    written: tuple[Operation, ...]
    spoken: frozenset[int]
    barred: frozenset[str]
    carried: Carried

    def read(self, path: str) -> str:
        """The text of a file of the branch."""
        return self.snapshot.read(path, REVIEWED_FILES).decode("utf-8")


Stage: TypeAlias = Callable[[Tip], Staged]


def hear_requests(tip: Tip) -> Staged:
    """What curators ask of entries is noted, wherever they say it."""
    record = _or(load_requests, tip.ledger, None)
    found = cache(tip.github.find_pull_request)

    def author(number: int) -> str:
        pull = found(number)
        return "" if pull is None else pull.author

    plan = requests.plan_requests(
        requests.Scene(
            login=tip.github.login,
            known=tip.platform.regression_set,
            at=tip.inventory.at,
            record=record,
            remarks=tip.github.comments_since(tip.inventory.at if record is None else record.since),
            reviewed=lambda: frozenset(pull.number for pull in _open(tip) if not is_own(pull.branch)),
            comment=cache(tip.github.find_comment),
            thread=tip.github.comments,
            author=author,
            curators=tip.platform.config.curators,
            permission=cache(tip.github.permission),
            by_hand=tip.platform.config.admissions == "by-hand",
            ledger=tip.ledger_commit,
        )
    )
    return Staged(writes=plan.operations, carried=Carried(requests=plan.stand))


def admit_merged(tip: Tip) -> Staged:
    """What was merged enters R, or is offered to, and the pull requests are told what became of it."""
    if tip.platform.config.admissions == "by-hand":
        return Staged(carried=tip.carried)
    pulls = tip.github.closed_pull_requests(tip.event.default_branch)
    records = records_of(tip.ledger)
    reconciled = _or(load_reconciled, tip.ledger, None)
    fresh = [merge for merge in tip.inventory.merges if not _is_known(merge.commit, reconciled, tip)]
    found = origins(fresh, pulls, records, tip.github.introduced_by, tip.github.find_pull_request)
    cases = cases_of(tip.inventory, fresh, found, records)
    cases += _with_merit(tip, cases, pulls)
    spoken = [case.pull_request.number for case in cases if case.pull_request is not None]
    scene = admission_plan.Scene(
        login=tip.github.login,
        branch=tip.event.default_branch,
        commit=tip.commit,
        comments={number: tip.github.comments(number) for number in spoken},
        ended=tuple(sorted(pull.number for pull in pulls if pull.number in records)),
        ledger=tip.ledger_commit,
        ledger_files=_files(tip.ledger),
        reconciled=reconciled,
        fresh=bool(fresh),
        permission=cache(tip.github.permission),
        texts=tip.read,
        run=tip.world.run,
        offering=tip.platform.config.admissions == "pull-request" or tip.event.default_branch in tip.barred,
        restores={
            id: item.by
            for id, item in requests.asked(tip.carried.requests, "restore").items()
            if id in tip.platform.regression_set.tombstones
        },
        refused=turned_down(_suggestions(tip), pulls, tip.github.find_pull_request),
    )
    plan = admission_plan.plan_admissions(tip.inventory, cases, tip.platform, scene)
    if plan.commits and _is_offering(tip):
        # The branch took no commits when that was opened, and takes none until it was merged.
        scene = replace(scene, offering=True)
        plan = admission_plan.plan_admissions(tip.inventory, cases, tip.platform, scene)
    carried = replace(tip.carried, offer=plan.offer)
    if tip.dry_run:
        return Staged(writes=(*plan.note, *plan.rest), carried=carried)
    return Staged(writes=(*_single(tip), *plan.next), carried=carried)


def _is_known(commit: str, reconciled: Reconciled | None, tip: Tip) -> bool:
    """Whether a run has reconciled the default branch up to ``commit`` already."""
    store = tip.world.store
    return reconciled is not None and store.exists(reconciled.commit) and store.is_ancestor(commit, reconciled.commit)


def _left(tip: Tip) -> Mapping[str, LeftQuery]:
    reconciled = _or(load_reconciled, tip.ledger, None)
    return {} if reconciled is None else reconciled.left


def _with_merit(tip: Tip, cases: Sequence[Case], pulls: Sequence[PullRequest]) -> tuple[Case, ...]:
    """What did not enter, and would by now if a person agreed: the set, the taxonomy or the knobs have changed."""
    known = {pull.number: pull for pull in pulls}
    found = []
    for number, case in judged_again(tip.inventory, _left(tip), cases):
        if has_merit(case, tip.platform):
            pull = known.get(number) or tip.github.find_pull_request(number)
            if pull is not None:
                found.append(replace(case, pull_request=pull))
    return tuple(found)


def forget_requests(tip: Tip) -> Staged:
    """What was asked and has happened is not asked again when the like of it comes."""
    left = requests.undone(tip.carried.requests, tip.platform.regression_set)
    record = _or(load_requests, tip.ledger, None)
    if left == tip.carried.requests or record is None:
        return Staged(carried=tip.carried)
    new = record.model_copy(update={"requests": requests.undone(record.requests, tip.platform.regression_set)})
    writes = () if new == record else ((None, requests.noted(new, tip.ledger_commit)),)
    return Staged(writes=writes, carried=replace(tip.carried, requests=left))


def _is_offering(tip: Tip) -> bool:
    """Whether a pull request is open that offers admissions."""
    return any((pull.branch or "").startswith(ADMIT) for pull in own(_open(tip)))


def _single(tip: Tip) -> tuple[tuple[int, Operation], ...]:
    """What this run said while another one said the same, before one of them lost the race, is said once."""
    pairs = [(number, doubled_replies(tip.github.login, tip.github.comments(number))) for number in sorted(tip.spoken)]
    return tuple((number, item) for number, items in pairs for item in items)


def confirm_evictions(tip: Tip) -> Staged:
    """Tombstones of merged evictions say who confirmed them, and when."""
    config, branch, offer = tip.platform.config, tip.event.default_branch, tip.carried.offer
    nothing = Staged(carried=tip.carried)
    offering = config.admissions == "pull-request" or branch in tip.barred or offer is not None
    if config.admissions == "by-hand" or (offering and offer is None):
        # No pull request is opened for this alone.
        return nothing
    unsaid = [item for item in tip.platform.regression_set.tombstones.values() if item.evicted.at is None]
    if not unsaid:
        return nothing
    pulls = own(tip.github.closed_pull_requests(branch))
    merged = [pull for pull in pulls if pull.merge is not None]
    step = confirmed(tip.platform, merged, tip.github.merged_by, tip.read)
    if step is None:
        return nothing
    if offer is not None:
        return Staged(carried=replace(tip.carried, offer=offer.joined_by(step)))
    push = PushCommits(branch=branch, parent=tip.commit, commits=(step.commit,))
    return Staged(writes=((None, push),), carried=tip.carried)


def suggest_changes(tip: Tip) -> Staged:
    """What could go is suggested in pull requests of ours, these are kept true, and the dashboard tells of all."""
    scene = _suggestion_scene(tip)
    departed = {id: EvictionKind(kind) for id, kind in tip.inventory.departed.items()}
    undone = {id: item.comment for id, item in requests.asked(tip.carried.requests, "undo").items()}
    wanted = wish(tip.platform, departed, scene, tip.carried.offer, undone)
    # A run that was killed may have left a branch without a pull request.
    missing = {proposal.branch for proposal in wanted.proposals} - scene.branches.keys()
    scene = replace(scene, branches={**scene.branches, **_branches(tip, missing)})
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
        barred=tip.barred - {tip.event.default_branch},
        left=plan.left,
        pushed=sum(1 for item in _left(tip).values() if item.pull_request is None),
        records=records_of(tip.ledger),
        issues=issues,
        ledger=tip.ledger_commit,
        runs=_or(load_runs, tip.ledger, RunRecord()),
        written=tip.written,
    )
    dashboard = dashboard_plan.plan_dashboard(tip.platform, told)
    return Staged(writes=(*plan.operations, *dashboard), carried=tip.carried)


def _suggestion_scene(tip: Tip) -> suggestion_plan.Scene:
    github, base = tip.github, tip.event.default_branch
    found, closed = _open(tip), github.closed_pull_requests(base)
    # What was closed between the two readings is in both; lists may lag behind what the event speaks of.
    ended = {pull.number for pull in closed}
    number = tip.event.pull_request
    if number is not None and number not in ended:
        pull = github.find_pull_request(number)
        if pull is not None and pull.closed and pull.base == base:
            closed, ended = (pull, *closed), {*ended, number}
    pulls = tuple(pull for pull in found if is_own(pull.branch) and pull.number not in ended)
    ours = own(pulls)
    branches = _branches(tip, {pull.branch for pull in ours if pull.branch is not None})
    commits = {branches[pull.branch].commit for pull in ours if pull.branch in branches}
    commits |= {pull.head for pull in pulls if pull not in ours}
    return suggestion_plan.Scene(
        login=github.login,
        default_branch=base,
        base=tip.commit,
        open=pulls,
        closed=closed,
        branches=branches,
        checks={commit: github.check(commit) for commit in sorted(commits)},
        ledger=tip.ledger_commit,
        record=_suggestions(tip),
        barred=tip.barred - {tip.event.default_branch},
        opened=frozenset(item.branch for item in tip.written if isinstance(item, OpenPullRequest)),
        comments=github.comments,
        pull_request=github.find_pull_request,
    )


def _open(tip: Tip) -> tuple[PullRequest, ...]:
    return tip.github.open_pull_requests(tip.event.default_branch)


def _suggestions(tip: Tip) -> SuggestionRecord:
    return _or(load_suggestions, tip.ledger, SuggestionRecord())


def _branches(tip: Tip, names: Collection[str]) -> dict[str, Branch]:
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


def _or(
    load: Callable[[CommitSnapshot | None], Kind | None], ledger: CommitSnapshot | None, instead: Instead
) -> Kind | Instead:
    """A file of the ledger; one that is not there, or was mangled, says nothing."""
    try:
        return load(ledger) or instead
    except InputError:
        return instead


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
