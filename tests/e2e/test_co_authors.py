"""Who made the commits of a pull request, or brings the same text in another, decides nothing about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.bot import EXCLUDED, WAITING, Bot, BotRun, customer_files, platform_files
from tests.e2e.harness.people import CURATOR, CUSTOMER, OWNER
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import entries, merged, read, sticky

ACCEPT = f"/incumbent accept {WAITING[0]} numbers are often asked for"


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    world.push("main", platform_files())
    return Bot(world, tmp_path / "runs")


def say(bot: Bot, number: int, user: str, text: str) -> BotRun:
    run = bot.on("issue_comment", number=number, comment=bot.world.comment(user, number, text))
    assert run.codes[0] == 0
    return run


def commits_asked(run: BotRun) -> int:
    return sum(call.path.partition("?")[0].endswith("/commits") and "/pulls/" in call.path for call in run.calls)


def answers(world: World, number: int) -> list[str]:
    return [item["body"] for item in world.comments(number) if "incumbent:reply" in item["body"]]


def entered(world: World, known: set[str]) -> set[str]:
    return {read(world, id)["source"]["item"] for id in entries(world) - known}


def test_a_writer_accepts_nothing_that_somebody_else_opens_for_them(world: World, bot: Bot) -> None:
    known = entries(world)
    # The curator wrote it, and a colleague opens it.
    world.push("quillow", customer_files(), user=CURATOR)
    number = world.open_pull_request("quillow", user=CUSTOMER).number
    assert commits_asked(bot.on("pull_request_target", number=number)) == 0
    assert commits_asked(say(bot, number, CURATOR, ACCEPT)) == 1
    (answer,) = answers(world, number)
    assert "You made a commit of this pull request, so another curator has to accept." in answer
    say(bot, number, OWNER, ACCEPT)
    assert merged(world, bot, number).codes == (0, 0)
    assert WAITING[0] in entered(world, known)


def test_a_decision_ends_where_its_author_pushes_to_the_branch_before_the_merge(world: World, bot: Bot) -> None:
    known = entries(world)
    number = world.open_pull_request("quillow", customer_files()).number
    bot.on("pull_request_target", number=number)
    say(bot, number, CURATOR, ACCEPT)
    # No run looks at this commit before the merge.
    world.push("quillow", {"eval_sets/quillow-savings/branch-line/notes.md": "x"}, user=CURATOR)
    assert merged(world, bot, number).codes == (0, 0)
    assert WAITING[0] not in entered(world, known)


@pytest.mark.exhaustive
def test_a_writer_accepts_nothing_that_they_bring_in_another_open_pull_request(world: World, bot: Bot) -> None:
    mine = world.open_pull_request("mine", customer_files(), user=CURATOR).number
    bot.on("pull_request_target", number=mine)
    other = world.open_pull_request("other", customer_files()).number
    bot.on("pull_request_target", number=other)
    say(bot, other, CURATOR, ACCEPT)
    (answer,) = answers(world, other)
    assert "you bring the same text in another open pull request" in answer
    world.close(mine, user=CURATOR)
    bot.on("pull_request_target", number=mine, action="closed")
    say(bot, other, CURATOR, ACCEPT)
    assert len(answers(world, other)) == 1


@pytest.mark.exhaustive
def test_a_correction_ends_where_its_author_brings_the_same_text(world: World, bot: Bot) -> None:
    first = world.open_pull_request("first", customer_files()).number
    bot.on("pull_request_target", number=first)
    say(bot, first, CURATOR, f"/incumbent correct {EXCLUDED} +speech.spell-out it asks that")
    assert f"Corrected by `{CURATOR}`" in sticky(world, first)
    mine = world.open_pull_request("mine", customer_files(), user=CURATOR).number
    bot.on("pull_request_target", number=mine)
    bot.on("pull_request_target", number=first, action="synchronize")
    assert f"Corrected by `{CURATOR}`" not in sticky(world, first)
