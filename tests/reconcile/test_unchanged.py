"""Which eval sets are not read again: those in which nothing is to be done, as long as what that rests on stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from incumbent.curator.entry import Entry, Evicted, Tombstone
from incumbent.curator.store import RegressionSet
from incumbent.errors import Problem
from incumbent.files.git import tree_id
from incumbent.github.facts import SubmissionFacts
from incumbent.ledger.model import (
    CorrectionRecord,
    FolderIndex,
    FolderRecord,
    Reconciled,
    ReconciledFolder,
    Rejection,
    StoredCorrection,
)
from incumbent.pipeline.review import Platform
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.merged_submissions import MergedSubmission
from incumbent.reconcile.reconciled_state import digests_of, folders_to_read, is_whole, new_index, unchanged_folders
from incumbent.text.compare import text_key
from tests.github.scenes import make_platform, make_query, reworded
from tests.reconcile.merges import (
    commit,
    decided,
    entry_of,
    facts,
    id_of,
    make_case,
    make_inventory,
    make_left,
    make_pull,
    settled,
    source,
    with_set,
)

IN, OUT = make_query("q1", {"a": 0.9}), make_query("q2", {"a": 0.6})
EDITED = reworded(IN, turns=("something else",))
DESK, SHOP = "eval_sets/acme/desk", "eval_sets/acme/shop"
ENTRY = entry_of(IN)
CONDITIONS, OTHER = "c" * 24, "d" * 24
TREES = {DESK: "1" * 40, SHOP: "2" * 40}
DEFAULTS: dict[str, Any] = {"conditions": CONDITIONS, "trees": {DESK: TREES[DESK]}}
NO_CORRECTIONS = CorrectionRecord()


def tombstone(entry: Entry, **more: Any) -> Tombstone:
    return Tombstone(id=entry.id, evicted=Evicted(**{"reason": "redundant"} | more), restore="how", entry=entry)


def platform_with(*entries: Entry, waiting: tuple[Entry, ...] = (), gone: tuple[Tombstone, ...] = ()) -> Platform:
    return with_set(make_platform(), *entries, waiting=waiting, gone=gone)


@dataclass(frozen=True)
class Run:
    """A run that found one query in the set and one outside, and what it goes by."""

    submission: SubmissionFacts = field(default_factory=lambda: facts(settled(IN), OUT))
    cases: tuple[MergedSubmission, ...] = ()
    reconciled: Reconciled = field(
        default_factory=lambda: Reconciled(commit=commit(1), left={id_of("q2"): make_left(OUT, 7)})
    )
    corrections: CorrectionRecord = NO_CORRECTIONS
    platform: Platform = field(default_factory=lambda: platform_with(ENTRY))
    stated: Mapping[str, Any] = field(default_factory=dict)

    @property
    def inventory(self) -> Inventory:
        return make_inventory(self.submission, **DEFAULTS | dict(self.stated))

    def index(self, before: FolderIndex | None = None) -> FolderIndex | None:
        return new_index(self.inventory, self.cases, self.reconciled, self.corrections, before, self.platform)

    @property
    def at_rest(self) -> bool:
        index = self.index()
        assert index is not None
        return DESK in index.folders


def test_a_folder_whose_queries_are_settled_or_stayed_outside_is_at_rest() -> None:
    rejected = Rejection(pull_request=7, decision=decided("reject", "q2", content=facts(OUT).contents["q2"]))
    run = Run(submission=facts(settled(IN), OUT, ruled_out=("b",)))
    run = replace(run, reconciled=run.reconciled.model_copy(update={"rejections": (rejected,)}))
    index = run.index()
    assert index == FolderIndex(
        conditions=CONDITIONS,
        entries=digests_of(run.platform.regression_set),
        folders={
            DESK: ReconciledFolder(
                tree=TREES[DESK], pull_requests=(7,), rejected=(facts(OUT).contents["q2"],), ruled_out=("b",)
            )
        },
    )


@pytest.mark.parametrize(
    ("folders", "whole"),
    [
        ({DESK: "1" * 40, SHOP: "2" * 40}, True),
        ({DESK: "1" * 40, SHOP: "3" * 40}, False),
        ({DESK: "1" * 40}, False),
        ({"eval_sets/acme": tree_id({"desk": "1" * 40, "shop": "2" * 40})}, False),
        ({"acme/desk": "1" * 40, "acme/shop": "2" * 40}, False),
        ({}, False),
    ],
)
def test_an_index_is_whole_if_its_folders_are_all_that_there_is(folders: dict[str, str], whole: bool) -> None:
    index = FolderIndex(
        conditions=CONDITIONS, folders={path: ReconciledFolder(tree=id) for path, id in folders.items()}
    )
    assert is_whole(index, tree_id({"acme/desk": "1" * 40, "acme/shop": "2" * 40})) == whole
    assert not is_whole(index, None)


def test_without_conditions_there_is_no_index() -> None:
    assert Run(stated={"conditions": None}).index() is None


LOST = make_query("q2", None)
FAULT = Problem(file="f", line=1, message="m", fix="x")
CORRECTED = CorrectionRecord(
    texts={
        text_key(OUT.query.turns): {
            "a": StoredCorrection.model_validate(
                {"value": False, "by": "cora", "comment": 1, "at": "2026-11-22T10:00:00Z", "said": "0" * 24}
            )
        }
    }
)
WAITS = Reconciled(commit=commit(1), left={id_of("q2"): make_left(OUT, 7, waits=True)})


@pytest.mark.parametrize(
    "run",
    [
        Run(stated={"trees": {}}),
        Run(submission=facts(settled(IN), LOST)),
        Run(submission=facts(settled(IN), OUT, problems=(FAULT,))),
        Run(submission=facts(settled(IN), OUT, moved_from=("acme", "old"))),
        Run(submission=facts(EDITED, OUT)),
        Run(submission=facts(settled(reworded(IN, id="renamed")), OUT)),
        Run(cases=(make_case(OUT),)),
        Run(cases=(replace(make_case(make_query("q9", {"a": 0.6})), pull=make_pull(7)),)),
        Run(corrections=CORRECTED),
        Run(reconciled=WAITS),
        Run(platform=platform_with(waiting=(ENTRY,))),
        Run(
            submission=facts(OUT),
            platform=platform_with(ENTRY),
            stated={"departed": {ENTRY.id: "source-deleted"}},
        ),
    ],
    ids=[
        "git has no such folder",
        "a query could not be classified",
        "a query could not be read",
        "it was renamed",
        "a query asks something else than its entry",
        "an entry has to follow",
        "a query was merged just now",
        "what brought a query is spoken of again",
        "a curator corrected a tag",
        "a query waited for a slot",
        "an entry waits for a slot",
        "an entry has lost its query",
    ],
)
def test_a_folder_in_which_something_is_to_be_done_is_read_again(run: Run) -> None:
    assert not run.at_rest


def test_an_entry_without_its_source_or_of_another_folder_keeps_nobody_from_resting() -> None:
    other = make_query("q7", {"b": 0.9})
    elsewhere = entry_of(other, agent="shop")
    departed = {"departed": {elsewhere.id: "source-deleted", id_of("evicted"): "source-deleted"}}
    grave = tombstone(make_entry_of("evicted"))
    assert Run(platform=platform_with(ENTRY, elsewhere, gone=(grave,)), stated=departed).at_rest


def make_entry_of(item: str, agent: str = "desk") -> Entry:
    return entry_of(make_query(item, {"b": 0.9}), agent=agent)


@dataclass(frozen=True)
class Now:
    """What a later run finds: the index, and what may have changed since."""

    index: FolderIndex | None
    platform: Platform
    conditions: str = CONDITIONS
    trees: Mapping[str, str] = field(default_factory=lambda: dict(TREES))
    touched: frozenset[str] = frozenset()
    records: Mapping[str, FolderRecord] = field(default_factory=dict)

    @property
    def unchanged(self) -> set[str]:
        found = unchanged_folders(
            self.index, self.conditions, self.trees, self.touched, self.records.get, self.platform.regression_set
        )
        assert self.index is None or found.items() <= self.index.folders.items()
        return set(found)


GRAVE = tombstone(make_entry_of("gone"))


def now(
    *, numbers: Mapping[str, tuple[int, ...]] | None = None, uncarried: Mapping[str, tuple[str, ...]] | None = None
) -> Now:
    """A run that finds two folders at rest, in which queries of these pull requests, and with these capabilities, were
    left.
    """
    platform = platform_with(ENTRY, gone=(GRAVE,))
    folders = {
        folder: ReconciledFolder(
            tree=tree, pull_requests=(numbers or {}).get(folder, ()), uncarried=(uncarried or {}).get(folder, ())
        )
        for folder, tree in TREES.items()
    }
    return Now(
        FolderIndex(conditions=CONDITIONS, entries=digests_of(platform.regression_set), folders=folders), platform
    )


def test_what_did_not_change_is_not_read_again() -> None:
    assert now().unchanged == {DESK, SHOP}


def with_entries(found: Now, *entries: Entry, gone: tuple[Tombstone, ...] = (GRAVE,)) -> Now:
    others = {id: item for id, item in found.platform.regression_set.entries.items() if id != ENTRY.id}
    known = RegressionSet({**others, **{item.id: item for item in entries}}, {}, {item.id: item for item in gone})
    return replace(found, platform=replace(found.platform, regression_set=known))


MORE = make_entry_of("new", agent="shop")
CHANGES: dict[str, tuple[Callable[[Now], Now], set[str]]] = {
    "there is no index": (lambda found: replace(found, index=None), set()),
    "the taxonomy changed": (lambda found: replace(found, conditions=OTHER), set()),
    "a folder changed": (lambda found: replace(found, trees={**TREES, DESK: "3" * 40}), {SHOP}),
    "a folder went": (lambda found: replace(found, trees={DESK: TREES[DESK]}), {DESK}),
    "a folder was merged into": (lambda found: replace(found, touched=frozenset({SHOP})), {DESK}),
    "an entry went": (lambda found: with_entries(found), set()),
    "an entry was evicted": (lambda found: with_entries(found, gone=(GRAVE, tombstone(ENTRY))), set()),
    "an entry changed": (
        lambda found: with_entries(found, ENTRY.model_copy(update={"scores": {"a": 0.5}})),
        set(),
    ),
    "an entry was pinned": (
        lambda found: with_entries(found, ENTRY.model_copy(update={"pin": "an audit"})),
        {DESK, SHOP},
    ),
    "an entry was quarantined": (
        lambda found: with_entries(found, ENTRY.model_copy(update={"quarantined": "it flaps"})),
        {DESK, SHOP},
    ),
    "the swap of an entry was confirmed": (
        lambda found: with_entries(
            found,
            ENTRY.model_copy(update={"admitted": ENTRY.admitted.model_copy(update={"at": "2026-11-23T12:00:00Z"})}),
        ),
        {DESK, SHOP},
    ),
    "an entry took the new name of its query": (
        lambda found: with_entries(found, ENTRY.model_copy(update={"source": source("renamed")})),
        {DESK, SHOP},
    ),
    "an entry went to another folder": (
        lambda found: with_entries(found, ENTRY.model_copy(update={"source": source("q1", "shop")})),
        set(),
    ),
    "an eviction was confirmed": (
        lambda found: with_entries(found, ENTRY, gone=(tombstone(GRAVE.entry, by="cora"),)),
        {DESK, SHOP},
    ),
    "an entry came": (lambda found: with_entries(found, ENTRY, MORE), {DESK}),
    "an entry came from nowhere": (
        lambda found: with_entries(found, ENTRY, MORE.model_copy(update={"source": None})),
        {DESK, SHOP},
    ),
    "a tombstone came": (lambda found: with_entries(found, ENTRY, gone=(GRAVE, tombstone(MORE))), {DESK}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_changed_is_read_again(name: str) -> None:
    change, expected = CHANGES[name]
    assert change(now()).unchanged == expected


@pytest.mark.parametrize(
    ("desk", "shop", "expected"),
    [((7,), (8,), {SHOP}), ((7, 8), (8,), set()), ((), (), {SHOP})],
    ids=["by another", "by the same", "pushed by hand"],
)
def test_what_one_pull_request_brought_is_read_together(
    desk: tuple[int, ...], shop: tuple[int, ...], expected: set[str]
) -> None:
    found = replace(now(numbers={DESK: desk, SHOP: shop}), touched=frozenset({DESK}))
    assert found.unchanged == expected


@pytest.mark.parametrize(("number", "expected"), [(7, {SHOP}), (8, {DESK}), (9, {SHOP}), (None, {DESK, SHOP})])
def test_a_folder_that_is_not_at_rest_has_the_others_of_its_pull_requests_read(
    number: int | None, expected: set[str]
) -> None:
    pier = "eval_sets/acme/pier"
    record = FolderRecord(folder=pier, left={id_of("q2", "pier"): make_left(OUT, number)})
    found = now(numbers={DESK: (7, 9), SHOP: (8,)})
    trees = {**TREES, pier: "5" * 40, "eval_sets/acme": "6" * 40, "eval_sets/acme/new": "7" * 40}
    assert replace(found, trees=trees, records={pier: record}).unchanged == expected


def test_queries_that_may_beat_the_first_entry_with_a_capability_of_theirs_are_read_again() -> None:
    found = now(uncarried={DESK: ("b", "c"), SHOP: ("c",)})
    elsewhere = MORE.model_copy(update={"source": None})
    assert found.unchanged == {DESK, SHOP}
    assert with_entries(found, ENTRY, elsewhere).unchanged == {SHOP}
    line = RegressionSet(found.platform.regression_set.entries, {elsewhere.id: elsewhere}, {GRAVE.id: GRAVE})
    assert replace(found, platform=replace(found.platform, regression_set=line)).unchanged == {SHOP}
    assert found.index is not None
    folders = found.index.folders
    coming = [facts(make_query("q9", {"b": 0.9}), LOST), facts(settled(IN), agent="pier")]
    assert folders_to_read(folders, coming) == (DESK,)
    assert folders_to_read(folders, coming[1:]) == ()


def test_what_was_left_is_noted_with_the_capabilities_that_no_entry_has() -> None:
    strange = make_query("q2", {"a": 0.6, "e": 0.6})
    run = Run(submission=facts(settled(IN), strange, make_query("q3", {"d": 0.6})))
    index = run.index()
    assert index is not None
    (folder,) = index.folders.values()
    assert (folder.uncarried, folder.pull_requests, folder.pushed) == (("e",), (7,), 0)
    pushed = replace(run, reconciled=Reconciled(commit=commit(1), left={id_of("q2"): make_left(OUT, None)})).index()
    assert pushed is not None
    (folder,) = pushed.folders.values()
    assert (folder.pull_requests, folder.pushed) == ((), 1)


def test_what_was_passed_over_stays_in_the_index_with_the_entries_that_it_rests_on() -> None:
    before = Run().index()
    assert before is not None
    shop = ReconciledFolder(tree=TREES[SHOP])
    before = before.model_copy(update={"folders": {**before.folders, SHOP: shop}})
    evicted = Run(platform=platform_with(gone=(tombstone(ENTRY),)), stated={"unchanged": {SHOP: shop}})
    index = evicted.index(before)
    assert index is not None
    assert index.folders == before.folders
    assert index.entries == before.entries, "the next run sees that one is gone"
    fresh = Run(platform=platform_with(gone=(tombstone(ENTRY),))).index(before)
    assert fresh is not None
    assert fresh.entries != before.entries


@pytest.mark.parametrize("other", [None, {"conditions": OTHER}, {"folders": {}}], ids=["none", "rules", "folders"])
def test_what_another_run_found_meanwhile_is_not_taken_for_passed_over(other: dict[str, Any] | None) -> None:
    shop = ReconciledFolder(tree=TREES[SHOP])
    before = FolderIndex(conditions=CONDITIONS, entries={}, folders={SHOP: shop})
    found = None if other is None else before.model_copy(update=other)
    index = Run(stated={"unchanged": {SHOP: shop}}).index(found)
    assert index is not None
    assert set(index.folders) == {DESK}
