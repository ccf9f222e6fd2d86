"""Reconcile: the facts of the default branch in, commits, words and the ledger out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from bot.classifier.model import Backend, Progress
from bot.config import REVIEWED_FILES
from bot.errors import InputError, OutsideError
from bot.github.client import GitHubClient, LostRaceError
from bot.github.events import Event
from bot.github.values import Operation
from bot.github.world import World, known_of, records_of
from bot.ledger.model import FOLDER, RECONCILED, Reconciled
from bot.ledger.store import load_reconciled
from bot.object_store import CommitSnapshot
from bot.pipeline import Platform, load_platform
from bot.reconcile.cases import cases_of
from bot.reconcile.inventory import Inventory
from bot.reconcile.plan import Scene, plan_reconcile
from bot.reconcile.survey import survey

TRIES = 5
"""How often a plan is derived again after a lost race."""


IDLE = "the config leaves what was merged to people: `mode` is `observe`, or `admissions` is `by-hand`"


@dataclass(frozen=True, kw_only=True)
class Reconciliation:
    """What was written or, in a dry run, would be, and why nothing was."""

    operations: tuple[Operation, ...]
    why: str = ""


def survey_event(
    event: Event, world: World, backend: Callable[[Platform], Backend], progress: Progress
) -> Inventory | str:
    """The facts of the default branch as it is now, or why none are needed.

    Raises :class:`InputError` for faults of the reviewed files.
    """
    commits = world.fetch(event, head=False)
    platform = load_platform(world.store.snapshot(commits.base))
    if not writes(platform):
        return IDLE
    ledger = None if commits.ledger is None else world.store.snapshot(commits.ledger)
    reconciled = _reconciled(ledger)
    known = known_of(ledger) | ({} if reconciled is None else reconciled.classifications)
    since = None if reconciled is None else reconciled.commit
    if since is not None and not world.store.exists(since):
        since = None
    return survey(event.repository, commits.base, since, platform, world.store, known, backend(platform), progress)


def writes(platform: Platform) -> bool:
    """Whether the config lets the bot write after a merge."""
    return platform.config.mode == "curate" and platform.config.admissions == "commit"


def _reconciled(ledger: CommitSnapshot | None) -> Reconciled | None:
    """How far the branch was reconciled; a mangled record is as good as none: what is new then needs a person."""
    try:
        return load_reconciled(ledger)
    except InputError:
        return None


def reconcile_event(
    event: Event,
    inventory: Inventory | None,
    world: World,
    github: GitHubClient,
    wait: Callable[[int], None],
    dry_run: bool,
) -> Reconciliation:
    """Make GitHub and R match the facts of ``inventory``; a lost race is left to the run of whoever won it.

    Raises :class:`OutsideError` when GitHub cannot be reached or refuses, or when the facts are not of this branch.
    """
    if inventory is None:
        if not writes(load_platform(world.store.snapshot(world.fetch(event, head=False).base))):
            return Reconciliation(operations=(), why=IDLE)
        raise OutsideError("the job that reads the eval sets did not finish: its log says why")
    for attempt in range(TRIES):
        if attempt:
            wait(attempt)
        try:
            return _reconcile(event, inventory, world, github, dry_run)
        except LostRaceError:
            continue
    raise OutsideError("other runs kept writing; run this one again")


def _reconcile(event: Event, inventory: Inventory, world: World, github: GitHubClient, dry_run: bool) -> Reconciliation:
    commits = world.fetch(event, head=False)
    if inventory.repository != event.repository or not world.store.is_ancestor(inventory.base, commits.base):
        raise OutsideError("the inventory is not of this repository's default branch")
    if inventory.base != commits.base:
        return Reconciliation(operations=(), why="the branch has moved on: the run of its newest commit reconciles")
    snapshot = world.store.snapshot(commits.base)
    platform = load_platform(snapshot)
    if not inventory.fits(platform.taxonomy):
        raise OutsideError("the inventory speaks of other capabilities than the taxonomy")
    ledger = None if commits.ledger is None else world.store.snapshot(commits.ledger)
    pulls = github.merged_pull_requests(event.default_branch)
    records = records_of(ledger)
    cases = cases_of(inventory, pulls, records)
    spoken = [case.pull_request.number for case in cases if case.pull_request is not None]
    scene = Scene(
        login=github.login,
        branch=event.default_branch,
        comments={number: github.comments(number) for number in spoken},
        merged=tuple(sorted(pull.number for pull in pulls if pull.number in records)),
        ledger=commits.ledger,
        ledger_files=_files(ledger),
        permission=cache(github.permission),
        texts=lambda path: snapshot.read(path, REVIEWED_FILES).decode("utf-8"),
        run=world.run,
    )
    plan = plan_reconcile(inventory, cases, platform, scene)
    if not dry_run:
        for operation in plan.commits:
            try:
                github.apply(None, operation, world.store.tree(commits.base))
            except LostRaceError:
                raise
            except OutsideError as error:
                fix = f"let the token push to {event.default_branch} past its rules, or set `admissions: by-hand`"
                raise OutsideError(f"{error}; {fix}") from None
        for number, operations in plan.spoken:
            for operation in operations:
                github.apply(number, operation)
        tree = None if commits.ledger is None else world.store.tree(commits.ledger)
        for operation in plan.ledger:
            github.apply(None, operation, tree)
    return Reconciliation(operations=plan.operations)


def _files(ledger: CommitSnapshot | None) -> dict[str, str]:
    if ledger is None:
        return {}
    paths = [RECONCILED, *ledger.paths(FOLDER)]
    present = [path for path in paths if ledger.exists(path)]
    return {path: ledger.read(path, REVIEWED_FILES).decode("utf-8", "replace") for path in present}
