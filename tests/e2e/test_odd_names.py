"""Odd names on GitHub: a fault that no first job can hide, and after a merge no reason for others to wait."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.bot import BRANCH_LINE, Bot, customer_files, platform_files
from tests.e2e.harness.world import World
from tests.e2e.test_governing import check
from tests.e2e.test_reconcile import entries, merged, sticky
from tests.variants import one_in


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    world.push("main", platform_files())
    return Bot(world, tmp_path / "runs")


def named(folder: str) -> dict[str, str]:
    """The customer's files in a folder of this name, and two words to tell them apart."""
    return {
        path.replace(BRANCH_LINE, f"eval_sets/{folder}"): text.replace("query: ", "query: again, please: ")
        for path, text in customer_files().items()
    }


def hiding(document: str) -> str:
    """The document of a first job that reports no fault."""
    data = json.loads(document)
    data["judged"]["problems"] = []
    return json.dumps(data)


@pytest.mark.parametrize("mangle", one_in(2, [hiding, None]), ids=["hostile", "honest"])
@pytest.mark.parametrize("folder", one_in(3, ["--upload-pack=x/desk", "c:/desk", "a\\b/desk"]))
def test_an_odd_name_fails_the_check_and_once_merged_stops_no_other(
    folder: str, mangle: Callable[[str], str] | None, world: World, bot: Bot
) -> None:
    odd = world.open_pull_request("odd", named(folder)).number
    assert bot.on("pull_request_target", number=odd, mangle=mangle).codes == (0, 0)
    assert check(world, odd)["conclusion"] == "failure"
    assert f"eval_sets/{folder.partition('/')[0]}" in sticky(world, odd)
    known = entries(world)
    # People merge it in spite of that.
    assert merged(world, bot, odd).codes == (0, 0)
    assert entries(world) == known
    fine = world.open_pull_request("fine", customer_files()).number
    bot.on("pull_request_target", number=fine)
    assert check(world, fine)["conclusion"] == "success"
    assert merged(world, bot, fine).codes == (0, 0)
    assert entries(world) > known
    (dashboard,) = world.pages("/issues?state=open&creator=github-actions[bot]")
    assert f"eval_sets/{folder} is not read" in dashboard["body"]
