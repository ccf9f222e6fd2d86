"""Which event leads to which flow, and the addresses in the environment of a run."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.errors import UsageError
from incumbent.github.events import Flow, page_of_run, product_files, read_event, server_of, with_repository
from incumbent.report.task_list import Task, Ticks

REPOSITORY = {"full_name": "acme/platform", "default_branch": "main"}
HEAD = "1" * 40


def pull_request(
    action: str = "opened", base: str = "main", branch: str = "add", fork: bool = False, merged: bool = False
) -> dict[str, Any]:
    repositories = [{"full_name": name} for name in ("cora/fork" if fork else "acme/platform", "acme/platform")]
    pull = {
        "number": 7,
        "head": {"sha": HEAD, "ref": branch, "repo": repositories[0]},
        "base": {"ref": base, "repo": repositories[1]},
        "author_association": "MEMBER",
        "user": {"login": "mara"},
        "merged": merged,
    }
    return {"action": action, "repository": REPOSITORY, "pull_request": pull}


def comment(body: str | None = "/incumbent help", state: str = "open", **more: Any) -> dict[str, Any]:
    issue = {"number": 7, "state": state, "pull_request": {}, "user": {"login": "mara"}}
    issue |= {"author_association": "NONE"}
    issue |= more.pop("issue", {})
    said = {"id": 5, "user": {"login": "cora"}, "author_association": "OWNER", "body": body}
    return {"action": "created", "repository": REPOSITORY, "issue": issue, "comment": said} | more


def group(action: str = "checks_requested", base: str = "refs/heads/main") -> dict[str, Any]:
    merge = {"head_sha": HEAD, "base_sha": "2" * 40, "base_ref": base}
    return {"action": action, "repository": REPOSITORY, "merge_group": merge}


def edited(base: str = "main", previous: str | None = None, **more: Any) -> dict[str, Any]:
    """A title that was changed, or the branch that it goes to."""
    changes = {"title": {"from": "x"}} if previous is None else {"base": {"ref": {"from": previous}}}
    return pull_request("edited", base=base, **more) | {"changes": changes}


def ended(action: str, merged: bool) -> dict[str, Any]:
    payload = pull_request(action, merged=merged)
    payload["pull_request"]["state"] = "closed"
    payload["changes"] = {"base": {"ref": {"from": "release"}}}
    return payload


@pytest.mark.parametrize(
    ("name", "payload", "flow"),
    [
        *(
            ("pull_request_target", pull_request(action), Flow.REVIEW)
            for action in ("opened", "reopened", "synchronize", "ready_for_review")
        ),
        ("pull_request_target", edited(), Flow.NOTHING),
        ("pull_request_target", edited(base="release"), Flow.NOTHING),
        ("pull_request_target", edited(previous="release"), Flow.REVIEW),
        *(
            ("pull_request_target", ended(action, merged), Flow.NOTHING)
            for action in ("edited", "labeled", "synchronize", "ready_for_review", "reopened")
            for merged in (True, False)
        ),
        ("pull_request", pull_request(), Flow.REVIEW),
        ("pull_request_target", pull_request("closed"), Flow.RECONCILE),
        ("pull_request_target", pull_request("closed", merged=True), Flow.NOTHING),
        ("pull_request_target", pull_request("closed", base="release"), Flow.NOTHING),
        ("pull_request_target", pull_request(branch="incumbent/evict/x-1"), Flow.RECONCILE),
        ("pull_request_target", edited(branch="incumbent/evict/x-1"), Flow.NOTHING),
        ("pull_request_target", pull_request(branch="incumbent-like"), Flow.REVIEW),
        ("pull_request_target", pull_request(branch="incumbent/evict/x-1", fork=True), Flow.REVIEW),
        ("pull_request_target", pull_request("labeled"), Flow.NOTHING),
        ("pull_request_target", pull_request(base="release"), Flow.NOT_CURATED),
        ("issue_comment", comment(), Flow.REVIEW),
        ("issue_comment", comment("Thanks, /Incumbent Run"), Flow.REVIEW),
        ("issue_comment", comment("Thanks"), Flow.NOTHING),
        ("issue_comment", comment(None), Flow.NOTHING),
        ("issue_comment", comment(state="closed"), Flow.NOTHING),
        ("issue_comment", comment(action="edited"), Flow.NOTHING),
        ("issue_comment", {**comment(), "issue": {"number": 7, "state": "open"}}, Flow.NOTHING),
        (
            "issue_comment",
            {**comment(), "issue": {"number": 3, "user": {"type": "Bot"}, "state": "open"}},
            Flow.RECONCILE,
        ),
        ("issue_comment", {**comment(), "issue": {"number": 3, "user": {"type": "User"}}}, Flow.NOTHING),
        ("issue_comment", {**comment(), "issue": {"number": 3, "user": None}}, Flow.NOTHING),
        ("merge_group", group(), Flow.GROUP),
        ("merge_group", group(base="main"), Flow.GROUP),
        ("merge_group", group("destroyed"), Flow.NOTHING),
        ("merge_group", group(base="refs/heads/release"), Flow.NOT_CURATED),
        ("push", {"repository": REPOSITORY, "ref": "refs/heads/main"}, Flow.RECONCILE),
        ("push", {"repository": REPOSITORY, "ref": "refs/heads/main", "deleted": True}, Flow.NOTHING),
        ("push", {"repository": REPOSITORY, "ref": "refs/heads/other"}, Flow.NOTHING),
        ("schedule", {"repository": REPOSITORY}, Flow.RECONCILE),
        ("workflow_dispatch", {"repository": REPOSITORY}, Flow.RECONCILE),
        ("issue_comment", comment(state="closed", issue={"pull_request": {"merged_at": "2026-01-01"}}), Flow.RECONCILE),
        ("pull_request_review", pull_request("submitted"), Flow.NOTHING),
        ("fork", {"repository": REPOSITORY}, Flow.NOTHING),
    ],
)
def test_an_event_leads_to_one_flow(name: str, payload: dict[str, Any], flow: Flow) -> None:
    event = read_event(name, payload)
    assert event.flow is flow
    assert bool(event.why) == (flow in (Flow.NOTHING, Flow.NOT_CURATED))
    assert (event.repository, event.default_branch) == ("acme/platform", "main")


def test_the_facts_of_each_event_are_kept() -> None:
    opened = read_event("pull_request_target", pull_request())
    assert (opened.pull_request, opened.head, opened.association) == (7, HEAD, "MEMBER")
    said = read_event("issue_comment", comment())
    assert (said.pull_request, said.head, said.author, said.association) == (7, None, "mara", "NONE")
    assert said.commented
    assert (opened.author, opened.commented, opened.inside) == ("mara", False, True)
    merged = read_event("merge_group", group())
    assert (merged.pull_request, merged.head, merged.group_base) == (None, HEAD, "2" * 40)


def test_bots_start_nothing() -> None:
    payload = comment()
    payload["comment"]["user"] = {"login": "incumbent[bot]", "type": "Bot"}
    event = read_event("issue_comment", payload)
    assert (event.flow, event.why) == (Flow.NOTHING, "bots give no commands")


@pytest.mark.parametrize(("base", "left"), [("main", True), ("other", False)])
def test_a_pull_request_that_turned_away_from_the_default_branch_is_known(base: str, left: bool) -> None:
    payload = pull_request("edited")
    payload["pull_request"]["base"]["ref"] = "release"
    payload["changes"] = {"base": {"ref": {"from": base}}}
    event = read_event("pull_request_target", payload)
    assert (event.flow, event.left) == (Flow.NOT_CURATED, left)


def test_an_account_that_is_gone_is_a_ghost() -> None:
    payload = comment(issue={"user": None})
    assert read_event("issue_comment", payload).author == "ghost"


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("pull_request_target", {}),
        ("pull_request_target", {"repository": REPOSITORY, "action": "opened"}),
        ("pull_request_target", {"repository": REPOSITORY, "action": "opened", "pull_request": {"number": "x"}}),
        ("issue_comment", {"repository": REPOSITORY, "issue": {"pull_request": {}, "state": "open"}, "comment": {}}),
        ("merge_group", {"repository": REPOSITORY, "action": "checks_requested", "merge_group": None}),
    ],
)
def test_a_payload_that_is_not_whole_is_refused(name: str, payload: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"the payload of the event {name} is not whole"):
        read_event(name, payload)


def test_the_clock_is_of_the_repository_and_branch_that_it_runs_on() -> None:
    environment = {"GITHUB_REPOSITORY": "acme/platform", "GITHUB_REF": "refs/heads/trunk"}
    event = read_event("schedule", with_repository("schedule", {"schedule": "37 3 * * *"}, environment))
    assert (event.flow, event.repository, event.default_branch) == (Flow.RECONCILE, "acme/platform", "trunk")
    scheduled = {"schedule": "37 3 * * *", "repository": REPOSITORY}
    assert with_repository("schedule", scheduled, environment) is scheduled
    assert with_repository("push", {}, environment) == {}


@pytest.mark.parametrize(
    ("name", "payload", "seeks"),
    [
        ("workflow_dispatch", {}, True),
        ("schedule", {"schedule": "7 4 * * 1"}, True),
        ("schedule", {"schedule": "7 4 * * MON-TUE"}, True),
        ("schedule", {"schedule": "37 3 * * *"}, False),
        ("schedule", {"schedule": None}, False),
        ("schedule", {}, False),
        ("push", {"ref": "refs/heads/main", "schedule": "7 4 * * 1"}, False),
    ],
)
def test_what_the_taxonomy_lacks_is_looked_for_by_hand_and_each_week(
    name: str, payload: dict[str, Any], seeks: bool
) -> None:
    event = read_event(name, {"repository": REPOSITORY, **payload})
    assert (event.flow, event.seeks) == (Flow.RECONCILE, seeks)


BOX = Task("keep", "s0", "0123456789abcdef")


def tick(**more: Any) -> dict[str, Any]:
    """Cora ticks a box of an issue of the bot; ``more`` replaces parts of the payload."""
    issue = {
        "number": 3,
        "state": "open",
        "user": {"login": "github-actions[bot]", "type": "Bot"},
        "body": BOX.line.replace("[ ]", "[x]"),
        "updated_at": "2026-11-28T05:00:00Z",
    }
    payload: dict[str, Any] = {
        "action": "edited",
        "repository": REPOSITORY,
        "sender": {"login": "cora", "type": "User"},
        "issue": issue | more.pop("issue", {}),
        "changes": {"body": {"from": BOX.line}},
    }
    return payload | more


def test_a_tick_on_the_dashboard_is_read_with_who_ticked() -> None:
    event = read_event("issues", tick())
    assert event.flow is Flow.RECONCILE
    assert event.ticks == Ticks(by="cora", at="2026-11-28T05:00:00Z", number=3, tasks=(BOX,))


@pytest.mark.parametrize(
    "payload",
    [
        tick(sender={"login": "other[bot]", "type": "Bot"}),
        tick(sender=None),
        tick(issue={"user": {"login": "eve", "type": "User"}}),
        tick(issue={"user": None}),
        tick(issue={"state": "closed"}),
        tick(issue={"body": None}),
        tick(action="opened"),
        tick(changes={"title": {"from": "x"}}),
        tick(changes={"body": {"from": BOX.line.replace("[ ]", "[x]")}}),
    ],
)
def test_an_edit_that_ticks_no_box_of_the_bot_does_nothing(payload: dict[str, Any]) -> None:
    assert read_event("issues", payload).flow is Flow.NOTHING


@pytest.mark.parametrize(
    ("branch", "base", "flow"),
    [
        ("incumbent/group/x-1", "main", Flow.RECONCILE),
        ("incumbent/group/x-1", "release", Flow.NOTHING),
        ("topic", "main", Flow.NOTHING),
    ],
)
def test_a_tick_counts_on_a_pull_request_of_the_bot_to_the_default_branch(branch: str, base: str, flow: Flow) -> None:
    payload = pull_request("edited", base=base, branch=branch) | {
        "sender": {"login": "cora", "type": "User"},
        "changes": {"body": {"from": BOX.line}},
    }
    payload["pull_request"] |= tick()["issue"] | {"number": 7}
    event = read_event("pull_request_target", payload)
    assert event.flow is flow
    assert (event.ticks is not None) is (flow is Flow.RECONCILE)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "https://github.com"),
        ({"GITHUB_SERVER_URL": "https://git.example"}, "https://git.example"),
        ({"GITHUB_SERVER_URL": "https://git.example/"}, "https://git.example"),
    ],
)
def test_the_server_has_no_slash_at_its_end(environment: dict[str, str], expected: str) -> None:
    assert server_of(environment) == expected


@pytest.mark.parametrize("run", ["", "1/../2", "x"])
def test_only_a_number_leads_to_a_run(run: str) -> None:
    assert page_of_run("acme/platform", {"GITHUB_RUN_ID": run}) is None


def test_the_page_of_a_run() -> None:
    environment = {"GITHUB_SERVER_URL": "https://git.example/", "GITHUB_RUN_ID": "12"}
    assert page_of_run("acme/platform", environment) == "https://git.example/acme/platform/actions/runs/12"


ACTION = "example/incumbent@0123456789012345678901234567890123456789"


@pytest.mark.parametrize("action", [None, "example/incumbent", "example/incumbent@", f"{ACTION}\n"])
def test_without_a_version_it_is_not_known_where_the_products_files_are(action: str | None) -> None:
    assert product_files(action, {}) is None


def test_the_products_files_are_on_the_server_of_the_action() -> None:
    assert product_files(ACTION, {}) == f"https://github.com/{ACTION.replace('@', '/blob/')}"
    own = product_files(ACTION, {"GITHUB_SERVER_URL": "https://git.acme.example/"})
    assert own == f"https://git.acme.example/{ACTION.replace('@', '/blob/')}"
