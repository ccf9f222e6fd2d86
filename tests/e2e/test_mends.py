"""Each place where the emulator differs from GitHub: pull requests, issues, comments, labels, checks."""

from __future__ import annotations

import pytest

from tests.e2e.harness.client import Client, person
from tests.e2e.harness.clone import Clone
from tests.e2e.harness.errors import HarnessError
from tests.e2e.harness.people import CURATOR, CUSTOMER, JOB, OUTSIDER, OWNER, STRANGER

ANNOTATION = {"path": "q.yaml", "start_line": 3, "end_line": 3, "annotation_level": "warning", "message": "m"}

# --- pull requests ----------------------------------------------------------------------------------------------------


def test_a_pull_requests_ids_follow_its_branches(job: Client) -> None:
    world = job.world
    opened = world.open_pull_request("topic", {"x": "1"})
    assert world.pull(opened.number)["head"]["sha"] == opened.head == world.head("topic")
    again = world.push("topic", {"x": "2"})
    base = world.push("main", {"y": "1"})
    shown = world.pull(opened.number)
    assert (shown["head"]["sha"], shown["base"]["sha"]) == (again, base)
    listed = world.get("/pulls")[0]
    assert (listed["head"]["sha"], listed["base"]["sha"]) == (again, base)


def test_files_and_commits_of_a_pull_request(job: Client) -> None:
    world = job.world
    number = world.open_pull_request("topic", {f"eval_sets/{each}": f"{each}\n" for each in range(5)}).number
    world.push("topic", {"README.md": None})
    files = world.pages(f"/pulls/{number}/files")
    assert (files[0]["filename"], files[0]["status"]) == ("README.md", "removed")
    assert len(files) == world.pull(number)["changed_files"] == 6
    first = job("GET", f"/pulls/{number}/files?per_page=4")
    assert len(first.json) == 4
    assert 'rel="next"' in first.headers["link"]
    assert len(world.get(f"/pulls/{number}/commits")) == 2


def test_the_head_can_be_fetched_by_the_pull_requests_own_reference(job: Client) -> None:
    world = job.world
    opened = world.open_pull_request("topic", {"x": "1"})
    clone = Clone(world.folder, CURATOR, world.url, world.full_name)
    assert clone.fetch(f"refs/pull/{opened.number}/head") == opened.head
    again = world.push("topic", {"x": "2"})
    assert clone.fetch(f"refs/pull/{opened.number}/head") == again


def test_a_forks_pull_request_is_read_from_the_base_repository(job: Client) -> None:
    world = job.world
    opened = world.open_pull_request("topic", {"eval_sets/a/b/evals.yaml": "x: 1\n"}, user=OUTSIDER)
    shown = world.pull(opened.number)
    assert shown["head"]["repo"]["full_name"].startswith(OUTSIDER)
    assert shown["head"]["repo"]["fork"]
    assert world.head("topic") is None
    clone = Clone(world.folder, CURATOR, world.url, world.full_name)
    assert clone.fetch(f"refs/pull/{opened.number}/head") == opened.head
    assert [file["filename"] for file in world.get(f"/pulls/{opened.number}/files")] == ["eval_sets/a/b/evals.yaml"]
    again = world.push("topic", {"eval_sets/a/b/evals.yaml": "x: 2\n"}, user=OUTSIDER)
    assert clone.fetch(again) == again
    assert job("GET", f"/git/commits/{again}").status == 200


def test_impossible_pull_requests_are_refused(job: Client) -> None:
    world = job.world
    world.open_pull_request("topic", {"x": "1"})
    world.hosted.bare.set_reference("refs/heads/empty", world.head("main"))
    for head, base, reason in (
        ("nowhere", "main", "invalid"),
        ("topic", "nowhere", "invalid"),
        ("empty", "main", "No commits between main and empty"),
        ("topic", "main", "A pull request already exists for acme:topic."),
    ):
        refused = job("POST", "/pulls", {"head": head, "base": base, "title": "T"})
        assert refused.status == 422
        assert reason in str(refused.json["errors"])


def test_a_merge_keeps_both_sides_and_shows(job: Client) -> None:
    world = job.world
    number = world.open_pull_request("topic", {"theirs": "1"}).number
    assert job("GET", f"/pulls/{number}/merge").status == 404
    world.push("main", {"ours": "1"})
    commit = world.merge(number)
    assert (world.read("main", "ours"), world.read("main", "theirs")) == ("1", "1")
    assert len(world.get(f"/git/commits/{commit}")["parents"]) == 2
    shown = world.pull(number)
    assert (shown["state"], shown["merged"], shown["merge_commit_sha"]) == ("closed", True, commit)
    assert shown["merged_by"]["login"] == CURATOR
    assert world.get("/pulls?state=closed")[0]["merged_at"] == shown["merged_at"]
    assert job("GET", f"/pulls/{number}/merge").status == 204


def test_a_conflict_is_shown_and_cannot_be_merged(job: Client) -> None:
    world = job.world
    number = world.open_pull_request("topic", {"README.md": "mine\n"}).number
    assert world.pull(number)["mergeable"] is True
    world.push("main", {"README.md": "yours\n"})
    assert world.pull(number)["mergeable"] is False
    with pytest.raises(HarnessError, match="cannot be merged"):
        world.merge(number)
    assert job("PUT", f"/pulls/{number}/merge", {}).status == 405


def test_a_merge_by_the_api_is_a_real_one(job: Client) -> None:
    world = job.world
    number = world.open_pull_request("topic", {"x": "1"}).number
    merged = job("PUT", f"/pulls/{number}/merge", {"merge_method": "squash"})
    assert merged.json["sha"] == world.head("main")
    assert world.read("main", "x") == "1"
    assert len(world.get(f"/git/commits/{merged.json['sha']}")["parents"]) == 1


def test_a_rebase_makes_each_commit_anew(job: Client) -> None:
    world = job.world
    opened = world.open_pull_request("topic", {"README.md": "Hello\nthere\n", "x": "1"}, title="One")
    theirs = [opened.head, world.push("topic", {"x": None, "y": "1"}, user=CUSTOMER, message="Two\n\nMore.")]
    base = world.push("main", {"ours": "1"})
    last = world.merge(opened.number, method="rebase")
    log = world.hosted.bare.git("log", "--reverse", "--format=%H %P %an %cn", f"{base}..main").splitlines()
    first, second = (line.split() for line in log)
    assert (first[1:], second[1:]) == ([base, "Casey", "GitHub"], [first[0], "Casey", "GitHub"])
    assert (second[0], world.pull(opened.number)["merge_commit_sha"]) == (last, last)
    assert not {first[0], last} & {*theirs}
    assert (world.read(first[0], "x"), world.read(last, "x"), world.read(last, "y")) == ("1", None, "1")
    assert (world.read(last, "README.md"), world.read(last, "ours")) == ("Hello\nthere\n", "1")
    assert world.get(f"/git/commits/{last}")["message"].startswith("Two\n\nMore.")


def test_a_rebase_by_the_api_needs_each_commit_to_fit(job: Client) -> None:
    world = job.world
    opened = world.open_pull_request("topic", {"x": "1"})
    rebased = job("PUT", f"/pulls/{opened.number}/merge", {"merge_method": "rebase"}).json["sha"]
    assert rebased == world.head("main") != opened.head, "also where the branch could have been moved on"
    number = world.open_pull_request("other", {"x": "2"}).number
    world.push("other", {"x": "1"})
    world.push("main", {"x": "3"})
    assert world.pull(number)["mergeable"] is True
    refused = job("PUT", f"/pulls/{number}/merge", {"merge_method": "rebase"})
    assert (refused.status, refused.json["message"]) == (405, "This branch can't be rebased")


def test_a_branch_that_was_pushed_to_the_base_is_merged(job: Client) -> None:
    world = job.world
    opened = world.open_pull_request("topic", {"x": "1"}, user=OUTSIDER)
    assert world.pull(opened.number)["author_association"] == "FIRST_TIME_CONTRIBUTOR"
    job("PATCH", "/git/refs/heads/main", {"sha": opened.head})
    shown = world.pull(opened.number)
    assert (shown["merged"], shown["merge_commit_sha"]) == (True, opened.head)
    assert shown["author_association"] == "CONTRIBUTOR"


def test_a_pull_request_closes_with_its_branch_and_keeps_its_head(job: Client) -> None:
    world = job.world
    opened = world.open_pull_request("topic", {"x": "1"})
    world.close(opened.number)
    world.push("topic", {"x": "2"})
    assert world.pull(opened.number)["head"]["sha"] == opened.head
    other = world.open_pull_request("second", {"x": "1"})
    job("DELETE", "/git/refs/heads/second")
    assert world.pull(other.number)["state"] == "closed"


def test_a_pull_request_is_an_issue_too(job: Client) -> None:
    world = job.world
    number = world.open_pull_request("topic", {"x": "1"}, body="Please").number
    job("POST", f"/issues/{number}/labels", {"labels": ["review"]})
    issue = person(world, CUSTOMER)("GET", f"/issues/{number}").json
    assert (issue["number"], issue["body"], issue["user"]["login"]) == (number, "Please", CUSTOMER)
    assert issue["pull_request"]["url"].endswith(f"/pulls/{number}")
    made = person(world, OWNER)("POST", "/issues", {"title": "Dashboard"}).json["number"]
    assert [each["number"] for each in world.get("/issues")] == [made, number]
    assert [each["number"] for each in world.get("/issues?labels=review")] == [number]
    assert person(world, OWNER)("PATCH", f"/issues/{number}", {"state": "closed"}).json["state"] == "closed"
    assert world.pull(number)["state"] == "closed"


# --- comments, labels, checks -----------------------------------------------------------------------------------------


def test_a_comment_is_as_long_as_github_allows(job: Client) -> None:
    number = job.world.open_pull_request("topic", {"x": "1"}).number
    made = job("POST", f"/issues/{number}/comments", {"body": "ä" * 65_536})
    assert made.status == 201
    assert made.json["user"] | {"type": "Bot", "login": JOB} == made.json["user"]
    refused = job("PATCH", f"/issues/comments/{made.json['id']}", {"body": "x" * 65_537})
    assert refused.status == 422
    assert "Body is too long" in str(refused.json["errors"])


def test_the_pages_of_a_list_are_at_the_gateway(job: Client) -> None:
    world = job.world
    number = world.open_pull_request("topic", {"x": "1"}).number
    for each in range(3):
        world.comment(CURATOR, number, str(each))
    links = job("GET", f"/issues/{number}/comments?per_page=2").headers["link"]
    assert f"<{world.url}/repos/{world.full_name}/issues/{number}/comments?" in links
    assert 'rel="next"' in links


def test_comments_since_a_time(job: Client) -> None:
    world = job.world
    number = world.open_pull_request("topic", {"x": "1"}).number
    first = world.comment(CURATOR, number, "one")
    assert len(job("GET", f"/issues/{number}/comments?since={first['updated_at']}").json) == 1
    assert job("GET", f"/issues/{number}/comments?since=2100-01-01T00:00:00Z").json == []
    assert "." not in first["updated_at"]


def test_all_comments_of_a_repository(job: Client) -> None:
    world = job.world
    numbers = [world.open_pull_request(topic, {topic: "1"}).number for topic in ("one", "two")]
    made = [world.comment(CURATOR, number, "said") for number in numbers]
    found = job("GET", f"/issues/comments?since={made[0]['updated_at']}").json
    assert [item["id"] for item in found] == [item["id"] for item in made]
    assert [int(item["issue_url"].rpartition("/")[2]) for item in found] == numbers
    job("PATCH", f"/issues/comments/{made[0]['id']}", {"body": "edited"})
    assert person(world, CURATOR)("DELETE", f"/issues/comments/{made[1]['id']}").ok
    assert [item["body"] for item in job("GET", "/issues/comments").json] == ["edited"]
    assert job("GET", "/issues/comments?since=2100-01-01T00:00:00Z").json == []


def test_nobody_edits_the_comment_of_another(job: Client) -> None:
    world = job.world
    number = world.open_pull_request("topic", {"x": "1"}).number
    path = f"/issues/comments/{world.comment(CURATOR, number, 'one')['id']}"
    assert person(world, STRANGER)("PATCH", path, {"body": "two"}).status == 403
    assert person(world, CURATOR)("PATCH", path, {"body": "two"}).status == 200
    assert world.comments(number)[0]["body"] == "two"


def test_reactions_to_a_comment(job: Client) -> None:
    world = job.world
    number = world.open_pull_request("topic", {"x": "1"}).number
    path = f"/issues/comments/{world.comment(CURATOR, number, '/incumbent help')['id']}"
    made = job("POST", f"{path}/reactions", {"content": "eyes"})
    assert (made.status, made.json["user"]["login"]) == (201, JOB)
    assert job("POST", f"{path}/reactions", {"content": "eyes"}).status == 200
    assert job("POST", f"{path}/reactions", {"content": "applause"}).status == 422
    assert world.comments(number)[0]["reactions"]["eyes"] == 1
    assert [each["content"] for each in world.get(f"{path}/reactions")] == ["eyes"]
    assert job("DELETE", f"{path}/reactions/{made.json['id']}").status == 204
    assert world.comments(number)[0]["reactions"]["total_count"] == 0


def test_labels_are_for_those_who_may_write(job: Client) -> None:
    world = job.world
    number = world.open_pull_request("topic", {"x": "1"}).number
    path = f"/issues/{number}/labels"
    assert job("POST", path, {"labels": ["one", "two"]}).status == 200
    assert person(world, STRANGER)("POST", path, {"labels": ["three"]}).status == 403
    assert person(world, STRANGER)("DELETE", f"{path}/one").status == 403
    assert world.labels(number) == ["one", "two"]
    assert job("DELETE", f"{path}/one").status == 200
    assert world.labels(number) == ["two"]


def test_annotations_add_up_and_are_limited(job: Client) -> None:
    world = job.world
    commit = world.head("main")
    output = {"title": "T", "summary": "S", "annotations": [ANNOTATION | {"title": "first"}] * 50}
    run = {"name": "Incumbent", "head_sha": commit, "status": "completed", "conclusion": "success", "output": output}
    made = job("POST", "/check-runs", run)
    assert (made.status, made.json["app"]["slug"]) == (201, "github-actions")
    path = f"/check-runs/{made.json['id']}"
    more = {"output": {"title": "T", "summary": "S", "annotations": [ANNOTATION] * 2}}
    assert job("PATCH", path, more).json["output"]["annotations_count"] == 52
    shown = world.checks(str(commit))[0]
    assert [each["title"] for each in shown["annotations"]] == ["first"] * 50 + [None] * 2
    output["annotations"] = [ANNOTATION] * 51
    assert job("POST", "/check-runs", run).status == 422
    assert job("POST", "/check-runs", run | {"output": None, "head_sha": "0" * 40}).status == 422


def test_only_apps_make_checks(job: Client) -> None:
    run = {"name": "Incumbent", "head_sha": job.world.head("main"), "status": "in_progress"}
    assert person(job.world, OWNER)("POST", "/check-runs", run).status == 403


# --- references -------------------------------------------------------------------------------------------------------


def test_a_branch_is_no_folder_of_another(job: Client) -> None:
    world = job.world
    head = world.head("main")
    world.push("x", {"x": "1"})
    world.push("y/z", {"y": "1"})
    for name in ("x/y", "x/y/z", "y"):
        made = job("POST", "/git/refs", {"ref": f"refs/heads/{name}", "sha": head})
        assert (made.status, made.json["message"]) == (422, "Reference update failed"), name
        assert world.head(name) is None
    assert job("POST", "/git/refs", {"ref": "refs/heads/x-y", "sha": head}).status == 201
    with pytest.raises(HarnessError):
        world.push("x/y", {"x": "2"})


ASSOCIATIONS = (
    *("OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR"),
    *("FIRST_TIME_CONTRIBUTOR", "FIRST_TIMER", "NONE", "MANNEQUIN"),
)


def test_a_test_says_who_somebody_is_and_what_they_may_do_stays(job: Client) -> None:
    world = job.world
    for association in ASSOCIATIONS:
        world.state(CUSTOMER, association)
        number = world.open_pull_request(association, {"x": association}).number
        comment = world.comment(CUSTOMER, number, "Hello")
        said = [world.pull(number), world.get(f"/issues/{number}"), comment, *world.comments(number)]
        said += [world.event("pull_request", number=number)["pull_request"]]
        assert {item["author_association"] for item in said} == {association}
        assert job("GET", f"/collaborators/{CUSTOMER}/permission").json["permission"] == "write"


def test_who_may_only_read_offers_from_a_fork(job: Client) -> None:
    world = job.world
    world.set_permission(CUSTOMER, "pull")
    number = world.open_pull_request("topic", {"x": "1"}).number
    shown = world.pull(number)
    assert shown["head"]["repo"]["full_name"] == f"{CUSTOMER}/{world.full_name.split('/')[1]}"
    assert shown["author_association"] == "COLLABORATOR"
    assert job("GET", f"/collaborators/{CUSTOMER}/permission").json["permission"] == "read"


def test_a_review_says_what_was_said_and_graphql_when_it_was_edited(job: Client) -> None:
    world = job.world
    number = world.open_pull_request("topic", {"x": "1"}).number
    review = world.review(CURATOR, number, "Fine.", beside="And this?")
    (beside,) = world.pages(f"/pulls/{number}/comments")
    nodes = [review["node_id"], beside["node_id"]]

    def edits() -> list[bool]:
        asked = {"query": "", "variables": {"ids": nodes}}
        found = world.gateway.ask(job.token, "POST", "/graphql", asked).json
        return [item["lastEditedAt"] is not None for item in found["data"]["nodes"]]

    assert edits() == [False, False]
    path = f"/pulls/{number}/reviews/{review['id']}"
    assert world.act(STRANGER, "PUT", path, {"body": "Mine."}).status == 403
    assert world.act(OWNER, "PUT", path, {"body": "Not so fine."}).ok
    assert [item["body"] for item in world.pages(f"/pulls/{number}/reviews")] == ["Not so fine."]
    assert edits() == [True, False]
    assert world.act(CURATOR, "PATCH", f"/pulls/comments/{beside['id']}", {"body": "That."}).ok
    assert edits() == [True, True]
    assert job("POST", f"/pulls/comments/{beside['id']}/reactions", {"content": "+1"}).status == 201
    assert world.pages(f"/pulls/{number}/comments")[0]["reactions"]["+1"] == 1
    event = world.event("pull_request_review", number=number, review=review)
    assert (event["action"], event["review"]["id"], event["pull_request"]["number"]) == (
        "submitted",
        review["id"],
        number,
    )
