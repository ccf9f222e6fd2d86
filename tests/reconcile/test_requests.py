"""What curators ask of entries: where it is heard, whom it counts from, and until when it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from bot.curator.entry import Entry, Evicted, Tombstone
from bot.curator.store import RegressionSet
from bot.github.values import CreateComment, DeleteComment, IssueComment, React, Remark, WriteLedger
from bot.ledger.keys import digest
from bot.ledger.model import REQUESTS, Request, RequestRecord
from bot.reconcile.requests import Plan, Scene, asked, noted, plan_requests, undone
from tests.factories import make_entry
from tests.reconcile.merges import BOT, make_comment, source

START = "2026-11-20T00:00:00Z"
LATER = "2026-11-24T00:00:00Z"
X = make_entry("x", {"a": 0.9}, source=source("q1", pull_request=7))
W = make_entry("w", {"a": 0.8}, source=source("q2", pull_request=7))
GONE = make_entry("gone", {"b": 0.9}, source=source("q3", pull_request=8))
LOCAL = make_entry("local", {"b": 0.9})
DASHBOARD = 50


def buried(entry: Entry) -> Tombstone:
    return Tombstone(id=entry.id, evicted=Evicted(reason="x"), restore="x", entry=entry)


KNOWN = RegressionSet({"x": X, "local": LOCAL}, {"w": W}, {"gone": buried(GONE)})


@dataclass
class Threads:
    """Comments on threads, and what was noted of them."""

    comments: dict[int, list[IssueComment]] = field(default_factory=dict)
    record: RequestRecord | None = None
    reviewed: frozenset[int] = frozenset()
    known: RegressionSet = KNOWN
    more: dict[str, Any] = field(default_factory=dict)

    def say(self, number: int, author: str, body: str, id: int | None = None, **more: Any) -> int:
        ids = [item.id for items in self.comments.values() for item in items]
        id = id or max(ids, default=100) + 1
        self.comments.setdefault(number, []).append(make_comment(id, author, body, **more))
        return id

    @property
    def scene(self) -> Scene:
        remarks = [Remark(number=number, comment=item) for number, items in self.comments.items() for item in items]
        defaults: dict[str, Any] = {
            "login": BOT,
            "known": self.known,
            "at": START,
            "record": self.record,
            "remarks": tuple(sorted(remarks, key=lambda item: item.comment.id)),
            "reviewed": lambda: self.reviewed,
            "comment": lambda id: next((item.comment for item in remarks if item.comment.id == id), None),
            "thread": lambda number: tuple(self.comments.get(number, ())),
            "author": {7: "mara", 8: "nils"}.__getitem__,
            "curators": ("cora", "mara"),
            "permission": dict[str, str]().__getitem__,
            "by_hand": False,
            "ledger": "f" * 40,
        }
        return Scene(**defaults | self.more)

    def plan(self) -> Plan:
        """One run, whose answers and notes are written."""
        plan = plan_requests(self.scene)
        for number, operation in plan.operations:
            if isinstance(operation, CreateComment):
                assert number is not None
                self.say(number, BOT, operation.body)
            elif isinstance(operation, WriteLedger):
                self.record = RequestRecord.model_validate_json(dict(operation.files)[REQUESTS] or "", strict=False)
        return plan


def reactions(plan: Plan) -> list[tuple[int | None, int, str]]:
    return [(number, item.comment, item.reaction) for number, item in plan.operations if isinstance(item, React)]


def answers(plan: Plan) -> list[str]:
    return [item.body for _, item in plan.operations if isinstance(item, CreateComment)]


def request_of(entry: str, action: str, body: str, by: str = "cora", comment: int = 101) -> Request:
    data = {"entry": entry, "action": action, "by": by, "comment": comment, "said": digest(body)}
    return Request.model_validate(data)


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
    assert threads.plan() == Plan(operations=(), stand=())


def test_the_first_run_notes_from_when_on_comments_are_read() -> None:
    threads = Threads()
    threads.say(7, "cora", "nothing to do with us")
    threads.plan()
    assert threads.record == RequestRecord(since=START)


def test_where_a_review_answers_nothing_is_said_twice() -> None:
    threads = Threads(reviewed=frozenset({7}), record=RequestRecord(since=START))
    threads.say(7, "cora", "/incumbent undo x")
    assert threads.plan() == Plan(operations=(), stand=())


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


def test_an_answer_that_a_race_doubled_goes_when_there_is_something_to_answer() -> None:
    threads = Threads()
    threads.say(7, "cora", "/incumbent undo nobody")
    answer = answers(threads.plan())[0]
    doubled = threads.say(7, BOT, answer)
    threads.say(7, "cora", "/incumbent undo x")
    removed = [item.id for _, item in threads.plan().operations if isinstance(item, DeleteComment)]
    assert removed == [doubled]


# How long it stands ------------------------------------------------------------------------------------------------

SAID = "/incumbent undo x"


def standing(change: Callable[[Threads], None], request: Request | None = None) -> tuple[Request, ...]:
    """What stands of a request once ``change`` happened; that it stood before is checked."""
    threads = Threads()
    threads.say(7, "cora", SAID)
    assert len(threads.plan().stand) == 1
    if request is not None:
        assert threads.record is not None
        threads.record = threads.record.model_copy(update={"requests": (request,)})
    change(threads)
    return threads.plan().stand


def edited(threads: Threads, **more: Any) -> None:
    threads.comments[7][0] = replace(threads.comments[7][0], **more)


def forget(threads: Threads) -> None:
    threads.comments.clear()


def leave(threads: Threads) -> None:
    threads.more["curators"] = ("mara",)


def evict(threads: Threads) -> None:
    threads.known = RegressionSet({}, {}, {"x": buried(X)})


def pin(threads: Threads) -> None:
    threads.known = RegressionSet({"x": X.model_copy(update={"pin": "an audit"})}, {}, {})


@pytest.mark.parametrize(
    "change",
    [
        forget,
        leave,
        evict,
        pin,
        lambda threads: edited(threads, body=f"{SAID}!"),
        lambda threads: edited(threads, author="mara"),
        lambda threads: edited(threads, is_bot=True),
    ],
    ids=["deleted", "no curator any more", "it has happened", "pinned", "edited", "somebody else's", "a bot's"],
)
def test_a_request_ends_with_what_it_rests_on(change: Callable[[Threads], None]) -> None:
    assert standing(change) == ()


def test_a_request_that_its_comment_does_not_give_was_made_up() -> None:
    assert standing(lambda _: None, request_of("x", "undo", SAID)) != ()
    known = RegressionSet({"x": X}, {}, {"gone": buried(GONE)})

    def bury(threads: Threads) -> None:
        threads.known = known

    assert standing(bury, request_of("gone", "restore", SAID)) == ()


def test_who_asks_again_stands_in_the_place_of_who_asked_before() -> None:
    threads = Threads(more={"curators": ("cora", "nils")})
    threads.say(7, "cora", SAID)
    threads.plan()
    id = threads.say(7, "nils", SAID)
    assert [(item.by, item.comment) for item in threads.plan().stand] == [("nils", id)]


def test_what_has_happened_is_not_asked_any_more() -> None:
    undo, restore = request_of("x", "undo", SAID), request_of("gone", "restore", SAID)
    assert undone([undo, restore], KNOWN) == (undo, restore)
    assert undone([undo, restore], RegressionSet({"gone": GONE}, {}, {"x": buried(X)})) == ()
    assert asked([undo, restore], "undo") == {"x": undo}


def test_a_note_on_a_new_ledger_says_what_the_branch_is() -> None:
    record = RequestRecord(since=START, requests=(request_of("x", "undo", SAID),))
    write = noted(record, None)
    assert (write.parent, [path for path, _ in write.files], write.message) == (
        None,
        ["README.md", REQUESTS],
        "1 requests stand",
    )
