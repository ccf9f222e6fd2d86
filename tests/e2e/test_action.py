"""The Action itself, run by act: ``init`` in an empty repository, and the story there, with nothing in this process."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.cli.main import run
from tests.e2e.harness.act import OURS, Runner, action_copy
from tests.e2e.harness.needs import demand
from tests.e2e.harness.people import CURATOR, JOB
from tests.e2e.harness.world import World
from tests.factories import REPOSITORY

COMMIT = "0123456789012345678901234567890123456789"
WORKFLOW = ".github/workflows/incumbent.yml"
CUSTOMER = REPOSITORY / "examples" / "customers" / "northwind-tracker" / "tracker"


@pytest.fixture(scope="module")
def action(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Action as GitHub would download it; its packages are installed at the first run."""
    demand("act", "npm packages")
    return action_copy(tmp_path_factory.mktemp("action"))


@pytest.fixture
def runner(tmp_path: Path, action: Path) -> Runner:
    return Runner(tmp_path / "act", {OURS: action})


def tree(folder: Path, below: str = "") -> dict[str, str]:
    return {
        f"{below}{path.relative_to(folder).as_posix()}": path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


def test_a_story_in_an_empty_repository(world: World, runner: Runner, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run(["init", "--repo", str(empty), "--action", f"{OURS}@{COMMIT}", "--owner", f"@{CURATOR}"]) == 0
    world.push("main", tree(empty))
    pull = world.open_pull_request("northwind", tree(CUSTOMER, "eval_sets/northwind-tracker/tracker/"))
    event = world.event("pull_request_target", number=pull.number)
    analysed = runner.run(world, WORKFLOW, "pull_request_target", event, jobs=["analyse"])
    assert analysed.ok, analysed.explain()
    assert world.comments(pull.number) == []
    done = runner.run(world, WORKFLOW, "pull_request_target", event, earlier=analysed)
    assert done.ok, done.explain()
    (comment,) = world.comments(pull.number)
    assert comment["user"]["login"] == JOB
    (headline,) = re.findall(r"(?m)^### (\d+ of 20 deserves? a slot.*)$", comment["body"])
    (check,) = world.checks(pull.head)
    assert (check["name"], check["conclusion"]) == ("Incumbent", "success")
    assert headline in done.jobs["publish"].summary


def test_a_comment_without_a_command_runs_nothing(world: World, runner: Runner, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run(["init", "--repo", str(empty), "--action", f"{OURS}@{COMMIT}", "--owner", f"@{CURATOR}"]) == 0
    world.push("main", tree(empty))
    pull = world.open_pull_request("docs", {"notes.md": "x"})
    said = world.comment(CURATOR, pull.number, "Looks good to me")
    event = world.event("issue_comment", number=pull.number, comment=said)
    done = runner.run(world, WORKFLOW, "issue_comment", event)
    assert {job.result for job in done.jobs.values()} == {"skipped"}
    assert world.checks(pull.head) == []
