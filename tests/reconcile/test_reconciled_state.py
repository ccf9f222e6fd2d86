"""What the ledger remembers of the default branch: up to where, which classifications, and what stayed outside."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.github.facts import QueryFacts, StoppedFacts
from incumbent.github.reclassified_entries import RenewalFacts, entry_digest
from incumbent.ledger.model import FolderRecord, Reconciled, ReconciledFolder, Rejection, folder_path
from incumbent.reconcile.reconciled_state import remember, remember_folders
from tests.github.scenes import make_platform, make_query
from tests.reconcile.merges import (
    TIP,
    commit,
    decided,
    entry_of,
    facts,
    id_of,
    make_case,
    make_inventory,
    make_left,
    settled,
    source,
    with_set,
)

Q1, Q2, Q3 = (make_query(f"q{place}", {"a": 0.6}) for place in (1, 2, 3))
LOST = make_query("q4", None)
Q5 = make_query("q5", {"b": 0.9})


DESK, SHOP, PIER = (f"eval_sets/acme/{name}" for name in ("desk", "shop", "pier"))


def known(folder: str, *queries: QueryFacts) -> FolderRecord:
    found = {item.key: item.classification for item in queries if item.key and item.classification}
    return FolderRecord(folder=folder, classifications=found)


def test_only_what_is_outside_the_set_is_remembered_with_its_classification() -> None:
    inventory = make_inventory(facts(Q1, Q2, settled(Q3)), facts(settled(Q5), agent="shop"))
    platform = with_set(make_platform(), entry_of(Q2), entry_of(Q3), entry_of(Q5, "shop"))
    before = {folder_path(PIER): None, folder_path(SHOP): known(SHOP, Q1), folder_path(DESK): known(DESK, Q3)}
    assert remember_folders(inventory, platform, {}, before) == {
        folder_path(DESK): known(DESK, Q1),
        folder_path(SHOP): None,
        folder_path(PIER): None,
    }


def test_where_not_all_could_be_asked_what_was_known_before_is_kept() -> None:
    inventory = make_inventory(facts(Q1, LOST), stopped=StoppedFacts(message="no budget", exit_code=3))
    before = {folder_path(DESK): known(DESK, Q3)}
    assert remember_folders(inventory, make_platform(), {}, before) == {folder_path(DESK): known(DESK, Q1, Q3)}
    assert remember_folders(inventory, make_platform(), {}, {}) == {folder_path(DESK): known(DESK, Q1)}


def test_what_was_left_outside_is_remembered_with_its_folder() -> None:
    inventory = make_inventory(
        facts(settled(Q1), Q2), facts(settled(Q5), agent="shop"), facts(settled(Q3), agent="pier")
    )
    left = {id_of("q2"): make_left(Q2, 3), id_of("q5", "shop"): make_left(Q5, 4)}
    platform = with_set(make_platform(), entry_of(Q1), entry_of(Q3, "pier"))
    assert remember_folders(inventory, platform, left, {}) == {
        folder_path(DESK): known(DESK, Q2).model_copy(update={"left": {id_of("q2"): make_left(Q2, 3)}}),
        folder_path(SHOP): known(SHOP).model_copy(update={"left": {id_of("q5", "shop"): make_left(Q5, 4)}}),
        folder_path(PIER): None,
    }


def test_rejections_of_folders_that_were_not_read_stay() -> None:
    rejected = Rejection(pull_request=7, decision=decided("reject", "q3", content="9" * 24))
    before = Reconciled(commit=commit(1), rejections=(rejected,))
    passed = ReconciledFolder(tree=commit(2), rejected=("9" * 24,))
    inventory = make_inventory(facts(Q1), unchanged={SHOP: passed})
    assert remember(inventory, (), {}, (), make_platform(), before, fresh=False).rejections == (rejected,)
    assert remember(make_inventory(facts(Q1)), (), {}, (), make_platform(), before, fresh=False).rejections == ()


def test_what_did_not_enter_is_kept_until_its_text_changes_or_it_enters() -> None:
    before = Reconciled(
        commit=commit(1),
        left={
            id_of("q1"): make_left(Q1, 3),
            id_of("q2"): make_left(Q2, 3),
            id_of("q3"): make_left(Q1, 3),
            id_of("gone"): make_left(Q3, 3),
        },
    )
    inventory = make_inventory(facts(Q1, Q2, Q3))
    found = remember(inventory, (), {}, (), with_set(make_platform(), entry_of(Q2)), before, fresh=False)
    assert found.left == {id_of("q1"): make_left(Q1, 3)}


def test_of_what_was_spoken_of_only_what_was_found_outside_is_kept() -> None:
    before = Reconciled(commit=commit(1), left={id_of("q1"): make_left(Q1, 3), id_of("q2"): make_left(Q2, 3)})
    cases = [make_case(Q1, Q2)]
    said = {id_of("q2"): make_left(Q2, 7)}
    found = remember(make_inventory(facts(Q1, Q2)), cases, said, (), make_platform(), before, fresh=False)
    assert found.left == said


@pytest.mark.parametrize(
    ("known", "since", "fresh", "expected"),
    [
        (None, commit(1), False, TIP),
        (commit(1), None, False, TIP),
        (commit(1), commit(1), True, TIP),
        (commit(1), commit(1), False, commit(1)),
    ],
    ids=["the first run", "history begins anew", "something was merged", "only our own commits"],
)
def test_the_commit_moves_with_what_was_merged(
    known: str | None, since: str | None, fresh: bool, expected: str
) -> None:
    before = None if known is None else Reconciled(commit=known)
    found = remember(make_inventory(facts(Q1), since=since), (), {}, (), make_platform(), before, fresh)
    assert found.commit == expected


def test_rejections_are_kept_once_each_while_their_content_is_outside() -> None:
    inventory = make_inventory(facts(Q1, Q2, Q3))
    contents = inventory.submissions[0].contents
    old, new, done = (
        Rejection(pull_request=7, decision=decided("reject", name, content=contents[name]))
        for name in ("q1", "q2", "q3")
    )
    gone = Rejection(pull_request=7, decision=decided("reject", "q4"))
    before = Reconciled(commit=commit(1), rejections=(old, done, gone))
    platform = with_set(make_platform(), entry_of(Q3))
    found = remember(inventory, (), {}, (old, new), platform, before, fresh=False)
    assert found.rejections == (old, new)


def test_what_waits_for_a_slot_is_remembered_with_what_brought_it_unless_a_person_wants_it_in() -> None:
    brought: dict[str, Any] = {"pull_request": 3, "commit": commit(3)}
    line = [
        entry_of(Q1, source=source("q1", **brought)),
        entry_of(Q2, source=source("q2", **brought), restored="on no grounds"),
        entry_of(Q3, source=source("q3")),
    ]
    platform = with_set(make_platform(), waiting=line)
    inventory = make_inventory(facts(Q1, Q2, Q3))
    found = remember(inventory, (), {}, (), platform, None, fresh=True)
    assert found.left == {id_of("q1"): make_left(Q1, 3, commit(3), line[0].admitted.at, waits=True)}
    (kept,) = remember_folders(inventory, platform, {}, {}).values()
    assert kept == known(DESK, Q1, Q3)


def test_a_move_is_remembered_as_long_as_an_entry_says_where_it_came_from() -> None:
    moved = facts(Q1, agent="shop", moved_from=("acme", "desk"))
    platform = with_set(make_platform(), waiting=[entry_of(Q2)])
    for submission, of, expected in (
        (moved, platform, {SHOP: ("acme", "desk")}),
        (moved, make_platform(), {}),
        (facts(Q1, agent="shop", moved_from=("acme", "pier")), platform, {}),
        (facts(Q1, agent="shop"), platform, {}),
    ):
        found = remember(make_inventory(submission), (), {}, (), of, None, fresh=False)
        assert found.moves == expected


def test_what_was_classified_again_is_known_until_it_is_written() -> None:
    entry, other = entry_of(Q1), entry_of(Q2)
    assert Q1.classification is not None
    renewal = RenewalFacts(
        entry=entry.id, before=entry_digest(entry), asked=("a",), key=Q1.key, classification=Q1.classification
    )
    before = Reconciled(commit=commit(1), classifications={"e" * 24: Q2.classification or Q1.classification})
    kept = {Q1.key: Q1.classification}
    stopped = StoppedFacts(message="no budget", exit_code=3)
    cases: tuple[tuple[Any, dict[str, Any], Any], ...] = (
        (with_set(make_platform(), entry), {}, kept),
        (with_set(make_platform(), waiting=[entry]), {}, kept),
        (with_set(make_platform(), entry_of(Q1, turns=("another",))), {}, {}),
        (with_set(make_platform(), other), {}, {}),
        (with_set(make_platform(), entry), {"stopped": stopped}, kept | before.classifications),
    )
    for of, more, expected in cases:
        inventory = make_inventory(facts(Q2), renewals=(renewal,), **more)
        assert remember(inventory, (), {}, (), of, before, fresh=False).classifications == expected
    assert remember(inventory, (), {}, (), of, None, fresh=False).classifications == kept
