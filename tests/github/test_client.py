"""What the client asks of GitHub, and how often."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from bot.errors import OutsideError
from bot.github.client import BlockedBranchError, GitHubClient, LostRaceError, ProtectedBranchError
from bot.github.models import Commit, PushBranch


class Hub:
    """A GitHub on loopback with these ``answers``, 404 for all else; ``asked`` is what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, Any]] = {}
        self.asked: list[str] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                question = f"{self.command} {self.path.partition('?')[0].removeprefix('/repos/o/r')}"
                hub.asked.append(question)
                status, found = hub.answers.get(question, (404, {"message": "Not Found"}))
                body = json.dumps(found).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                """Nothing on standard error."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def client(self) -> GitHubClient:
        return GitHubClient("o/r", "t", f"http://127.0.0.1:{self.server.server_address[1]}", "bot")


@pytest.fixture
def hub() -> Iterator[Hub]:
    made = Hub()
    thread = Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def test_what_a_person_may_do_is_asked_once(hub: Hub) -> None:
    place = "GET /collaborators/{}/permission".format
    hub.answers = {place("mara"): (200, {"permission": "write"}), place("rob"): (403, {"message": "barred"})}
    client = hub.client()
    for _ in range(2):
        assert [client.permission(login) for login in ("mara", "rob", "nina")] == ["write", "untold", "none"]
    assert hub.asked == [place("mara"), place("rob"), place("nina")]


WHEN = "2026-11-21T10:00:00Z"
SAID = {"id": 44, "user": {"login": "mara", "type": "User"}, "body": "/incumbent accept q1"}


@pytest.mark.parametrize(
    ("key", "place", "state", "of", "found"),
    [
        ("review:5:44", "/pulls/5/reviews/44", "APPROVED", 5, True),
        ("review:5:44", "/pulls/5/reviews/44", "DISMISSED", 5, False),
        ("review:5:44", "/pulls/5/reviews/44", "APPROVED", 15, False),
        ("inline:5:44", "/pulls/comments/44", None, 5, True),
        ("inline:5:44", "/pulls/comments/44", None, 6, False),
        ("inline:5:44", "/pulls/comments/45", None, 5, False),
    ],
)
def test_a_comment_of_a_review_is_found_on_its_own_pull_request_alone(
    hub: Hub, key: str, place: str, state: str | None, of: int, found: bool
) -> None:
    times = {"submitted_at": WHEN, "state": state} if state else {"created_at": WHEN, "updated_at": WHEN}
    url = f"https://api.github.example/repos/o/r/pulls/{of}"
    hub.answers = {f"GET {place}": (200, {**SAID, **times, "pull_request_url": url})}
    remark = hub.client().find_remark(key)
    assert (remark is not None) is found
    if remark is not None:
        comment = remark.comment
        assert (remark.number, comment.key, comment.author, comment.body) == (5, key, "mara", SAID["body"])
        # Nobody was asked whether it was edited, so that it counts as edited.
        assert comment.is_edited


MAKE = ["POST /git/trees", "POST /git/commits", "POST /git/refs"]
LOOK = "GET /git/ref/heads/incumbent/evict/x"
PUSH = PushBranch(branch="incumbent/evict/x", tip=None, base="b" * 40, parents=("b" * 40,), files=(), message="m")


def refusing(hub: Hub, status: int, message: str, **found: tuple[int, Any]) -> None:
    """GitHub makes the commit, and refuses the branch."""
    made: dict[str, tuple[int, Any]] = dict.fromkeys(MAKE[:2], (201, {"sha": "c" * 40}))
    hub.answers = {**made, MAKE[2]: (status, {"message": message}), **found}


def test_commits_that_follow_are_made_before_the_branch_moves(hub: Hub) -> None:
    hub.answers = {name: (201, {"sha": "c" * 40}) for name in MAKE}
    then = (Commit(files=(), message="second"), Commit(files=(), message="third"))
    hub.client().apply(None, replace(PUSH, then=then), "e" * 40)
    assert hub.asked == [*MAKE[:2] * 3, MAKE[2]]


@pytest.mark.parametrize(
    ("author", "state", "commented", "expected"),
    [
        ("mara", "APPROVED", False, True),
        ("mara", "DISMISSED", False, False),
        ("copilot[bot]", "COMMENTED", False, False),
        ("copilot[bot]", "COMMENTED", True, True),
    ],
)
def test_only_people_review(hub: Hub, author: str, state: str, commented: bool, expected: bool) -> None:
    def user(login: str) -> dict[str, str]:
        return {"login": login, "type": "Bot" if login.endswith("[bot]") else "User"}

    when = {"created_at": "2026-11-21T10:00:00Z", "updated_at": "2026-11-21T10:00:00Z"}
    said = [{"id": 1, "user": user("mara" if commented else "ci[bot]"), "body": "x", **when}]
    review = {"user": user(author), "state": state, "submitted_at": "2026-11-21T10:00:00Z"}
    hub.answers = {"GET /issues/5/comments": (200, said), "GET /pulls/5/reviews": (200, [review])}
    assert hub.client().is_reviewed(5) is expected


def test_a_lost_first_write_costs_one_request(hub: Hub) -> None:
    refusing(hub, 422, "Reference already exists", **{LOOK: (200, {"object": {"sha": "d" * 40}})})
    with pytest.raises(LostRaceError):
        hub.client().apply(None, PUSH, "e" * 40)
    assert hub.asked == [*MAKE, LOOK]


def test_a_protected_first_write_costs_one_request(hub: Hub) -> None:
    refusing(hub, 422, "Repository rule violations found")
    with pytest.raises(ProtectedBranchError):
        hub.client().apply(None, PUSH, "e" * 40)
    assert hub.asked == [*MAKE, LOOK]


def test_a_branch_in_the_way_is_named(hub: Hub) -> None:
    below = "GET /git/matching-refs/heads/incumbent/evict/x/"
    parent = {"GET /git/ref/heads/incumbent": (200, {"object": {"sha": "d" * 40}}), below: (200, [])}
    refusing(hub, 422, "Reference update failed", **parent)
    with pytest.raises(BlockedBranchError, match="delete or rename the branch `incumbent`, and run this again"):
        hub.client().apply(None, PUSH, "e" * 40)


def test_what_is_in_the_way_cannot_hide_why_github_refused(hub: Hub) -> None:
    below = {"GET /git/matching-refs/heads/incumbent/evict/x/": (409, {"message": "another matter"})}
    refusing(hub, 422, "Object does not exist", **below)
    with pytest.raises(OutsideError, match="Object does not exist"):
        hub.client().apply(None, PUSH, "e" * 40)
