"""Before anything is installed: what needs no run ends, with the check where one is due; whatever is in doubt runs."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from email.message import Message
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.error import HTTPError
from urllib.parse import parse_qs, quote

import pytest

from incumbent.github import preflight
from incumbent.github.events import Event, Flow
from incumbent.github.models import CHECK
from incumbent.github.publication import CiOutput
from incumbent.ledger.model import BRANCH
from tests.e2e.bot import WORKFLOW, Bot, customer_files, platform_files
from tests.e2e.harness.people import CURATOR, OUTSIDER
from tests.e2e.harness.workflow import Workflow
from tests.e2e.harness.world import PullRequest, World
from tests.factories import REPOSITORY

Look = Callable[..., dict[str, str]]
DOCS = {"docs/page.md": "Hello\n"}


@pytest.fixture
def platform(world: World) -> World:
    world.push("main", platform_files())
    return world


@pytest.fixture
def look(world: World, tmp_path: Path) -> Look:
    """The Action's first step in both jobs, with their tokens, as a process that has the standard library alone.

    What one job leaves in the place of the facts the next one finds.
    """
    permissions = Workflow(WORKFLOW.read_text(encoding="utf-8")).permissions

    def run(step: str, name: str, payload: Mapping[str, Any], document: bool = False) -> dict[str, str]:
        event, output, facts = (tmp_path / each for each in ("event.json", "output", "facts.json"))
        event.write_text(json.dumps(payload), encoding="utf-8")
        output.write_text("", encoding="utf-8")
        if document:
            facts.write_text("{}")
        environment = {
            "PYTHONPATH": str(REPOSITORY / "bot"),
            "GITHUB_API_URL": world.url,
            "GITHUB_SERVER_URL": world.url,
            "GITHUB_REPOSITORY": world.full_name,
            "GITHUB_REF": "refs/heads/main",
            "GITHUB_RUN_ID": "77",
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_TOKEN": world.job_token(permissions(step)),
            "INCUMBENT_STEP": step,
            "INCUMBENT_ANALYSIS": str(facts),
        }
        command = [sys.executable, "-S", "-P", "-m", "incumbent.github.preflight"]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        if done.returncode:
            assert "all of it runs" in done.stderr, done.stderr
            return {"needed": "unknown"}
        return dict(line.split("=", 1) for line in output.read_text(encoding="utf-8").splitlines())

    return run


def needed(look: Look, name: str, payload: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether each of the jobs has to run."""
    found = [look(step, name, payload)["needed"] for step in ("analyse", "publish")]
    return found[0] != "false", found[1] != "false"


def test_a_pull_request_of_nothing_of_ours_gets_its_check_and_no_more(platform: World, look: Look) -> None:
    pull = platform.open_pull_request("docs", DOCS)
    opened = platform.event("pull_request_target", number=pull.number)
    assert look("analyse", "pull_request_target", opened)["needed"] == "false"
    assert platform.checks(pull.head) == []
    done = look("publish", "pull_request_target", opened)
    assert (done["needed"], done["conclusion"]) == ("false", "success")
    (check,) = platform.checks(pull.head)
    assert (check["name"], check["conclusion"], check["output"]["title"]) == (
        CHECK,
        "success",
        "Nothing to curate",
    )
    assert check["details_url"] == f"{platform.url}/{platform.full_name}/actions/runs/77"
    assert json.loads(done["report"])["writes"] == [f"check on {pull.head[:12]}: success, Nothing to curate"]
    CiOutput.model_validate_json(done["report"], strict=True)
    assert json.loads(look("publish", "pull_request_target", opened)["report"])["writes"] == []
    assert platform.comments(pull.number) == []
    assert platform.head(BRANCH) is None


def test_the_whole_run_has_nothing_to_add_to_that_check(platform: World, look: Look, tmp_path: Path) -> None:
    pull = platform.open_pull_request("docs", DOCS)
    look("publish", "pull_request_target", platform.event("pull_request_target", number=pull.number))
    whole = Bot(platform, tmp_path / "whole").on("pull_request_target", number=pull.number)
    assert whole.codes == (0, 0)
    assert whole.report["writes"] == []


@pytest.mark.parametrize(
    "files",
    [
        {"eval_sets/a/b/evals.yaml": "x: 1\n"},
        {"docs/page.md": "Hello\n", "config/curation.yaml": "x: 1\n"},
        {"taxonomy/notes.txt": "x\n"},
        {"regression_set/README.md": "x\n"},
        {".github/workflows/incumbent.yml": "x: 1\n"},
        {".github/workflows/incumbent-pages.yml": "x: 1\n"},
        {".github/CODEOWNERS": "* @me\n"},
        {"CODEOWNERS": "* @me\n"},
    ],
)
def test_a_pull_request_of_something_of_ours_runs(platform: World, look: Look, files: dict[str, str]) -> None:
    pull = platform.open_pull_request("ours", files)
    event = platform.event("pull_request_target", number=pull.number)
    assert needed(look, "pull_request_target", event) == (True, True)
    assert platform.checks(pull.head) == []


def test_a_file_that_leaves_our_folders_is_ours(platform: World, look: Look) -> None:
    files = {"eval_sets/a/b/notes.md": "a line\n" * 40}
    platform.push("main", files)
    pull = platform.open_pull_request("leaves", {"eval_sets/a/b/notes.md": None, "docs/notes.md": "a line\n" * 40})
    event = platform.event("pull_request_target", number=pull.number)
    assert needed(look, "pull_request_target", event) == (True, True)


def test_a_pull_request_that_was_spoken_of_runs(platform: World, look: Look, tmp_path: Path) -> None:
    """Once an eval set was in it, comment, labels and ledger have to be made true again, whatever is in it now."""
    pull = platform.open_pull_request("changes", customer_files())
    Bot(platform, tmp_path / "bot").on("pull_request_target", number=pull.number)
    platform.push("changes", {**dict.fromkeys(customer_files()), **DOCS})
    event = platform.event("pull_request_target", number=pull.number, action="synchronize")
    assert needed(look, "pull_request_target", event) == (True, True)
    for comment in platform.comments(pull.number):
        platform.act(CURATOR, "DELETE", f"/issues/comments/{comment['id']}")
    for label in platform.labels(pull.number):
        platform.act(CURATOR, "DELETE", f"/issues/{pull.number}/labels/{quote(label)}")
    assert needed(look, "pull_request_target", event) == (True, True), "the ledger has a record of it"


def test_a_command_that_was_not_heard_yet_runs(platform: World, look: Look) -> None:
    pull = platform.open_pull_request("docs", DOCS)
    said = platform.comment(CURATOR, pull.number, "/incumbent help")
    opened = platform.event("pull_request_target", number=pull.number)
    assert needed(look, "pull_request_target", opened) == (True, True)
    command = platform.event("issue_comment", number=pull.number, comment=said)
    assert needed(look, "issue_comment", command) == (True, True)


def test_a_command_in_a_review_runs(platform: World, look: Look) -> None:
    pull = platform.open_pull_request("docs", DOCS)
    review = {"event": "COMMENT", "body": "Fine\n/incumbent help"}
    assert platform.act(CURATOR, "POST", f"/pulls/{pull.number}/reviews", review).ok
    event = platform.event("pull_request_target", number=pull.number)
    assert needed(look, "pull_request_target", event) == (True, True)


@pytest.mark.parametrize("said", ["See acme/incumbent", "`.github/workflows/incumbent.yml` /incumbent", "x /incumbent"])
def test_who_names_the_bot_gives_it_no_command(platform: World, look: Look, said: str) -> None:
    pull = platform.open_pull_request("docs", DOCS)
    platform.comment(CURATOR, pull.number, said)
    event = platform.event("pull_request_target", number=pull.number)
    assert needed(look, "pull_request_target", event) == (False, False)


def test_a_command_on_a_later_line_runs(platform: World, look: Look) -> None:
    pull = platform.open_pull_request("docs", DOCS)
    platform.comment(CURATOR, pull.number, "See here:\r\n\r\n   \u200b/in\u200bcumbent help")
    event = platform.event("pull_request_target", number=pull.number)
    assert needed(look, "pull_request_target", event) == (True, True)


def merged_back(platform: World) -> PullRequest:
    """The pull request of a page, which takes back the config that the default branch was given beside it."""
    bare = platform.hosted.bare
    before, first = bare.references(), platform.head("main")
    side = platform.push("side", {"side.md": "x\n"})
    changed = platform.push("main", platform_files(hold_first_time_contributors="true"))
    tree = bare.git("merge-tree", "--write-tree", changed, side).split()[0]
    merged = bare.git("commit-tree", tree, "-p", changed, "-p", side, "-m", "Merge side")
    back = bare.git("commit-tree", f"{side}^{{tree}}", "-p", side, "-p", changed, "-m", "Merge main")
    assert first != changed
    bare.set_reference("refs/heads/main", merged)
    bare.set_reference("refs/heads/back", back)
    platform.gateway.pushed(platform.full_name, before)
    return platform.open_pull_request("back", DOCS)


def answered(moved: Mapping[str, Any] = MappingProxyType({}), parents: int = 1, commits: int = 1) -> preflight.Hub:
    """A repository whose pull request 1 changes a page; ``moved`` is what else it is like when asked again."""
    pull = {
        "head": {"sha": "1" * 40},
        "base": {"ref": "main"},
        "updated_at": "2026-01-01T00:00:00Z",
        "changed_files": 1,
        "commits": commits,
        "state": "open",
        "labels": [],
    }
    pulls = iter([pull, {**pull, **moved}])
    listed: list[Any] = [{"parents": [{}] * parents}] * commits

    class Answered(preflight.Hub):
        def _ask(self, path: str, body: Mapping[str, Any] | None) -> Any:
            place, _, query = path.partition("?")
            if place == "/pulls/1":
                return next(pulls)
            page = int(parse_qs(query).get("page", ["1"])[0])
            lists: dict[str, list[Any]] = {"/pulls/1/files": [{"filename": "docs/page.md"}], "/pulls/1/commits": listed}
            found = lists.get(place, [])
            if place.startswith("/contents/"):
                raise HTTPError(path, 404, "Not Found", Message(), None)
            return found[100 * (page - 1) : 100 * page]

    return Answered("a/b", "secret", "http://127.0.0.1")


QUIET = Event(flow=Flow.REVIEW, repository="a/b", default_branch="main", pull_request=1, head="1" * 40)


def test_a_pull_request_that_moves_between_two_pages_runs() -> None:
    assert preflight.quiet_commit(QUIET, answered()) == QUIET.head
    assert preflight.quiet_commit(QUIET, answered({"updated_at": "2026-01-01T00:00:05Z"})) is None
    assert preflight.quiet_commit(QUIET, answered({"head": {"sha": "2" * 40}})) is None


def test_commits_with_several_parents_or_more_than_are_listed_run() -> None:
    assert preflight.quiet_commit(QUIET, answered(parents=2)) is None
    assert preflight.quiet_commit(QUIET, answered(commits=249)) == QUIET.head
    assert preflight.quiet_commit(QUIET, answered(commits=250)) is None


def test_a_merge_that_takes_back_what_the_default_branch_has_runs(platform: World, look: Look) -> None:
    """Compared with the branch that was merged it shows a page alone, which is what GitHub shows."""
    pull = merged_back(platform)
    event = platform.event("pull_request_target", number=pull.number)
    assert needed(look, "pull_request_target", event) == (True, True)


def test_a_head_that_moved_runs_and_so_do_facts_that_are_there(platform: World, look: Look) -> None:
    pull = platform.open_pull_request("docs", DOCS)
    event = platform.event("pull_request_target", number=pull.number)
    assert look("publish", "pull_request_target", event, document=True)["needed"] == "true"
    platform.push("docs", {"docs/more.md": "x\n"})
    assert needed(look, "pull_request_target", event) == (True, True)


def test_a_stranger_from_a_fork_with_a_page_is_not_held(platform: World, look: Look, tmp_path: Path) -> None:
    """Nothing of ours is touched, so that there is nothing to hold: neither beforehand nor in the whole run."""
    platform.push("main", platform_files(hold_first_time_contributors="true"))
    pull = platform.open_pull_request("docs", DOCS, user=OUTSIDER)
    event = platform.event("pull_request_target", number=pull.number)
    event["pull_request"]["author_association"] = "NONE"
    assert needed(look, "pull_request_target", event) == (False, False)
    assert [check["conclusion"] for check in platform.checks(pull.head)] == ["success"]
    whole = Bot(platform, tmp_path / "whole").on("pull_request_target", number=pull.number)
    assert whole.codes == (0, 0)


def test_a_merge_group_of_nothing_of_ours_gets_its_check(platform: World, look: Look) -> None:
    docs = platform.open_pull_request("docs", DOCS).number
    head, reference = platform.queue(docs)
    group = platform.event("merge_group", head=head, head_ref=reference)
    assert needed(look, "merge_group", group) == (False, False)
    assert [check["name"] for check in platform.checks(head)] == [CHECK]
    head, reference = platform.queue(docs, platform.open_pull_request("ours", customer_files()).number)
    group = platform.event("merge_group", head=head, head_ref=reference)
    assert needed(look, "merge_group", group) == (True, True)
    assert platform.checks(head) == []


def to_release(platform: World, branch: str = "docs", base: str = "release") -> PullRequest:
    if platform.head("release") is None:
        platform.push("release", {"x": "1"})
    return platform.open_pull_request(branch, {f"docs/{branch}.md": "Hello\n"}, base=base)


def test_another_base_gets_the_check_of_the_whole_run_and_a_label_nothing(
    platform: World, look: Look, tmp_path: Path
) -> None:
    pull = to_release(platform)
    event = platform.event("pull_request_target", number=pull.number)
    assert needed(look, "pull_request_target", event) == (False, False)
    (check,) = platform.checks(pull.head)
    assert (check["conclusion"], check["output"]["title"]) == ("neutral", "Not curated here")
    again = look("publish", "pull_request_target", event)
    assert (again["conclusion"], json.loads(again["report"])["writes"]) == ("none", [])
    other = to_release(platform, "other")
    whole = Bot(platform, tmp_path / "whole").on("pull_request_target", number=other.number)
    (expected,) = platform.checks(other.head)
    assert {check[key] == expected[key] for key in ("name", "conclusion", "external_id")} == {True}
    assert check["output"]["summary"] == expected["output"]["summary"]
    assert whole.codes == (0, 0)
    event["action"] = "labeled"
    assert needed(look, "pull_request_target", event) == (False, False)


def test_the_check_of_a_curated_pull_request_on_the_same_commit_is_left_alone(platform: World, look: Look) -> None:
    curated = platform.open_pull_request("docs", DOCS)
    platform.push("release", {"x": "1"})
    data = {"title": "Twice", "head": "docs", "base": "release"}
    number = platform.act(CURATOR, "POST", "/pulls", data).json["number"]
    event = platform.event("pull_request_target", number=number)
    done = look("publish", "pull_request_target", event)
    assert (done["needed"], done["conclusion"]) == ("false", "none")
    assert platform.checks(curated.head) == []


def test_a_pull_request_that_was_turned_away_from_us_takes_back_what_was_said(platform: World, look: Look) -> None:
    pull = to_release(platform)
    event = platform.event("pull_request_target", number=pull.number, action="edited", former_base="main")
    assert needed(look, "pull_request_target", event) == (False, True)
    assert platform.checks(pull.head) == []


def closed(platform: World, number: int) -> dict[str, Any]:
    """The event of a pull request that somebody closed just now."""
    assert platform.act(CURATOR, "PATCH", f"/pulls/{number}", {"state": "closed"}).ok
    return platform.event("pull_request_target", number=number, action="closed")


def test_a_pull_request_that_never_was_ours_is_closed_without_a_run(
    platform: World, look: Look, tmp_path: Path
) -> None:
    bot = Bot(platform, tmp_path / "whole")
    bot.on("push", before=platform.head("main"), after=platform.head("main"))
    pull = platform.open_pull_request("docs", DOCS)
    look("publish", "pull_request_target", platform.event("pull_request_target", number=pull.number))
    event = closed(platform, pull.number)
    ledger = platform.head(BRANCH)
    assert needed(look, "pull_request_target", event) == (False, False)
    assert len(platform.checks(pull.head)) == 1
    whole = bot.on("pull_request_target", number=pull.number, action="closed")
    assert (whole.codes, whole.report["writes"]) == ((0, 0), [])
    assert (platform.head(BRANCH), len(platform.checks(pull.head))) == (ledger, 1)


def test_what_was_ours_once_or_is_an_answer_to_us_runs_when_it_is_closed(
    platform: World, look: Look, tmp_path: Path
) -> None:
    ours = platform.open_pull_request("ours", customer_files())
    Bot(platform, tmp_path / "bot").on("pull_request_target", number=ours.number)
    spoken = platform.open_pull_request("spoken", {"docs/spoken.md": "x\n"})
    platform.comment(CURATOR, spoken.number, "/incumbent undo quillow-b03")
    names = ("incumbent/evict/some-entry", "incumbent-candidates/some-trait")
    answers = [platform.open_pull_request(name, {f"docs/{place}.md": "x\n"}) for place, name in enumerate(names)]
    for pull in (ours, spoken, *answers):
        assert needed(look, "pull_request_target", closed(platform, pull.number)) == (True, True), pull.branch


def test_a_merged_pull_request_ends_here_only_where_its_event_says_nothing_is_done(platform: World, look: Look) -> None:
    """An event that says it was closed, of one that is merged by now, is in doubt."""
    pull = platform.open_pull_request("docs", DOCS)
    event = closed(platform, pull.number)
    platform.act(CURATOR, "PATCH", f"/pulls/{pull.number}", {"state": "open"})
    platform.merge(pull.number)
    assert needed(look, "pull_request_target", event) == (True, True)


def test_words_that_come_between_the_jobs_have_a_run_of_their_own(platform: World, look: Look) -> None:
    """The first job saw no command; the second posts the check, and the command's own run answers."""
    pull = platform.open_pull_request("docs", DOCS)
    event = platform.event("pull_request_target", number=pull.number)
    assert look("analyse", "pull_request_target", event)["needed"] == "false"
    platform.comment(CURATOR, pull.number, "/incumbent help")
    done = look("publish", "pull_request_target", event)
    assert (done["needed"], done["conclusion"]) == ("false", "success")
    assert [check["conclusion"] for check in platform.checks(pull.head)] == ["success"]


def test_the_word_of_the_first_job_lets_no_file_of_ours_pass(platform: World, look: Look, tmp_path: Path) -> None:
    """It comes from where hostile data is read: whoever forges it gets a check that fails."""
    pull = platform.open_pull_request("ours", customer_files())
    event = platform.event("pull_request_target", number=pull.number)
    word = json.dumps({preflight.QUIET: pull.head})
    (tmp_path / "facts.json").write_text(word, encoding="utf-8")
    assert look("publish", "pull_request_target", event)["needed"] == "true"
    assert platform.checks(pull.head) == []
    whole = Bot(platform, tmp_path / "whole").on("pull_request_target", number=pull.number, mangle=lambda _: word)
    (check,) = platform.checks(pull.head)
    assert (check["conclusion"], check["output"]["title"]) == ("failure", "Run all jobs again")
    assert "`/incumbent run`" in check["output"]["summary"]
    assert whole.codes == (0, 4)


def test_the_word_about_another_head_counts_for_nothing(platform: World, look: Look, tmp_path: Path) -> None:
    pull = platform.open_pull_request("docs", DOCS)
    (tmp_path / "facts.json").write_text(json.dumps({preflight.QUIET: "1" * 40}), encoding="utf-8")
    event = platform.event("pull_request_target", number=pull.number)
    assert look("publish", "pull_request_target", event)["needed"] == "true"


def test_a_github_that_fails_between_the_jobs_asks_for_another_run(platform: World, look: Look, tmp_path: Path) -> None:
    pull = platform.open_pull_request("docs", DOCS)
    event = platform.event("pull_request_target", number=pull.number)
    assert look("analyse", "pull_request_target", event)["needed"] == "false"
    word = (tmp_path / "facts.json").read_text(encoding="utf-8")
    place = f"/repos/{platform.full_name}/pulls/{pull.number}/files"
    platform.gateway.settings[place] = (500, {})
    assert look("publish", "pull_request_target", event)["needed"] == "unknown"
    del platform.gateway.settings[place]
    Bot(platform, tmp_path / "whole").on("pull_request_target", number=pull.number, mangle=lambda _: word)
    (check,) = platform.checks(pull.head)
    assert check["output"]["title"] == "Run all jobs again"
    assert look("publish", "pull_request_target", event)["conclusion"] == "success", "the job is run again"
    newest = max(platform.checks(pull.head), key=lambda each: int(each["id"]))
    assert newest["conclusion"] == "success"


def test_a_push_runs_whatever_it_touches_since_the_dashboard_names_its_commit(
    platform: World, look: Look, tmp_path: Path
) -> None:
    bot = Bot(platform, tmp_path / "whole")
    before = platform.head("main")
    bot.on("push", before=before, after=before)
    after = platform.push("main", DOCS)
    assert needed(look, "push", platform.event("push", before=before, after=after)) == (True, True)
    whole = bot.on("push", before=before, after=after)
    assert [each.partition(" to ")[0] for each in whole.report["writes"]] == ["edit the dashboard issue"]
    (dashboard,) = platform.pages("/issues?state=open")
    assert f"As of commit `{after[:12]}`" in dashboard["body"]


def test_the_clock_runs_though_its_event_names_no_repository(platform: World, look: Look) -> None:
    assert needed(look, "schedule", platform.event("schedule")) == (True, True)


@pytest.mark.parametrize("payload", [{}, {"repository": {"full_name": "a/b", "default_branch": "main"}}, []])
def test_an_event_that_is_not_whole_runs(platform: World, look: Look, payload: Any) -> None:
    assert look("publish", "pull_request_target", payload)["needed"] == "unknown"


def test_a_github_that_fails_lets_all_of_it_run(platform: World, look: Look) -> None:
    pull = platform.open_pull_request("docs", DOCS)
    event = platform.event("pull_request_target", number=pull.number)
    platform.gateway.settings[f"/repos/{platform.full_name}/pulls/{pull.number}"] = (500, {})
    assert look("publish", "pull_request_target", event)["needed"] == "unknown"
    assert platform.checks(pull.head) == []


def test_facts_of_an_earlier_run_are_not_handed_over(platform: World, look: Look, tmp_path: Path) -> None:
    """On a machine that is used again the file may still be there."""
    pull = platform.open_pull_request("docs", DOCS)
    event = platform.event("pull_request_target", number=pull.number)
    assert look("analyse", "pull_request_target", event, document=True)["needed"] == "false"
    assert json.loads((tmp_path / "facts.json").read_text(encoding="utf-8")) == {preflight.QUIET: pull.head}
    event["action"] = "labeled"
    assert look("analyse", "pull_request_target", event, document=True)["needed"] == "false"
    assert not (tmp_path / "facts.json").exists()


@pytest.mark.parametrize(("codes", "tries"), [((503, 429), 3), ((502,), 2), ((500,) * 3, 3), ((404,), 1)])
def test_github_is_asked_again_where_it_fails_for_a_moment(
    codes: tuple[int, ...], tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    Failing.codes, Failing.asked = list(codes), 0
    with HTTPServer(("127.0.0.1", 0), Failing) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        hub = preflight.Hub("a/b", "secret", f"http://127.0.0.1:{server.server_address[1]}")
        if tries > len(codes):
            assert hub.ask("/pulls/1") == []
        else:
            with pytest.raises(HTTPError):
                hub.ask("/pulls/1")
        server.shutdown()
    assert (Failing.asked, len(waited)) == (tries, tries - 1)


class Failing(BaseHTTPRequestHandler):
    """Answers with ``codes``, and then as it should."""

    codes: ClassVar[list[int]] = []
    asked: ClassVar[int] = 0

    def do_GET(self) -> None:
        type(self).asked += 1
        self.send_response(self.codes.pop(0) if self.codes else 200)
        self.end_headers()
        self.wfile.write(b"[]")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Answers(BaseHTTPRequestHandler):
    """Sends questions about pull requests elsewhere, where an answer would wait."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        elsewhere = "/pulls/" in self.path
        self.send_response(301 if elsewhere else 200)
        self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(b"[]")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_the_token_is_not_taken_elsewhere() -> None:
    event = Event(flow=Flow.REVIEW, repository="a/b", default_branch="main", pull_request=1, head="1" * 40)
    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        hub = preflight.Hub("a/b", "secret", f"http://127.0.0.1:{server.server_address[1]}")
        with pytest.raises(HTTPError):
            preflight.quiet_commit(event, hub)
        server.shutdown()
    assert Answers.asked == ["/repos/a/b/pulls/1"]
