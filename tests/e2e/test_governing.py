"""What changes who decides stands first and fails the check, whatever the first job says, until a curator allows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.bot import Bot, customer_files, platform_files
from tests.e2e.harness.people import CURATOR, CUSTOMER
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import sticky
from tests.variants import one_in

FLOW = {".github/workflows/incumbent.yml": "name: mine\n"}
OWNERS = {".github/CODEOWNERS": "* @casey\n"}
ALLOW = "/incumbent accept who_decides agreed with the team"


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    world.push("main", {**platform_files(), ".github/CODEOWNERS": "* @olive\n"})
    return Bot(world, tmp_path / "runs")


def check(world: World, number: int) -> dict[str, Any]:
    runs = world.checks(world.pull(number)["head"]["sha"])
    return max((item for item in runs if item["name"] == "Incumbent"), key=lambda item: int(item["id"]))


def first_notice(world: World, number: int) -> str:
    return next(line for line in sticky(world, number).splitlines() if line.startswith("> "))


def forged(document: str) -> str:
    """The document of a first job that would hide it."""
    data = json.loads(document)
    data["touches"] = ["eval_sets"]
    return json.dumps(data)


@pytest.mark.parametrize(
    "files", one_in(3, [{**FLOW, **customer_files()}, {**OWNERS, **customer_files()}, FLOW, OWNERS])
)
def test_a_changed_workflow_or_owners_fail_the_check_until_a_curator_allows_them(
    files: dict[str, str], world: World, bot: Bot
) -> None:
    number = world.open_pull_request("mine", files).number
    run = bot.on("pull_request_target", number=number, mangle=forged)
    assert run.codes == (0, 0)
    assert check(world, number)["conclusion"] == "failure"
    assert check(world, number)["output"]["title"].startswith("It changes who decides")
    changed = next(iter(files))
    assert first_notice(world, number).startswith(f"> **This changes who decides**: `{changed}`")
    for user, conclusion in ((CUSTOMER, "failure"), (CURATOR, "success")):
        bot.on("issue_comment", number=number, comment=world.comment(user, number, ALLOW))
        assert check(world, number)["conclusion"] == conclusion
    assert f"`{CURATOR}` allowed this change of who decides" in first_notice(world, number)
    # Another commit is another question.
    world.push("mine", {changed: "x: 2\n"}, user=CUSTOMER)
    bot.on("pull_request_target", number=number, action="synchronize")
    assert check(world, number)["conclusion"] == "failure"


def test_who_made_the_commit_cannot_allow_it(world: World, bot: Bot) -> None:
    world.push("mine", {**OWNERS, **customer_files()}, user=CURATOR)
    number = world.open_pull_request("mine", user=CUSTOMER).number
    bot.on("pull_request_target", number=number)
    bot.on("issue_comment", number=number, comment=world.comment(CURATOR, number, ALLOW))
    assert check(world, number)["conclusion"] == "failure"


@pytest.mark.exhaustive
def test_a_changed_config_is_named_whatever_the_first_job_says(world: World, bot: Bot) -> None:
    changed = {"config/curation.yaml": platform_files(trusted_authors="[casey]")["config/curation.yaml"]}
    number = world.open_pull_request("mine", changed).number
    bot.on("pull_request_target", number=number)
    assert check(world, number)["conclusion"] == "failure"
    notice = first_notice(world, number)
    assert "`config/curation.yaml` (its keys curators, trusted_authors" in notice
    assert "names as changed: `trusted_authors`" in notice


@pytest.mark.exhaustive
def test_other_workflows_alone_are_no_business_of_the_bot(world: World, bot: Bot) -> None:
    number = world.open_pull_request("mine", {".github/workflows/build.yml": "name: build\n"}).number
    bot.on("pull_request_target", number=number)
    assert check(world, number)["conclusion"] == "success"
    assert world.comments(number) == []
