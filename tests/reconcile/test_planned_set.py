"""Entries follow their eval sets (place, expectation, set-up), and curators' pins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from incumbent.curator.entry import Entry, Imported
from incumbent.curator.file_changes import render
from incumbent.curator.store import entry_path, waiting_path
from incumbent.github.judgement import ReviewJudgement, judge_facts
from incumbent.intake.query import Setup
from incumbent.ledger.model import DecisionRecord
from incumbent.pipeline.review import Platform
from incumbent.reconcile.planned_set import Draft, follow_renames, is_done, pinned
from incumbent.report.pull_request_bodies import EntryChange
from tests.github.scenes import make_analysis, make_platform, make_query, reworded
from tests.reconcile.merges import TIP, decided, entry_of, facts, id_of, make_inventory, settled, source, with_set

Q1 = make_query("q1", {"d": 0.9})
ENTRY = entry_of(Q1, source=source("q1", pull_request=3, commit="b" * 40), pin="an audit")


def test_a_query_of_another_name_and_place_takes_its_entry_along() -> None:
    there = settled(reworded(Q1, id="renamed", file="eval_sets/acme/desk/more.yaml"))
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


def test_what_was_imported_is_its_customers_once_an_eval_set_of_theirs_holds_it() -> None:
    imported = ENTRY.model_copy(update={"source": source("q1", imported=Imported(declared=True))})
    (entry,) = follow_renames(make_inventory(facts(settled(Q1))), with_set(make_platform(), imported)).values()
    assert entry.source == source("q1")


def test_an_entry_in_line_is_followed_too() -> None:
    there = settled(reworded(Q1, id="renamed"))
    assert list(follow_renames(make_inventory(facts(there)), with_set(make_platform(), waiting=[ENTRY]))) == [ENTRY.id]


def test_what_stands_where_it_says_or_says_nothing_is_left_as_it_is() -> None:
    inventory = make_inventory(facts(settled(Q1)))
    assert follow_renames(inventory, with_set(make_platform(), ENTRY)) == {}
    assert follow_renames(inventory, with_set(make_platform(), ENTRY.model_copy(update={"source": None}))) == {}
    assert follow_renames(make_inventory(facts(Q1)), make_platform()) == {}


def test_what_is_expected_follows_the_eval_set() -> None:
    there = settled(reworded(Q1, expected={"expected_response": "Berth 4"}))
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
    there = settled(reworded(Q1, setup=said))
    known = ENTRY.model_copy(update={"setup": written})
    found = follow_renames(make_inventory(facts(there)), with_set(make_platform(), known))
    assert found.get(ENTRY.id, known).setup == then
    assert bool(found) is (then != written)


def test_changed_entries_take_the_place_of_those_of_the_same_id() -> None:
    waiting = ENTRY.model_copy(update={"id": "w"})
    platform = with_set(make_platform(), ENTRY, waiting=[waiting])
    changed = {item.id: item.model_copy(update={"pin": None}) for item in (ENTRY, waiting)}
    found = platform.regression_set.updated({**changed, "nowhere": ENTRY})
    assert (found.entries[ENTRY.id], found.waiting["w"]) == (changed[ENTRY.id], changed["w"])
    assert found.entries.keys() == platform.regression_set.entries.keys()
    assert found.entries["ra1"] == platform.regression_set.entries["ra1"]


SETTLED = (settled(Q1),)
UNPINNED = entry_of(Q1)
PINNED = UNPINNED.model_copy(update={"pin": "an audit"})


def said(action: str = "pin", reason: str | None = "an audit", item: str = "q1") -> DecisionRecord:
    return decided(action, item, reason=reason)


def judged(platform: Platform, *decisions: DecisionRecord, queries: Any = SETTLED) -> ReviewJudgement:
    return replace(judge_facts(make_analysis(queries).judged, platform, None, ()), decisions=decisions)


@pytest.mark.parametrize(
    ("before", "decision", "after"),
    [
        (UNPINNED, said(), PINNED),
        (UNPINNED, said("unpin", None), None),
        (PINNED, said(), None),
        (PINNED, said(reason="another"), UNPINNED.model_copy(update={"pin": "another"})),
        (PINNED, said("unpin", None), UNPINNED),
        (UNPINNED, said("accept"), None),
        (UNPINNED, said(item="q2"), None),
    ],
)
@pytest.mark.parametrize("waits", [False, True])
def test_an_entry_gets_the_pin_that_was_said_where_it_has_another(
    before: Any, decision: DecisionRecord, after: Any, waits: bool
) -> None:
    platform = with_set(make_platform(), waiting=[before]) if waits else with_set(make_platform(), before)
    found = pinned(judged(platform, decision), platform)
    assert found == ({} if after is None else {UNPINNED.id: after})


@pytest.mark.parametrize(
    ("decision", "done"),
    [(said(), True), (said(reason="other"), False), (said("unpin", None), False), (said("accept"), False)],
)
def test_a_pin_is_done_once_the_entry_bears_it(decision: DecisionRecord, done: bool) -> None:
    platform = with_set(make_platform(), PINNED)
    assert is_done(decision, judged(platform, decision), platform) is done


def test_an_update_of_an_entry_is_meant_by_the_id_that_it_has() -> None:
    platform = with_set(make_platform(), UNPINNED)
    edited = make_query("q1", {"d": 0.9}, text="another text by now")
    assert pinned(judged(platform, said(), queries=(edited,)), platform) == {UNPINNED.id: PINNED}


def test_what_has_no_entry_yet_or_no_review_is_pinned_by_nothing() -> None:
    platform = make_platform()
    judgement = judged(platform, said(), queries=(Q1,))
    assert pinned(judgement, platform) == {}
    assert not is_done(said(), judgement, platform)
    assert pinned(replace(judgement, review=None), with_set(platform, UNPINNED)) == {}


class Refused:
    """What people turned down: the entries with these ids."""

    def __init__(self, *ids: str) -> None:
        self.ids = ids

    def holds(self, entry: Entry, *_: object) -> bool:
        return entry.id in self.ids


def test_edits_follow_on_each_other_and_leave_out_what_people_refused() -> None:
    other = entry_of(make_query("q2", {"a": 0.9}))
    waiting = entry_of(make_query("q3", {"b": 0.9}))
    platform = with_set(make_platform(), ENTRY, other, waiting=[waiting])
    files = {entry_path(item.id): f"# kept\n{render(item)}" for item in (ENTRY, other)}
    planned = Draft(platform, files.__getitem__, cast(Any, Refused(other.id)))
    for reason in ("one", "two"):
        known = {**planned.platform.regression_set.entries, **planned.platform.regression_set.waiting}
        changed = {id: known[id].model_copy(update={"pin": reason}) for id in (ENTRY.id, other.id, waiting.id)}
        planned.edit(changed, f"Pin {reason}", EntryChange.PINNED, pull_request=7)
        now = planned.platform.regression_set
        pins = [now.entries[ENTRY.id].pin, now.entries[other.id].pin, now.waiting[waiting.id].pin]
        assert pins == [reason, None, reason]
    first, second = planned.steps
    assert [item.path for item in second.file_changes] == [entry_path(ENTRY.id), waiting_path(waiting.id)]
    text = second.file_changes[0].content or ""
    assert (text.startswith("# kept\n"), "pin: two" in text, "pin: one" in text) == (True, True, False)
    assert (first.message, second.message) == ("Pin one", "Pin two")
    assert {(item.entry.id, item.pull_request) for item in second.offered} == {(ENTRY.id, 7), (waiting.id, 7)}
    planned.edit({other.id: other}, "Nothing", EntryChange.PINNED)
    assert len(planned.steps) == 2
