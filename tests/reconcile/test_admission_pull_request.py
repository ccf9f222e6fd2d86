"""Admissions as a pull request: its branch names its content, and what people turned down is known by it."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.curator import file_changes as changes
from incumbent.curator.entry import Entry
from incumbent.curator.file_changes import FileChange
from incumbent.curator.store import RegressionSet
from incumbent.github.models import PullRequest
from incumbent.ledger.model import Refusal, SuggestionRecord
from incumbent.reconcile.admission_pull_request import (
    NOTHING_REFUSED,
    AdmissionOffer,
    OfferStep,
    Refused,
    content_of,
    turned_down,
)
from incumbent.reconcile.suggestion_pull_requests import EVICT, branch_of, is_suggestion
from incumbent.report.pull_request_bodies import EntryChange, Offered, closing
from tests.factories import make_entry
from tests.reconcile.merges import make_pull, source

X, Y = make_entry("x", {"a": 0.9}), make_entry("y", {"b": 0.9})


def step_of(entry: Entry, change: EntryChange = EntryChange.ENTERS, number: int | None = 7, **more: Any) -> OfferStep:
    offered = (Offered(entry=entry, change=change, pull_request=number),)
    return OfferStep(message=f"Admit {entry.id}", file_changes=(changes.admit(entry),), offered=offered, **more)


def offer_of(*steps: OfferStep) -> AdmissionOffer:
    return AdmissionOffer(steps=steps, leads_to=RegressionSet({}, {}, {}))


def test_the_branch_is_named_after_who_brought_it_and_after_the_content() -> None:
    offer = offer_of(step_of(X, number=9), step_of(Y, number=7))
    assert offer.branch.startswith("incumbent/admit/set-7-9-")
    assert is_suggestion(offer.branch)
    assert offer_of(step_of(Y, number=7), step_of(X, number=9)).branch == offer.branch
    assert offer_of(step_of(X, number=None)).branch.startswith("incumbent/admit/set-")


@pytest.mark.parametrize(
    "update",
    [{"turns": ("another",)}, {"pin": "an audit"}, {"source": source("q1")}, {"id": "z"}],
    ids=lambda item: next(iter(item)),
)
def test_another_content_is_another_branch(update: dict[str, object]) -> None:
    assert offer_of(step_of(X.model_copy(update=update))).branch != offer_of(step_of(X)).branch


def test_the_verdict_moves_with_the_set_and_is_not_content() -> None:
    moved = X.model_copy(update={"admitted": X.admitted.model_copy(update={"decision": "REPLACE"}), "scores": {}})
    assert content_of(moved) == content_of(X)


@pytest.mark.parametrize(
    ("steps", "title"),
    [
        ([step_of(X)], "Regression set: admit 1 of #7"),
        ([step_of(X, number=9), step_of(Y)], "Regression set: admit 2 of #7, #9"),
        ([step_of(X, EntryChange.PINNED)], "Regression set: change 1 of #7"),
        ([step_of(X, number=None), step_of(Y, EntryChange.MOVES, None)], "Regression set: admit 1 and change 1"),
    ],
)
def test_the_title_counts_what_enters_and_what_changes(steps: list[OfferStep], title: str) -> None:
    assert offer_of(*steps).proposal.title == title


def test_the_pull_request_holds_the_last_word_on_each_file_and_says_what_becomes_of_whom() -> None:
    pinned = X.model_copy(update={"pin": "an audit"})
    proposal = offer_of(step_of(X), step_of(Y), step_of(pinned, EntryChange.PINNED)).proposal
    assert proposal.files == (
        ("regression_set/x.yaml", changes.render(pinned)),
        ("regression_set/y.yaml", changes.render(Y)),
    )
    assert (proposal.kind, proposal.entries) == ("admission", ("x", "y", "x"))
    assert "| `x` | enters | `INCLUDE NEW_COVERAGE` | #7 |" in proposal.body
    assert "| `x` | has its pin as a curator said |" in proposal.body


def test_a_step_that_offers_nothing_joins_without_another_name() -> None:
    offer = offer_of(step_of(X))
    said = OfferStep(message="Say who", file_changes=(FileChange("regression_set/evicted/z.yaml", "z"),))
    joined = offer.joined_by(said)
    assert (joined.branch, joined.contents) == (offer.branch, offer.contents)
    assert ("regression_set/evicted/z.yaml", "z") in joined.proposal.files
    assert said.commit.message == "Say who"


# What people turned down -------------------------------------------------------------------------------------------

OFFER = offer_of(step_of(X), step_of(Y))
RECORD = SuggestionRecord(offers={OFFER.branch: OFFER.contents})


def closed(number: int = 3, **more: Any) -> PullRequest:
    """Our pull request with the offer, as people closed it."""
    return make_pull(number, **{"branch": OFFER.branch, "merge": None, "author": "github-actions[bot]"} | more)


def people(pull: object) -> tuple[str, str]:
    return "dan", "2026-11-23T09:30:00Z"


def bots(pull: object) -> tuple[str, str]:
    return "stale[bot]", "2026-11-23T09:30:00Z"


def no_pull_request(number: int) -> PullRequest | None:
    raise AssertionError(f"{number} is looked up for nothing")


def test_closing_it_turns_each_of_its_contents_down() -> None:
    found = turned_down(RECORD, [closed()], people, no_pull_request)
    assert found.branches == {OFFER.branch}
    assert found.holds(X)
    assert found.holds(Y)
    assert not found.holds(X.model_copy(update={"turns": ("another",)}))


@pytest.mark.parametrize(
    "pull",
    [
        closed(merge="a" * 40),
        closed(closed=False),
        closed(body=closing("", "nothing of it is left")),
        closed(branch=None),
        closed(branch=branch_of(EVICT, "x", "0" * 16)),
    ],
    ids=["merged", "open", "closed by us", "a fork's", "an eviction"],
)
def test_nothing_else_turns_it_down(pull: PullRequest) -> None:
    assert turned_down(RECORD, [pull], people, no_pull_request) == NOTHING_REFUSED


def test_what_the_ledger_says_of_older_ones_is_looked_up() -> None:
    refusals = (
        Refusal(pull_request=3, branch=OFFER.branch),
        Refusal(pull_request=4, branch=branch_of(EVICT, "x", "0" * 16)),
    )
    record = RECORD.model_copy(update={"refusals": refusals})
    assert turned_down(record, [], people, {3: closed()}.get).holds(X)
    assert turned_down(record, [closed()], people, no_pull_request).holds(X)
    assert turned_down(record, [], people, {3: None}.get) == NOTHING_REFUSED
    assert turned_down(record, [], people, {3: closed(closed=False)}.get) == NOTHING_REFUSED


def test_what_a_bot_closed_is_turned_down_by_nobody() -> None:
    refusals = (Refusal(pull_request=3, branch=OFFER.branch),)
    old = RECORD.model_copy(update={"refusals": refusals})
    assert turned_down(RECORD, [closed()], bots, no_pull_request) == NOTHING_REFUSED
    assert turned_down(old, [], bots, {3: closed()}.get) == NOTHING_REFUSED


@pytest.mark.parametrize("offers", [{}, {OFFER.branch: (content_of(X),)}], ids=["forgotten", "forged"])
def test_contents_that_the_branch_does_not_bear_out_are_turned_down_by_nobody(offers: dict[str, Any]) -> None:
    found = turned_down(SuggestionRecord(offers=offers), [closed()], people, no_pull_request)
    assert found == Refused(branches=frozenset({OFFER.branch}))
    assert not found.holds(X)
    assert found.met_by(OFFER).holds(X)


def test_another_offer_does_not_meet_a_refusal() -> None:
    found = turned_down(RECORD, [closed()], people, no_pull_request)
    assert found.met_by(offer_of(step_of(X))) == found
