"""The first days on a repository as people have it: names that are taken, rules, and eval sets that go again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.bot import Bot, customer_files, platform_files
from tests.e2e.harness.world import World
from tests.e2e.test_suggestions import TEXT, check, ours, spare


@pytest.fixture
def bot(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bot:
    def wait(attempt: int) -> None:
        raise AssertionError("what is in the way does not go by waiting")

    monkeypatch.setattr("bot.cli.ci._wait", wait)
    world.push("main", platform_files())
    return Bot(world, tmp_path / "runs")


def writes(calls: list[Any]) -> list[str]:
    return [f"{call.method} {call.path}" for call in calls if call.method != "GET"]


# --- a branch in the way ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["incumbent", "incumbent/ledger/old"])
def test_a_branch_in_the_way_of_the_ledger_is_named_at_once(
    world: World, bot: Bot, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    world.push(name, {"notes.txt": "set up here"})
    pull = world.open_pull_request("quillow", customer_files())
    run = bot.on("pull_request_target", number=pull.number)
    assert run.codes == (0, 4)
    told = check(world, pull.number)
    assert (told["conclusion"], told["output"]["title"]) == ("failure", "The review could not be written")
    assert f"delete or rename the branch `{name}`" in told["output"]["summary"]
    assert f"delete or rename the branch `{name}`" in capsys.readouterr().err
    assert len([call for call in run.calls if call.path.endswith("/git/refs")]) == 1
    world.hosted.bare.git("branch", "-D", name)
    world.gateway.pushed(world.full_name, {f"refs/heads/{name}": pull.head})
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
    assert check(world, pull.number)["conclusion"] == "success"


def test_a_branch_in_the_way_of_a_suggestion_is_named(
    world: World, bot: Bot, capsys: pytest.CaptureFixture[str]
) -> None:
    world.push("main", spare("spare-one", TEXT))
    world.push("incumbent/evict", {"notes.txt": "mine"})
    assert bot.on("schedule").codes == (0, 4)
    assert "delete or rename the branch `incumbent/evict`" in capsys.readouterr().err
    assert ours(world) == []
