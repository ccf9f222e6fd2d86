"""What people should be asked, and what they refused: read off closed pull requests, and looked up where it is old."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from incumbent.curator.roles import EvictionKind
from incumbent.github.models import OpenPullRequest
from incumbent.ledger.event_files import parsed
from incumbent.ledger.events import Answered
from incumbent.ledger.model import Refusal, Request
from incumbent.ledger.refusals import grounds_in
from incumbent.reconcile.desired_suggestions import withdrawn
from incumbent.reconcile.suggestion_pull_requests import EVICT, branch_of
from incumbent.report.pull_request_bodies import GroupMembers, closing
from tests.factories import make_entry
from tests.ledger.replay import replay
from tests.reconcile.merges import BOT, make_pull
from tests.reconcile.proposing import BEST, OFFER, Suggesting, close, events_in, make_platform, record_in

NOWHERE = "0" * 16


def test_what_people_closed_is_refused_and_remembered_as_long_as_it_is_about_something() -> None:
    world = Suggesting()
    branch = close(world, "spare")
    assert "spare" not in world.proposals
    refusal = Refusal(pull_request=5, branch=branch)
    assert list(world.desired.refusals) == [refusal]
    record = record_in(world.plan())
    assert record is not None
    assert record.refusals == (refusal,)
    world.platform = make_platform(*BEST)
    assert world.desired.refusals == ()


@pytest.mark.parametrize("more", [{"merge": "a" * 40}, {"body": closing("x", "y")}, {"branch": None}])
def test_what_was_merged_or_closed_by_us_or_is_a_forks_refuses_nothing(more: dict[str, Any]) -> None:
    world = Suggesting()
    close(world, "spare", **more)
    assert "spare" in world.proposals
    assert world.desired.refusals == ()


def test_what_a_bot_closed_is_suggested_again_and_recorded() -> None:
    world = Suggesting()
    close(world, "spare")
    (number,) = [pull.number for pull in world.closed]
    world.closer = "stale[bot]"
    assert "spare" in world.proposals
    assert world.desired.refusals == ()
    (event,) = [item for item in parsed(events_in(world.plan())) if isinstance(item, Answered)]
    assert (event.pull_request, event.agrees, event.by_bot) == (number, False, True)


@pytest.mark.parametrize(
    ("looked_up", "stands"),
    [
        (lambda branch: make_pull(3, branch=branch, merge=None), True),
        (lambda branch: make_pull(3, branch=branch, merge=None, body=closing("x", "y")), False),
        (lambda branch: make_pull(3, branch=branch, merge=None, closed=False), False),
        (lambda branch: make_pull(3, branch=branch), False),
        (lambda branch: make_pull(3, branch=None, merge=None), False),
        (lambda branch: make_pull(3, branch=branch_of(EVICT, "spare", NOWHERE), merge=None), False),
        (lambda branch: None, False),
    ],
    ids=["refused", "closed by us", "open", "merged", "a fork's", "of another branch", "gone"],
)
def test_a_refusal_of_the_ledger_is_looked_up_before_it_holds_anything_back(looked_up: Any, stands: bool) -> None:
    world = Suggesting()
    branch = world.proposals["spare"].branch
    refusal = Refusal(pull_request=3, branch=branch)
    world.record = world.record.model_copy(update={"refusals": (refusal,)})
    world.elsewhere[3] = looked_up(branch)
    wanted = world.desired
    assert wanted.refusals == ((refusal,) if stands else ())
    assert wanted.forged == (() if stands else (refusal,))
    assert ("spare" in world.proposals) is not stands


def test_a_refusal_that_holds_nothing_back_now_is_kept_without_a_look() -> None:
    refusal = Refusal(pull_request=3, branch=branch_of(EVICT, "spare", NOWHERE))
    world = Suggesting()
    world.record = world.record.model_copy(update={"refusals": (refusal,)})
    assert (world.desired.refusals, world.desired.forged) == ((refusal,), ())


def test_reopening_takes_a_refusal_back() -> None:
    world = Suggesting()
    spare = world.proposals["spare"]
    world.opened(spare, 5)
    world.record = world.record.model_copy(update={"refusals": (Refusal(pull_request=5, branch=spare.branch),)})
    assert world.desired.refusals == ()
    assert "spare" in world.proposals


def test_what_is_open_already_is_suggested_before_what_is_not() -> None:
    world = Suggesting()
    best2 = world.proposals["best2"]
    world.opened(best2, 5)
    assert next(iter(world.proposals)) == "best2"


def test_a_refused_offer_is_remembered_with_what_it_offers() -> None:
    world = Suggesting(platform=make_platform(*BEST[:1]), offer=OFFER)
    record = record_in(world.plan())
    assert record is not None
    assert record.offers == {OFFER.branch: OFFER.contents}
    world.record = record
    world.offer = None
    world.closed.append(make_pull(5, branch=OFFER.branch, merge=None, author=BOT))
    assert world.desired.offers == {OFFER.branch: OFFER.contents}
    assert [item.branch for item in world.desired.refusals] == [OFFER.branch]
    world.closed.clear()
    assert world.desired.offers == {}


def test_what_the_events_give_as_refused_is_what_the_record_remembers_offers_included() -> None:
    world = Suggesting(offer=OFFER)
    world.opened(OFFER.proposal, 8)
    world.settle()
    offer = world.open.pop()
    world.closed.append(replace(offer, closed=True))
    world.offer = None
    close(world, "spare")

    def refused() -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
        world.settle()
        by_events = [(item.pull_request, item.branch) for item in replay(parsed(world.events)).refused]
        return by_events, sorted((item.pull_request, item.branch) for item in world.record.refusals)

    by_events, remembered = refused()
    assert by_events == remembered
    assert [number for number, _ in by_events] == [5, 8]
    # Who opens the offer again takes its refusal back.
    world.closed = [pull for pull in world.closed if pull.number != 8]
    world.open.append(offer)
    world.offer = OFFER
    by_events, remembered = refused()
    assert by_events == remembered
    assert [number for number, _ in by_events] == [5]


def test_what_a_curator_wants_taken_back_and_what_lost_its_source_is_suggested() -> None:
    world = Suggesting(departed={"best2": EvictionKind.CUSTOMER_LEFT}, undone={"best1": 17})
    assert {name: item.kind for name, item in world.proposals.items()} == {
        "best1": "undone",
        "best2": "customer-left",
    }
    assert grounds_in(world.proposals["best1"].branch) != grounds_in(
        Suggesting(undone={"best1": 18}).proposals["best1"].branch
    )


# What curators ask to suggest ---------------------------------------------------------------------------------------


def suggest(
    world: Suggesting, branch: str, entry: str = "spare", number: int | None = None, at: str | None = None
) -> None:
    """A curator asks to suggest what ``branch`` is about, which was refused last on the pull request ``number``."""
    grounds = grounds_in(branch)
    fields: dict[str, Any] = {"by": "cora", "comment": 9, "said": "0" * 24, "grounds": grounds, "pull_request": number}
    world.asked = [Request(entry=entry, action="suggest", at=at, **fields)]


def test_a_refusal_is_taken_back_until_people_close_what_is_opened_then() -> None:
    world = Suggesting()
    branch = close(world, "spare", 5)
    suggest(world, branch, number=5)
    assert world.proposals["spare"].branch == branch
    assert OpenPullRequest in {type(item) for _, item in world.plan().operations}
    assert world.desired.refusals == (Refusal(pull_request=5, branch=branch),), "it holds again without the comment"
    close(world, "spare", 8)
    assert "spare" not in world.proposals
    assert {item.action for item in world.plan().planned if item.branch == branch} <= {"refused"}
    suggest(world, branch, number=8)
    assert "spare" in world.proposals
    world.asked = []
    assert "spare" not in world.proposals


def test_the_same_pull_request_opened_and_closed_again_is_a_new_refusal() -> None:
    world = Suggesting()
    branch = close(world, "spare", 5, closed_at="2026-11-23T09:00:00Z")
    suggest(world, branch, number=5, at="2026-11-23T09:10:00Z")
    assert "spare" in world.proposals
    world.closed = [replace(pull, closed_at="2026-11-23T09:20:00Z") for pull in world.closed]
    assert "spare" not in world.proposals


def test_asking_on_other_grounds_takes_nothing_back() -> None:
    world = Suggesting()
    close(world, "spare", 5)
    suggest(world, branch_of(EVICT, "spare", NOWHERE), number=5)
    assert "spare" not in world.proposals


def test_what_is_asked_for_is_opened_beyond_the_limit_and_alone() -> None:
    entries = [make_entry(f"spare{number}", {"a": 0.6, "b": 0.6}) for number in range(4)]
    world = Suggesting(platform=make_platform(*BEST, *entries, group=50, open_evictions=0))
    assert all(item.action == "wait" for item in world.plan().planned)
    (group,) = world.desired.proposals
    member = next(item for item in group.members if item.id == "spare2")
    suggest(world, branch_of(EVICT, "spare2", member.grounds.digest), "spare2")
    opened = [item.branch for item in world.plan().planned if item.action == "open"]
    assert opened == [branch_of(EVICT, "spare2", member.grounds.digest)]
    (rest,) = [item for item in world.desired.proposals if item.members]
    assert "spare2" not in rest.entries


def test_an_entry_of_a_refused_group_is_suggested_again_alone() -> None:
    grounds = {id: item.grounds.digest for id, item in ((e.id, e) for e in Suggesting().desired.suggestions.evictions)}
    (id, digest), *_ = sorted(grounds.items())
    refusal = Refusal(pull_request=5, branch="incumbent/group/mixed-x-0123456789abcdef", entries=grounds)
    world = Suggesting()
    world.record = world.record.model_copy(update={"refusals": (refusal,)})
    listing = GroupMembers(suggests=grounds).text
    world.elsewhere[5] = make_pull(5, branch=refusal.branch, merge=None, body=listing)
    assert id not in world.proposals
    suggest(world, branch_of(EVICT, id, digest), id, number=5)
    assert list(world.proposals) == [id]


GROUNDS = "1" * 16
CLOSED_AT, ASKED_AT, AGAIN_AT = (f"2026-11-23T{hour}:00:00Z" for hour in (10, 11, 12))


def asked_again(**more: Any) -> Request:
    known: dict[str, Any] = {"entry": "spare", "action": "suggest", "by": "cora", "comment": 9, "said": "0" * 24}
    return Request(**{**known, "grounds": GROUNDS, "pull_request": 5, "at": ASKED_AT, **more})


@pytest.mark.parametrize(
    ("pull", "asked", "expected"),
    [
        ({}, (asked_again(),), {5}),
        ({}, (), set()),
        ({}, (asked_again(grounds="2" * 16),), set()),
        ({}, (asked_again(grounds="2" * 16), asked_again()), {5}),
        # It was asked for on what came after, or before.
        ({}, (asked_again(pull_request=6),), {5}),
        ({}, (asked_again(pull_request=4),), set()),
        ({}, (asked_again(pull_request=None),), set()),
        # People closed it again since.
        ({"closed_at": AGAIN_AT}, (asked_again(),), set()),
        ({"closed_at": None}, (asked_again(),), {5}),
        ({"branch": None}, (asked_again(),), set()),
        ({"branch": f"feature/spare-{GROUNDS}"}, (asked_again(),), set()),
    ],
)
def test_what_curators_asked_for_again_since_is_refused_no_more(
    pull: dict[str, Any], asked: tuple[Request, ...], expected: set[int]
) -> None:
    closed = make_pull(
        5, **{"branch": branch_of(EVICT, "spare", GROUNDS), "merge": None, "closed_at": CLOSED_AT} | pull
    )
    assert withdrawn([closed], asked) == expected
