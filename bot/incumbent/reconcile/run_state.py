"""The default branch and the ledger as a run finds them, and what its stages hand on to one another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from incumbent.files.git import CommitSnapshot
from incumbent.github.client import GitHubClient
from incumbent.github.decisions import NOTHING_RECORDED, RecordedCorrections
from incumbent.github.events import Event
from incumbent.github.git_state import World, folders_of, reconciled_of, rejections_of, suggestions_of
from incumbent.github.models import Operation, PullRequest
from incumbent.ledger.model import (
    QUARANTINES,
    FolderRecord,
    LeftQuery,
    QuarantineRecord,
    Reconciled,
    Rejection,
    Request,
    SuggestionRecord,
    folder_path,
)
from incumbent.ledger.releases.history import EntryHistory, histories
from incumbent.ledger.releases.ledger_records import load_releases
from incumbent.ledger.releases.record import ReleaseRecord
from incumbent.ledger.store import readable
from incumbent.pipeline.review import Platform
from incumbent.reconcile.admission_pull_request import AdmissionOffer
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.quarantine_plan import QuarantineStatus
from incumbent.taxonomy.config import REVIEWED_FILES


@dataclass(frozen=True, kw_only=True)
class StageResult:
    """What stages hand on: ``requests`` of curators that stand, and the ``offer`` that people are asked to merge.

    ``noted`` is the commit up to which changes of the set by hand were noted, ``quarantines`` what becomes of offers
    of quarantine.
    """

    requests: tuple[Request, ...] = ()
    offer: AdmissionOffer | None = None
    noted: str | None = None
    quarantines: tuple[QuarantineStatus, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Staged:
    """What a stage would write: operations in order, each with the number of the pull request that it is on, if any.

    ``carried`` is what it hands on to the stages after it.
    """

    writes: tuple[tuple[int | None, Operation], ...] = ()
    carried: StageResult


@dataclass(frozen=True, kw_only=True)
class RunState:
    """The default branch and the ledger as they are now, with the edges to the world.

    ``commit`` is the branch's; the inventory's facts hold for it.  In a ``dry_run`` nothing is written.
    ``written`` is what this run has done so far, ``spoken`` are the pull requests on which it commented, ``barred``
    the branches for which GitHub let it open no pull request; ``corrections`` is what is recorded of the texts that
    are here, and the ``platform`` has those that stand; ``refused`` tells that the default branch took no commits
    of ours; ``carried`` is what the stages before hand on.
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
    refused: bool
    carried: StageResult
    corrections: RecordedCorrections = NOTHING_RECORDED

    def read(self, path: str) -> str:
        """The text of a file of the branch."""
        return self.snapshot.read(path, REVIEWED_FILES).decode("utf-8")

    @property
    def offering(self) -> bool:
        """Whether what enters is offered in a pull request, by the config or since the branch takes no commits."""
        return self.platform.config.admissions == "pull-request" or self.refused

    @cached_property
    def suggestions(self) -> SuggestionRecord:
        """What the ledger says of our pull requests."""
        return suggestions_of(self.ledger)

    @cached_property
    def quarantines(self) -> QuarantineRecord:
        """What the ledger says of our offers of quarantine; nothing if that cannot be read."""
        return readable(self.ledger, QUARANTINES, QuarantineRecord) or QuarantineRecord()

    @cached_property
    def reconciled(self) -> Reconciled | None:
        """How far the branch was reconciled, with what was left outside of folders that were read or are gone."""
        found = reconciled_of(self.ledger)
        if found is None:
            return None
        left = {entry: item for each in self.folders.values() if each is not None for entry, item in each.left.items()}
        return found.model_copy(update={"left": {**found.left, **left}})

    @cached_property
    def folders(self) -> dict[str, FolderRecord | None]:
        """Path → what is known of a folder that was read or is gone."""
        kept = {folder_path(folder) for folder in (*self.inventory.unchanged, *self.inventory.unread)}
        return folders_of(self.ledger, kept)

    @cached_property
    def rejections(self) -> tuple[Rejection, ...]:
        """What curators rejected on pull requests that were merged since."""
        return rejections_of(self.ledger)

    @property
    def left(self) -> Mapping[str, LeftQuery]:
        """What was merged and did not enter, of folders that were read."""
        return {} if self.reconciled is None else self.reconciled.left

    @cached_property
    def releases(self) -> tuple[ReleaseRecord, ...]:
        """The last releases whose results the ledger has, oldest first; what cannot be read says nothing."""
        return load_releases(self.ledger, self.platform.config.results.window)[0]

    @cached_property
    def histories(self) -> Mapping[str, EntryHistory]:
        """What these releases say of the entries of R; nothing if there are none."""
        known, settings = self.platform.regression_set.entries, self.platform.config.results
        return histories(known, self.releases, settings) if self.releases else {}

    def open_pull_requests(self) -> tuple[PullRequest, ...]:
        """Asks GitHub for the pull requests to the branch that are open."""
        return self.github.open_pull_requests(self.event.default_branch)


Stage: TypeAlias = Callable[[RunState], Staged]
