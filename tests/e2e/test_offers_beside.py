"""Offers beside everything else that may happen before people merge them, end to end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e.bot import ADMITTED, BRANCH_LINE, CARD_LINE, Bot, customer_files, platform_files
from tests.e2e.harness.people import CURATOR
from tests.e2e.harness.world import World
from tests.e2e.test_offers import offers, reviewed_and_merged, settled
from tests.e2e.test_reconcile import entries, merged, read, sticky
from tests.e2e.test_requests import evicted
from tests.e2e.test_suggestions import ours, spare, suggested


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    world.push("main", platform_files(admissions="pull-request"))
    return Bot(world, tmp_path / "runs")


def renamed(world: World, bot: Bot, old: str, new: str) -> None:
    """A merged pull request that renames an agent's folder, reviewed and reconciled."""
    files = {path.replace(BRANCH_LINE, old): text for path, text in customer_files().items()}
    moves: dict[str, str | None] = dict.fromkeys(files)
    moves |= {path.replace(old, new): text for path, text in files.items()}
    pull = world.open_pull_request(f"rename-on-{world.head('main')}", moves)
    bot.on("pull_request_target", number=pull.number)
    assert merged(world, bot, pull.number).codes == (0, 0)


@pytest.mark.exhaustive
def test_a_restore_that_people_merge_leaves_a_set_that_can_be_read(world: World, bot: Bot) -> None:
    number, _ = evicted(world, bot)
    comment = world.comment(CURATOR, number, "/incumbent restore spare-one")
    bot.on("issue_comment", number=number, comment=comment)
    (first,) = offers(world)
    assert "returns, as a curator asked" in first["body"]
    world.close(first["number"])
    bot.on("pull_request_target", number=first["number"], action="closed")
    assert offers(world) == []
    # Who asks again is offered it again.
    again = world.comment(CURATOR, number, "/incumbent restore spare-one")
    bot.on("issue_comment", number=number, comment=again)
    (second,) = offers(world)
    assert merged(world, bot, second["number"]).codes == (0, 0)
    assert "spare-one" in entries(world)
    assert world.read("main", "regression_set/evicted/spare-one.yaml") is None
    settled(bot)


@pytest.mark.exhaustive
def test_what_is_offered_may_still_be_rejected_and_pinned(world: World, bot: Bot) -> None:
    number = reviewed_and_merged(world, bot)
    pin = world.comment(CURATOR, number, f"/incumbent pin {ADMITTED} the audit asks for it")
    assert bot.on("issue_comment", number=number, comment=pin).codes == (0, 0)
    (offer,) = offers(world)
    assert "the audit asks for it" in str(world.read(offer["head"]["ref"], f"regression_set/{entry_in(offer)}.yaml"))
    reject = world.comment(CURATOR, number, f"/incumbent reject {ADMITTED} nobody asks that")
    assert bot.on("issue_comment", number=number, comment=reject).codes == (0, 0)
    assert [item for item in offers(world) if ADMITTED in item["body"]] == []
    assert "0 of its queries are in the regression set" in sticky(world, number)
    assert world.pull(offer["number"])["state"] == "closed"


@pytest.mark.exhaustive
def test_a_rename_there_and_back_is_offered_each_time_and_departs_nobody(world: World, bot: Bot) -> None:
    known = entries(world)
    reviewed_and_merged(world, bot)
    (offer,) = offers(world)
    merged(world, bot, offer["number"])
    (new,) = entries(world) - known
    places = [BRANCH_LINE, f"{BRANCH_LINE}-two"]
    for old, place in (places, places[::-1], places):
        renamed(world, bot, old, place)
        (offer,) = offers(world)
        settled(bot)
        assert [item["number"] for item in ours(world)] == [offer["number"]]
        assert merged(world, bot, offer["number"]).codes == (0, 0)
        assert read(world, new)["source"]["agent"] == place.rpartition("/")[2]
    settled(bot)


def test_no_eviction_is_suggested_that_is_unsafe_beside_what_is_offered(world: World, tmp_path: Path) -> None:
    files = platform_files(admissions="pull-request") | spare("spare-one", "Set my limit to nine hundred please")
    strong = re.compile(r"backend.change: 0\.[5-9]")
    coverers = [name for name, text in files.items() if name.startswith("regression_set/") and strong.search(text)]
    floor = f"per_capability: {{backend.change: {{redundancy_floor: {len(coverers) - 1}}}}}"
    text = re.sub("per_capability: {.*}", floor, files["config/curation.yaml"])
    # So that nothing else enters.
    files["config/curation.yaml"] = text.replace("honesty_floor: 0.78", "honesty_floor: 1.0")
    world.push("main", files)
    bot = Bot(world, tmp_path / "runs")
    bot.on("schedule")
    assert [pull["title"] for pull in ours(world)] == ["Evict spare-one: redundant"]
    name = f"{CARD_LINE}/evals.yaml"
    edited = re.sub(
        r"    turns:\n      - Raise the limit.*\n.*\n.*\n", "    query: Thanks, and good bye.\n", files[name]
    )
    pull = world.open_pull_request("edit", {name: edited})
    bot.on("pull_request_target", number=pull.number)
    accept = world.comment(CURATOR, pull.number, "/incumbent accept c05 it matters")
    bot.on("issue_comment", number=pull.number, comment=accept)
    assert merged(world, bot, pull.number).codes == (0, 0)
    assert [item["number"] for item in ours(world)] == [offer["number"] for offer in offers(world)]


@pytest.mark.exhaustive
def test_where_the_rules_refuse_commits_an_evictions_confirmation_waits(world: World, tmp_path: Path) -> None:
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")
    pull = suggested(world, bot)
    world.protect("main")
    assert merged(world, bot, pull["number"]).codes == (0, 0)
    assert read(world, "evicted/spare-one")["evicted"]["by"] is None
    settled(bot)
    # It comes with the next offer.
    reviewed_and_merged(world, bot)
    (offer,) = offers(world)
    assert merged(world, bot, offer["number"]).codes == (0, 0)
    assert read(world, "evicted/spare-one")["evicted"]["by"] == CURATOR
    settled(bot)


def entry_in(offer: dict[str, str]) -> str:
    """The entry that an offer of one admits."""
    (found,) = set(re.findall(rf"quillow-savings-branch-line-{ADMITTED}-[0-9a-f]{{8}}", offer["body"]))
    return str(found)
