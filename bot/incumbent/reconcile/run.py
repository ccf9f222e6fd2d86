"""Reconcile: the facts of the default branch in, commits, words, suggestions and the ledger out.

Each stage is read, planned and applied until nothing is left to do.  What was read holds for the next stage until
something is written: a plan that rests on less than what is there by now is not carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from incumbent.classifier.caching_backend import learnt_by, recall
from incumbent.classifier.corrections import merged
from incumbent.classifier.model import Progress
from incumbent.curator.store import load_regression_set
from incumbent.errors import InputError, OutsideError
from incumbent.files.git import CommitSnapshot
from incumbent.files.snapshot import Overlay
from incumbent.github.check import post_check
from incumbent.github.client import TRIES, GitHubClient, LostRaceError, ProtectedBranchError, RefusedError
from incumbent.github.co_authors import bringing
from incumbent.github.decisions import CommentLookup, RecordedCorrections, differing, look_up
from incumbent.github.events import Event
from incumbent.github.facts import Absence, StoppedFacts
from incumbent.github.fitted_models import OpenBackend
from incumbent.github.git_state import (
    Commits,
    World,
    abilities_of,
    comment_lookup,
    corrections_of,
    models_of,
    raised_of,
    text_of,
)
from incumbent.github.models import CreateComment, OpenPullRequest, Operation, PushBranch, PushCommits, WriteLedger
from incumbent.github.publication import Publication, apply_all
from incumbent.ledger.events import SET_EVENTS
from incumbent.pipeline.review import Platform, load_platform
from incumbent.pipeline.workspace import with_masks, with_results
from incumbent.reconcile.confirmed import confirmed, past_of, with_unverified
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.inventory_job import survey
from incumbent.reconcile.requests import as_ticked
from incumbent.reconcile.run_state import RunState, Stage, StageResult
from incumbent.reconcile.stages import (
    admit_merged,
    confirm_evictions,
    forget_requests,
    note_changes_by_hand,
    offer_quarantines,
    raise_candidates,
    read_requests,
    record_ticks,
    suggest_changes,
)
from incumbent.taxonomy.history import History
from incumbent.text.compare import text_key

ROUNDS = 6
"""How often a stage may find something to write before something must be wrong."""
STAGES: tuple[Stage, ...] = (
    record_ticks,
    read_requests,
    admit_merged,
    forget_requests,
    confirm_evictions,
    note_changes_by_hand,
    raise_candidates,
    offer_quarantines,
    suggest_changes,
)
OBSERVING = "`mode: observe`: after a merge nothing is written"
_RESTS_ON = ("eval_sets/", "taxonomy/", "config/")


class _PlanAgainError(Exception):
    """What was planned cannot be done, and there is another way to it."""


class _MovedOnError(Exception):
    """The default branch is not what the inventory speaks of any more."""


def survey_event(event: Event, world: World, backend: OpenBackend, progress: Progress) -> Inventory | str:
    """The facts of the default branch as it is now, or why none are needed.

    Raises :class:`InputError` for faults of the reviewed files.
    """
    commits = world.fetch(event, head=False)
    platform = with_masks(load_platform(world.store.snapshot(commits.base)))
    ledger = None if commits.ledger is None else world.store.snapshot(commits.ledger)
    # Pull requests need a recorded model in any mode, and this run finds out whether there is one.
    opened = backend(platform, models_of(ledger), "default-branch")
    if platform.config.mode == "observe":
        return OBSERVING
    # What a pull request's job said of a query does not count: it is classified again, from the merged files alone.
    past = past_of(ledger, {})
    raised = tuple(raised_of(ledger).raised.values()) if event.seeks else None
    platform = with_unverified(platform, past, world.store, commits.base)
    asked = recall(opened, abilities_of(ledger, world.clock()).endpoints)
    inventory = survey(
        event.repository,
        commits.base,
        past,
        platform,
        world.store,
        asked,
        progress,
        all_folders=event.seeks,
        raised=raised,
    )
    work = inventory.work.model_copy(update={"abilities": learnt_by([asked])})
    return inventory.model_copy(update={"work": work})


def reconcile_event(
    event: Event,
    inventory: Inventory | None,
    world: World,
    github: GitHubClient,
    wait: Callable[[int], None],
    dry_run: bool,
    absence: Absence = "unfinished",
) -> Publication:
    """Make GitHub and R match the facts of ``inventory``; a lost race is read and planned again.

    ``absence`` is why there is none, if there is none.  Raises :class:`OutsideError` when GitHub cannot be reached or
    refuses, or when the facts are not of this branch.
    """
    if inventory is None:
        platform = load_platform(world.store.snapshot(world.fetch(event, head=False).base))
        if platform.config.mode == "observe":
            return _observe(event, github, dry_run)
        if absence == "other-version":
            raise OutsideError("the first job ran with another version of Incumbent: run all jobs again")
        raise OutsideError("the job that reads the eval sets did not finish: its log says why")
    run = _Run(event, inventory, world, github, wait, dry_run)
    try:
        for stage in STAGES:
            run.until_nothing_is_left(stage)
    except _MovedOnError as error:
        return Publication(operations=tuple(run.written), why=str(error))
    return Publication(operations=tuple(run.written), incomplete=run.incomplete)


def _observe(event: Event, github: GitHubClient, dry_run: bool) -> Publication:
    """A required check passes on pull requests from branches of ours, too."""
    operations: list[Operation] = []
    if event.head is not None:
        operations = post_check(event.head, "success", "Only observed", OBSERVING, github.check(event.head))
    apply_all(operations, github, dry_run)
    return Publication(operations=tuple(operations), why=OBSERVING)


class _Run:
    """One run through the stages, and what it has written so far."""

    def __init__(
        self,
        event: Event,
        inventory: Inventory,
        world: World,
        github: GitHubClient,
        wait: Callable[[int], None],
        dry_run: bool,
    ) -> None:
        self.written: list[Operation] = []
        self._event, self._inventory, self._world, self._github = event, inventory, world, github
        self._wait, self._dry_run = wait, dry_run
        self._spoken: set[int] = set()
        self._barred: set[str] = set()
        self._refused = False
        self._carried = StageResult()
        self._confirmed: Inventory | None = None
        self._bases: dict[str, tuple[Platform, Inventory]] = {}
        self._read: RunState | None = None
        self._commits: Commits | None = None
        self._lookups: CommentLookup | None = None

    @property
    def incomplete(self) -> StoppedFacts | None:
        """Why not every query that is not settled has a verdict, if any has none."""
        return None if self._confirmed is None else self._confirmed.incomplete

    def until_nothing_is_left(self, stage: Stage) -> None:
        """Plan ``stage`` and write, as often as there is something to write."""
        lost = 0
        for _ in range(ROUNDS + TRIES):
            if lost == TRIES:
                raise OutsideError("other runs kept writing; run this one again")
            tip = self._tip(on_facts=stage is not record_ticks)
            staged = stage(tip)
            planned = staged.writes
            if self._dry_run or not planned:
                self.written += [operation for _, operation in planned]
                self._carried = staged.carried
                self._read = tip if stage is not record_ticks or self._event.ticks is None else None
                return
            self._read = None
            try:
                self._still(tip)
                for number, operation in planned:
                    self._apply(number, operation, tip)
            except LostRaceError:
                self._commits = None
                lost += 1
                self._wait(lost)
            except _PlanAgainError:
                continue
        raise OutsideError("what is written does not stay; run `incumbent doctor`, and report this if it finds nothing")

    def _still(self, tip: RunState) -> None:
        """Raise :class:`LostRaceError` where the branches moved while the plan was made.

        What was read of GitHub may be newer then than what was read of them, and no reply can be taken back.
        """
        commits = self._world.fetch(self._event, head=False)
        if (commits.base, commits.ledger) != (tip.commit, tip.ledger_commit):
            raise LostRaceError("another run wrote meanwhile")

    def _apply(self, number: int | None, operation: Operation, tip: RunState) -> None:
        try:
            self._commits = _apply(number, operation, tip, self._commits)
        except RefusedError:
            if not isinstance(operation, OpenPullRequest):
                raise
            # People can: the dashboard shows them where.
            self._barred.add(operation.branch)
            return
        except ProtectedBranchError as error:
            if not isinstance(operation, PushCommits) or self._refused:
                raise
            self._refused = True
            raise _PlanAgainError from error
        if isinstance(operation, CreateComment) and number is not None:
            self._spoken.add(number)
        self.written.append(operation)

    def _tip(self, *, on_facts: bool) -> RunState:
        """The default branch and the ledger, on which the facts still hold; read anew once something was written.

        After a write that tells what they are now they are not fetched: :meth:`_still` does that before the next one.
        What somebody ticked rests on no facts (``on_facts``), and only this run knows of it.
        """
        if self._read is not None and on_facts:
            return replace(self._read, written=tuple(self.written), carried=self._carried)
        event, world = self._event, self._world
        commits = self._commits or world.fetch(event, head=False, files=(SET_EVENTS,))
        self._commits = commits
        if on_facts:
            self._refuse_other_facts(commits.base)
        snapshot = world.store.snapshot(commits.base)
        ledger = None if commits.ledger is None else world.store.snapshot(commits.ledger)
        if commits.base not in self._bases:
            platform = with_masks(load_platform(snapshot))
            if self._confirmed is None:
                self._confirmed = confirmed(
                    self._inventory,
                    platform,
                    world.configured(platform),
                    world.store,
                    commits.base,
                    ledger,
                    all_folders=event.seeks,
                )
            self._bases[commits.base] = platform, self._confirmed.as_in(platform.regression_set)
        platform, inventory = self._bases[commits.base]
        events = text_of(ledger, SET_EVENTS)
        corrections = self._corrections(inventory, platform, ledger, commits.base)
        corrected = merged(platform.taxonomy, [platform.corrections, corrections.stands])
        return RunState(
            event=event,
            inventory=inventory,
            commit=commits.base,
            snapshot=snapshot,
            platform=with_results(replace(platform, corrections=corrected), ledger),
            ledger_commit=commits.ledger,
            ledger=ledger,
            world=world,
            github=self._github.reading(partial(as_ticked, login=self._github.login, events=events)),
            dry_run=self._dry_run,
            written=tuple(self.written),
            spoken=frozenset(self._spoken),
            barred=frozenset(self._barred),
            refused=self._refused,
            carried=self._carried,
            corrections=corrections,
        )

    def _refuse_other_facts(self, commit: str) -> None:
        """Raise :class:`OutsideError` if the facts are not of the default branch, at ``commit`` now.

        Raise :class:`_MovedOnError` if they do not hold there any more.
        """
        inventory, store = self._inventory, self._world.store
        if inventory.repository != self._event.repository:
            raise OutsideError("the inventory is not of this repository's default branch")
        if inventory.base == commit:
            return
        if not store.is_ancestor(inventory.base, commit):
            raise OutsideError("the inventory is not of this repository's default branch")
        # Our own commits move the branch too: facts of eval sets outlive what changes only the regression set.
        changes = store.changes(inventory.base, commit)
        if any(path.startswith(_RESTS_ON) for item in changes for path in (item.path, item.before or "")):
            raise _MovedOnError("the branch has moved on: the run of its newest commit reconciles")

    def _corrections(
        self, inventory: Inventory, platform: Platform, ledger: CommitSnapshot | None, commit: str
    ) -> RecordedCorrections:
        """What curators corrected of the texts that are not settled, and of entries that do not say so yet."""
        record = corrections_of(ledger)
        if not record.texts:
            return RecordedCorrections(record=record)
        if self._lookups is None:
            self._lookups = comment_lookup(self._github, platform.config.curators)
        known = platform.regression_set
        entries = [*known.entries.values(), *known.waiting.values()]
        texts = {
            text_key(item.query.turns) for facts in inventory.submissions for item in facts.queries if not item.settled
        }
        texts |= differing(record, ((text_key(entry.turns), entry.classified.corrected) for entry in entries))
        turns = [item.query.turns for facts in inventory.submissions for item in facts.queries]
        turns += [entry.turns for entry in entries]
        lookups = replace(self._lookups, elsewhere=bringing(turns, texts & record.texts.keys(), ledger, self._github))
        return look_up(record, texts, platform.taxonomy, History(self._world.store, commit).all, lookups)


def _read_back(files: Mapping[str, str | None], tip: RunState) -> None:
    """Read the regression set as ``files`` would make it: nobody could work with one that is not whole.

    Raises :class:`OutsideError`, so that nothing is written.
    """
    try:
        load_regression_set(Overlay(tip.snapshot, files), tip.platform.taxonomy)
    except InputError as error:
        raise OutsideError(f"what would be written could not be read again, so nothing is: {error}") from None


def _apply(number: int | None, operation: Operation, tip: RunState, known: Commits | None) -> Commits | None:
    """Carry ``operation`` out, with the tree that its commits start from.

    Returns what becomes of the ``known`` commits by it; ``None`` if they must be fetched to know.
    """
    match operation:
        case PushCommits(branch=branch, parent=parent, commits=commits):
            _read_back({path: text for commit in commits for path, text in commit.files}, tip)
            try:
                tip.github.apply(number, operation, tip.world.store.tree(parent))
            except (LostRaceError, ProtectedBranchError):
                raise
            except OutsideError as error:
                fix = f"let the token push to {branch} past its rules, or set `admissions: pull-request`"
                raise OutsideError(f"{error}; {fix}") from None
            return None
        case PushBranch(base=base):
            _read_back(operation.all_files, tip)
            tip.github.apply(number, operation, tip.world.store.tree(base))
        case WriteLedger(parent=ledger):
            store = tip.world.store
            operation = operation.on(None if ledger is None else store.snapshot(ledger))
            made = tip.github.apply(number, operation, None if ledger is None else store.tree(ledger))
            if made is None or not store.take_in("ledger", made.commit, made.tree, ledger, operation.files):
                return None
            return None if known is None else replace(known, ledger=made.commit)
        case _:
            tip.github.apply(number, operation)
    return known
