"""Entries follow their eval sets: where a query stands, what is expected of the answer, the set-up behind it."""

from __future__ import annotations

import pytest

from bot.intake.query import Setup
from bot.reconcile.entry_updates import follow_renames, with_entries
from tests.github.scenes import make_platform, make_query
from tests.reconcile.merges import TIP, entry_of, facts, id_of, make_inventory, settled, source, with_set

Q1 = make_query("q1", {"d": 0.9})
ENTRY = entry_of(Q1, source=source("q1", pull_request=3, commit="b" * 40), pin="an audit")


def test_a_query_of_another_name_and_place_takes_its_entry_along() -> None:
    there = settled(Q1.model_copy(update={"id": "renamed", "file": "eval_sets/acme/desk/more.yaml"}))
    found = follow_renames(make_inventory(facts(there)), with_set(make_platform(), ENTRY))
    place = source("renamed", eval_set="eval_sets/acme/desk/more.yaml", pull_request=3, commit=TIP)
    assert found == {id_of("q1"): ENTRY.model_copy(update={"source": place})}


def test_an_agent_whose_folder_moved_takes_its_entries_along() -> None:
    moved = facts(settled(Q1), agent="shop", moved_from=("acme", "desk"))
    (entry,) = follow_renames(make_inventory(moved), with_set(make_platform(), ENTRY)).values()
    assert (entry.id, entry.source and entry.source.place) == (id_of("q1"), ("acme", "shop", "q1"))


def test_an_entry_that_came_from_no_commit_names_none() -> None:
    local = ENTRY.model_copy(update={"source": source("before")})
    (entry,) = follow_renames(make_inventory(facts(settled(Q1))), with_set(make_platform(), local)).values()
    assert entry.source == source("q1")


def test_an_entry_in_line_is_followed_too() -> None:
    there = settled(Q1.model_copy(update={"id": "renamed"}))
    assert list(follow_renames(make_inventory(facts(there)), with_set(make_platform(), waiting=[ENTRY]))) == [ENTRY.id]


def test_what_stands_where_it_says_or_says_nothing_is_left_as_it_is() -> None:
    inventory = make_inventory(facts(settled(Q1)))
    assert follow_renames(inventory, with_set(make_platform(), ENTRY)) == {}
    assert follow_renames(inventory, with_set(make_platform(), ENTRY.model_copy(update={"source": None}))) == {}
    assert follow_renames(make_inventory(facts(Q1)), make_platform()) == {}


def test_what_is_expected_follows_the_eval_set() -> None:
    there = settled(Q1.model_copy(update={"expected": {"expected_response": "Berth 4"}}))
    (entry,) = follow_renames(make_inventory(facts(there)), with_set(make_platform(), ENTRY)).values()
    assert (entry.expected, entry.setup, entry.pin) == ({"expected_response": "Berth 4"}, ENTRY.setup, "an audit")
    assert follow_renames(make_inventory(facts(there)), with_set(make_platform(), entry)) == {}


@pytest.mark.parametrize(
    ("said", "written", "then"),
    [
        (Setup(cost=3.0), Setup(cost=2.0, ready=False), Setup(cost=3.0)),
        (Setup(ready=False), Setup(cost=2.0), Setup(ready=False)),
        (Setup(), Setup(cost=2.0, ready=False), Setup(cost=2.0)),
        (Setup(), Setup(cost=2.0), Setup(cost=2.0)),
    ],
)
def test_the_set_up_follows_an_eval_set_that_speaks_of_it(said: Setup, written: Setup, then: Setup) -> None:
    there = settled(Q1.model_copy(update={"setup": said}))
    known = ENTRY.model_copy(update={"setup": written})
    found = follow_renames(make_inventory(facts(there)), with_set(make_platform(), known))
    assert found.get(ENTRY.id, known).setup == then
    assert bool(found) is (then != written)


def test_changed_entries_take_the_place_of_those_of_the_same_id() -> None:
    waiting = ENTRY.model_copy(update={"id": "w"})
    platform = with_set(make_platform(), ENTRY, waiting=[waiting])
    changed = {item.id: item.model_copy(update={"pin": None}) for item in (ENTRY, waiting)}
    found = with_entries(platform, {**changed, "nowhere": ENTRY}).regression_set
    assert (found.entries[ENTRY.id], found.waiting["w"]) == (changed[ENTRY.id], changed["w"])
    assert found.entries.keys() == platform.regression_set.entries.keys()
    assert found.entries["ra1"] == platform.regression_set.entries["ra1"]
