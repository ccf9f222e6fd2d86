"""The harness itself: in step with git, true to who may do what, recording, checking, and failing on demand."""

from __future__ import annotations

import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.harness import needs
from tests.e2e.harness.client import Client
from tests.e2e.harness.clone import Clone, Files
from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.gateway import Gateway
from tests.e2e.harness.messages import Request, error
from tests.e2e.harness.people import APPS, CURATOR, CUSTOMER, JOB, OUR_APP, OUTSIDER, OWNER, STRANGER
from tests.e2e.harness.world import World

# --- both halves of a repository --------------------------------------------------------------------------------------


@pytest.mark.parametrize("over_http", [False, True])
def test_what_is_pushed_is_in_the_api_with_the_same_ids(world: World, over_http: bool) -> None:
    files: Files = {"a/b/c.txt": "ä\n", "raw": b"\xff\x00", "run": "#!/bin/sh\n"}
    first = world.push("main", files, message="One\n\nMore.", over_http=over_http)
    second = world.push("main", {"a/b/c.txt": None, "raw": b"\xfe"}, message="Two", over_http=over_http)
    assert world.get("/git/ref/heads/main")["object"]["sha"] == second
    assert [commit["sha"] for commit in world.get("/commits")] == [second, first]
    tree = world.hosted.bare.git("rev-parse", "main^{tree}")
    assert world.get(f"/git/trees/{second}?recursive=1")["sha"] == tree


def test_what_the_api_writes_is_in_git_with_the_same_ids(job: Client) -> None:
    world = job.world
    head = str(world.head("main"))
    blob = job("POST", "/git/blobs", {"content": "eA==", "encoding": "base64"}).json["sha"]
    entries = [
        {"path": "deep/er/x", "mode": "100644", "type": "blob", "sha": blob},
        {"path": "README.md", "mode": "100644", "type": "blob", "sha": None},
    ]
    base = job("GET", f"/git/commits/{head}").json["tree"]["sha"]
    tree = job("POST", "/git/trees", {"base_tree": base, "tree": entries})
    commit = job("POST", "/git/commits", {"message": "By API", "tree": tree.json["sha"], "parents": [head]})
    made = job("POST", "/git/refs", {"ref": "refs/heads/bot/x", "sha": commit.json["sha"]})
    assert made.status == 201
    assert made.json["url"].endswith("/git/refs/heads/bot/x")
    assert world.head("bot/x") == commit.json["sha"]
    assert world.read("bot/x", "deep/er/x") == "x"
    assert world.read("bot/x", "README.md") is None
    assert "[bot]" in world.hosted.bare.git("log", "-1", "--format=%an %ae", "bot/x")


def test_a_folder_goes_with_its_last_file(job: Client) -> None:
    world = job.world
    head = world.push("main", {"set/evicted/x.yaml": "1", "set/y.yaml": "1"})
    base = job("GET", f"/git/commits/{head}").json["tree"]["sha"]
    gone = {"path": "set/evicted/x.yaml", "mode": "100644", "type": "blob", "sha": None}
    tree = job("POST", "/git/trees", {"base_tree": base, "tree": [gone]})
    assert tree.status == 201
    below = next(entry["sha"] for entry in tree.json["tree"] if entry["path"] == "set")
    assert [entry["path"] for entry in job("GET", f"/git/trees/{below}").json["tree"]] == ["y.yaml"]


def test_a_reference_moves_forward_only_unless_forced(job: Client) -> None:
    world = job.world
    old = world.head("main")
    new = world.push("main", {"x": "1"})
    assert job("PATCH", "/git/refs/heads/main", {"sha": old}).status == 422
    assert world.head("main") == new
    assert job("PATCH", "/git/refs/heads/gone", {"sha": old}).json["message"] == "Reference does not exist"
    world.push("topic", {"y": "1"})
    assert job("DELETE", "/git/refs/heads/topic").status == 204
    assert world.head("topic") is None


def test_only_those_who_may_push_can(world: World) -> None:
    world.push("main", {"a": "1"})
    assert world.push("topic", {"a": "2"}, user=CUSTOMER) == world.head("topic")
    with pytest.raises(HarnessError, match="403"):
        world.push("other", {"a": "2"}, user=STRANGER)


# --- who may do what --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("login", "level", "permission", "role"),
    [
        (CURATOR, "push", "write", "write"),
        (CURATOR, "maintain", "write", "maintain"),
        (CURATOR, "triage", "read", "triage"),
        (OWNER, None, "admin", "admin"),
        (STRANGER, None, "read", "read"),
    ],
)
def test_permissions_in_githubs_words(job: Client, login: str, level: str | None, permission: str, role: str) -> None:
    if level is not None:
        job.world.set_permission(login, level)
    said = job("GET", f"/collaborators/{login}/permission")
    assert (said.status, said.json["permission"], said.json["role_name"]) == (200, permission, role)


def test_a_stranger_has_no_permission_on_a_private_repository(make_world: Callable[..., World]) -> None:
    world = make_world(private=True)
    world.push("main", {"a": "1"})
    job = Client(world, world.job_token({"contents": "read"}))
    assert job("GET", f"/collaborators/{STRANGER}/permission").json["permission"] == "none"
    assert job("GET", "/collaborators/nobody-at-all/permission").status == 404
    assert job("GET", "/pulls").status == 403, "a job reads what its permissions name"
    with pytest.raises(HarnessError, match="not found"):
        Clone(world.folder, STRANGER, world.url, world.full_name).fetch("main")
    assert Clone(world.folder, CURATOR, world.url, world.full_name).fetch("main") == world.head("main")


def test_a_job_does_what_its_permissions_say(world: World) -> None:
    head = world.push("main", {"a": "1"})
    number = world.open_pull_request("topic", {"x": "1"}).number
    reader = Client(world, world.job_token({"contents": "read"}))
    for method, path, data in (
        ("POST", f"/issues/{number}/comments", {"body": "x"}),
        ("POST", f"/issues/{number}/labels", {"labels": ["x"]}),
        ("POST", "/check-runs", {"name": "x", "head_sha": head}),
        ("POST", "/git/blobs", {"content": "x"}),
        ("PATCH", f"/pulls/{number}", {"state": "closed"}),
    ):
        refused = reader(method, path, data)
        assert (refused.status, refused.json["message"]) == (403, "Resource not accessible by integration"), path
    assert reader("GET", f"/git/commits/{head}").status == 200
    writer = Client(world, world.job_token({"pull-requests": "write"}))
    assert writer("POST", f"/issues/{number}/comments", {"body": "x"}).status == 201
    assert writer("POST", "/git/blobs", {"content": "x"}).status == 403


def test_an_apps_token_acts_as_that_app(world: World) -> None:
    head = world.push("main", {"a": "1"})
    number = world.open_pull_request("topic", {"x": "1"}).number
    app = Client(world, world.app_token(OUR_APP, {"contents": "read", "checks": "write", "pull-requests": "write"}))
    said = app("POST", f"/issues/{number}/comments", {"body": "x"}).json["user"]
    assert (said["login"], said["type"]) == (OUR_APP, "Bot")
    assert app("POST", f"/issues/{number}/labels", {"labels": ["x"]}).status == 200
    for client, slug in (
        (app, "incumbent-acme"),
        (Client(world, world.job_token({"checks": "write"})), "github-actions"),
    ):
        made = client("POST", "/check-runs", {"name": "x", "head_sha": head, "status": "in_progress"}).json["app"]
        assert (made["slug"], made["id"]) == (slug, APPS[f"{slug}[bot]"][0])
    assert app("POST", "/git/blobs", {"content": "x"}).json["message"] == "Resource not accessible by integration"
    assert world.event("pull_request_target", number=number, sender=OUR_APP)["sender"]["type"] == "Bot"


def test_an_unknown_token_is_nobodys(world: World) -> None:
    assert Client(world, "ghs_unknown")("GET", "").status == 401


# --- the record, the checks, the failures -----------------------------------------------------------------------------


def test_api_calls_are_recorded_and_git_is_not_counted(job: Client, gateway: Gateway) -> None:
    mark = gateway.mark()
    job.world.push("main", {"z": "1"}, over_http=True)
    job("GET", "/pulls?state=all")
    call, *rest = gateway.calls_since(mark)
    assert rest == []
    assert (call.method, call.path, call.status, call.actor) == ("GET", f"/repos/{job.world.full_name}/pulls", 200, JOB)
    assert call.query == "state=all"
    assert gateway.git_calls


def test_a_request_that_github_would_not_take_is_refused(job: Client) -> None:
    number = job.world.open_pull_request("topic", {"x": "1"}).number
    refused = job("POST", f"/issues/{number}/comments", {"text": "no body"})
    assert refused.status == 422
    assert "'body' is a required property" in refused.json["message"]
    assert job("POST", "/check-runs", {"name": "x", "head_sha": 1}).status == 422
    assert job("POST", "/check-runs", None).status == 422


def test_an_answer_that_github_would_not_give_is_noticed(job: Client, gateway: Gateway) -> None:
    path = f"/repos/{job.world.full_name}/actions/permissions/workflow"
    gateway.settings[path] = (200, {"default_workflow_permissions": "read", "can_approve_pull_request_reviews": True})
    assert job("GET", "/actions/permissions/workflow").json["default_workflow_permissions"] == "read"
    assert gateway.mismatches == []
    gateway.settings[path] = (200, {"default_workflow_permissions": "everything"})
    job("GET", "/actions/permissions/workflow")
    assert {mismatch.where for mismatch in gateway.mismatches} == {"/", "/default_workflow_permissions"}
    gateway.mismatches.clear()


def test_any_answer_on_demand(job: Client, gateway: Gateway) -> None:
    gateway.fail(lambda request: request.method == "POST", error(403, "Not permitted to create pull requests."))
    assert job("POST", "/pulls", {"title": "T", "head": "a", "base": "b"}).json["message"].startswith("Not permitted")


def comments(request: Request) -> bool:
    return request.method == "POST" and request.path.endswith("/comments")


@pytest.mark.parametrize(
    ("how", "status", "made"),
    [
        ("500 before", 500, 0),
        ("500 after", 500, 1),
        ("403 secondary limit with Retry-After", 403, 0),
        ("409", 409, 0),
        ("422", 422, 0),
    ],
)
def test_failures_on_demand(job: Client, gateway: Gateway, how: Any, status: int, made: int) -> None:
    number = job.world.open_pull_request("topic", {"x": "1"}).number
    fault = gateway.fail(comments, how, times=1)
    answer = job("POST", f"/issues/{number}/comments", {"body": "x"})
    assert answer.status == status
    assert ("retry-after" in answer.headers) == (status == 403)
    assert len(job.world.comments(number)) == made
    assert job("POST", f"/issues/{number}/comments", {"body": "x"}).status == 201
    assert fault.happened == 1


@pytest.mark.parametrize(("how", "made"), [("timeout", 0), ("timeout after", 1)])
def test_silence_on_demand(job: Client, gateway: Gateway, how: Any, made: int) -> None:
    number = job.world.open_pull_request("topic", {"x": "1"}).number
    gateway.faults.silence = 0.2
    gateway.fail(comments, how)
    begun = time.monotonic()
    with pytest.raises((HTTPException, OSError)):
        job("POST", f"/issues/{number}/comments", {"body": "x"})
    assert time.monotonic() - begun >= 0.2
    assert len(job.world.comments(number)) == made
    assert gateway.calls[-1].status is None


# --- events -----------------------------------------------------------------------------------------------------------


def test_events_speak_of_this_world(job: Client) -> None:
    world = job.world
    opened = world.open_pull_request("topic", {"x": "1"}, user=OUTSIDER)
    event = world.event("pull_request_target", number=opened.number, action="opened")
    assert event["pull_request"]["head"]["sha"] == opened.head
    assert event["pull_request"]["head"]["repo"]["full_name"] != event["repository"]["full_name"] == world.full_name
    assert (event["sender"]["login"], event["number"], event["action"]) == (OUTSIDER, opened.number, "opened")
    comment = world.comment(CURATOR, opened.number, "/incumbent run")
    event = world.event("issue_comment", number=opened.number, comment=comment)
    assert (event["comment"]["id"], event["issue"]["number"]) == (comment["id"], opened.number)
    assert "pull_request" in event["issue"]
    assert "octocat" not in str(event).lower() + str(world.event("schedule"))
    assert world.event("workflow_dispatch", inputs={"dry-run": "true"})["inputs"] == {"dry-run": "true"}


def test_a_merge_group_has_all_its_pull_requests(job: Client) -> None:
    world = job.world
    numbers = [world.open_pull_request(f"topic-{each}", {f"file-{each}": "1"}).number for each in range(2)]
    before = world.head("main")
    head, reference = world.queue(*numbers)
    group = world.event("merge_group", head=head, head_ref=reference)["merge_group"]
    assert (group["head_sha"], group["base_sha"], group["head_commit"]["id"]) == (head, before, head)
    assert world.read(head, "file-0") == world.read(head, "file-1") == "1"
    assert world.get(f"/git/commits/{head}")["sha"] == head


def test_a_push_event_lists_its_commits(job: Client) -> None:
    world = job.world
    before = str(world.head("main"))
    after = world.push("main", {"x": "1"}, message="Add x")
    event = world.event("push", before=before, after=after)
    assert (event["ref"], event["before"], event["after"]) == ("refs/heads/main", before, after)
    assert [commit["message"] for commit in event["commits"]] == ["Add x"]


# --- what is missing --------------------------------------------------------------------------------------------------


def test_what_is_missing_is_named_and_skips_unless_required(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    needs.missing.cache_clear()
    try:
        monkeypatch.delenv(needs.SWITCH, raising=False)
        with pytest.raises(pytest.skip.Exception, match="node is not on PATH"):
            needs.demand("act")
        monkeypatch.setenv(needs.SWITCH, "required")
        with pytest.raises(pytest.fail.Exception, match="INCUMBENT_E2E=required, but node is not on PATH"):
            needs.demand("npm packages")
    finally:
        needs.missing.cache_clear()
