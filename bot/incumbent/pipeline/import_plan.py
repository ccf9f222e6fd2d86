"""Plans what an import does to the regression set: every query becomes an entry, or is one already (pure).

Unlike an admission it may exceed the ceiling: an import must not lose queries that a team runs today.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from incumbent.classifier.model import Identity
from incumbent.consolidator.cycle import run_cycle
from incumbent.consolidator.verdict import Verdict
from incumbent.curator import file_changes as changes
from incumbent.curator.entry import IMPORTED, Admitted, Entry, Imported, Source, Tombstone
from incumbent.curator.file_changes import FileChange
from incumbent.curator.staging import AuditStamp, classified_by, queued, stored
from incumbent.curator.store import RegressionSet
from incumbent.errors import InputError, Problem
from incumbent.intake.query import Query
from incumbent.intake.specification import UNDECLARED, Specification
from incumbent.pipeline.matching import settle
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import Submission
from incumbent.rater.model import ScoredQuery
from incumbent.taxonomy.model import Taxonomy

NOT_DECLARED = Imported(declared=False)


@dataclass(frozen=True, kw_only=True)
class ImportedAgent:
    """An agent's declaration, and how entries record its place; ``shown`` is the folder's name for people."""

    specification: Specification = UNDECLARED
    imported: Imported = NOT_DECLARED
    shown: str | None = None


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The place of an imported query, as its entry records it, and its specification."""

    eval_set: str
    spoken: ImportedAgent


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """The imports of one agent; ``origins`` are by query."""

    submission: Submission
    origins: Mapping[str, Origin]

    @property
    def eval_sets(self) -> tuple[str, ...]:
        """The files as entries record them, sorted."""
        return tuple(sorted({origin.eval_set for origin in self.origins.values()}))

    @property
    def specifications(self) -> tuple[str, ...]:
        """The folders of the agent's specification; none: nothing is declared."""
        return tuple(sorted({shown for item in self.origins.values() if (shown := item.spoken.shown) is not None}))

    @property
    def undeclared(self) -> int:
        """Queries that no specification speaks for."""
        return sum(item.spoken.shown is None for item in self.origins.values())


@dataclass(frozen=True, kw_only=True)
class ImportVerdicts:
    """Verdicts on the imported entries, in the cycle's order and by entry, of one cycle over them against R without
    them.

    ``origins`` gives the submission of each entry.  ``platform`` is the one before the import.
    """

    platform: Platform
    origins: Mapping[str, Submission]
    verdicts: tuple[Verdict, ...]


def appraise(
    items: Sequence[ImportItem], scored: Mapping[str, ScoredQuery], platform: Platform, identity: Identity
) -> ImportVerdicts:
    """Judge all ``items`` that are in R after the import, whether they were there before or not.

    So a repeated import gives the same verdicts.  ``scored`` are those classified now, by entry.
    """
    staying = [item for item in items if item.stays]
    own = {item.id for item in staying}
    # Doubts and familiarity are not stored in an entry, so they do not count here either.
    queries = [
        replace(scored[item.id], customer=item.submission.customer, doubts=(), familiar=True)
        for item in staying
        if item.id in scored
    ]
    queries += [
        queued(item.before, platform.taxonomy) for item in staying if item.id not in scored and item.before is not None
    ]
    residents, _ = platform.regression_set.present(platform.taxonomy, identity)
    verdicts = run_cycle(queries, [resident for resident in residents if resident.id not in own], platform.config)
    return ImportVerdicts(
        platform=platform,
        origins={item.id: item.submission for item in staying},
        verdicts=verdicts,
    )


class ImportStatus(StrEnum):
    """The result for an imported query."""

    ADDED = "added"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    EVICTED = "evicted"
    """People evicted it: an import does not reverse that silently."""
    WAITING = "waiting"
    """It is already on the waitlist, as its customer's query."""
    ARCHIVED = "archived"
    """The set can do without it: it goes into an archived eval set."""


@dataclass(frozen=True, kw_only=True)
class ImportItem:
    """An imported query, the ``id`` of its present or future entry, and that entry before the import.

    ``classify``: whether it must be classified.  Its text or its attachments are new, or it has another agent
    specification.
    """

    id: str
    query: Query
    submission: Submission
    origin: Origin
    standing: ImportStatus
    before: Entry | None = None
    classify: bool = False

    @property
    def stays(self) -> bool:
        """Whether it is in R after the import."""
        return self.standing in (ImportStatus.ADDED, ImportStatus.UPDATED, ImportStatus.UNCHANGED)


@dataclass(frozen=True, kw_only=True)
class ImportPlan:
    """The entries that an import writes, by id, the file changes for that, and R afterwards."""

    written: Mapping[str, Entry]
    file_changes: tuple[FileChange, ...]
    after: RegressionSet


def compare(bundles: Sequence[Bundle], known: RegressionSet) -> tuple[ImportItem, ...]:
    """The result for each query of ``bundles``, in their order.

    Raises :class:`InputError` for queries whose entry has another text from another source: from a customer's own eval
    set, or from another imported file.
    """
    items: list[ImportItem] = []
    problems: list[Problem] = []
    for bundle in bundles:
        submission = bundle.submission
        found = settle([submission], known)
        for query in submission.queries:
            origin = bundle.origins[query.id]
            settled = found.settled.get(query.id)
            if settled is not None:
                items.append(_settled(query, submission, origin, settled, known))
                continue
            id = found.targets[query.id]
            before = known.entries.get(id) or known.waiting.get(id)
            if before is not None and not _is_imported(before):
                message = f"its entry {id} has another text, and was not imported"
                fix = "change it in the eval set that it came from, or import the file under another --agent"
                problems.append(Problem(query.file, query.line, message, fix))
                continue
            if before is not None and before.source is not None and before.source.eval_set != origin.eval_set:
                message = f"its entry {id} has another text, and was imported from {before.source.eval_set}"
                fix = (
                    "import both files at once, which tells their ids apart, or this one under another --agent; "
                    "a file that was renamed is imported once before its texts change"
                )
                problems.append(Problem(query.file, query.line, message, fix))
                continue
            items.append(
                ImportItem(
                    id=id,
                    query=query,
                    submission=submission,
                    origin=origin,
                    standing=ImportStatus.UPDATED if id in known.entries else ImportStatus.ADDED,
                    before=known.entries.get(id),
                    classify=True,
                )
            )
    if problems:
        raise InputError(problems)
    return tuple(items)


def gone(bundles: Sequence[Bundle], items: Sequence[ImportItem], known: RegressionSet) -> tuple[str, ...]:
    """The entries in R that were imported from the files of ``bundles`` and are no longer in them; sorted."""
    present = {item.id for item in items}
    agents = {(bundle.submission.customer, bundle.submission.agent): set(bundle.eval_sets) for bundle in bundles}
    return tuple(
        sorted(
            id
            for id, entry in known.entries.items()
            if id not in present
            and entry.source is not None
            and entry.source.imported is not None
            and entry.source.eval_set in agents.get(entry.source.place[:2], ())
        )
    )


def plan_import(
    items: Sequence[ImportItem],
    scored: Mapping[str, ScoredQuery],
    known: RegressionSet,
    texts: Mapping[str, str],
    taxonomy: Taxonomy,
    identity: Identity,
    occasion: AuditStamp,
    corrected: Mapping[str, Mapping[str, bool]] = MappingProxyType({}),
) -> ImportPlan:
    """The entries of ``items``.

    ``scored``, the values that curators ``corrected``, and ``texts`` (the files of entries that change) are by entry.
    """
    written: dict[str, Entry] = {}
    planned: list[FileChange] = []
    for item in items:
        if item.standing not in (ImportStatus.ADDED, ImportStatus.UPDATED):
            continue
        entry = _entry(item, scored.get(item.id), corrected.get(item.id, {}), taxonomy, identity, occasion)
        written[item.id] = entry
        planned.append(changes.admit(entry, texts.get(item.id)))
        if item.id in known.waiting:
            planned.append(changes.stop_waiting(item.id))
        if item.id in known.tombstones:
            planned.append(changes.forget(item.id))
    entries = {**known.entries, **written}
    after = replace(
        known,
        entries={id: entries[id] for id in sorted(entries)},
        waiting={id: entry for id, entry in known.waiting.items() if id not in written},
        tombstones={id: tombstone for id, tombstone in known.tombstones.items() if id not in written},
    )
    return ImportPlan(written=written, file_changes=tuple(planned), after=after)


def _settled(
    query: Query, submission: Submission, origin: Origin, settled: Entry | Tombstone, known: RegressionSet
) -> ImportItem:
    """The item of a query whose text is known: only its attachments, expectations or specification may be new."""
    standing, before, classify = ImportStatus.UNCHANGED, None, False
    if isinstance(settled, Tombstone):
        standing = ImportStatus.EVICTED
    elif settled.id not in known.entries:
        standing = ImportStatus.WAITING
    else:
        before = settled
        if settled.source is not None and settled.source.imported is not None:
            attached = settled.setup.attachments != query.setup.attachments
            classify = attached or settled.source.imported != origin.spoken.imported
            if not _same(settled, settled.source, query, submission, origin):
                standing = ImportStatus.UPDATED
    return ImportItem(
        id=settled.id,
        query=query,
        submission=submission,
        origin=origin,
        standing=standing,
        before=before,
        classify=classify,
    )


def _is_imported(entry: Entry) -> bool:
    return entry.source is not None and entry.source.imported is not None


def _source(query: Query, submission: Submission, origin: Origin, commit: str | None) -> Source:
    customer, agent, item = submission.source(query.id)
    imported = origin.spoken.imported
    return Source(customer=customer, agent=agent, eval_set=origin.eval_set, item=item, commit=commit, imported=imported)


def _same(entry: Entry, source: Source, query: Query, submission: Submission, origin: Origin) -> bool:
    """Whether ``entry`` already has all that the import would write, whichever commit it was imported at."""
    return (
        source == _source(query, submission, origin, source.commit)
        and entry.setup == query.setup
        # Compared as in files: there 1 and 1.0 differ, and NaN equals itself.
        and json.dumps(entry.expected) == json.dumps(query.expected)
    )


def _entry(
    item: ImportItem,
    scored: ScoredQuery | None,
    corrected: Mapping[str, bool],
    taxonomy: Taxonomy,
    identity: Identity,
    occasion: AuditStamp,
) -> Entry:
    before, query = item.before, item.query
    source = _source(query, item.submission, item.origin, occasion.commit)
    facts: dict[str, object] = {"source": source, "expected": query.expected, "setup": query.setup}
    if scored is not None:
        scores = stored(scored.scores)
        classified = classified_by(identity, taxonomy, tuple(scores), corrected)
        by_rule = tuple(sorted(scored.by_rule))
        facts |= {"turns": query.turns, "scores": scores, "by_rule": by_rule, "classified": classified}
    if before is not None:
        return before.model_copy(update=facts)
    admitted = Admitted(
        at=occasion.at, decision="INCLUDE", route="review", reasons=(IMPORTED,), by=occasion.by or "a person"
    )
    return Entry.model_validate({"id": item.id, "admitted": admitted, **facts})
