"""A protected branch in the harness: nobody writes it but by merging a pull request, and it says so."""

from __future__ import annotations

import pytest

from tests.e2e.harness.client import Client, person
from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.people import CUSTOMER, JOB, OWNER, STRANGER

REFUSAL = "Repository rule violations found\n\nChanges must be made through a pull request.\n\n"


def test_the_api_writes_no_protected_branch(job: Client) -> None:
    world = job.world
    old, new = world.head("main"), world.push("topic", {"x": "1"})
    world.protect("main")
    for asks in (job, person(world, OWNER)):
        moved = asks("PATCH", "/git/refs/heads/main", {"sha": new, "force": True})
        assert (moved.status, moved.json["message"]) == (422, REFUSAL)
        deleted = asks("DELETE", "/git/refs/heads/main")
        assert (deleted.status, "Cannot delete this branch" in deleted.json["message"]) == (422, True)
        made = asks("POST", "/git/refs", {"ref": "refs/heads/main", "sha": new})
        assert (made.status, made.json["message"]) == (422, "Reference already exists")
        written = asks("PUT", "/contents/x", {"message": "Add x", "content": "eA==", "branch": "main"})
        assert (written.status, written.json["message"]) == (409, REFUSAL)
    assert world.head("main") == old
    assert "rule" not in person(world, STRANGER)("PATCH", "/git/refs/heads/main", {"sha": new}).json["message"]
    assert job("PATCH", "/git/refs/heads/topic", {"sha": old, "force": True}).status == 200
    world.protect("later")
    assert (
        job("POST", "/git/refs", {"ref": "refs/heads/later", "sha": new}).json["message"] == "Reference update failed"
    )
    assert world.head("later") is None


@pytest.mark.parametrize("user", [OWNER, CUSTOMER])
def test_a_push_to_a_protected_branch_is_refused_whole(job: Client, user: str) -> None:
    world = job.world
    old = world.head("main")
    world.protect("main")
    with pytest.raises(HarnessError, match=r"GH013: Repository rule violations found for refs/heads/main\."):
        world.push("main", {"x": "1"}, user=user)
    assert world.head("main") == old
    assert world.push("topic", {"x": "1"}, user=user) == world.head("topic")
    world.protect("main", False)
    assert (
        world.push("main", {"x": "1"}, user=user) == world.head("main") == world.get("/branches/main")["commit"]["sha"]
    )


def test_a_protected_branch_changes_by_merges(job: Client) -> None:
    world = job.world
    world.protect("main")
    first, second = (world.open_pull_request(f"topic-{name}", {name: "1"}).number for name in "xy")
    assert world.merge(first) == world.head("main") == world.get("/git/ref/heads/main")["object"]["sha"]
    assert job("PUT", f"/pulls/{second}/merge", {"merge_method": "rebase"}).status == 200
    assert (world.read("main", "x"), world.read("main", "y")) == ("1", "1")


def test_who_is_let_past_the_rules_writes_as_ever(job: Client) -> None:
    world = job.world
    new = world.push("topic", {"x": "1"})
    world.protect("main", past=[JOB, OWNER])
    assert job("PATCH", "/git/refs/heads/main", {"sha": new}).status == 200
    assert world.push("main", {"y": "1"}) == world.head("main")
    with pytest.raises(HarnessError, match="GH013"):
        world.push("main", {"z": "1"}, user=CUSTOMER)


def test_protection_shows(job: Client) -> None:
    world = job.world
    world.push("topic", {"x": "1"})
    assert job("GET", "/branches/main").json["protected"] is False
    world.protect("main")
    shown = job("GET", "/branches/main").json
    assert (shown["protected"], shown["protection"]["enabled"]) == (True, False), "a ruleset, not branch protection"
    assert {each["name"]: each["protected"] for each in world.get("/branches")} == {"main": True, "topic": False}
    assert [rule["type"] for rule in job("GET", "/rules/branches/main").json] == ["pull_request"]
    assert job("GET", "/rules/branches/topic").json == []
    classic = person(world, OWNER)("GET", "/branches/main/protection")
    assert (classic.status, classic.json["message"]) == (404, "Branch not protected")
    assert "not protected" not in person(world, CUSTOMER)("GET", "/branches/main/protection").json["message"]
    world.protect("main", False)
    assert job("GET", "/branches/main").json["protected"] is False
