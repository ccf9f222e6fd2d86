"""Which events start the shipped workflow's jobs, and which wait for each other, as act evaluates its expressions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from incumbent.github.events import DEFAULT_BRANCH_EVENTS
from tests.e2e.bot import WORKFLOW
from tests.e2e.harness.act import Runner
from tests.e2e.harness.people import CURATOR
from tests.e2e.harness.world import World
from tests.variants import one_in

PLACE = ".github/workflows/probe.yml"
Payload = dict[str, Any]
Make = Callable[[World, int], Payload]


@pytest.fixture
def probe(world: World) -> World:
    """A workflow that says by its jobs' results and outputs what the shipped one's expressions come to."""
    shipped = yaml.load(WORKFLOW.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    say = {"shell": "bash", "env": {"GROUP": shipped["concurrency"]["group"]}}
    group = {"id": "say", **say, "run": 'echo "group=$GROUP" >> "$GITHUB_OUTPUT"'}
    jobs = {
        "analyse": {
            "if": shipped["jobs"]["analyse"]["if"],
            "outputs": {"fit": "${{ steps.say.outputs.fit }}"},
            "steps": [{"id": "say", "shell": "bash", "run": 'echo "fit=needed" >> "$GITHUB_OUTPUT"'}],
        },
        "fit": {
            "needs": "analyse",
            "if": shipped["jobs"]["fit"]["if"],
            "steps": [{"shell": "bash", "run": "true"}],
        },
        "publish": {
            "needs": "analyse",
            "if": shipped["jobs"]["publish"]["if"],
            "steps": [{"shell": "bash", "run": "true"}],
        },
        "group": {"outputs": {"group": "${{ steps.say.outputs.group }}"}, "steps": [group]},
    }
    for job in jobs.values():
        job["runs-on"] = "ubuntu-latest"
    text = yaml.safe_dump({"on": dict.fromkeys(shipped["on"]), "permissions": {}, "jobs": jobs})
    world.push("main", {PLACE: text, "README.md": "Platform"})
    world.push("release", {"x": "1"})
    world.open_pull_request("first", {"x": "1"})  # To act every run is number 1.
    world.open_pull_request("topic", {"eval_sets/a/b/evals.yaml": "x: 1\n"})
    return world


BOX = "Keep `x` <!-- incumbent:task keep x 0123456789abcdef 0 -->"


def pull(action: str, base: str = "main", merged: bool = False, state: str = "open", **more: Any) -> Make:
    def make(world: World, number: int) -> Payload:
        event = world.event("pull_request_target", number=number, action=action)
        event["pull_request"] |= {"merged": merged, "state": state}
        event["pull_request"]["base"]["ref"] = base
        event.pop("changes", None)
        return event | more

    return make


def push(branch: str) -> Make:
    def make(world: World, number: int) -> Payload:
        tip = world.head(branch) or ""
        return world.event("push", before="0" * 40, after=tip, branch=branch)

    return make


def comment(body: str, merged_at: str | None = None, state: str = "open", bot: str = "", on: str = "pull") -> Make:
    def make(world: World, number: int) -> Payload:
        event = world.event("issue_comment", number=number, comment=world.comment(CURATOR, number, body))
        event["issue"]["state"] = state
        event["issue"]["user"]["type"] = "Bot" if "author" in bot else "User"
        event["comment"]["user"]["type"] = "Bot" if "speaker" in bot else "User"
        if on == "issue":
            event["issue"].pop("pull_request", None)
        else:
            event["issue"]["pull_request"] = {"url": "x", "merged_at": merged_at}
        return event

    return make


def tick(before: str = f"- [ ] {BOX}", author: str = "Bot", sender: str = "User", on: str = "issue") -> Make:
    """Somebody edits a text that was ``before``."""

    def make(world: World, number: int) -> Payload:
        changes = {"changes": {"body": {"from": before}}}
        if on == "issue":
            event = world.event("issues", number=number, sender=CURATOR, former_body=before)
        else:
            event = world.event("pull_request_target", number=number, action="edited", sender=CURATOR) | changes
        event["issue" if on == "issue" else "pull_request"]["user"]["type"] = author
        event["sender"]["type"] = sender
        return event

    return make


AT = "2026-01-01T00:00:00Z"
TITLE: dict[str, Any] = {"changes": {"title": {"from": "Add query"}}}
BASE: dict[str, Any] = {"changes": {"base": {"ref": {"from": "release"}, "sha": {"from": "1" * 40}}}}
CASES: list[tuple[str, str, Make, bool, str]] = [
    ("opened", "pull_request_target", pull("opened"), True, "2"),
    ("to another branch", "pull_request_target", pull("opened", base="release"), True, "2"),
    ("a push to it", "pull_request_target", pull("synchronize"), True, "2"),
    ("another title", "pull_request_target", pull("edited", **TITLE), False, "alone"),
    ("another base", "pull_request_target", pull("edited", **BASE), True, "2"),
    (
        "title of a merged one",
        "pull_request_target",
        pull("edited", merged=True, state="closed", **TITLE),
        False,
        "alone",
    ),
    ("merged", "pull_request_target", pull("closed", merged=True, state="closed"), False, "alone"),
    ("closed", "pull_request_target", pull("closed", state="closed"), True, "2"),
    ("closed elsewhere", "pull_request_target", pull("closed", base="release", state="closed"), False, "alone"),
    ("ready, but closed", "pull_request_target", pull("ready_for_review", state="closed"), False, "alone"),
    ("pushed", "push", push("main"), True, "reconcile"),
    ("pushed elsewhere", "push", push("release"), False, "alone"),
    ("by hand", "workflow_dispatch", lambda world, number: world.event("workflow_dispatch"), True, "reconcile"),
    ("the clock", "schedule", lambda world, number: world.event("schedule"), True, "reconcile"),
    ("a command", "issue_comment", comment("/incumbent run"), True, "2"),
    ("in capitals", "issue_comment", comment("/Incumbent RUN"), True, "2"),
    ("words", "issue_comment", comment("Looks good"), False, "alone"),
    ("of a bot", "issue_comment", comment("/incumbent run", bot="speaker"), False, "alone"),
    ("after the merge", "issue_comment", comment("/incumbent undo x", merged_at=AT, state="closed"), True, "2"),
    ("after a close", "issue_comment", comment("/incumbent run", state="closed"), False, "alone"),
    ("a bot's, closed", "issue_comment", comment("/incumbent run", state="closed", bot="author"), False, "alone"),
    ("on an issue", "issue_comment", comment("/incumbent help", on="issue"), False, "alone"),
    ("a tick", "issues", tick(), True, "alone"),
    ("a tick of a bot", "issues", tick(sender="Bot"), False, "alone"),
    ("a person's issue", "issues", tick(author="User"), False, "alone"),
    ("no box", "issues", tick("words"), False, "alone"),
    ("a tick on a group", "pull_request_target", tick(on="pull"), True, "alone"),
    ("on a customer's", "pull_request_target", tick(on="pull", author="User"), False, "alone"),
    ("on the dashboard", "issue_comment", comment("/incumbent help", on="issue", bot="author"), True, "2"),
]


@pytest.mark.parametrize(("name", "event", "make", "runs", "group"), one_in(2, CASES), ids=[case[0] for case in CASES])
def test_events(probe: World, runner: Runner, name: str, event: str, make: Make, runs: bool, group: str) -> None:
    done = runner.run(probe, PLACE, event, make(probe, 2))
    results = {done.jobs[key].result for key in ("analyse", "publish")}
    assert results == ({"success"} if runs else {"skipped"}), done.explain()
    fits = runs and event in DEFAULT_BRANCH_EVENTS
    assert done.jobs["fit"].result == ("success" if fits else "skipped"), "whatever the job says that reads"
    assert done.jobs["group"].outputs["group"] == f"incumbent-{'1' if group == 'alone' else group}"


def test_the_condition_is_the_same_for_the_run_and_its_first_job_but_for_ticks() -> None:
    shipped = yaml.safe_load(Path(WORKFLOW).read_text(encoding="utf-8"))
    group = shipped["concurrency"]["group"].partition("${{ (")[2].partition(") && github.run_id")[0]
    first = " ".join(shipped["jobs"]["analyse"]["if"].partition("${{ !(")[2].rpartition(") }}")[0].split())
    edit = "github.event.action == 'edited' && !github.event.changes.base"
    before, _, rest = first.partition(f"{edit} && !(")
    ticks, _, after = rest.partition(") || github.event_name == 'pull_request_target'")
    assert "incumbent:task" in ticks
    assert " ".join(group.split()) == f"{before}{edit} || github.event_name == 'pull_request_target'{after}"
