"""Who somebody is: by what they may do in the repository, whatever GitHub states of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.bot import Bot, BotRun, customer_files, platform_files
from tests.e2e.harness.messages import error
from tests.e2e.harness.people import CURATOR, CUSTOMER, STRANGER
from tests.e2e.harness.world import PullRequest, World
from tests.e2e.test_review import conclusion, sticky
from tests.factories import REPOSITORY
from tests.variants import one_in

HOLDING = {"hold_first_time_contributors": "true"}


def platform(world: World, folder: Path, **config: str) -> Bot:
    world.push("main", platform_files(**config))
    return Bot(world, folder / "runs")


def opened(world: World, bot: Bot, user: str = CUSTOMER) -> tuple[PullRequest, BotRun]:
    pull = world.open_pull_request("quillow", customer_files(), user=user)
    return pull, bot.on("pull_request_target", number=pull.number)


def verdicts(run: BotRun) -> dict[str, Any]:
    return {item["id"]: item for item in run.report["review"]["verdicts"]}


def outside(run: BotRun) -> set[str]:
    return {id for id, item in verdicts(run).items() if "UNTRUSTED_AUTHOR" in item["reasons"]}


def admitted(run: BotRun) -> set[str]:
    return {id for id, item in verdicts(run).items() if item["outcome"] == "admitted"}


def readme(world: World, folder: Path) -> tuple[PullRequest, BotRun]:
    """The example of the README: q15 is admitted for what is attached to it, q09 on a tag that is inferred."""
    places = ("config/curation.yaml", "taxonomy", "regression_set")
    world.push("main", {name: text for place in places for name, text in files_in(REPOSITORY, place).items()})
    brought = files_in(REPOSITORY / "examples" / "customers", "northwind-tracker/tracker")
    files = {f"eval_sets/{name}": text for name, text in brought.items()}
    pull = world.open_pull_request("tracker", files)
    return pull, Bot(world, folder / "runs").on("pull_request_target", number=pull.number)


def files_in(folder: Path, place: str) -> dict[str, str]:
    found = [folder / place] if (folder / place).is_file() else sorted((folder / place).rglob("*"))
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in found if path.is_file()}


@pytest.mark.parametrize("association", one_in(2, ["CONTRIBUTOR", "NONE"]))
def test_a_writer_whose_membership_is_private_is_no_outsider(world: World, tmp_path: Path, association: str) -> None:
    world.state(CUSTOMER, association)
    pull, run = readme(world, tmp_path)
    assert world.pull(pull.number)["author_association"] == association
    assert outside(run) == set()
    assert {"q09", "q15"} <= admitted(run)
    assert conclusion(world, pull.head) == "success"


@pytest.mark.parametrize("association", one_in(2, ["COLLABORATOR", "MEMBER"]))
def test_a_collaborator_who_may_only_read_is_an_outsider(world: World, tmp_path: Path, association: str) -> None:
    world.set_permission(CUSTOMER, "pull")
    world.state(CUSTOMER, association)
    pull, run = readme(world, tmp_path)
    assert world.pull(pull.number)["author_association"] == association
    assert "q09" in outside(run)
    assert admitted(run) == {"q15"}
    assert "UNTRUSTED_AUTHOR" in sticky(world, pull.number)
    assert "GitHub does not tell" not in sticky(world, pull.number)


@pytest.mark.exhaustive
def test_whom_nobody_can_look_up_is_an_outsider_and_the_comment_says_why(world: World, tmp_path: Path) -> None:
    world.gateway.fail(lambda request: request.path.endswith("/permission"), error(403, "Forbidden"), 9)
    pull, run = readme(world, tmp_path)
    assert "q09" in outside(run)
    assert f"This token may not look up the permission of `{CUSTOMER}`" in sticky(world, pull.number)


@pytest.mark.parametrize("association", one_in(2, ["COLLABORATOR", "NONE"]))
def test_a_curators_one_word_releases_a_first_contribution(
    world: World, tmp_path: Path, association: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bot = platform(world, tmp_path, **HOLDING)
    world.set_permission(CUSTOMER, "pull")
    world.set_permission(STRANGER, "pull")
    world.state(CUSTOMER, association)
    # The curator's membership is private, the stranger is stated as a member who may write nothing.
    world.state(CURATOR, "NONE")
    world.state(STRANGER, "MEMBER")
    pull, run = opened(world, bot)
    assert run.report["review"] is None
    assert conclusion(world, pull.head) == "failure"
    capsys.readouterr()
    comment = world.comment(STRANGER, pull.number, "/incumbent run")
    bot.on("issue_comment", number=pull.number, comment=comment)
    assert "0 queries classified" in capsys.readouterr().out
    assert conclusion(world, pull.head) == "failure"
    comment = world.comment(CURATOR, pull.number, "/incumbent run")
    run = bot.on("issue_comment", number=pull.number, comment=comment)
    assert "12 queries classified" in capsys.readouterr().out
    assert run.codes == (0, 0)
    assert len(verdicts(run)) == 12
    assert conclusion(world, pull.head) == "success"
    assert "run it again" not in sticky(world, pull.number)


@pytest.mark.exhaustive
def test_who_may_write_or_has_committed_before_waits_for_nobody(world: World, tmp_path: Path) -> None:
    bot = platform(world, tmp_path, **HOLDING)
    world.state(CUSTOMER, "FIRST_TIME_CONTRIBUTOR")
    assert len(verdicts(opened(world, bot)[1])) == 12
    world.set_permission(STRANGER, "push")
    world.push("main", {"README.md": "Hello\n"}, user=STRANGER)
    world.set_permission(STRANGER, "pull")
    pull = world.open_pull_request("again", customer_files(), user=STRANGER)
    assert len(verdicts(bot.on("pull_request_target", number=pull.number))) == 12
