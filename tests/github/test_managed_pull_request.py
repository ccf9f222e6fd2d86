"""One pull request for one branch, whatever happened to it: nothing is asked twice, and no commit is lost."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from incumbent.files.git import blob_id
from incumbent.github.events import OWN_BRANCHES
from incumbent.github.managed_pull_request import (
    BEGINNING,
    BRANCHES,
    FOLDERS,
    MOST_COMMITS,
    Branch,
    DesiredPullRequest,
    PlannedPullRequest,
    PullRequestState,
    calibration_offer,
    in_the_way,
    labelled,
    parents,
    plan_pull_request,
    plan_pull_requests,
)
from incumbent.github.managed_pull_request import BRANCHES as CALIBRATION
from incumbent.github.models import AddLabels, Commit, OpenPullRequest, PullRequest, PushBranch
from incumbent.ledger.calibration.calibrate import ConfigEdit
from incumbent.ledger.model import BRANCH
from incumbent.mcp.writing import BRANCHES as CHAT
from incumbent.reconcile.candidate_plan import PREFIX as CANDIDATES
from incumbent.reconcile.quarantine_plan import QUARANTINE
from incumbent.reconcile.suggestion_pull_requests import ADMIT, EVICT, GROUP, REPACK, SWAP, TOP_UP
from incumbent.report.pull_request_bodies import closing

BASE, TIP, OTHER = "b" * 40, "c" * 40, "d" * 40
FILES = (("config/curation.yaml", "text\n"),)
BLOBS = {path: blob_id(text) for path, text in FILES}
THERE = Branch(commit=TIP, blobs=BLOBS, has_base=False)
REFUSED = PlannedPullRequest(branch="some/branch", action="refused", number=5)


def desired(branch: str = "some/branch", **more: Any) -> DesiredPullRequest:
    return DesiredPullRequest(**{"branch": branch, "title": "Title", "body": "why", "files": FILES} | more)


def pull(number: int = 5, branch: str | None = "some/branch", **more: Any) -> PullRequest:
    defaults: dict[str, Any] = {"head": TIP, "base": "main", "author": "ann", "association": "MEMBER", "labels": ()}
    return PullRequest(**{"number": number, "branch": branch} | defaults | more)


def shown(
    *pulls: PullRequest, branches: dict[str, Branch] | None = None, authored: Collection[str] = (), **more: Any
) -> PullRequestState:
    """GitHub with ``pulls``; a bot closed those with a number above 90."""
    return PullRequestState(
        login="incumbent[bot]",
        default_branch="main",
        base=BASE,
        open=tuple(item for item in pulls if not item.closed),
        closed=tuple(item for item in pulls if item.closed),
        branches=branches or {},
        closed_by=lambda item: ("stale[bot]" if item.number > 90 else "ann", "2026-11-22T10:00:00Z"),
        check=lambda commit: None,
        comments=lambda number: (),
        author_of=lambda commit: "incumbent[bot]" if commit in authored else "ann",
        **more,
    )


def on_branch(*pulls: PullRequest, branch: Branch = THERE, **more: Any) -> PlannedPullRequest:
    """What becomes of what is wanted where its branch is there."""
    return plan_pull_request(desired(**more), shown(*pulls, branches={"some/branch": branch}))


def test_a_branch_is_made_and_a_pull_request_opened() -> None:
    state = shown(pull(branch="other"), pull(6, branch=None))
    planned = plan_pull_request(desired(reason="Because.", draft=True), state)
    push, opened = planned.operations
    assert planned.action == "open"
    assert push == PushBranch(
        branch="some/branch", tip=None, base=BASE, parents=(BASE,), files=FILES, message="Title\n\nBecause."
    )
    assert opened == OpenPullRequest(branch="some/branch", base="main", title="Title", body="why", draft=True)
    push, _ = plan_pull_request(desired(), state).operations
    assert isinstance(push, PushBranch)
    assert push.message == "Title"


@pytest.mark.parametrize("branch", [THERE, Branch(commit=OTHER, blobs={"config/curation.yaml": "x"}, has_base=True)])
def test_one_that_is_open_is_people_s_whatever_they_committed(branch: Branch) -> None:
    planned = on_branch(pull(4, closed=True), pull(), branch=branch)
    assert planned == PlannedPullRequest(branch="some/branch", action="keep", number=5)


def test_what_people_closed_is_not_asked_again() -> None:
    assert on_branch(pull(closed=True)) == REFUSED
    assert plan_pull_request(desired(), shown(pull(closed=True))) == REFUSED


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, True),
        ({"closed": False}, False),
        ({"merge": OTHER}, False),
        ({"body": closing("why", "its grounds do not hold any more")}, False),
        ({"number": 91}, False),
    ],
    ids=["closed by people", "open", "merged", "closed by the bot itself", "closed by another bot"],
)
def test_closed_by_people_and_unmerged_it_was_refused(more: dict[str, Any], expected: bool) -> None:
    assert shown().was_refused(pull(**{"closed": True} | more)) is expected


def test_what_a_bot_closed_is_asked_again_unless_people_had_closed_one_before() -> None:
    by_bot = pull(91, closed=True)
    assert [type(item) for item in on_branch(by_bot).operations] == [OpenPullRequest]
    assert on_branch(by_bot, pull(closed=True)) == REFUSED


def test_a_branch_that_a_killed_run_left_is_used() -> None:
    assert [type(item) for item in on_branch().operations] == [OpenPullRequest]


def test_what_was_merged_and_undone_may_be_asked_again_on_top() -> None:
    merged = pull(closed=True, merge=OTHER)
    behind = Branch(commit=TIP, blobs=BLOBS, has_base=False, behind=frozenset(BLOBS))
    for branch in (behind, Branch(commit=TIP, blobs={"config/curation.yaml": "x"}, has_base=False)):
        push, opened = on_branch(merged, branch=branch).operations
        assert isinstance(push, PushBranch)
        assert (push.tip, push.parents) == (TIP, (TIP, BASE))
        assert isinstance(opened, OpenPullRequest)
    push, _ = on_branch(merged, branch=Branch(commit=TIP, blobs={}, has_base=True)).operations
    assert isinstance(push, PushBranch)
    assert push.parents == (TIP,)


@pytest.mark.parametrize("ended", [[], [pull(91, closed=True)], [pull(closed=True, merge=OTHER, head=OTHER)]])
def test_a_branch_with_commits_of_someone_else_waits(ended: list[PullRequest]) -> None:
    someones = Branch(commit=TIP, blobs={**BLOBS, "README.md": "x"}, has_base=True)
    assert on_branch(*ended, branch=someones) == PlannedPullRequest(branch="some/branch", action="wait")


def test_no_more_are_open_than_the_limit_says() -> None:
    wanted = [desired("free", limited=False), desired("some/branch"), desired("one"), desired("two")]
    state = shown(pull(8), pull(5, branch="people's"), barred=frozenset({"one"}))
    assert [(item.branch, item.number, item.action) for item in plan_pull_requests(wanted, state, 3)] == [
        ("some/branch", 8, "keep"),
        ("free", None, "open"),
        ("one", None, "barred"),
        ("two", None, "wait"),
    ]


def test_what_this_run_opened_counts_before_the_list_shows_it() -> None:
    wanted = [desired("free", limited=False), desired("some/branch"), desired("one"), desired("two")]
    state = shown(pull(8), opened=frozenset({"some/branch", "free", "one"}))
    planned = plan_pull_requests(wanted, state, 2)
    assert {item.branch: item.action for item in planned} == {
        "some/branch": "keep",
        "free": "keep",
        "one": "keep",
        "two": "wait",
    }
    assert [item.action for item in plan_pull_requests(wanted, state, 3) if item.branch == "two"] == ["open"]


def test_a_label_is_put_once_however_it_is_written() -> None:
    assert labelled(pull(), "one") == [AddLabels(names=("one",))]
    assert labelled(pull(labels=("One",)), "one") == []


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("incumbent", True),
        ("incumbent/ledger/x", True),
        ("incumbent/evict", True),
        ("incumbent-candidates", True),
        ("incumbent-chat", True),
        ("incumbent/ledger", False),
        ("incumbent/evict-later", False),
        ("incumbent/evict/some-0123456789abcdef", False),
        ("incumbent/mine", False),
        ("incumbent-set-up", False),
        ("Incumbent", False),
    ],
)
def test_what_git_cannot_hold_beside_ours(name: str, found: bool) -> None:
    assert in_the_way([name]) == ((name,) if found else ())


def test_all_of_ours_are_known() -> None:
    assert set(FOLDERS) == {EVICT, GROUP, SWAP, REPACK, TOP_UP, ADMIT, QUARANTINE, CANDIDATES, CALIBRATION, CHAT}
    assert all(name.startswith(BEGINNING) for name in (*FOLDERS, BRANCH))


def test_the_folders_of_a_branch() -> None:
    assert parents("incumbent/evict/x") == ("incumbent", "incumbent/evict")
    assert parents("main") == ()


EDIT = ConfigEdit("config/curation.yaml", "text\n", "0123abcd")


def test_it_is_one_edit_on_a_branch_named_after_the_values() -> None:
    offer = calibration_offer(EDIT, "why")
    assert (offer.branch, offer.body, offer.files) == (f"{BRANCHES}0123abcd", "why", ((EDIT.path, EDIT.text),))
    assert not offer.followed


def test_reconcile_does_not_take_it_for_its_own() -> None:
    assert not calibration_offer(EDIT, "why").branch.startswith(OWN_BRANCHES)


def test_a_run_begins_only_so_many_commits_on_all_its_branches() -> None:
    """The first always, and each that fits beside those before it."""

    def of(name: str, commits: int) -> DesiredPullRequest:
        files = tuple((f"regression_set/{name}{number}.yaml", "x") for number in range(commits))
        parts = tuple(Commit(files=(file,), message=file[0]) for file in files)
        return DesiredPullRequest(branch=f"some/{name}", title=name, body="b", files=files, parts=parts, followed=True)

    def actions(*sizes: int, **more: Any) -> list[str]:
        wanted = [of(f"b{place}", size) for place, size in enumerate(sizes)]
        return [item.action for item in plan_pull_requests(wanted, shown(**more), 10)]

    half = MOST_COMMITS // 2
    assert actions(half, half, 1) == ["open", "open", "wait"]
    assert actions(half, half + 1, half) == ["open", "wait", "open"]
    assert actions(MOST_COMMITS + 1, 1) == ["open", "wait"]
    assert actions(1, 1, pushed=MOST_COMMITS - 1) == ["open", "wait"]
