"""What becomes of suggestions is recorded once: opened, merged, refused and opened again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from incumbent.github.models import PullRequest
from incumbent.ledger.events import ADMISSION, Answered, LedgerEvent, Reopened, Suggested
from incumbent.reconcile.suggestion_plan import answered, remembered, reopened, suggested
from incumbent.reconcile.suggestion_pull_requests import ADMIT, EVICT, REPACK, SWAP, TOP_UP, Proposal, branch_of
from incumbent.report.pull_request_bodies import closing
from tests.ledger.replay import replay
from tests.reconcile.merges import BOT, make_pull

BRANCH = branch_of(EVICT, "spare", "0" * 16)
OFFER = branch_of(ADMIT, "set-7", "0" * 16)
AT = "2026-11-23T10:00:00Z"
PROPOSAL = Proposal(
    branch=BRANCH,
    kind="redundant",
    entries=("spare",),
    title="Evict spare: redundant",
    body="",
    files=(),
    remaining={"a": 2},
)
IDS = ("spare", "best", "spa")


def ours(number: int = 5, branch: str | None = BRANCH, **more: Any) -> PullRequest:
    defaults = {"branch": branch, "merge": None, "author": BOT, "title": "Evict spare: redundant", "closed_at": AT}
    return make_pull(number, **defaults | more)


def opened(number: int = 5, known: tuple[LedgerEvent, ...] = ()) -> tuple[LedgerEvent, ...]:
    return suggested([ours(number, closed=False)], {BRANCH: PROPOSAL}, known, AT)


def answers(*closed: PullRequest, known: tuple[LedgerEvent, ...] = (), by: str = "dan", at: str = AT) -> Any:
    return answered(closed, known, IDS, lambda number: ("cora", AT), lambda pull: (by, at))


def test_a_suggestion_is_recorded_once_however_often_it_is_refreshed() -> None:
    (event,) = opened()
    assert isinstance(event, Suggested)
    assert (event.pull_request, event.branch, event.entries, event.suggestion) == (5, BRANCH, ("spare",), "redundant")
    assert (event.remaining, event.at, event.admits) == ({"a": 2}, AT, None)
    fewer = {BRANCH: replace(PROPOSAL, remaining={"a": 1})}
    assert suggested([ours(closed=False)], fewer, [event], AT) == ()
    assert len(opened(6, (event,))) == 1


def test_what_is_not_proposed_is_no_suggestion() -> None:
    pulls = [ours(6, "incumbent/evict/other-0000000000000000"), ours(7, None)]
    assert suggested(pulls, {BRANCH: PROPOSAL}, (), AT) == ()


@pytest.mark.parametrize("merge", ["a" * 40, None])
def test_an_offer_of_admissions_is_answered_as_others_are(merge: str | None) -> None:
    pull = ours(5, OFFER, merge=merge, title="Regression set: admit 1 of #7")
    proposal = replace(PROPOSAL, branch=OFFER, kind=ADMISSION, remaining={})
    known = suggested([pull], {OFFER: proposal}, (), AT)
    (event,) = answers(pull, known=known)
    assert (event.suggestion, event.entries, event.agrees) == (ADMISSION, ("spare",), merge is not None)
    (untold,) = answers(pull)
    assert (untold.suggestion, untold.entries) == (ADMISSION, ())


@pytest.mark.parametrize(("merge", "agrees", "by"), [("a" * 40, True, "cora"), (None, False, "dan")])
def test_merging_agrees_and_closing_does_not(merge: str | None, agrees: bool, by: str) -> None:
    (event,) = answers(ours(merge=merge), known=opened())
    assert (event.agrees, event.by, event.by_bot, event.at) == (agrees, by, False, AT)
    assert (event.entries, event.suggestion) == (("spare",), "redundant")
    assert answers(ours(merge=merge), known=(*opened(), event)) == ()


def test_what_we_closed_ourselves_is_nobodys_answer() -> None:
    assert answers(ours(body=closing("", "moot")), known=opened()) == ()


def test_what_a_bot_closed_says_so_and_is_no_refusal() -> None:
    (event,) = answers(ours(), by="stale[bot]")
    assert event.by_bot
    assert replay([event]).refused == ()


def test_who_closed_it_is_looked_up_once() -> None:
    asked: list[int] = []

    def closed_by(number: int) -> tuple[str, str]:
        asked.append(number)
        return ("stale[bot]" if number == 5 else "dan"), AT

    found = remembered((), closed_by)
    assert [found(ours(5)), found(ours(6))] == [("stale[bot]", AT), ("dan", AT)]
    assert asked == [5, 6]
    found = remembered((*answers(ours(5), by="stale[bot]"), *answers(ours(6))), closed_by)
    assert [found(ours(5)), found(ours(6))] == [("stale[bot]", AT), ("dan", AT)]
    assert asked == [5, 6]


@pytest.mark.parametrize(
    ("pull", "kind", "entries"),
    [
        (ours(), "redundant", ("spare",)),
        (ours(title="Somebody's words"), "unknown", ("spare",)),
        (ours(title="no: kind"), "unknown", ("spare",)),
        (ours(branch=branch_of(SWAP, "best", "0" * 16)), "swap", ("best",)),
        (ours(branch=branch_of(REPACK, "best", "0" * 16)), "repack", ("best",)),
        (ours(branch=branch_of(TOP_UP, "best", "0" * 16)), "top-up", ("best",)),
        (ours(branch=branch_of(EVICT, "other", "0" * 16)), "redundant", ()),
    ],
)
def test_of_one_that_a_run_opened_and_did_not_record_the_branch_tells(
    pull: PullRequest, kind: str, entries: tuple[str, ...]
) -> None:
    (event,) = answers(pull)
    assert (event.suggestion, event.entries) == (kind, entries)


def test_what_is_opened_and_closed_again_before_the_next_run_is_another_answer() -> None:
    later = "2026-11-24T10:00:00Z"
    known = (*opened(), *answers(ours()))
    pull = ours(closed_at=later)
    assert remembered(known, lambda number: ("stale[bot]", later))(pull) == ("stale[bot]", later)
    (event,) = answers(pull, known=known, by="stale[bot]", at=later)
    assert replay((*known, event)).refused == ()
    assert remembered(known, lambda number: ("stale[bot]", later))(ours()) == ("dan", AT)


def test_one_that_is_opened_again_may_be_refused_again() -> None:
    known = opened()
    for moment in ("2026-11-24T10:00:00Z", "2026-11-25T10:00:00Z"):
        known += answers(ours(closed_at=moment), known=known, at=moment)
        assert [item.at for item in replay(known).refused] == [moment]
        assert answers(ours(closed_at=moment), known=known, at=moment) == ()
        again = reopened([ours(closed=False), ours(9, closed=False)], known, AT)
        assert [type(item) for item in again] == [Reopened]
        known += again
        assert replay(known).refused == ()
        assert reopened([ours(closed=False)], known, AT) == ()
    assert len({item.key for item in known}) == len(known)
    known += answers(ours(merge="a" * 40), known=known)
    assert isinstance(known[-1], Answered)
    assert replay(known).refused == ()
