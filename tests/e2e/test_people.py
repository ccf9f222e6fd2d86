"""Weeks of people's decisions, end to end: every one is an event, and agreement is what one counts by hand."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from incumbent.cli.main import run
from tests.e2e.bot import ADMITTED, WAITING, Bot, customer_files, ids_of, platform_files
from tests.e2e.harness.people import CURATOR, CUSTOMER, OWNER
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import entries, merged, read
from tests.e2e.test_suggestions import TEXT, ours, spare
from tests.e2e.test_taxonomy import events

Counted = tuple[int, int]
"""How many answers there are, and how many of them agree."""

pytestmark = pytest.mark.exhaustive


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
    # A customer's queries: one is admitted by itself, some need a person, the others are left out.
    number = world.open_pull_request("quillow", customer_files()).number
    seen = bot.on("pull_request_target", number=number).report["review"]
    accepted, rejected = WAITING
    against, turned, *left_out = ids_of(seen, "excluded", least=3)
    say(bot, number, CURATOR, f"/incumbent accept {accepted} numbers are often asked for")
    say(bot, number, OWNER, f"/incumbent reject {rejected} nobody asks that")
    say(bot, number, CURATOR, f"/incumbent accept {against} every caller asks it")
    # Who brings queries does not decide on them, and whoever takes a word back has not said it.
    say(bot, number, CUSTOMER, f"/incumbent accept {turned} we like it")
    say(bot, number, CURATOR, f"/incumbent reject {turned} too easy")
    say(bot, number, CURATOR, f"/incumbent accept {turned} it is needed after all")
    assert merged(world, bot, number).codes == (0, 0)
    entered = {read(world, id)["source"]["item"] for id in entries(world) - known}
    assert entered == {ADMITTED, accepted, against, turned}
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
    assert sorted((item["entry"].split("-")[4], item["by"]) for item in passed) == sorted(
        (name, CURATOR) for name in (ADMITTED, against, turned, *left_out)
    )
    assert {item["author"] for item in said if item["kind"] == "shown"} == {CUSTOMER}
    shown = next(item for item in said if item["kind"] == "shown" and f"-{ADMITTED}-" in item["entry"])
    assert "speech.picture" in shown["facts"]["new"]
    of_set = events(world, "regression_set")
    by_hand = [item for item in of_set if item["kind"] == "changed-by-hand"]
    assert [(item["by"], item["added"]) for item in by_hand] == [(OWNER, ["spare-one", "spare-two"])]
    answered = {item["entries"][0]: (item["agrees"], item["by"]) for item in of_set if item["kind"] == "answered"}
    assert answered == {"spare-one": (True, CURATOR), "spare-two": (False, CURATOR)}

    output = agreement(world, tmp_path, capsys)
    assert counted(output["decisions"], "EVICT") == ((2, 1), (0, 0))
    # By hand: of what waited one was accepted and one rejected, of what was left out two were let in all the same;
    # the admission passed, and so did the rest of what was left out.
    said_so = {accepted: True, rejected: False, against: False, turned: False}
    passed_so = dict.fromkeys((ADMITTED, *left_out), True)
    verdicts = {item["id"]: item for item in seen["verdicts"]}
    for table, codes in (
        ("decisions", {name: [verdict["decision"]] for name, verdict in verdicts.items()}),
        ("reasons", {name: verdict["reasons"] for name, verdict in verdicts.items()}),
        # Evictions are for a person too, so only what took nobody is of these verdicts alone.
        ("routes", {name: [verdict["route"]] * (verdict["route"] == "direct") for name, verdict in verdicts.items()}),
    ):
        for code in {code for name in (*said_so, *passed_so) for code in codes[name]}:
            explicit, implicit = (
                [agrees for name, agrees in answers.items() if code in codes[name]] for answers in (said_so, passed_so)
            )
            by_hand_counted = (len(explicit), sum(explicit)), (len(implicit), sum(implicit))
            assert counted(output[table], code) == by_hand_counted, (table, code)
    again = bot.on("schedule")
    assert again.codes == (0, 0)
    assert {call.method for call in again.calls} == {"GET"}
