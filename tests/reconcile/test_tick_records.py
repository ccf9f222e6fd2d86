"""The plan that records what people ticked: the ledger first, then the comment, each once."""

from __future__ import annotations

from bot.github.models import CreateComment, WriteLedger
from bot.ledger.events import SET_EVENTS
from bot.reconcile.tick_records import is_recorded, plan_records
from bot.report.task_list import Task, Ticks, ticks_in
from tests.reconcile.merges import BOT, make_comment

KEEP = Task("keep", "s0", "0123456789abcdef")
ACCEPT = Task("accept", "q1", "0123456789abcdef", 4)
TICKS = Ticks(by="cora", at="2026-11-28T05:00:00Z", number=3, tasks=(KEEP, ACCEPT))


def test_the_ledger_knows_a_record_before_it_is_said() -> None:
    (where, note), *said = plan_records(TICKS, (KEEP, ACCEPT), lambda _: (), "f" * 40, None)
    assert where is None
    assert isinstance(note, WriteLedger)
    events = dict(note.files)[SET_EVENTS]
    assert [number for number, _ in said] == [3, 4]
    for _, operation in said:
        assert isinstance(operation, CreateComment)
        assert is_recorded(events, operation.body)
        assert is_recorded(events, f"{operation.body}\n".replace("\n", "\r\n"))
        assert not is_recorded(events, operation.body.replace("s0", "s1").replace("q1", "q2"))
        assert not is_recorded(None, operation.body)
    # A run that died after the note says the same, and notes nothing.
    assert plan_records(TICKS, (KEEP, ACCEPT), lambda _: (), "f" * 40, events) == tuple(said)


def test_what_was_said_is_not_said_again_whatever_is_displayed_by_then() -> None:
    _, (_, said), (_, other) = plan_records(TICKS, (KEEP, ACCEPT), lambda _: (), None, None)
    assert isinstance(said, CreateComment)
    assert isinstance(other, CreateComment)
    threads = {
        3: (make_comment(1, "eve", "hello"), make_comment(2, "cora", said.body)),
        4: (make_comment(3, "cora", other.body),),
    }
    assert plan_records(TICKS, (), lambda number: threads[number], None, None) == ()


def test_nobody_else_can_say_it_first() -> None:
    _, (_, said), _ = plan_records(TICKS, (KEEP, ACCEPT), lambda _: (), None, None)
    assert isinstance(said, CreateComment)
    forged = (make_comment(1, "eve", said.body), make_comment(2, BOT, said.body), make_comment(3, "cora", "Hello"))
    assert ticks_in(forged[0].body) is not None
    assert len(plan_records(TICKS, (KEEP, ACCEPT), lambda _: forged, None, None)) == 3
