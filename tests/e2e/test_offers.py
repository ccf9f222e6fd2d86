"""Admissions as a pull request, end to end: asked for by the config, or by the rules of the default branch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incumbent.ledger.event_files import parsed
from incumbent.ledger.events import SET_EVENTS
from incumbent.ledger.model import BRANCH as LEDGER
from incumbent.ledger.model import SUGGESTIONS
from tests.e2e.bot import BRANCH_LINE, WAITING, Bot, customer_files, ids_of, platform_files
from tests.e2e.harness.messages import error
from tests.e2e.harness.people import CURATOR, JOB
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import entries, merged, read, sticky
from tests.ledger.replay import replay

RULES = error(422, "Repository rule violations found\n\nChanges must be made through a pull request.\n\n")


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    world.push("main", platform_files(admissions="pull-request"))
    return Bot(world, tmp_path / "runs")


def offers(world: World, state: str = "open") -> list[Any]:
    pulls = world.pages(f"/pulls?state={state}")
    return [pull for pull in pulls if pull["head"]["ref"].startswith("incumbent/admit/")]


def refused(world: World) -> list[int]:
    """The pull requests that people refused, as the events of the ledger give them, which is as its record has them."""
    events = replay(parsed(world.read(LEDGER, SET_EVENTS))).refused
    record = json.loads(world.read(LEDGER, SUGGESTIONS) or "{}")
    remembered = sorted((item["pull_request"], item["branch"]) for item in record.get("refusals", ()))
    assert [(item.pull_request, item.branch) for item in events] == remembered
    return [number for number, _ in remembered]


def settled(bot: Bot) -> None:
    run = bot.on("schedule")
    assert run.codes == (0, 0)
    assert [call.path for call in run.calls if call.method != "GET"] == []


def reviewed_and_merged(world: World, bot: Bot) -> int:
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    assert merged(world, bot, pull.number).codes == (0, 0)
    return pull.number


def test_what_was_merged_enters_once_people_merge_its_pull_request(world: World, bot: Bot) -> None:
    known, main = entries(world), world.head("main")
    number = reviewed_and_merged(world, bot)
    assert entries(world) == known
    assert main != world.head("main")
    (offer,) = offers(world)
    assert offer["title"] == f"Regression set: admit 1 of #{number}"
    assert "enters" in offer["body"]
    assert "Once people merge the pull request of the bot's that offers it" in sticky(world, number)
    assert world.checks(offer["head"]["sha"])[-1]["conclusion"] == "success"
    settled(bot)
    assert merged(world, bot, offer["number"]).codes == (0, 0)
    (new,) = entries(world) - known
    assert read(world, new)["source"]["pull_request"] == number
    assert "1 of its queries is in the regression set" in sticky(world, number)
    assert offers(world) == []
    settled(bot)


@pytest.mark.exhaustive
def test_what_people_turned_down_is_not_offered_again_in_another_guise(world: World, bot: Bot) -> None:
    known = entries(world)
    number = reviewed_and_merged(world, bot)
    (offer,) = offers(world)
    world.close(offer["number"])
    assert bot.on("pull_request_target", number=offer["number"], action="closed").codes == (0, 0)
    assert offers(world) == []
    assert refused(world) == [offer["number"]]
    assert "People closed the pull request that offered" in sticky(world, number)
    settled(bot)
    # A curator lets another query of the same pull request in: it is offered alone.
    comment = world.comment(CURATOR, number, f"/incumbent accept {WAITING[0]} it matters")
    assert bot.on("issue_comment", number=number, comment=comment).codes == (0, 0)
    (second,) = offers(world)
    assert "admit 1 of" in second["title"]
    assert WAITING[0] in second["body"]
    assert merged(world, bot, second["number"]).codes == (0, 0)
    (new,) = entries(world) - known
    assert read(world, new)["source"]["item"] == WAITING[0]
    settled(bot)


@pytest.mark.exhaustive
def test_who_reopens_an_offer_takes_the_refusal_back(world: World, bot: Bot) -> None:
    known = entries(world)
    reviewed_and_merged(world, bot)
    (offer,) = offers(world)
    world.close(offer["number"])
    bot.on("pull_request_target", number=offer["number"], action="closed")
    assert refused(world) == [offer["number"]]
    world.act(CURATOR, "PATCH", f"/pulls/{offer['number']}", {"state": "open"})
    assert bot.on("pull_request_target", number=offer["number"], action="reopened").codes == (0, 0)
    assert [item["number"] for item in offers(world)] == [offer["number"]]
    assert refused(world) == []
    assert merged(world, bot, offer["number"]).codes == (0, 0)
    assert len(entries(world) - known) == 1
    settled(bot)


@pytest.mark.exhaustive
def test_another_merge_makes_another_offer_and_closes_the_old_one(world: World, bot: Bot) -> None:
    first = reviewed_and_merged(world, bot)
    (old,) = offers(world)
    comment = world.comment(CURATOR, first, f"/incumbent accept {WAITING[0]} it matters")
    assert bot.on("issue_comment", number=first, comment=comment).codes == (0, 0)
    (new,) = offers(world)
    assert new["number"] != old["number"]
    assert "admit 2 of" in new["title"]
    assert world.pull(old["number"])["state"] == "closed"
    assert "the rest is in another one" in world.comments(old["number"])[-1]["body"]
    settled(bot)


def test_a_protected_branch_gets_its_admissions_by_a_pull_request(world: World, tmp_path: Path) -> None:
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")
    known = entries(world)
    world.gateway.fail(lambda call: call.method == "PATCH" and call.path.endswith("/heads/main"), RULES, 9)
    number = reviewed_and_merged(world, bot)
    assert entries(world) == known
    (offer,) = offers(world)
    settled(bot)
    assert merged(world, bot, offer["number"]).codes == (0, 0)
    assert len(entries(world) - known) == 1
    assert "1 of its queries is in the regression set" in sticky(world, number)


@pytest.mark.exhaustive
def test_pins_and_renames_are_offered_as_well(world: World, bot: Bot) -> None:
    known = entries(world)
    pull = world.open_pull_request("quillow", customer_files())
    seen = bot.on("pull_request_target", number=pull.number).report["review"]
    (name,) = ids_of(seen, "admitted")
    comment = world.comment(CURATOR, pull.number, f"/incumbent pin {name} the audit asks for it")
    bot.on("issue_comment", number=pull.number, comment=comment)
    assert merged(world, bot, pull.number).codes == (0, 0)
    (offer,) = offers(world)
    settled(bot)
    assert merged(world, bot, offer["number"]).codes == (0, 0)
    (new,) = entries(world) - known
    assert read(world, new)["pin"] == "the audit asks for it"
    settled(bot)
    renamed = customer_files()
    moves: dict[str, str | None] = dict.fromkeys(renamed)
    moves |= {path.replace(BRANCH_LINE, f"{BRANCH_LINE}s"): text for path, text in renamed.items()}
    again = world.open_pull_request("renamed", moves)
    bot.on("pull_request_target", number=again.number)
    assert merged(world, bot, again.number).codes == (0, 0)
    (offer,) = offers(world)
    assert "is found elsewhere" in offer["body"]
    assert offer["user"]["login"] == JOB
    assert merged(world, bot, offer["number"]).codes == (0, 0)
    assert read(world, new)["source"]["agent"].endswith("s")
    settled(bot)
