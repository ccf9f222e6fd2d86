"""What curators ask of entries: where it is heard, whom it counts from, and until when it stands."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.curator.store import RegressionSet
from incumbent.github.models import CreateComment, DeleteComment, IssueComment, React, WriteLedger
from incumbent.ledger.events import SET_EVENTS
from incumbent.ledger.model import RequestRecord
from incumbent.reconcile.requests import as_ticked, plan_records
from incumbent.report.task_list import Task, Ticks, records_of
from tests.factories import make_taxonomy
from tests.reconcile.asking import (
    DASHBOARD,
    LATER,
    LOCAL,
    START,
    Threads,
    X,
    answers,
    reactions,
    request_of,
)
from tests.reconcile.merges import BOT, make_comment, source


def test_what_a_curator_asks_is_noted_and_acknowledged_once() -> None:
    threads = Threads()
    id = threads.say(7, "cora", "/incumbent undo x: a mistake")
    plan = threads.plan()
    assert plan.stand == (request_of("x", "undo", "/incumbent undo x: a mistake", comment=id),)
    assert reactions(plan) == [(7, id, "+1")]
    assert answers(plan) == []
    assert threads.record == RequestRecord(since="2026-11-22T10:00:00Z", cursor=id, requests=plan.stand)
    again = threads.plan()
    assert (again.operations, again.stand) == ((), plan.stand)


def test_the_note_comes_last_so_that_a_run_that_dies_hears_again() -> None:
    threads = Threads()
    threads.say(7, "cora", "/incumbent undo x")
    assert [type(item) for _, item in threads.plan().operations] == [React, WriteLedger]


@pytest.mark.parametrize(
    ("number", "body", "entries"),
    [
        (7, "/incumbent undo x", ["x"]),
        (7, "/incumbent undo X local", ["x", "local"]),
        (7, "/incumbent undo q1", ["x"]),
        (7, "/incumbent undo Q1", ["x"]),
        (7, "/incumbent undo x\n/incumbent restore gone", ["x", "gone"]),
        (DASHBOARD, "/incumbent restore gone", ["gone"]),
        (8, "/incumbent restore q3", ["gone"]),
    ],
)
def test_an_entry_is_called_by_its_id_and_where_it_was_brought_by_its_query(
    number: int, body: str, entries: list[str]
) -> None:
    threads = Threads()
    threads.say(number, "cora", body)
    plan = threads.plan()
    assert [item.entry for item in plan.stand] == entries
    assert answers(plan) == []


def test_a_query_of_two_agents_tells_nobody_which_entry_is_meant() -> None:
    other = X.model_copy(update={"id": "y", "source": source("Q1", agent="shop", pull_request=7)})
    threads = Threads(known=RegressionSet({"x": X, "y": other}, {}, {}))
    threads.say(7, "cora", "/incumbent undo q1")
    plan = threads.plan()
    assert plan.stand == ()
    assert "no entry and no tombstone is called so" in answers(plan)[0]


def test_the_name_of_an_entry_comes_before_that_of_a_query() -> None:
    other = LOCAL.model_copy(update={"id": "q1"})
    threads = Threads(known=RegressionSet({"x": X, "q1": other}, {}, {}))
    threads.say(7, "cora", "/incumbent undo q1")
    assert [item.entry for item in threads.plan().stand] == ["q1"]


@pytest.mark.parametrize(
    ("author", "body", "answer"),
    [
        ("cora", "/incumbent undo", "it does not say which entries. Write: `/incumbent undo ENTRY…`"),
        ("cora", "/incumbent undo loca", "no entry and no tombstone is called so; perhaps you meant 'local'"),
        (
            "cora",
            f"/incumbent undo {'y' * 200}",
            "no entry and no tombstone is called so; a reason goes behind a colon",
        ),
        ("cora", "/incumbent undo gone", "`gone`: it is not in the regression set."),
        ("cora", "/incumbent undo w", "`w`: it is not in the regression set."),
        ("cora", "/incumbent restore x", "`x`: it was not evicted."),
        ("mara", "/incumbent undo x", "The author of a pull request cannot undo their own queries"),
        ("eve", "/incumbent undo x", "Only curators may say undo"),
    ],
)
def test_what_cannot_be_followed_is_answered_with_the_reason(author: str, body: str, answer: str) -> None:
    threads = Threads()
    id = threads.say(7, author, body)
    plan = threads.plan()
    assert plan.stand == ()
    assert reactions(plan) == [(7, id, "confused")]
    (said,) = answers(plan)
    assert answer in said
    assert f"To `{author}`" in said
    assert threads.plan().operations == ()


def test_what_can_be_followed_is_although_something_else_cannot() -> None:
    threads = Threads()
    id = threads.say(7, "cora", "/incumbent undo x nobody\n/incumbent run")
    plan = threads.plan()
    assert [item.entry for item in plan.stand] == ["x"]
    assert reactions(plan) == [(7, id, "confused")]
    assert "`nobody`" in answers(plan)[0]


def test_where_a_person_pinned_an_entry_the_pin_goes_first() -> None:
    pinned = X.model_copy(update={"pin": "an audit"})
    threads = Threads(known=RegressionSet({"x": pinned}, {}, {}))
    threads.say(7, "cora", "/incumbent undo x")
    assert "a person pinned it: take the pin out first." in answers(threads.plan())[0]


def test_where_admissions_are_made_by_hand_the_command_line_restores() -> None:
    threads = Threads(more={"by_hand": True})
    threads.say(8, "cora", "/incumbent restore gone\n/incumbent undo x")
    plan = threads.plan()
    assert [item.entry for item in plan.stand] == ["x"]
    assert "admissions are made by hand here: `incumbent restore gone`." in answers(plan)[0]


def test_an_entry_that_no_pull_request_brought_is_anybodys_to_speak_of() -> None:
    threads = Threads()
    threads.say(7, "mara", "/incumbent undo local")
    assert [item.by for item in threads.plan().stand] == ["mara"]


def test_what_was_edited_before_it_was_read_is_not_followed() -> None:
    threads = Threads()
    id = threads.say(7, "cora", "/incumbent undo x", updated_at=LATER)
    plan = threads.plan()
    assert (plan.stand, reactions(plan)) == ((), [(7, id, "confused")])
    assert "It was edited before it was read" in answers(plan)[0]
    assert threads.record is not None
    assert threads.record.since == LATER


@pytest.mark.parametrize(
    ("author", "body", "more"),
    [
        (BOT, "/incumbent undo x", {}),
        ("renovate[bot]", "/incumbent undo x", {}),
        ("cora", "/incumbent accept x", {}),
        ("cora", "> /incumbent undo x", {}),
    ],
    ids=["we ourselves", "a bot", "another command", "a quote"],
)
def test_what_asks_for_nothing_is_neither_answered_nor_noted(author: str, body: str, more: dict[str, Any]) -> None:
    threads = Threads(record=RequestRecord(since=START))
    threads.say(7, author, body, **more)
    assert threads.plan() == ((), ())


def test_the_first_run_notes_from_when_on_comments_are_read() -> None:
    threads = Threads()
    threads.say(7, "cora", "nothing to do with us")
    threads.plan()
    assert threads.record == RequestRecord(since=START)


def test_what_a_review_answers_is_neither_answered_here_nor_followed_once_it_is_over() -> None:
    threads = Threads(reviewed=frozenset({7}))
    id = threads.say(7, "cora", "/incumbent undo x")
    plan = threads.plan()
    assert (plan.stand, reactions(plan), answers(plan)) == ((), [], [])
    assert threads.record is not None
    assert threads.record.cursor == id
    threads.reviewed = frozenset()
    assert threads.plan() == ((), ())


def test_who_is_reviewed_is_asked_only_where_somebody_asks() -> None:
    threads = Threads(record=RequestRecord(since=START))

    def unexpected() -> frozenset[int]:
        raise AssertionError("it is looked up for nothing")

    threads.more["reviewed"] = unexpected
    threads.say(7, "cora", "hello")
    assert threads.plan().operations == ()


def test_a_crowd_of_other_comments_is_not_read_for_ever() -> None:
    threads = Threads(record=RequestRecord(since=START))
    for _ in range(99):
        threads.say(9, "eve", "hello")
    assert threads.plan().operations == ()
    last = threads.say(9, "eve", "hello")
    assert [type(item) for _, item in threads.plan().operations] == [WriteLedger]
    assert threads.record is not None
    assert threads.record.cursor == last


def test_a_stranger_is_answered_once_on_a_thread() -> None:
    threads = Threads()
    threads.say(7, "eve", "/incumbent undo x")
    threads.plan()
    threads.say(7, "eve", "/incumbent undo x now!")
    plan = threads.plan()
    assert (reactions(plan), answers(plan)) == ([], [])
    crowd = Threads()
    for number in range(5):
        crowd.say(7, "eve", f"/incumbent undo x {number}")
    assert len(answers(crowd.plan())) == 1


def test_an_answer_that_a_race_doubled_goes_when_there_is_something_to_answer() -> None:
    threads = Threads()
    threads.say(7, "cora", "/incumbent undo nobody")
    answer = answers(threads.plan())[0]
    doubled = threads.say(7, BOT, answer)
    threads.say(7, "cora", "/incumbent undo x")
    removed = [item.id for _, item in threads.plan().operations if isinstance(item, DeleteComment)]
    assert removed == [doubled]


def test_a_comment_may_say_so_much_and_no_more() -> None:
    threads = Threads()
    threads.say(7, "cora", "/incumbent undo " + " ".join(f"nobody{number}" for number in range(60)))
    threads.say(8, "cora", "\n".join(["/incumbent undo nobody"] * 25))
    first, second = answers(threads.plan())
    assert "One line may name 50 entries" in first
    assert "more than 20 commands" in second


def test_what_the_taxonomy_does_not_know_is_not_restored() -> None:
    threads = Threads(more={"taxonomy": make_taxonomy("z")})
    threads.say(7, "cora", "/incumbent restore gone")
    plan = threads.plan()
    assert plan.stand == ()
    assert "which the taxonomy does not know" in answers(plan)[0]


SHOWN = {7: {"x": "1" * 16}, 9: {"x": "2" * 16, "local": "3" * 16}}


@pytest.mark.parametrize(
    ("number", "line", "entry", "shown"),
    [
        (7, "/incumbent keep x: an audit wants it", "x", (7, "1" * 16)),
        (9, "/incumbent keep X", "x", (9, "2" * 16)),
        (DASHBOARD, "/incumbent keep local", "local", (9, "3" * 16)),
        (DASHBOARD, "/incumbent keep x", "x", (7, "1" * 16)),
    ],
)
def test_to_keep_an_entry_is_asked_on_the_grounds_that_its_thread_shows(
    number: int, line: str, entry: str, shown: tuple[int, str]
) -> None:
    threads = Threads(suggested=SHOWN)
    threads.say(number, "cora", line)
    (request,) = threads.plan().stand
    assert (request.entry, request.action) == (entry, "keep")
    assert (request.pull_request, request.grounds) == shown
    assert threads.plan().stand == (request,)
    threads.suggested = {}
    assert threads.plan().stand == (request,), "it stands whether or not anything is suggested"
    threads.known = RegressionSet({}, {}, {})
    assert threads.plan().stand == ()


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("/incumbent keep w", "no open pull request suggests to evict it, and no box of the dashboard is about it."),
        ("/incumbent keep gone", "no open pull request suggests to evict it, and no box of the dashboard is about it."),
        ("/incumbent keep", "it does not say which entries"),
    ],
)
def test_what_is_not_suggested_cannot_be_kept(line: str, answer: str) -> None:
    threads = Threads(suggested=SHOWN)
    threads.say(7, "cora", line)
    assert threads.plan().stand == ()
    assert answer in threads.comments[7][-1].body


KEEP_X = Task("keep", "x", "4" * 16)
BOXES = (KEEP_X, Task("suggest", "x", "4" * 16), Task("suggest", "local", "5" * 16, 6), Task("suggest", "w", "6" * 16))


@pytest.mark.parametrize(
    ("line", "entry", "action", "shown"),
    [
        ("/incumbent keep x", "x", "keep", (None, "4" * 16)),
        ("/incumbent suggest x", "x", "suggest", (None, "4" * 16)),
        ("/incumbent suggest local", "local", "suggest", (6, "5" * 16)),
        ("/incumbent suggest w", "w", "suggest", (None, "6" * 16)),
    ],
)
def test_what_the_dashboard_lists_is_asked_for_on_the_grounds_of_its_box(
    line: str, entry: str, action: str, shown: tuple[int | None, str]
) -> None:
    threads = Threads(listed=BOXES)
    threads.say(DASHBOARD, "cora", line)
    (request,) = threads.plan().stand
    assert (request.entry, request.action) == (entry, action)
    assert (request.pull_request, request.grounds) == shown
    threads.listed = ()
    assert threads.plan().stand == (request,)
    threads.known = RegressionSet({}, {}, {})
    assert threads.plan().stand == ()


def test_of_to_keep_and_to_suggest_the_last_word_holds() -> None:
    threads = Threads(listed=BOXES)
    for verb in ("keep", "suggest", "keep"):
        threads.say(DASHBOARD, "cora", f"/incumbent {verb} x")
        assert [item.action for item in threads.plan().stand] == [verb]


@pytest.mark.parametrize(("id", "why"), [("local", "no box of the dashboard"), ("gone", "no box of the dashboard")])
def test_what_no_box_is_about_cannot_be_suggested(id: str, why: str) -> None:
    threads = Threads(listed=(KEEP_X,))
    threads.say(DASHBOARD, "cora", f"/incumbent suggest {id}")
    assert threads.plan().stand == ()
    assert why in threads.comments[DASHBOARD][-1].body


def test_a_box_of_what_is_gone_asks_for_nothing() -> None:
    threads = Threads(listed=(Task("suggest", "gone", "4" * 16),))
    threads.say(DASHBOARD, "cora", "/incumbent suggest gone")
    assert threads.plan().stand == ()
    assert "it is not in the regression set." in threads.comments[DASHBOARD][-1].body


def test_a_record_on_other_grounds_than_are_shown_is_not_followed() -> None:
    ticks = Ticks(by="cora", at="2026-11-28T05:00:00Z", number=DASHBOARD, tasks=(KEEP_X,))
    (record,) = records_of(ticks, (KEEP_X,)).values()
    threads = Threads(listed=(Task("keep", "x", "7" * 16),))
    threads.say(DASHBOARD, "cora", record)
    assert threads.plan().stand == ()
    assert "its grounds have changed since this was ticked." in threads.comments[DASHBOARD][-1].body
    threads = Threads(listed=BOXES)
    threads.say(DASHBOARD, "cora", record)
    assert [item.grounds for item in threads.plan().stand] == [KEEP_X.shown]


def test_a_number_that_somebody_wrote_into_a_box_is_not_believed() -> None:
    threads = Threads(listed=(Task("suggest", "local", "5" * 16, 9_999_999),))
    threads.say(DASHBOARD, "cora", "/incumbent suggest local")
    assert threads.plan().stand == ()
    assert "no box of the dashboard is about it." in threads.comments[DASHBOARD][-1].body


def test_who_asks_for_both_at_once_is_asked_again() -> None:
    threads = Threads(listed=BOXES)
    threads.say(DASHBOARD, "cora", "/incumbent keep x\n/incumbent suggest x w")
    assert [(item.action, item.entry) for item in threads.plan().stand] == [("suggest", "w")]
    assert "`x`: this asks to keep it and to suggest it; say one of them." in threads.comments[DASHBOARD][-1].body


def test_what_was_kept_is_kept_again_once_the_later_wish_is_taken_back() -> None:
    threads = Threads(listed=BOXES)
    threads.say(DASHBOARD, "cora", "/incumbent keep x")
    assert [item.action for item in threads.plan().stand] == ["keep"]
    id = threads.say(DASHBOARD, "cora", "/incumbent suggest x")
    assert [item.action for item in threads.plan().stand] == ["suggest"]
    threads.comments[DASHBOARD] = [item for item in threads.comments[DASHBOARD] if item.id != id]
    assert [item.action for item in threads.plan().stand] == ["keep"]


KEEP = Task("keep", "s0", "0123456789abcdef")
ACCEPT = Task("accept", "q1", "0123456789abcdef", 4)
Comments = dict[int, tuple[IssueComment, ...]]
TICKS = Ticks(by="cora", at="2026-11-28T05:00:00Z", number=3, tasks=(KEEP, ACCEPT))


def planned(threads: Comments, events: str | None = None, displayed: tuple[Task, ...] = (KEEP, ACCEPT)) -> list[object]:
    found = plan_records(TICKS, displayed, lambda number: threads.get(number, ()), BOT, "f" * 40, events)
    return [operation for _, operation in found]


def said(displayed: tuple[Task, ...] = (KEEP, ACCEPT)) -> Comments:
    """The threads once the bot said what it plans, with ids 1 and 2."""
    comments = [item for item in planned({}, displayed=displayed) if isinstance(item, CreateComment)]
    return {
        number: (make_comment(id, BOT, item.body),)
        for id, (number, item) in enumerate(zip((3, 4), comments, strict=True), 1)
    }


def events_of(operations: list[object]) -> str:
    (note,) = [item for item in operations if isinstance(item, WriteLedger)]
    return dict(note.files)[SET_EVENTS] or ""


def noted(threads: Comments) -> str:
    """The events once the ledger names what was said."""
    return events_of(planned(threads, events_of(planned({}))))


def test_it_is_announced_then_written_then_named_and_then_nothing_is_left() -> None:
    first, *said_next = planned({})
    assert isinstance(first, WriteLedger), "no run beside this one may take the comment for the bot's words"
    assert len([item for item in said_next if isinstance(item, CreateComment)]) == 2
    announced, threads = events_of(planned({})), said()
    assert sorted(threads) == [3, 4]
    assert [type(item) for item in planned({}, announced)] == [CreateComment, CreateComment], "after a kill"
    events = noted(threads)
    assert planned(threads, events) == []
    for comments in threads.values():
        (comment,) = comments
        for by in (announced, events):
            read = as_ticked(comment, BOT, by)
            assert (read.author, read.is_bot, read.body) == ("cora", False, comment.body)
        assert as_ticked(comment, BOT, None) == comment


def test_what_was_said_is_not_said_again_whatever_is_displayed_by_then() -> None:
    threads = said()
    assert not [item for item in planned(threads, displayed=()) if isinstance(item, CreateComment)]
    assert planned(threads, noted(threads), displayed=()) == []


def test_whoever_deletes_the_comment_takes_the_tick_back_for_good() -> None:
    events = noted(said())
    assert planned({}, events) == []
    (again,) = said()[3]
    # Another workflow of the repository posts the same words under the same account.
    replayed = make_comment(9, BOT, again.body)
    assert as_ticked(replayed, BOT, events) == replayed
    assert planned({3: (replayed,)}, events) == []


def test_nobody_else_can_say_it_first_or_otherwise() -> None:
    (ours,) = said()[3]
    others = (
        make_comment(1, "eve", ours.body),
        make_comment(2, BOT, ours.body.replace("/incumbent keep s0", "/incumbent keep s9")),
        make_comment(3, BOT, "Hello"),
    )
    assert len([item for item in planned({3: others}) if isinstance(item, CreateComment)]) == 2
    events = noted(said())
    edited = make_comment(1, BOT, f"{ours.body}\n/incumbent keep s1")
    assert as_ticked(edited, BOT, events) == edited
    assert as_ticked(make_comment(1, "eve", ours.body), BOT, events).author == "eve"


def test_of_two_that_a_race_wrote_the_older_counts() -> None:
    threads = said()
    (first,) = threads[3]
    threads[3] = (make_comment(7, BOT, first.body), first)
    events = noted(threads)
    assert as_ticked(first, BOT, events).author == "cora"
    assert as_ticked(threads[3][0], BOT, events).author == BOT
