"""Until when a request stands: as long as its comment does, and as long as there is something left to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from incumbent.curator.store import RegressionSet
from incumbent.ledger.events import Settled
from incumbent.ledger.model import REQUESTS, Request, RequestRecord
from incumbent.reconcile.requests import asked, noted, settled, undone
from tests.reconcile.asking import GONE, KNOWN, START, Threads, X, buried, request_of

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
    threads.curators = ("mara",)


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
    threads = Threads(curators=("cora", "nils"))
    threads.say(7, "cora", SAID)
    threads.plan()
    id = threads.say(7, "nils", SAID)
    assert [(item.by, item.comment) for item in threads.plan().stand] == [("nils", id)]


def test_what_has_happened_is_not_asked_any_more() -> None:
    undo, restore = request_of("x", "undo", SAID), request_of("gone", "restore", SAID)
    assert undone([undo, restore], KNOWN) == (undo, restore)
    assert undone([undo, restore], RegressionSet({"gone": GONE}, {}, {"x": buried(X)})) == ()
    assert asked([undo, restore], "undo") == {"x": undo}


def test_the_end_of_a_request_says_whether_it_happened() -> None:
    undo, restore = request_of("x", "undo", SAID), request_of("gone", "restore", SAID)
    done = RegressionSet({"gone": GONE}, {}, {"x": buried(X)})
    for known, happened in ((KNOWN, False), (done, True)):
        ends = settled([undo, restore], [], known, "2026-03-01T12:00:00Z")
        assert [item.happened for item in ends if isinstance(item, Settled)] == [happened] * 2
    assert settled([undo], [undo], KNOWN, "2026-03-01T12:00:00Z") == ()


def test_a_note_on_a_new_ledger_says_what_the_branch_is() -> None:
    record = RequestRecord(since=START, requests=(request_of("x", "undo", SAID),))
    write = noted(record, None, None, ())
    assert (write.parent, [path for path, _ in write.files], write.message) == (
        None,
        ["README.md", "format.json", REQUESTS],
        "1 open request",
    )
