"""The records of releases on the ledger branch of a clone: read, and planned from results of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from incumbent.errors import InputError, Problem
from incumbent.files.documents import parse_json
from incumbent.files.git import CommitSnapshot
from incumbent.files.snapshot import Snapshot
from incumbent.files.validation import validate
from incumbent.ledger.releases.record import (
    FOLDER,
    CaseResult,
    MatchedResults,
    ReleaseRecord,
    added,
    path_end,
    release_path,
)
from incumbent.ledger.store import record_text
from incumbent.taxonomy.config import LEDGER_FILES
from incumbent.text.compare import seconds, utc

_LAST: Final = seconds("9999-12-31T23:59:59Z")


def load_releases(
    snapshot: Snapshot | None, last: int | None = None
) -> tuple[tuple[ReleaseRecord, ...], tuple[Problem, ...]]:
    """The records of the ledger in ``snapshot``, oldest first, and the faults of those that cannot be read.

    Of many only the ``last`` ones are read.
    """
    paths = [] if snapshot is None else sorted(snapshot.paths(FOLDER))
    chosen = paths if last is None else paths[-last:]
    return _load(snapshot, chosen)


def load_release(snapshot: Snapshot | None, release: str) -> ReleaseRecord | None:
    """The record of ``release``; raises :class:`InputError` if it cannot be read."""
    paths = [] if snapshot is None else [path for path in snapshot.paths(FOLDER) if path.endswith(path_end(release))]
    records, problems = _load(snapshot, paths)
    if problems:
        raise InputError(problems)
    return next(iter(records), None)


def _load(snapshot: Snapshot | None, paths: Sequence[str]) -> tuple[tuple[ReleaseRecord, ...], tuple[Problem, ...]]:
    records: list[ReleaseRecord] = []
    problems: list[Problem] = []
    if isinstance(snapshot, CommitSnapshot):
        snapshot.prepare(paths)
    for path in () if snapshot is None else paths:
        assert snapshot is not None
        try:
            document = parse_json(snapshot.read(path, LEDGER_FILES), snapshot.name(path), LEDGER_FILES)
            records.append(validate(ReleaseRecord, document))
        except InputError as error:
            problems += error.problems
    return tuple(records), tuple(problems)


def later_than(records: Sequence[ReleaseRecord], at: str) -> str:
    """``at``, or a second after the last of ``records`` if it is not later: their times are the order of releases.

    After the last time that there is no other follows.
    """
    newest = max((seconds(record.at) for record in records), default=None)
    if newest is None or seconds(at) > newest:
        return at
    return utc(datetime.fromtimestamp(min(newest + 1, _LAST), UTC).isoformat())


@dataclass(frozen=True, kw_only=True)
class Addition:
    """The record of a release with results added: how many, and those of them that fit no entry.

    ``known`` are the digests of files that it had before, whose results are not counted again.
    """

    record: ReleaseRecord
    known: tuple[str, ...]
    results: int
    unmatched: tuple[CaseResult, ...]

    @property
    def files(self) -> dict[str, str | None]:
        """The file of the ledger to write."""
        return {release_path(self.record.release, self.record.at): record_text(self.record)}

    @property
    def message(self) -> str:
        """What the commit of the ledger says."""
        return f"Results of {' '.join(self.record.release.split())}"


def with_results(record: ReleaseRecord, matched: Mapping[str, MatchedResults]) -> Addition:
    """``record`` with results by the digest of their file; a file that it has already is not counted again."""
    new = {digest: found for digest, found in matched.items() if digest not in record.files}
    entries = dict(record.entries)
    for found in new.values():
        for id, result in found.entries.items():
            before = entries.get(id)
            # Results of an earlier text are of another test.
            same = before is not None and before.content == result.content
            entries[id] = added(before, result) if before is not None and same else result
    unmatched = tuple(result for found in new.values() for result in found.unmatched)
    return Addition(
        record=record.model_copy(
            update={
                "files": (*record.files, *new),
                "entries": dict(sorted(entries.items())),
                "unmatched": record.unmatched + len(unmatched),
            }
        ),
        known=tuple(digest for digest in matched if digest in record.files),
        results=sum(result.runs for found in new.values() for result in found.entries.values()),
        unmatched=unmatched,
    )


def forgetting(snapshot: Snapshot, release: str) -> dict[str, str | None]:
    """The files to delete so that ``release`` is forgotten, also those that cannot be read; none: it is not known."""
    return {path: None for path in sorted(snapshot.paths(FOLDER)) if path.endswith(path_end(release))}
