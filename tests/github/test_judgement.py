"""Changes of the set by hand that are what the bot would write: these, and no others, pass by themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from incumbent.curator import file_changes as changes
from incumbent.curator.entry import Entry, Evicted, Tombstone
from incumbent.curator.file_changes import FileChange
from incumbent.curator.roles import EvictionKind
from incumbent.curator.staging import restoration
from incumbent.curator.store import RegressionSet
from incumbent.curator.suggestions import evicted_on, suggest
from incumbent.files.git import ChangedFile, blob_id
from incumbent.github.check import result_of
from incumbent.github.command_processing import CommandOutcome, Read
from incumbent.github.facts import Analysis, ChangedEntryFile, EvictionFacts
from incumbent.github.judgement import RefusedEviction, evicted_by_hand, judge_facts, without_derived
from incumbent.github.notices import notices_of
from incumbent.ledger.model import PullRequestRecord
from incumbent.pipeline.review import Platform
from tests.factories import make_config, make_entry, make_taxonomy
from tests.github.scenes import make_analysis

BEST = (make_entry("best1", {"a": 0.9, "b": 0.9}), make_entry("best2", {"a": 0.8, "b": 0.8}))
SPARE = make_entry("spare", {"a": 0.6, "b": 0.6})
GONE = make_entry("gone", {"a": 0.7})
LOST = make_entry("lost", {"b": 0.7})


def buried(entry: Entry) -> Tombstone:
    """The tombstone of ``entry``, which went on grounds that it names."""
    grounds: dict[str, Any] = {"kind": "redundant", "yields_to": [], "digest": "0123456789abcdef"}
    evicted = Evicted(at="2026-10-01T00:00:00Z", by="cora", reason="redundant", grounds=grounds)
    return Tombstone(id=entry.id, evicted=evicted, restore=f"incumbent restore {entry.id}", entry=entry)


def make_platform(*gone: Entry, ceiling: int = 9) -> Platform:
    """A set of three, in which one entry is redundant."""
    known = RegressionSet({item.id: item for item in (*BEST, SPARE)}, {}, {item.id: buried(item) for item in gone})
    config = make_config(redundancy_floor=1, ceiling=ceiling)
    return Platform(taxonomy=make_taxonomy("a", "b"), config=config, regression_set=known)


def change_of(
    item: FileChange, known: RegressionSet, eviction: EvictionFacts | None = None, **more: Any
) -> ChangedEntryFile:
    """``item`` as the facts of a head tell it."""
    present = {id: known.entries[id] for id in known.entries if item.path == f"regression_set/{id}.yaml"}
    kind = "deleted" if item.content is None else "modified" if present else "added"
    after = None if item.content is None else blob_id(item.content)
    file = ChangedFile(**{"path": item.path, "kind": kind, "object_after": after} | more)
    return ChangedEntryFile(file=file, buried=True, eviction=eviction)


def head_with(platform: Platform, *planned: FileChange, **more: Any) -> Analysis:
    return make_analysis((), set_changes=[change_of(item, platform.regression_set, **more) for item in planned])


def left(analysis: Analysis, platform: Platform) -> list[str]:
    return [item.file.path for item in without_derived(analysis.judged, platform).set_changes]


def evicting(platform: Platform, id: str, evicted: Evicted | None = None) -> Analysis:
    """A head that evicts ``id`` as the command line does, on the grounds of the suggestion unless told otherwise."""
    found = {item.id: item for item in suggest(platform.regression_set, platform.taxonomy, platform.config).evictions}
    said = evicted or evicted_on(found[id].grounds)
    grave, entry = changes.evict(platform.regression_set.entries[id], said)
    evicted_by = EvictionFacts(entry=id, evicted=said)
    known = platform.regression_set
    return make_analysis((), set_changes=[change_of(grave, known, eviction=evicted_by), change_of(entry, known)])


def test_an_entry_that_is_restored_to_the_byte_passes() -> None:
    platform = make_platform(GONE)
    analysis = head_with(platform, *restoration(platform.regression_set.tombstones["gone"], full=False).file_changes)
    assert len(analysis.judged.set_changes) == 2
    assert left(analysis, platform) == []


def test_a_restoration_that_git_shows_as_a_rename_passes() -> None:
    platform = make_platform(GONE)
    entry, grave = restoration(platform.regression_set.tombstones["gone"], full=False).file_changes
    moved = change_of(entry, platform.regression_set, kind="renamed", before=grave.path)
    assert left(make_analysis((), set_changes=[moved]), platform) == []


def test_one_letter_more_is_a_change_by_hand() -> None:
    platform = make_platform(GONE)
    entry, grave = restoration(platform.regression_set.tombstones["gone"], full=False).file_changes
    analysis = head_with(platform, FileChange(entry.path, f"{entry.content}# a remark\n"), grave)
    assert without_derived(analysis.judged, platform) is analysis.judged


def test_half_of_a_restoration_is_a_change_by_hand() -> None:
    platform = make_platform(GONE)
    entry, _ = restoration(platform.regression_set.tombstones["gone"], full=False).file_changes
    analysis = head_with(platform, entry)
    assert without_derived(analysis.judged, platform) is analysis.judged


def test_what_else_is_changed_by_hand_stays() -> None:
    platform = make_platform(GONE)
    again = restoration(platform.regression_set.tombstones["gone"], full=False).file_changes
    other = FileChange("regression_set/best1.yaml", "another text")
    assert left(head_with(platform, *again, other), platform) == [other.path]


def test_a_restoration_moved_onto_what_nobody_planned_is_a_change_by_hand() -> None:
    platform = make_platform(GONE)
    entry, grave = restoration(platform.regression_set.tombstones["gone"], full=False).file_changes
    known = platform.regression_set
    taken = change_of(entry, known, kind="renamed", before="regression_set/best1.yaml")
    assert left(make_analysis((), set_changes=[taken, change_of(grave, known)]), platform) == [entry.path]


@pytest.mark.parametrize(("ceiling", "passes"), [(5, True), (4, False)])
def test_what_comes_back_together_has_to_have_room(ceiling: int, passes: bool) -> None:
    platform = make_platform(GONE, LOST, ceiling=ceiling)
    graves = platform.regression_set.tombstones.values()
    planned = [change for grave in graves for change in restoration(grave, full=False).file_changes]
    assert left(head_with(platform, *planned), platform) == ([] if passes else [item.path for item in planned])


@pytest.mark.parametrize(("waits", "passes"), [(True, True), (False, False)])
def test_at_the_ceiling_what_comes_back_has_to_wait_for_a_slot(waits: bool, passes: bool) -> None:
    platform = make_platform(GONE, LOST, ceiling=3)
    graves = platform.regression_set.tombstones.values()
    planned = [change for grave in graves for change in restoration(grave, full=waits).file_changes]
    assert left(head_with(platform, *planned), platform) == ([] if passes else [item.path for item in planned])


def test_an_eviction_that_is_suggested_passes() -> None:
    platform = make_platform()
    assert left(evicting(platform, "spare"), platform) == []


def test_an_eviction_that_says_who_did_it_and_why_passes() -> None:
    platform = make_platform()
    said = Evicted(at="2026-11-01T00:00:00Z", by="cora", reason="we have enough of these")
    assert left(evicting(platform, "spare", said), platform) == []


def test_an_eviction_of_what_nobody_can_spare_is_a_change_by_hand() -> None:
    platform = make_platform()
    said = Evicted(reason=EvictionKind.REDUNDANT.value)
    analysis = evicting(platform, "best1", said)
    assert without_derived(analysis.judged, platform) is analysis.judged


def test_an_eviction_of_an_entry_that_is_not_there_is_a_change_by_hand() -> None:
    platform = make_platform()
    grave = FileChange("regression_set/evicted/ghost.yaml", "whatever")
    evicted_by = EvictionFacts(entry="ghost", evicted=Evicted(reason="x"))
    analysis = head_with(platform, grave, eviction=evicted_by)
    assert without_derived(analysis.judged, platform) is analysis.judged


def test_without_changes_of_the_set_nothing_is_touched() -> None:
    analysis = make_analysis()
    assert without_derived(analysis.judged, make_platform(GONE)) is analysis.judged


def test_a_suggested_eviction_by_hand_has_the_grounds_of_its_suggestion() -> None:
    platform = make_platform()
    found = suggest(platform.regression_set, platform.taxonomy, platform.config).evictions
    digests = {item.id: item.grounds.digest for item in found}
    assert evicted_by_hand(evicting(platform, "spare").judged, platform) == {"spare": digests["spare"]}
    assert evicted_by_hand(make_analysis(()).judged, platform) == {}


def test_what_people_refused_to_evict_is_told_and_passes() -> None:
    platform = make_platform()
    analysis = evicting(platform, "spare")
    analysis = analysis.model_copy(update={"judged": without_derived(analysis.judged, platform)})
    at = "2026-10-02T08:00:00Z"
    refused = (
        RefusedEviction(entry="spare", pull_request=5, at=at),
        RefusedEviction(entry="other", pull_request=6, by="cora", at=at),
    )
    judgement = replace(judge_facts(analysis.judged, platform, None, ()), refused=refused)
    result = result_of(judgement, analysis)
    assert (result.exit_code, "Evicts what people refused to evict" in result.title) == (0, True)
    outcome = CommandOutcome(judgement=judgement, replies=(), void=(), released=None, read=Read())
    closed, kept = notices_of(judgement, outcome, PullRequestRecord(pull_request=7, head="a" * 40), analysis)[-2:]
    assert closed.startswith("This evicts `spare`: people refused that in #5 on 2026-10-02")
    assert kept.startswith("This evicts `other`: `cora` keeps it (#6, 2026-10-02)")
