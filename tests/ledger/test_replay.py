"""What stands after events: each kind ends what it ends, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.ledger.events import ADMISSION, Applied, Decided, Forgotten, LedgerEvent, Reopened, Settled
from tests.agreement.factories import (
    answered,
    by_hand,
    corrected,
    correction_ended,
    day,
    decided,
    passed,
    requested,
    shown,
    withdrawn,
)
from tests.ledger.replay import Standing, replay

FIRST = decided(comment=1)
PIN = decided(action="pin", comment=2)


def applied(of: Decided) -> Applied:
    fields = {"pull_request", "entry", "content", "action", "comment"}
    return Applied.model_validate({"at": day(9), **of.model_dump(include=fields)})


def forgotten(number: int = 7) -> Forgotten:
    return Forgotten(at=day(9), pull_request=number, record="0" * 24)


@pytest.mark.parametrize(
    ("events", "standing"),
    [
        ([], []),
        ([shown(), passed(), by_hand()], []),
        ([FIRST], [FIRST]),
        ([FIRST, PIN], [FIRST, PIN]),
        ([FIRST, decided(action="reject", comment=3)], [decided(action="reject", comment=3)]),
        ([FIRST, decided("q2", comment=1)], [FIRST, decided("q2", comment=1)]),
        ([FIRST, withdrawn(FIRST)], []),
        ([withdrawn(FIRST)], []),
        ([FIRST, decided(comment=3), withdrawn(FIRST)], [decided(comment=3)]),
        ([FIRST, PIN, withdrawn(FIRST)], [PIN]),
        ([FIRST, PIN, applied(PIN)], [FIRST]),
        ([FIRST, forgotten()], []),
        ([FIRST, forgotten(8)], [FIRST]),
        ([FIRST, forgotten(), decided(comment=9)], [decided(comment=9)]),
    ],
)
def test_the_last_word_on_a_matter_stands_until_it_ends(events: list[LedgerEvent], standing: list[Decided]) -> None:
    assert replay(events).decisions == ({7: tuple(standing)} if standing else {})


def test_pull_requests_are_told_apart() -> None:
    other = decided(pull_request=8)
    assert replay([FIRST, other]).decisions == {7: (FIRST,), 8: (other,)}
    assert replay([FIRST, other, forgotten()]).decisions == {8: (other,)}


NO = answered(agrees=False)
OFFER = answered(agrees=False, pull_request=21, branch="incumbent/admit/1", suggestion=ADMISSION, entries=("q8", "q9"))
AGAIN = Reopened(at=day(5), pull_request=20, branch=NO.branch, answers=1)


@pytest.mark.parametrize(
    ("events", "refused"),
    [
        ([NO], (NO,)),
        ([answered(agrees=False, by="stale[bot]", by_bot=True)], ()),
        ([answered()], ()),
        ([OFFER], (OFFER,)),
        ([NO, OFFER, AGAIN], (OFFER,)),
        ([NO, AGAIN], ()),
        ([AGAIN], ()),
        ([NO, AGAIN, answered()], ()),
        ([NO, AGAIN, answered(agrees=False, at=day(6))], (answered(agrees=False, at=day(6)),)),
        ([answered("q2", agrees=False, pull_request=21), NO], (NO, answered("q2", agrees=False, pull_request=21))),
    ],
)
def test_a_refusal_stands_until_its_pull_request_is_open_again(events: list[LedgerEvent], refused: Any) -> None:
    assert replay(events) == Standing(refused=refused)


def settled(comment: int = 50, **more: Any) -> Settled:
    defaults: dict[str, Any] = {"at": day(9), "entry": "q1", "action": "undo", "comment": comment}
    return Settled(**defaults | more)


@pytest.mark.parametrize(
    ("events", "requests"),
    [
        ([requested()], (requested(),)),
        ([requested(), requested(comment=51)], (requested(comment=51),)),
        ([requested(), settled()], ()),
        ([settled()], ()),
        ([requested(), requested(comment=51), settled(50)], (requested(comment=51),)),
        ([requested(), settled(action="restore")], (requested(),)),
        ([requested("q2"), requested("q1", "restore")], (requested("q1", "restore"), requested("q2"))),
    ],
)
def test_a_request_stands_until_it_is_settled(events: list[LedgerEvent], requests: Any) -> None:
    assert replay(events) == Standing(requests=requests)


WORD = corrected()


@pytest.mark.parametrize(
    ("events", "corrections"),
    [
        ([WORD], (WORD,)),
        ([WORD, corrected(value=True, comment=2)], (corrected(value=True, comment=2),)),
        ([corrected(value=True, comment=2), WORD], (corrected(value=True, comment=2),)),
        ([corrected("q2"), WORD, corrected(capability="b")], (WORD, corrected(capability="b"), corrected("q2"))),
        ([WORD, correction_ended(WORD)], ()),
        ([correction_ended(WORD), WORD], ()),
        ([WORD, corrected(comment=2), correction_ended(WORD)], (corrected(comment=2),)),
        ([WORD, forgotten()], (WORD,)),
    ],
)
def test_the_last_correction_of_a_tag_stands_until_its_comment_goes(
    events: list[LedgerEvent], corrections: Any
) -> None:
    found = replay(events).corrections
    assert sorted(found, key=str) == sorted(corrections, key=str)
