"""One pull request for one set of values, whatever happened to it; nothing is asked twice."""

from __future__ import annotations

from typing import Any

from bot.calibration.calibrate import ConfigEdit
from bot.github.calibration_offer import BRANCHES, plan_offer
from bot.github.events import OWN_BRANCHES
from bot.github.models import OpenPullRequest, PullRequest, PushBranch

EDIT = ConfigEdit("config/curation.yaml", "text\n", "0123abcd")
BRANCH = f"{BRANCHES}0123abcd"
BASE, TIP = "b" * 40, "c" * 40


def pull(**more: Any) -> PullRequest:
    defaults: dict[str, Any] = {
        "number": 5, "head": TIP, "base": "main", "author": "ann", "association": "MEMBER", "labels": (),
        "branch": BRANCH,
    }  # fmt: skip
    return PullRequest(**defaults | more)


def closed_by(number: int) -> tuple[str, str]:
    return ("stale[bot]" if number > 90 else "ann"), "2026-11-22T10:00:00Z"


def test_a_branch_is_made_and_a_pull_request_opened() -> None:
    offer = plan_offer(EDIT, "why", "main", BASE, None, [pull(branch="other"), pull(branch=None)], closed_by)
    push, opened = offer.operations
    assert isinstance(push, PushBranch)
    assert (push.branch, push.tip, push.parents, push.files) == (BRANCH, None, (BASE,), ((EDIT.path, EDIT.text),))
    assert isinstance(opened, OpenPullRequest)
    assert (opened.branch, opened.base, opened.body) == (BRANCH, "main", "why")


def test_reconcile_does_not_take_it_for_its_own() -> None:
    assert not BRANCH.startswith(OWN_BRANCHES)


def test_the_same_again_opens_no_second_one() -> None:
    offer = plan_offer(EDIT, "why", "main", BASE, TIP, [pull(number=4, closed=True), pull()], closed_by)
    assert (offer.operations, offer.number, offer.refused) == ((), 5, False)


def test_what_people_closed_is_not_asked_again() -> None:
    offer = plan_offer(EDIT, "why", "main", BASE, None, [pull(closed=True)], closed_by)
    assert (offer.operations, offer.number, offer.refused) == ((), 5, True)


def test_a_run_that_was_killed_is_taken_up() -> None:
    (opened,) = plan_offer(EDIT, "why", "main", BASE, TIP, [], closed_by).operations
    assert isinstance(opened, OpenPullRequest)


def test_what_was_merged_and_undone_may_be_offered_again() -> None:
    push, _ = plan_offer(EDIT, "why", "main", BASE, TIP, [pull(closed=True, merge="d" * 40)], closed_by).operations
    assert isinstance(push, PushBranch)
    assert (push.tip, push.parents) == (TIP, (TIP, BASE))


def test_what_a_bot_closed_was_never_answered() -> None:
    by_bot = pull(number=91, closed=True)
    (opened,) = plan_offer(EDIT, "why", "main", BASE, TIP, [by_bot], closed_by).operations
    assert isinstance(opened, OpenPullRequest)
    refused = plan_offer(EDIT, "why", "main", BASE, TIP, [by_bot, pull(number=4, closed=True)], closed_by)
    assert (refused.operations, refused.number, refused.refused) == ((), 4, True)
