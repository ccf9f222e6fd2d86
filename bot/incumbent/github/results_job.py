"""The Action's step ``results``: what runners wrote is counted on the ledger of a repository on GitHub."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from incumbent.errors import OutsideError
from incumbent.github.client import TRIES, GitHubClient, LostRaceError
from incumbent.github.events import Event
from incumbent.github.git_state import World
from incumbent.github.models import WriteLedger
from incumbent.ledger.releases.ledger_records import Addition, later_than, load_release, load_releases, with_results
from incumbent.ledger.releases.record import ReleaseRecord
from incumbent.pipeline.review import Platform, load_platform
from incumbent.pipeline.workspace import with_masks
from incumbent.runners.results.reader import match_files
from incumbent.text.compare import utc


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRun:
    """A release, and what its runners wrote: content by the name of the file, and its format (``None``: by its look).

    ``commit`` is what was released, if that is known.
    """

    release: str
    commit: str | None
    files: Mapping[str, bytes]
    form: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRun:
    """What was added to the ledger, the platform there, and its last releases.

    ``commit`` is the new one of the ledger; ``None``: nothing was written.
    """

    addition: Addition
    platform: Platform
    releases: tuple[ReleaseRecord, ...]
    commit: str | None = None


def count_run(
    run: ReleaseRun, event: Event, world: World, github: GitHubClient, wait: Callable[[int], None], dry_run: bool
) -> CountedRun:
    """Count ``run`` for the entries of the default branch; what another job writes meanwhile is kept.

    Raises :class:`InputError` for faults of the files, of the platform, or of the record of this release, and
    :class:`OutsideError` if GitHub refuses, or if other jobs kept writing.
    """
    now = utc(datetime.fromtimestamp(world.clock(), UTC).isoformat())
    for attempt in range(1, TRIES + 1):
        commits = world.fetch(event, head=False)
        platform = with_masks(load_platform(world.store.snapshot(commits.base)))
        matched = match_files(run.files, run.form, platform.regression_set)
        ledger = None if commits.ledger is None else world.store.snapshot(commits.ledger)
        at = later_than(load_releases(ledger, 1)[0], now)
        new = ReleaseRecord(release=run.release, commit=run.commit, at=at)
        before = load_release(ledger, run.release) or new
        addition = with_results(before, matched)
        known, _ = load_releases(ledger, platform.config.results.window)
        releases = (*(item for item in known if item.release != run.release), addition.record)
        counted = CountedRun(addition=addition, platform=platform, releases=releases)
        if dry_run or addition.record == before:
            return counted
        tree = None if commits.ledger is None else world.store.tree(commits.ledger)
        try:
            write = WriteLedger.of(commits.ledger, addition.files, addition.message)
            made = github.write_ledger(write.on(ledger), tree)
        except LostRaceError:
            wait(attempt)
        else:
            return replace(counted, commit=made.commit)
    raise OutsideError("other jobs kept writing to the ledger; run this one again")
