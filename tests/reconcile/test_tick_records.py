"""The plan that records what people ticked: the comment first, then the ledger names it, each once."""

from __future__ import annotations

from bot.github.models import CreateComment, IssueComment, WriteLedger
from bot.ledger.events import SET_EVENTS
from bot.reconcile.tick_records import as_ticked, plan_records
from bot.report.task_list import Task, Ticks
from tests.reconcile.merges import BOT, make_comment

KEEP = Task("keep", "s0", "0123456789abcdef")
ACCEPT = Task("accept", "q1", "0123456789abcdef", 4)
TICKS = Ticks(by="cora", at="2026-11-28T05:00:00Z", number=3, tasks=(KEEP, ACCEPT))
Threads = dict[int, tuple[IssueComment, ...]]


def planned(threads: Threads, events: str | None = None, displayed: tuple[Task, ...] = (KEEP, ACCEPT)) -> list[object]:
    found = plan_records(TICKS, displayed, lambda number: threads.get(number, ()), BOT, "f" * 40, events)
    return [operation for _, operation in found]


def said(displayed: tuple[Task, ...] = (KEEP, ACCEPT)) -> Threads:
    """The threads once the bot said what it plans, with ids 1 and 2."""
    comments = [item for item in planned({}, displayed=displayed) if isinstance(item, CreateComment)]
    return {
        number: (make_comment(id, BOT, item.body),)
        for id, (number, item) in enumerate(zip((3, 4), comments, strict=True), 1)
    }


def events_of(operations: list[object]) -> str:
    (note,) = [item for item in operations if isinstance(item, WriteLedger)]
    return dict(note.files)[SET_EVENTS] or ""


def noted(threads: Threads) -> str:
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
