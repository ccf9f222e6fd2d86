"""What is shown and heard on a pull request is recorded once: who, when, on what; and no bot counts as a person."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from incumbent.github.ledger_events import applied_events, left_events, merge_events, shown_events
from incumbent.ledger.event_files import parsed
from incumbent.ledger.events import (
    Applied,
    Closed,
    Decided,
    Forgotten,
    LedgerEvent,
    Passed,
    Shown,
    Withdrawn,
    events_path,
)
from incumbent.ledger.keys import classifier_key
from incumbent.ledger.model import Displayed, record_path
from tests.github.scenes import BASE, BOT, HEAD, IDENTITY, PAIR, QUERIES, Hub, make_analysis, make_query
from tests.ledger.replay import replay
from tests.reconcile.admitting import NEW, after
from tests.reconcile.merges import MERGE, MERGED_AT, decided, id_of, make_record


def recorded(hub: Hub, kind: type[LedgerEvent] | None = None) -> list[Any]:
    found = parsed(hub.ledger.get(events_path(7)))
    return [item for item in found if kind is None or isinstance(item, kind)]


def reviewed(*queries: Any, **more: Any) -> Hub:
    hub = Hub()
    hub.review(make_analysis(queries or QUERIES, **more))
    return hub


def test_each_verdict_is_recorded_when_it_is_first_shown_and_says_what_it_rests_on() -> None:
    hub = reviewed()
    shown = recorded(hub)
    assert {item.entry for item in shown} == {id_of(item.query.id) for item in QUERIES}
    assert sorted(item.place for item in shown) == [0, 1, 2, 3]
    first = next(item for item in shown if item.entry == id_of("q01"))
    assert (first.base, first.head, first.author, first.at) == (BASE, HEAD, "mara", "2026-11-21T09:00:00Z")
    assert first.codes == "INCLUDE direct NEW_COVERAGE"
    assert (first.facts.scores, first.facts.new) == ({"d": 0.9}, ("d",))
    assert {item.facts.classifier for item in shown} == {classifier_key(IDENTITY)}


def test_the_same_verdicts_are_not_recorded_again_and_others_are() -> None:
    hub = reviewed()
    before = recorded(hub)
    hub.review(make_analysis())
    hub.review(make_analysis(head="2" * 40))
    assert recorded(hub) == before
    text = hub.ledger[events_path(7)]
    changed = (make_query("q01", {"e": 0.9}, "another text", line=3), *QUERIES[1:])
    hub.review(make_analysis(changed, head="3" * 40))
    assert hub.ledger[events_path(7)].startswith(text)
    (new,) = [item for item in recorded(hub) if item not in before]
    assert (new.entry, new.head) == (id_of("q01"), "3" * 40)


def test_a_full_file_takes_what_people_say_and_no_more_showings(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = reviewed()
    before = recorded(hub)
    monkeypatch.setattr("incumbent.ledger.event_files.FULL", 10)
    hub.say("cora", "/incumbent accept q02 it matters")
    changed = (make_query("q01", {"e": 0.9}, "another text", line=3), *QUERIES[1:])
    hub.review(make_analysis(changed, head="3" * 40))
    assert [type(item) for item in recorded(hub) if item not in before] == [Decided]


def test_after_the_merge_a_full_file_takes_no_more_showings_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incumbent.ledger.event_files.FULL", 10)
    world = after().seen()
    before = {item.key for item in recorded(world.hub, Shown)}
    world.run()
    assert {item.key for item in recorded(world.hub, Shown)} == before


def test_what_is_not_reviewed_shows_nothing() -> None:
    hub = Hub()
    judgement = hub.plan(make_analysis()).judgement
    assert shown_events(judgement, "mara", MERGED_AT, None)
    assert shown_events(replace(judgement, review=None), "mara", MERGED_AT, None) == ()
    group = replace(judgement.facts, pull_request=None)
    assert shown_events(replace(judgement, facts=group), "mara", MERGED_AT, None) == ()


HOSTILE = ("../../etc/passwd", "<script>alert(1)</script>", "@everyone [x](http://x)")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_from_outside_is_in_no_event(name: str) -> None:
    text = "the very same words of a query that two customers ask"
    queries = [
        make_query(name, {"d": 0.9}, text),
        make_query(f"{name}2", {"d": 0.8}, text),
        make_query(f"{name}3", {"a": 0.99, "b": 0.99}),
    ]
    hub = reviewed(*queries)
    shown = recorded(hub)
    assert len(shown) == 3
    assert any(item.facts.most_similar in {other.entry for other in shown} for item in shown), "clones of one another"
    assert name.strip() not in hub.ledger[events_path(7)]
    hub.say("cora", f"/incumbent accept {name}")
    hub.review(make_analysis(queries))
    assert name.strip() not in hub.ledger[events_path(7)]


def test_a_command_is_recorded_as_its_authors_with_the_time_of_its_comment() -> None:
    hub = reviewed()
    comment = hub.say("cora", "/incumbent accept q02 a customer asks for it")
    at = hub.comments[-1].created_at
    hub.review()
    (event,) = recorded(hub, Decided)
    assert (event.by, event.at, event.comment, event.action, event.entry) == (
        "cora",
        at,
        comment,
        "accept",
        id_of("q02"),
    )
    assert (event.reason, event.all) == ("a customer asks for it", False)
    assert event.codes.startswith("INCLUDE review")
    hub.review()
    assert recorded(hub, Decided) == [event]


@pytest.mark.parametrize("author", [BOT, "renovate[bot]"])
def test_commands_of_bots_are_recorded_by_nobody(author: str) -> None:
    hub = reviewed()
    hub.say(author, "/incumbent accept q02", is_bot=True)
    hub.review()
    assert recorded(hub, Decided) == []


def test_what_people_take_back_or_say_otherwise_is_recorded() -> None:
    hub = reviewed()
    hub.say("cora", "/incumbent accept all")
    hub.review()
    assert [item.all for item in recorded(hub, Decided)] == [True]
    later = hub.say("cora", "/incumbent reject q02 not ours")
    hub.review()
    (word,) = replay(recorded(hub)).decisions[7]
    assert (word.action, word.comment) == ("reject", later)
    hub.comments = [item for item in hub.comments if item.id != later]
    hub.review()
    (event,) = recorded(hub, Withdrawn)
    assert (event.comment, event.action, event.entry) == (later, "reject", id_of("q02"))
    assert replay(recorded(hub)).decisions == {}
    hub.review()
    assert recorded(hub, Withdrawn) == [event]


# After the merge -----------------------------------------------------------------------------------------------------


@pytest.mark.untraced
@pytest.mark.parametrize(("by", "bot"), [("cora", False), ("renovate[bot]", True)])
def test_who_merges_agrees_with_what_was_shown_and_needed_nobody_unless_it_is_a_bot(by: str, bot: bool) -> None:
    world = after().seen()
    world.more["merged_by"] = lambda number: (by, MERGED_AT)
    world.run()
    passed = recorded(world.hub, Passed)
    assert {(item.by, item.by_bot, item.at) for item in passed} == {(by, bot, MERGED_AT)}
    shown = {item.entry: item for item in recorded(world.hub, Shown)}
    assert [(item.entry, item.codes) for item in passed] == [
        (id_of("q01"), "INCLUDE direct NEW_COVERAGE"),
        *((entry, item.codes) for entry, item in sorted(shown.items()) if item.codes.startswith("EXCLUDE direct")),
    ]
    assert len(passed) > 1
    assert all(item.verdict == shown[item.entry].verdict for item in passed)
    (closed,) = recorded(world.hub, Closed)
    assert closed.commit == MERGE
    before = world.hub.ledger[events_path(7)]
    world.run()
    assert world.hub.ledger[events_path(7)] == before


def test_what_is_decided_and_taken_back_after_the_merge_is_recorded() -> None:
    world = after().seen()
    world.run()
    comment = world.hub.say("cora", "/incumbent reject q02 not ours")
    world.run()
    assert [item.comment for item in recorded(world.hub, Decided)] == [comment]
    record = world.records.get(7)
    standing = replay(recorded(world.hub)).decisions.get(7, ())
    assert [item.comment for item in standing] == (
        [] if record is None else [item.comment for item in record.decisions]
    )


def test_a_word_that_goes_after_the_merge_is_recorded_without_any_reply() -> None:
    world = after(NEW, make_query("q02", PAIR, line=4), make_query("q05", {"c": 0.9, "a": 0.9}, line=5)).seen()
    world.hub.say("cora", "/incumbent reject q02 not ours")
    world.run()
    assert [item.action for item in world.records[7].decisions] == ["reject"], "q05 still needs a person"
    world.hub.comments = [item for item in world.hub.comments if "reject" not in item.body or item.author == BOT]
    world.run()
    assert [item.entry for item in recorded(world.hub, Withdrawn)] == [id_of("q02")]
    assert replay(recorded(world.hub)).decisions == {}


def test_a_pin_that_stands_in_the_entry_has_done_its_work_and_a_record_that_goes_takes_the_rest() -> None:
    world = after(NEW, make_query("q02", PAIR, line=4)).seen()
    world.hub.say("cora", "/incumbent pin q01 an audit")
    world.run()
    assert [item.action for item in recorded(world.hub, Applied)] == ["pin"]
    assert replay(recorded(world.hub)).decisions == {}
    assert world.records[7].decisions == ()
    world.hub.say("cora", "/incumbent reject q02 not ours")
    world.run()
    assert record_path(7) not in world.hub.ledger
    assert len(recorded(world.hub, Forgotten)) == 1
    assert replay(recorded(world.hub)).decisions == {}


# One by one ----------------------------------------------------------------------------------------------------------


def test_only_what_is_new_since_the_record_was_heard() -> None:
    hub = reviewed()
    hub.say("cora", "/incumbent accept q02")
    plan_hub = hub.plan(make_analysis())
    assert plan_hub.operations
    assert hub.record is not None
    before = hub.record
    hub.review()
    assert hub.record is not None
    assert [item.kind for item in recorded(hub, Decided)] == ["decided"]
    assert before.decisions == ()


def test_of_what_was_seen_only_what_the_merge_still_brought_has_passed() -> None:
    record = make_record(seen={id_of("q1"): "1" * 24, id_of("q2"): "1" * 24, id_of("q8"): "2" * 24})
    codes = {
        "q1": "INCLUDE direct NEW_COVERAGE",
        "q3": "INCLUDE review NOVEL_COMBO",
        "q5": "EXCLUDE direct CLONE",
        "q4": "EXCLUDE direct REDUNDANT",
        "q6": "EXCLUDE direct OFF_TAXONOMY",
        "q7": "none",
    }
    displayed = {
        id_of(name): Displayed(content="1" * 24, verdict="0" * 24, codes=each, since=MERGED_AT)
        for name, each in codes.items()
    }
    contents = {id_of(name): "1" * 24 for name in (*codes, "q8") if name != "q6"}
    found = merge_events(record, displayed, contents, ("cora", MERGED_AT))
    assert [(item.kind, getattr(item, "entry", None)) for item in found] == [
        ("passed", id_of("q1")),
        ("passed", id_of("q4")),
        ("passed", id_of("q5")),
        ("closed", None),
    ]
    assert [item.codes for item in found if isinstance(item, Passed)] == [codes[name] for name in ("q1", "q4", "q5")]


def test_pull_requests_that_were_closed_unmerged_are_said_to_be() -> None:
    (event,) = left_events([3], MERGED_AT)[3]
    assert event == Closed(at=MERGED_AT, pull_request=3, commit=None)


def test_decisions_that_a_record_keeps_have_not_done_their_work() -> None:
    kept, done = decided("reject"), decided("pin", "q2")
    (event,) = applied_events([kept, done], make_record(decisions=(kept,)), MERGED_AT)
    assert isinstance(event, Applied)
    assert (event.entry, event.action, event.pull_request) == (done.entry, "pin", 7)
