"""What the ledger of a clone says: events, releases, refusals, scores and calibration, as commands at hand read it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from incumbent.classifier.model import Identity
from incumbent.curator.store import RegressionSet
from incumbent.curator.suggestions import Suggestions, suggest
from incumbent.errors import InputError, Problem
from incumbent.files.snapshot import WorkingTree
from incumbent.ledger.event_files import RecordedEvents, load_events
from incumbent.ledger.events import LedgerEvent
from incumbent.ledger.keys import classifier_key
from incumbent.ledger.migrated import capabilities_in, migrated_events
from incumbent.ledger.model import BRANCH, FOLDER_RECORDS, REQUESTS, SUGGESTIONS, RequestRecord, SuggestionRecord
from incumbent.ledger.refusals import standing_refusals
from incumbent.ledger.releases.ledger_records import load_releases
from incumbent.ledger.releases.record import ReleaseRecord
from incumbent.ledger.store import LocalLedger, if_readable, load, load_classifications, load_folder, open_ledger
from incumbent.taxonomy.config import Curation
from incumbent.taxonomy.loading import load_taxonomy
from incumbent.taxonomy.migration import comparable_since, lineage
from incumbent.taxonomy.model import Taxonomy

if TYPE_CHECKING:
    from incumbent.ledger.calibration.calibrate import CalibrationFinding

Said = TypeVar("Said")


class FromLedger(NamedTuple, Generic[Said]):
    """What the ledger of a clone says.

    ``problems`` are what cannot be read of it; ``without`` says why there is no ledger, if so.
    """

    output: Said
    problems: tuple[Problem, ...]
    without: str | None


def recorded_events(repo: Path) -> RecordedEvents | str:
    """The events of the ledger of the clone that contains ``repo``, or why there are none.

    They are under the ids of the taxonomy of now, and as they were where that cannot be read.
    """
    with ExitStack() as stack:
        found = open_ledger(repo, stack)
        if isinstance(found, str):
            return found
        recorded = load_events(found.snapshot)
        return RecordedEvents(_carried(recorded.events, repo, found), recorded.problems)


def _carried(events: tuple[LedgerEvent, ...], repo: Path, ledger: LocalLedger) -> tuple[LedgerEvent, ...]:
    try:
        taxonomy = load_taxonomy(WorkingTree(repo))
    except InputError:
        return events
    return migrated_events(events, lineage(taxonomy, capabilities_in(events), ledger.previous_taxonomies))


def calibration_finding(
    repo: Path, taxonomy: Taxonomy, config: Curation, config_path: str, identity: Identity | None
) -> FromLedger[CalibrationFinding]:
    """What the answers on the ledger say about the knobs of ``config``, at ``config_path``.

    ``identity`` is that of the set's classifier.  Past states of the set and its config are read from the clone's
    commits.
    """
    # What only counts answers does without them.
    from incumbent.ledger.calibration.calibrate import find
    from incumbent.ledger.calibration.replay import reader

    with ExitStack() as stack:
        found = open_ledger(repo, stack)
        ledger, without = (None, found) if isinstance(found, str) else (found, None)
        recorded = load_events(None if ledger is None else ledger.snapshot)
        previous = tuple if ledger is None else cache(ledger.previous_taxonomies)
        descent = lineage(taxonomy, capabilities_in(recorded.events), previous)
        open_commit = (lambda _: None) if ledger is None else ledger.open_commit
        finding = find(
            migrated_events(recorded.events, descent),
            reader(open_commit, config, config_path, descent),
            config,
            {name: item.group for name, item in taxonomy.by_id.items()},
            None if identity is None else classifier_key(identity),
            comparable_since(taxonomy, previous),
        )
    return FromLedger(finding, recorded.problems, without)


def recorded_releases(repo: Path, last: int) -> FromLedger[tuple[ReleaseRecord, ...]]:
    """The ``last`` records of releases on the ledger."""
    with ExitStack() as stack:
        ledger = open_ledger(repo, stack)
        if isinstance(ledger, str):
            return FromLedger((), (), ledger)
        return FromLedger(*load_releases(ledger.snapshot, last), None)


def recorded_scores(repo: Path, taxonomy: Taxonomy) -> list[Mapping[str, float]]:
    """The scores of the undecided queries of the default branch, as far as the ledger has their classifications under
    the ``taxonomy`` of now.
    """
    with ExitStack() as stack:
        ledger = open_ledger(repo, stack)
        if isinstance(ledger, str):
            return []
        found = []
        for path in ledger.snapshot.paths(FOLDER_RECORDS):
            folder = if_readable(partial(load_folder, ledger.snapshot, path))
            known = {} if folder is None else {**folder.classifications, **load_classifications(ledger.snapshot, path)}
            found += [item for _, item in sorted(known.items()) if item.fits(taxonomy.by_id)]
    return [{name: said.confidence for name, said in item.judgements.items() if said.value} for item in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalRefusals:
    """The digests of ``grounds`` that people refused or keep, or why these are ``unknown``, in words."""

    grounds: frozenset[str] = frozenset()
    unknown: str | None = None

    def suggestions(
        self, known: RegressionSet, taxonomy: Taxonomy, config: Curation, within: Collection[str] | None = None
    ) -> Suggestions:
        """What could go from the set ``known``, and swaps, without what people refused.

        ``within``: swaps admit only these, as if no others waited.
        """
        return suggest(known, taxonomy, config, refused=self.grounds, within=within)

    def left_out(self, found: Suggestions) -> int | None:
        """How many suggestions ``found`` leaves out since people refused them; ``None``: that is not known."""
        return None if self.unknown is not None else len(found.refused & self.grounds)


def refused_in(repo: Path) -> LocalRefusals:
    """What people refused or keep, by the ledger of the clone that contains ``repo``.

    GitHub is not asked whether the refusals still stand: `git fetch` brings what the last run knew.
    """
    with ExitStack() as stack:
        ledger = open_ledger(repo, stack)
        if isinstance(ledger, str):
            return LocalRefusals(unknown=ledger)
        try:
            record = load(ledger.snapshot, SUGGESTIONS, SuggestionRecord) or SuggestionRecord()
            requests = load(ledger.snapshot, REQUESTS, RequestRecord)
        except InputError:
            return LocalRefusals(unknown=f"the branch {BRANCH} has files that cannot be read")
    return LocalRefusals(grounds=frozenset(standing_refusals(record, requests)))
