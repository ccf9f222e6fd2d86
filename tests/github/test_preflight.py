"""Before anything is installed: each single thing that is in doubt leads to the whole run.

What GitHub really answers is in ``tests/e2e/test_preflight.py``.
"""

from __future__ import annotations

import json
import runpy
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from email.message import Message
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qsl

import pytest

from incumbent.github import preflight
from incumbent.github.check import PullRequestLabel
from incumbent.github.events import Event, Flow
from incumbent.github.git_state import FOLDERS
from incumbent.github.governing import PLACES
from incumbent.github.models import CHECK
from incumbent.ledger.model import BRANCH, record_path
from incumbent.text.digests import digest

HEAD, OTHER = "1" * 40, "2" * 40
AT = "2026-01-01T00:00:00Z"
EVENT = Event(flow=Flow.REVIEW, repository="a/b", default_branch="main", pull_request=1, head=HEAD)
CLOSING = replace(EVENT, flow=Flow.RECONCILE)
GROUP = replace(EVENT, flow=Flow.GROUP, pull_request=None, group_base="0" * 40)
ELSEWHERE = replace(EVENT, flow=Flow.NOT_CURATED, why="only pull requests to main are curated")
PAGE = 100
COMPARISON = f"/compare/{'0' * 40}...{HEAD}"
CHECKS = f"/commits/{HEAD}/check-runs"
RECORD = "/contents/pull_requests/1.json"


def test_what_is_known_here_is_what_the_product_knows() -> None:
    assert (PLACES, preflight.CHECK) == (FOLDERS, CHECK)
    assert all(label.startswith(preflight.LABELS) for label in PullRequestLabel)
    assert preflight.RECORD.format(12) == f"/contents/{record_path(12)}?ref={BRANCH}"


def refused(code: int) -> HTTPError:
    return HTTPError("url", code, "no", Message(), None)


@dataclass
class Answers(preflight.Hub):
    """A repository whose pull request 1 changes a page; ``given`` are other answers, ``later`` those of the second time
    that the pull request is asked for.
    """

    given: dict[str, Any] = field(default_factory=dict)
    pull: dict[str, Any] = field(default_factory=dict)
    later: dict[str, Any] = field(default_factory=dict)
    files: list[Any] = field(default_factory=lambda: [{"filename": "docs/page.md"}])
    commits: list[Any] = field(default_factory=lambda: [{"parents": [{}]}])
    said: dict[str, list[Any]] = field(default_factory=dict)
    pulls: list[Any] = field(default_factory=list)
    checks: list[Any] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    posted: list[tuple[str, Any]] = field(default_factory=list)

    def ask(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        place, _, query = path.partition("?")
        if body is not None:
            self.posted.append((place, body))
            return {}
        parameters = dict(parse_qsl(query, strict_parsing=bool(query)))
        self.asked.append((place, parameters))
        found = self.given.get(place, self.known(place))
        if isinstance(found, Exception):
            raise found
        size = int(parameters.get("per_page", 30))
        start = (int(parameters.get("page", 1)) - 1) * size
        return found[start : start + size] if isinstance(found, list) else found

    def known(self, place: str) -> Any:
        if place == "/pulls/1":
            again = sum(asked == place for asked, _ in self.asked) == 2
            pull = {
                "head": {"sha": HEAD, "ref": "docs"},
                "base": {"ref": "main"},
                "updated_at": AT,
                "changed_files": len(self.files),
                "commits": len(self.commits),
                "state": "open",
                "merged": False,
                "labels": [],
            }
            return pull | self.pull | (self.later if again else {})
        places = {
            "/pulls/1/files": self.files,
            "/pulls/1/commits": self.commits,
            "/pulls": self.pulls,
            CHECKS: {"check_runs": self.checks},
            COMPARISON: {"files": self.files},
        }
        return places.get(place, refused(404) if place == RECORD else self.said.get(place, []))


def hidden(text: str) -> str:
    return "\u200b".join(text)


COMMAND, OURS = {"body": "Hi\n  /incumbent help"}, {"body": "<!-- incumbent:verdicts x -->"}
CONVERSATION = "/issues/1/comments"


@pytest.mark.parametrize(
    ("event", "hub", "quiet"),
    [
        (EVENT, Answers(), True),
        # Files of ours
        *((EVENT, Answers(files=[{"filename": f"{place}/x"}]), False) for place in PLACES),
        (EVENT, Answers(files=[{"filename": ".github/workflows/incumbent.yml"}]), False),
        (EVENT, Answers(files=[{"filename": ".github/workflows/other.yml"}]), True),
        (EVENT, Answers(files=[{"filename": "docs/config/x"}, {"filename": "configs"}]), True),
        (EVENT, Answers(files=[{"filename": "x", "previous_filename": "config/x"}]), False),
        (EVENT, Answers(files=[{"filename": f"{n}"} for n in range(PAGE)] + [{"filename": "taxonomy/x"}]), False),
        (EVENT, Answers(files=[{"filename": f"{n}"} for n in range(2_999)]), True),
        # What GitHub does not list in full, or what moves meanwhile
        (EVENT, Answers(pull={"changed_files": 2}), False),
        (EVENT, Answers(pull={"commits": 2}), False),
        (EVENT, Answers(commits=[{"parents": [{}]}] * 249), True),
        (EVENT, Answers(commits=[{"parents": [{}]}] * 250), False),
        (EVENT, Answers(commits=[{"parents": [{}]}, {"parents": [{}, {}]}]), False),
        (EVENT, Answers(commits=[{"parents": []}]), False),
        (EVENT, Answers(later={"updated_at": "2026-01-01T00:00:05Z"}), False),
        (EVENT, Answers(later={"head": {"sha": OTHER, "ref": "docs"}}), False),
        (EVENT, Answers(pull={"head": {"sha": OTHER, "ref": "docs"}}), False),
        # Where it goes, and how it ended
        (EVENT, Answers(pull={"base": {"ref": "release"}}), False),
        (EVENT, Answers(pull={"state": "closed"}), False),
        (CLOSING, Answers(), False),
        (CLOSING, Answers(pull={"state": "closed"}), True),
        (CLOSING, Answers(pull={"state": "closed", "merged": True}), False),
        (CLOSING, Answers(pull={"state": "closed", "head": {"sha": HEAD, "ref": "Incumbent/evict/x"}}), False),
        (replace(CLOSING, pull_request=None), Answers(pull={"state": "closed"}), False),
        (replace(EVENT, head=None), Answers(), False),
        # What was said
        (EVENT, Answers(pull={"labels": [{"name": "bug"}]}), True),
        (EVENT, Answers(pull={"labels": [{"name": "bug"}, {"name": "Incumbent: admits"}]}), False),
        (EVENT, Answers(given={RECORD: {}}), False),
        *((EVENT, Answers(said={f"/{place}": [COMMAND]}), False) for place in ("issues/1/comments", "pulls/1/reviews")),
        *((EVENT, Answers(said={"/pulls/1/comments": [{"body": None}, said]}), False) for said in (COMMAND, OURS)),
        *(
            (EVENT, Answers(said={CONVERSATION: [{"body": body}]}), expected)
            for body, expected in (
                (None, True),
                ("see /incumbent", True),
                ("    /incumbent run", True),
                ("   /INCUMBENT run", False),
                ("x\r/incumbent run", False),
                (hidden("/incumbent run"), False),
                (f"x\n{hidden('/incumbent run')}", False),
            )
        ),
        (EVENT, Answers(said={CONVERSATION: [{"body": "x"}] * (PAGE - 1)}), True),
        (EVENT, Answers(said={CONVERSATION: [{"body": "x"}] * PAGE}), False),
        # Merge groups
        (GROUP, Answers(), True),
        (GROUP, Answers(files=[{"filename": "config/x"}]), False),
        (GROUP, Answers(files=[{"filename": f"{n}"} for n in range(299)]), True),
        (GROUP, Answers(files=[{"filename": f"{n}"} for n in range(300)]), False),
    ],
)
def test_only_what_is_certain_needs_no_run(event: Event, hub: Answers, quiet: bool) -> None:
    assert preflight.quiet_commit(event, hub) == (event.head if quiet else None)


@pytest.mark.parametrize(("said", "quiet"), [(COMMAND, True), (OURS, False)])
def test_once_the_first_job_found_nothing_commands_have_runs_of_their_own(said: dict[str, str], quiet: bool) -> None:
    assert preflight.quiet_commit(EVENT, Answers(said={CONVERSATION: [said]}), True) == (HEAD if quiet else None)


def test_pages_are_asked_for_as_far_as_they_go() -> None:
    hub = Answers(files=[{"filename": f"{n}"} for n in range(2 * PAGE)])
    assert preflight.quiet_commit(EVENT, hub) == HEAD
    asked = [parameters for place, parameters in hub.asked if place == "/pulls/1/files"]
    assert asked == [{"per_page": "100", "page": str(page)} for page in (1, 2, 3)]
    many = Answers(files=[{"filename": f"{n}"} for n in range(3_000)])
    preflight.quiet_commit(EVENT, many)
    assert sum(place == "/pulls/1/files" for place, _ in many.asked) == 30
    assert {tuple(parameters) for place, parameters in hub.asked if place == CONVERSATION} == {("per_page",)}


@pytest.mark.parametrize(
    ("event", "hub", "wants"),
    [
        (ELSEWHERE, Answers(), True),
        (replace(ELSEWHERE, left=True), Answers(), None),
        (replace(ELSEWHERE, head=None), Answers(), None),
        (ELSEWHERE, Answers(checks=[{"id": 1, "name": "Incumbent"}]), False),
        (ELSEWHERE, Answers(checks=[{"id": 1, "name": "incumbent"}]), True),
        (ELSEWHERE, Answers(pulls=[{"head": {"sha": OTHER}}]), True),
        (ELSEWHERE, Answers(pulls=[{"head": {"sha": OTHER}}, {"head": {"sha": HEAD}}]), False),
        (ELSEWHERE, Answers(pulls=[{"head": {"sha": OTHER}}] * 999), True),
        (ELSEWHERE, Answers(pulls=[{"head": {"sha": OTHER}}] * 1_000), None),
    ],
)
def test_a_pull_request_elsewhere_gets_the_check_unless_another_counts(
    event: Event, hub: Answers, wants: bool | None
) -> None:
    assert preflight.is_turned_away(event, hub) is wants


def test_curated_pull_requests_are_those_to_the_default_branch() -> None:
    hub = Answers()
    preflight.is_turned_away(replace(ELSEWHERE, default_branch="a b/c&d"), hub)
    wanted = {"per_page": "100", "page": "1", "state": "open", "base": "a b/c&d"}
    assert ("/pulls", wanted) in hub.asked
    assert (CHECKS, {"check_name": "Incumbent", "filter": "latest", "per_page": "100"}) in hub.asked


NAME = digest(["success", "Nothing to curate", "Nothing to curate.", []])


@pytest.mark.parametrize(
    ("newest", "posts"),
    [
        ({"conclusion": "success", "external_id": NAME}, False),
        ({"conclusion": "failure", "external_id": NAME}, True),
        ({"conclusion": "success", "external_id": "other"}, True),
        ({"conclusion": None}, True),
    ],
)
def test_the_same_check_is_posted_once(newest: dict[str, Any], posts: bool) -> None:
    older = {"id": 9, "name": "Incumbent", "conclusion": "success", "external_id": NAME if posts else "x"}
    hub = Answers(checks=[older, {"id": 10, "name": "Incumbent", **newest}, {"id": 11, "name": "Other"}])
    assert preflight.post(HEAD, hub, None) is posts
    body = {
        "name": "Incumbent",
        "head_sha": HEAD,
        "status": "completed",
        "conclusion": "success",
        "external_id": NAME,
        "output": {"title": "Nothing to curate", "summary": "Nothing to curate."},
    }
    assert hub.posted == ([("/check-runs", body)] if posts else [])


# The whole step


@dataclass
class Step:
    """The Action's first step, with what it finds and what it leaves."""

    folder: Path
    hub: Answers = field(default_factory=Answers)

    @property
    def facts(self) -> Path:
        return self.folder / "facts.json"

    def environment(self, step: str, name: str, payload: Mapping[str, Any]) -> dict[str, str]:
        (self.folder / "event.json").write_text(json.dumps(payload), encoding="utf-8")
        return {
            "INCUMBENT_STEP": step,
            "INCUMBENT_ANALYSIS": str(self.facts),
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_EVENT_NAME": name,
            "GITHUB_TOKEN": "secret",
            "GITHUB_API_URL": "http://api",
            "GITHUB_SERVER_URL": "http://server",
            "GITHUB_RUN_ID": "77",
        }

    def run(self, step: str, payload: Mapping[str, Any], name: str = "pull_request_target") -> dict[str, Any]:
        found = preflight.look(self.environment(step, name, payload))
        return {**found, "report": json.loads(found["report"])} if "report" in found else found


@pytest.fixture
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Step:
    made = Step(tmp_path)

    def hub(repository: str, token: str, api_url: str) -> Answers:
        assert (repository, token, api_url) == ("a/b", "secret", "http://api")
        return made.hub

    monkeypatch.setattr(preflight, "Hub", hub)
    return made


def pull_request(action: str = "opened", base: str = "main", head: str = HEAD, **more: Any) -> dict[str, Any]:
    repo = {"full_name": "a/b", "default_branch": "main"}
    pull = {"number": 1, "head": {"sha": head, "ref": "docs", "repo": repo}, "base": {"ref": base, "repo": repo}}
    return {"action": action, "repository": repo, "pull_request": {**pull, "user": {"login": "mara"}}, **more}


def ended(conclusion: str | None, title: str, *writes: str) -> dict[str, Any]:
    report = {
        "conclusion": conclusion,
        "title": title,
        "labels": [],
        "dry_run": False,
        "writes": list(writes),
        "problems": [],
        "decisions": [],
        "review": None,
        "usage": None,
    }
    return {"needed": "false", "conclusion": conclusion or "none", "report": report}


def test_the_first_job_leaves_a_note_and_the_second_one_posts_the_check(step: Step) -> None:
    step.facts.write_text("of another run")
    assert step.run("analyse", pull_request()) == ended(None, "Nothing to curate")
    assert json.loads(step.facts.read_text()) == {"quiet": HEAD}
    assert step.hub.posted == []
    done = step.run("publish", pull_request())
    assert done == ended("success", "Nothing to curate", f"check on {HEAD[:12]}: success, Nothing to curate")
    ((place, body),) = step.hub.posted
    assert (place, body["details_url"]) == ("/check-runs", "http://server/a/b/actions/runs/77")
    step.hub.checks = [{"id": 1, **body}]
    assert step.run("publish", pull_request()) == ended("success", "Nothing to curate")


def test_facts_that_are_there_are_published_and_those_of_another_run_are_not(step: Step) -> None:
    step.facts.write_text("{}")
    assert step.run("publish", pull_request()) == {"needed": "true"}
    step.hub.files = [{"filename": "config/x"}]
    assert step.run("analyse", pull_request()) == {"needed": "true"}
    assert not step.facts.exists()


@pytest.mark.parametrize(
    "note", [{"quiet": OTHER}, {"quiet": HEAD, "more": 1}, "[" * 300, json.dumps({"quiet": HEAD}) + " " * 200 + "x"]
)
def test_a_note_says_one_thing_alone(step: Step, note: object) -> None:
    step.facts.write_text(note if isinstance(note, str) else json.dumps(note))
    # No more than its beginning is ever read.
    quiet = isinstance(note, str) and note.startswith("{")
    assert (step.run("publish", pull_request())["needed"] == "false") is quiet


def test_of_a_closed_pull_request_the_note_is_believed_for_there_is_no_check(step: Step) -> None:
    step.hub.pull = {"state": "closed"}
    for job in ("publish", "analyse"):
        assert step.run(job, pull_request("closed")) == ended(None, "Nothing to curate")
    step.hub.asked.clear()
    step.hub.given = {"/pulls/1": refused(500)}
    assert step.run("publish", pull_request("closed")) == ended(None, "Nothing to curate")
    assert (step.hub.asked, step.hub.posted) == ([], [])


def test_what_leads_to_no_run_ends_with_the_reason(step: Step) -> None:
    for job in ("analyse", "publish"):
        assert step.run(job, pull_request("labeled")) == ended(None, "nothing is done when a pull request is labeled")
    assert step.hub.asked == []


def test_elsewhere_the_second_job_says_so(step: Step) -> None:
    why = "only pull requests to main are curated"
    payload = pull_request(base="release")
    assert step.run("analyse", payload) == ended(None, why)
    assert step.hub.asked == []
    done = step.run("publish", payload)
    assert done == ended("neutral", "Not curated here", f"check on {HEAD[:12]}: neutral, Not curated here")
    ((_, body),) = step.hub.posted
    assert (body["conclusion"], body["output"]) == ("neutral", {"title": "Not curated here", "summary": why})
    assert body["details_url"].endswith("/77")
    step.hub.checks = [{"id": 1, **body}]
    assert step.run("publish", payload) == ended(None, why)
    left = pull_request("edited", "release", changes={"base": {"ref": {"from": "main"}}})
    assert step.run("publish", left) == {"needed": "true"}


def test_outputs_are_added_to_those_of_the_job_and_a_failure_leads_to_the_whole_run(
    step: Step, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = step.folder / "output"
    output.write_text("before=1\n")
    for name, value in step.environment("analyse", "pull_request_target", pull_request()).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GITHUB_OUTPUT", str(output))
    assert preflight.main() == 0
    lines = output.read_text().splitlines()
    assert lines[:3] == ["before=1", "needed=false", "conclusion=none"]
    assert capsys.readouterr().err == "nothing to do: see the output `report`\n"
    step.hub.files = [{"filename": "config/x"}]
    assert preflight.main() == 0
    assert output.read_text().splitlines()[4:] == ["needed=true"]
    assert capsys.readouterr().err == ""
    step.hub.given = {"/pulls/1": refused(500)}
    assert preflight.main() == 1
    assert capsys.readouterr().err == "nothing could be found out beforehand (HTTPError); all of it runs\n"
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(step.folder / "event.json"))
    (step.folder / "event.json").write_text("[")
    assert preflight.main() == 1


# How GitHub is asked


class Server:
    """A GitHub on loopback that gives ``answers`` in turn, a status and a body; ``asked`` is what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any]] = []
        self.asked: list[tuple[str, str, Any, str | None, str | None]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                found = json.loads(sent) if sent else None
                headers = self.headers["Authorization"], self.headers["Accept"]
                server.asked.append((self.command, self.path, found, *headers))
                status, body = server.answers.pop(0)
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", body)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                """Nothing on standard error."""

        self.http = HTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}"


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = Thread(target=made.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield made
    made.http.shutdown()
    made.http.server_close()
    thread.join()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were made, in no time."""
    found: list[float] = []
    monkeypatch.setattr(time, "sleep", found.append)
    return found


def test_requests_carry_the_token_and_a_body_where_there_is_one(server: Server) -> None:
    server.answers = [(200, {"a": 1}), (201, {})]
    hub = preflight.Hub("a/b", "secret", f"{server.url}/")
    assert hub.ask("/pulls?x=1") == {"a": 1}
    hub.ask("/check-runs", {"name": "x"})
    token = ("Bearer secret", "application/vnd.github+json")
    assert server.asked == [
        ("GET", "/repos/a/b/pulls?x=1", None, *token),
        ("POST", "/repos/a/b/check-runs", {"name": "x"}, *token),
    ]


@pytest.mark.parametrize(
    ("statuses", "ends", "paused"),
    [
        ([503, 429, 200], None, [1, 3]),
        ([500, 200], None, [1]),
        ([500, 500, 500], 500, [1, 3]),
        ([429, 404], 404, [1]),
        ([403], 403, []),
        # The token goes nowhere else.
        ([302], 302, []),
    ],
)
def test_only_failures_that_pass_are_tried_again(
    server: Server, pauses: list[float], statuses: list[int], ends: int | None, paused: list[float]
) -> None:
    server.answers = [(status, f"{server.url}/elsewhere") for status in statuses]
    hub = preflight.Hub("a/b", "secret", server.url)
    if ends is None:
        hub.ask("/x")
    else:
        with pytest.raises(HTTPError) as caught:
            hub.ask("/x")
        assert caught.value.code == ends
        caught.value.close()
    assert (len(server.asked), pauses) == (len(statuses), paused)


def test_a_github_that_cannot_be_reached_is_tried_three_times(server: Server, pauses: list[float]) -> None:
    hub = preflight.Hub("a/b", "secret", "http://127.0.0.1:1")
    with pytest.raises(URLError):
        hub.ask("/x")
    assert pauses == [1, 3]


def test_whether_something_exists(server: Server, pauses: list[float]) -> None:
    server.answers = [(200, {}), (404, {}), (403, {})]
    hub = preflight.Hub("a/b", "secret", server.url)
    assert (hub.has("/x"), hub.has("/x")) == (True, False)
    with pytest.raises(HTTPError) as caught:
        hub.has("/x")
    caught.value.close()


def test_run_as_a_program_it_ends_with_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INCUMBENT_STEP", raising=False)
    monkeypatch.delitem(sys.modules, "incumbent.github.preflight")
    with pytest.raises(SystemExit) as caught:
        runpy.run_module("incumbent.github.preflight", run_name="__main__")
    assert caught.value.code == 1
