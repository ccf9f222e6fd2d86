"""``incumbent mcp --allow-writes`` on GitHub: admissions in a pull request, and decisions that count."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from incumbent.mcp.workspace import Workspace
from incumbent.taxonomy.config import CONFIG_FILE
from tests.e2e.bot import BRANCH_LINE, platform_files
from tests.e2e.harness.people import CURATOR, CUSTOMER, STRANGER, token_of
from tests.e2e.harness.world import World
from tests.mcp_server.conftest import ask, bare, refusal_of, workspace_client


@pytest.fixture
def clone(world: World, tmp_path: Path) -> Path:
    """A curator's clone of a platform, with a customer's eval set that nobody has admitted."""
    world.push("main", platform_files(without="nothing"))
    folder = tmp_path / "clone é"
    subprocess.run(["git", "clone", "--quiet", f"{world.url}/{world.full_name}", str(folder)], check=True)
    return folder


def desk(world: World, clone: Path, login: str = CURATOR) -> Workspace:
    environment = {
        "GITHUB_API_URL": world.url,
        "GITHUB_SERVER_URL": world.url,
        "GITHUB_REPOSITORY": world.full_name,
        "GITHUB_TOKEN": token_of(login),
    }
    return Workspace(clone, CONFIG_FILE, writes=True, environment=environment)


def offer(world: World, clone: Path) -> Any:
    return bare(ask(workspace_client(desk(world, clone)), "stage_admission", folder=BRANCH_LINE, pull_request=True))


def test_admissions_are_offered_once_and_main_stays(world: World, clone: Path) -> None:
    base = world.head("main")
    answer = offer(world, clone)
    (pull,) = world.pages("/pulls")
    assert (answer["written"], answer["pull_request"]) == ("pull request", pull["number"])
    assert pull["head"]["ref"].startswith("incumbent-chat/admissions-")
    assert pull["base"]["ref"] == "main"
    for row in answer["files"]["first"]:
        assert world.read(pull["head"]["ref"], row["path"]) is not None
    assert world.head("main") == base
    assert subprocess.run(["git", "status", "--porcelain"], cwd=clone, capture_output=True, check=True).stdout == b""

    again = offer(world, clone)
    assert again["pull_request"] == pull["number"]
    assert "offers the same already" in again["to_do"]
    assert len(world.pages("/pulls")) == 1


@pytest.mark.parametrize(
    ("path", "called"), [(CONFIG_FILE, CONFIG_FILE), (f"{BRANCH_LINE}/evals.yaml", "the eval set")]
)
@pytest.mark.exhaustive
def test_a_clone_that_is_not_as_the_default_branch_offers_nothing(
    path: str, called: str, world: World, clone: Path
) -> None:
    world.push("main", {path: (clone / path).read_text(encoding="utf-8") + "# changed since\n"})
    answer = refusal_of(workspace_client(desk(world, clone)), "stage_admission", folder=BRANCH_LINE, pull_request=True)
    assert f"{called} is not that of main on GitHub: bring the clone up to date first" in answer
    assert world.pages("/pulls") == []


def test_a_curators_decision_is_their_comment(world: World, clone: Path) -> None:
    number = asked(world)
    arguments = {"decision": "reject", "pull_request": number, "queries": ["q1", "q2"], "reason": "not ours"}
    answer = bare(ask(workspace_client(desk(world, clone)), "record_decision", **arguments))
    assert (answer["recorded"], answer["by"]) == ("comment", CURATOR)
    (comment,) = world.comments(number)
    assert (comment["user"]["login"], comment["body"]) == (CURATOR, "/incumbent reject q1 q2 not ours")


@pytest.mark.parametrize("login", [CUSTOMER, STRANGER])
@pytest.mark.exhaustive
def test_a_decision_that_would_not_count_is_not_said(login: str, world: World, clone: Path) -> None:
    number = asked(world)
    arguments = {"decision": "accept", "pull_request": number, "queries": ["q1"]}
    answer = refusal_of(workspace_client(desk(world, clone, login)), "record_decision", **arguments)
    assert "it would not count, so nothing was written" in answer
    assert world.comments(number) == []


@pytest.mark.exhaustive
def test_there_must_be_such_a_pull_request(world: World, clone: Path) -> None:
    arguments = {"decision": "accept", "pull_request": 4711, "queries": ["q1"]}
    answer = refusal_of(workspace_client(desk(world, clone)), "record_decision", **arguments)
    assert "#4711 is no open pull request" in answer


def asked(world: World) -> int:
    """The number of a pull request that the customer has opened."""
    files = {"eval_sets/new/agent/evals.yaml": "eval_set: 1\nqueries: [{query: Hi}]\n"}
    return world.open_pull_request("new-customer", files).number
