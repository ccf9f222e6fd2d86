"""What a merge would change, for a page, from the facts and the judgement of a pull request (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from incumbent.curator.entry import Tombstone
from incumbent.curator.store import RegressionSet, entry_path, tombstone_path, waiting_path
from incumbent.github.facts import Analysis, ChangedEntryFile
from incumbent.github.judgement import ReviewJudgement
from incumbent.site.comparison import MergeComparison


def comparison_of(analysis: Analysis, judgement: ReviewJudgement) -> MergeComparison:
    """What the page of a pull request shows: nothing but what its facts and the reviewed files say.

    The judgement's platform is that of the base.  Entries that the head removes are gone after the merge; what it adds
    or changes by hand is in no document, and is counted as unread.
    """
    platform = judgement.platform
    known, unread = _without_removed(platform.regression_set, analysis.judged.set_changes)
    return MergeComparison(
        name=analysis.repository,
        base=analysis.judged.base,
        head=analysis.judged.head,
        at=analysis.at,
        before=platform,
        after=replace(platform, regression_set=known),
        review=judgement.review,
        unread=unread,
        departure=judgement.departure,
        impact=analysis.impact,
        problems=analysis.judged.problems,
        held=analysis.held,
    )


def _without_removed(
    known: RegressionSet, changes: Sequence[ChangedEntryFile]
) -> tuple[RegressionSet, tuple[str, ...]]:
    """``known`` without the entries whose files ``changes`` remove, and the files whose contents are not known."""
    gone = {
        path
        for item in changes
        for path in (item.file.path if item.file.kind == "deleted" else None, item.file.before)
        if path is not None
    }
    buried = {item.eviction.entry: item.eviction.evicted for item in changes if item.eviction is not None}
    unread = tuple(
        item.file.path
        for item in changes
        if item.file.kind != "deleted" and item.eviction is None and item.file.path.endswith((".yaml", ".yml"))
    )

    entries = {id: entry for id, entry in known.entries.items() if entry_path(id) not in gone}
    waiting = {id: entry for id, entry in known.waiting.items() if waiting_path(id) not in gone}
    tombstones = {id: item for id, item in known.tombstones.items() if tombstone_path(id) not in gone}
    for id, evicted in buried.items():
        entry = known.entries.get(id) or known.waiting.get(id)
        if entry is not None and id not in entries and id not in waiting:
            tombstones[id] = Tombstone(id=id, evicted=evicted, restore=f"incumbent restore {id}", entry=entry)
    return replace(known, entries=entries, waiting=waiting, tombstones=tombstones), unread
