"""Weeks of people's decisions, end to end: every one is an event, and agreement is what one counts by hand."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bot.cli.main import run
from tests.e2e.bot import Bot, customer_files, platform_files
from tests.e2e.harness.people import CURATOR, CUSTOMER, OWNER
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import entries, merged
from tests.e2e.test_suggestions import TEXT, ours, spare
from tests.e2e.test_taxonomy import events

Counted = tuple[int, int]
"""How many answers there are, and how many of them agree."""


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    world.push("main", platform_files())
    return Bot(world, tmp_path / "runs")


def say(bot: Bot, number: int, user: str, text: str) -> None:
    comment = bot.world.comment(user, number, text)
    assert bot.on("issue_comment", number=number, comment=comment).codes[0] == 0


def agreement(world: World, folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """What the command says in a clone."""
    clone = folder / "clone"
    source = str(world.hosted.bare.folder)
    subprocess.run(["git", "clone", "--quiet", source, str(clone)], check=True)
    capsys.readouterr()
    assert run(["agreement", "--repo", str(clone), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def counted(rows: Any, name: str) -> tuple[Counted, Counted]:
    """Explicit and implicit answers of a row."""
    row = rows[name]
    explicit, implicit = row["explicit"], row["implicit"]
    return (explicit["count"], explicit["agreed"]), (implicit["count"], implicit["agreed"])


def test_agreement_after_weeks_of_decisions_is_what_one_counts_by_hand(
    world: World, bot: Bot, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = entries(world)
    # A customer's queries: b03 is admitted by itself, b05, b06 and b10 need a person, the others are left out.
    number = world.open_pull_request("quillow", customer_files()).number
    bot.on("pull_request_target", number=number)
    say(bot, number, CURATOR, "/incumbent accept b05 numbers are often asked for")
    say(bot, number, OWNER, "/incumbent reject b06 nobody asks that")
    say(bot, number, CURATOR, "/incumbent accept b01 every caller asks it")
    # Who brings queries does not decide on them, and whoever takes a word back has not said it.
    say(bot, number, CUSTOMER, "/incumbent accept b10 we like it")
    say(bot, number, CURATOR, "/incumbent reject b10 too easy")
    say(bot, number, CURATOR, "/incumbent accept b10 it is needed after all")
    assert merged(world, bot, number).codes == (0, 0)
    assert len(entries(world)) == len(known) + 4
    # Somebody puts two entries in by hand; each comes to be suggested for eviction: one goes, one stays.
    world.push("main", {**spare("spare-one", TEXT), **spare("spare-two", "Raise my limit to eight hundred")})
    assert bot.on("schedule").codes == (0, 0)
    suggested = {pull["title"].split()[1].rstrip(":"): pull["number"] for pull in ours(world)}
    assert {"spare-one", "spare-two"} <= suggested.keys()
    assert merged(world, bot, suggested["spare-one"]).codes == (0, 0)
    world.close(suggested["spare-two"])
    assert bot.on("pull_request_target", number=suggested["spare-two"], action="closed").codes == (0, 0)

    said = events(world, str(number))
    kinds = [item["kind"] for item in said]
    assert kinds.count("decided") == 5
    passed = [item for item in said if item["kind"] == "passed"]
    assert [(item["entry"].split("-")[4], item["by"]) for item in passed] == [
        (name, CURATOR) for name in ("b03", "b01", "b02", "b04", "b07", "b08", "b09", "b11", "b12")
    ]
    assert {item["author"] for item in said if item["kind"] == "shown"} == {CUSTOMER}
    shown = next(item for item in said if item["kind"] == "shown" and "-b03-" in item["entry"])
    assert shown["facts"]["new"] == ["identity.anonymous"]
    of_set = events(world, "regression_set")
    by_hand = [item for item in of_set if item["kind"] == "changed-by-hand"]
    assert [(item["by"], item["added"]) for item in by_hand] == [(OWNER, ["spare-one", "spare-two"])]
    answered = {item["entries"][0]: (item["agrees"], item["by"]) for item in of_set if item["kind"] == "answered"}
    assert answered == {"spare-one": (True, CURATOR), "spare-two": (False, CURATOR)}

    told = agreement(world, tmp_path, capsys)
    decisions = told["decisions"]
    # By hand: b05 accepted, b06 rejected, b10 accepted in the end; b03 passed; b01 let in against the verdict.  The
    # other seven were left out and passed, b11 and b12 for they exercise nothing.
    assert counted(decisions, "INCLUDE") == ((3, 2), (1, 1))
    assert counted(decisions, "EXCLUDE") == ((1, 0), (7, 7))
    assert counted(decisions, "EVICT") == ((2, 1), (0, 0))
    assert counted(told["reasons"], "NOVEL_COMBO") == ((3, 2), (0, 0))
    assert counted(told["reasons"], "REDUNDANT") == ((1, 0), (5, 5))
    assert counted(told["reasons"], "OFF_TAXONOMY") == ((0, 0), (2, 2))
    assert counted(told["routes"], "direct") == ((1, 0), (8, 8))
    again = bot.on("schedule")
    assert again.codes == (0, 0)
    assert {call.method for call in again.calls} == {"GET"}
