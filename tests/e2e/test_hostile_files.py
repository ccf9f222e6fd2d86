"""Files of a pull request that are small in the repository, and large in memory."""

from __future__ import annotations

import time
from pathlib import Path

from tests.e2e.bot import BRANCH_LINE, Bot, customer_files, platform_files
from tests.e2e.harness.world import World


def test_a_table_of_millions_of_rows_fails_the_check_at_once_and_says_why(world: World, tmp_path: Path) -> None:
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")
    bomb = {f"{BRANCH_LINE}/bomb-{number}.csv": "query\r" + "a\r" * 1_990_000 for number in range(3)}
    pull = world.open_pull_request("bomb", customer_files() | bomb)
    began = time.process_time()
    run = bot.on("pull_request_target", number=pull.number)
    assert time.process_time() - began < 60
    assert run.outputs["conclusion"] == "failure"
    (check,) = [item for item in world.checks(world.pull(pull.number)["head"]["sha"]) if item["name"] == "Incumbent"]
    told = [item for item in check["annotations"] if "more than 200,000 values" in item["message"]]
    assert {item["path"] for item in told} == bomb.keys()
    (comment,) = world.comments(pull.number)
    assert all(f"bomb-{number}.csv" in comment["body"] for number in range(3))
