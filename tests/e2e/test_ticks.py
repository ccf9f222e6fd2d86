"""Boxes that people tick, end to end: on the dashboard and on groups, with a comment as the record of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.bot import Bot, BotRun, customer_files, platform_files
from tests.e2e.harness.client import Client
from tests.e2e.harness.people import CURATOR, CUSTOMER, JOB, STRANGER
from tests.e2e.harness.world import World
from tests.e2e.test_groups import IDS, confirm, group, suggests
from tests.e2e.test_reconcile import entries
from tests.e2e.test_requests import asked
from tests.e2e.test_suggestions import ours, spare
from tests.variants import one_in


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    """A bot that may open one pull request at a time, each for one entry, where four entries could go."""
    return made(world, tmp_path, group=1)


def made(world: World, folder: Path, group: int = 50) -> Bot:
    config = platform_files()["config/curation.yaml"]
    limited = config.replace("open_evictions: 10", f"group: {group}\n  open_evictions: 1")
    assert limited != config
    files = platform_files() | {"config/curation.yaml": limited}
    for id in IDS:
        files |= spare(id, f"{id} is to have its limit set anew please")
    world.push("main", files)
    return Bot(world, folder / "runs")


def dashboard(world: World) -> Any:
    (issue,) = [item for item in world.pages("/issues?state=open") if "pull_request" not in item]
    return issue


def tick(world: World, bot: Bot, number: int, words: str, user: str = CURATOR) -> BotRun:
    """``user`` ticks the box with these ``words`` on an issue or a pull request, and the bot hears of it."""
    before, issue = edit(world, number, words, user)
    if "pull_request" in issue:
        return bot.on("pull_request_target", number=number, action="edited", sender=user, former_body=before)
    return bot.on("issues", number=number, sender=user, former_body=before)


def edit(world: World, number: int, words: str, user: str) -> tuple[str, Any]:
    """The text before ``user`` ticked the box with these ``words``, and the issue."""
    issue = world.get(f"/issues/{number}")
    before = str(issue["body"])
    assert before.count(f"- [ ] {words} <!--") == 1, before
    after = before.replace(f"- [ ] {words} <!--", f"- [x] {words} <!--")
    kind = "pulls" if "pull_request" in issue else "issues"
    assert world.act(user, "PATCH", f"/{kind}/{number}", {"body": after}).ok
    return before, issue


def stays(bot: Bot) -> None:
    """One more run finds nothing to do."""
    run = bot.on("schedule")
    assert run.codes == (0, 0)
    assert {call.method for call in run.calls} == {"GET"}


def said(world: World, number: int) -> list[str]:
    return [item["body"] for item in world.comments(number) if item["user"]["login"] == JOB]


def test_a_tick_on_a_group_keeps_an_entry_as_the_command_does(world: World, tmp_path: Path) -> None:
    bot = made(world, tmp_path)
    pull = group(world, bot)
    assert tick(world, bot, pull["number"], "Keep `spare-1`").codes == (0, 0)
    (record,) = said(world, pull["number"])
    assert f"`{CURATOR}` ticked a box in #{pull['number']}:\n\n/incumbent keep spare-1\n" in record
    assert suggests(world, pull["number"]) == set(IDS) - {"spare-1"}
    body = world.pull(pull["number"])["body"]
    assert f"People keep `spare-1` (by `{CURATOR}`)" in body
    assert "[x]" not in body
    stays(bot)
    confirm(world, bot, pull["number"])
    assert set(IDS) & entries(world) == {"spare-1"}
    assert ours(world) == []


@pytest.mark.exhaustive
def test_a_tick_opens_what_waits_for_room_and_another_refuses_it(world: World, bot: Bot) -> None:
    assert bot.on("schedule").codes == (0, 0)
    assert [item["title"] for item in ours(world)] == ["Evict spare-0: redundant"]
    number = dashboard(world)["number"]
    assert tick(world, bot, number, "Open the pull request for `spare-2` now").codes == (0, 0)
    assert {item["title"] for item in ours(world)} == {"Evict spare-0: redundant", "Evict spare-2: redundant"}
    stays(bot)
    assert tick(world, bot, number, "Keep `spare-3`").codes == (0, 0)
    assert "`spare-3` | in a comment |" in dashboard(world)["body"]
    assert len(said(world, number)) == 2
    for pull in ours(world):
        confirm(world, bot, pull["number"])
    while pulls := ours(world):
        confirm(world, bot, pulls[0]["number"])
    assert set(IDS) & entries(world) == {"spare-3"}


@pytest.mark.exhaustive
def test_what_people_refused_is_suggested_again_by_a_tick_and_may_be_refused_again(world: World, bot: Bot) -> None:
    assert bot.on("schedule").codes == (0, 0)
    (pull,) = ours(world)
    close(world, bot, pull["number"])
    number, words = dashboard(world)["number"], "Suggest `spare-0` again, refused in #{}"
    assert tick(world, bot, number, words.format(pull["number"])).codes == (0, 0)
    again = next(item for item in ours(world) if item["title"] == "Evict spare-0: redundant")
    assert again["number"] != pull["number"]
    stays(bot)
    close(world, bot, again["number"])
    assert all(item["title"] != "Evict spare-0: redundant" for item in ours(world))
    stays(bot)
    assert tick(world, bot, number, words.format(again["number"])).codes == (0, 0)
    (third,) = [item for item in ours(world) if item["title"] == "Evict spare-0: redundant"]
    confirm(world, bot, third["number"])
    assert "spare-0" not in entries(world)


@pytest.mark.exhaustive
def test_what_was_kept_in_a_comment_is_suggested_again_by_a_tick_or_a_command(world: World, bot: Bot) -> None:
    assert bot.on("schedule").codes == (0, 0)
    (pull,) = ours(world)
    number = dashboard(world)["number"]
    asked(world, bot, number, "/incumbent keep spare-0")
    assert "Evict spare-0: redundant" not in {item["title"] for item in ours(world)}
    asked(world, bot, number, "/incumbent suggest spare-0")
    assert "Evict spare-0: redundant" in {item["title"] for item in ours(world)}
    assert pull["state"] == "open"


def close(world: World, bot: Bot, number: int) -> None:
    world.act(CURATOR, "PATCH", f"/pulls/{number}", {"state": "closed"})
    assert bot.on("pull_request_target", number=number, action="closed", sender=CURATOR).codes == (0, 0)


def test_a_tick_of_somebody_who_is_no_curator_does_nothing(world: World, bot: Bot) -> None:
    assert bot.on("schedule").codes == (0, 0)
    number = dashboard(world)["number"]
    before = str(dashboard(world)["body"])
    ticked = before.replace("- [ ] Keep `spare-3`", "- [x] Keep `spare-3`")
    assert world.act(CURATOR, "PATCH", f"/issues/{number}", {"body": ticked}).ok
    assert bot.on("issues", number=number, sender=STRANGER, former_body=before).codes == (0, 0)
    assert f"To `{STRANGER}`:" in said(world, number)[-1]
    assert "Only curators may say keep" in said(world, number)[-1]
    assert "- [ ] Keep `spare-3`" in dashboard(world)["body"]
    stays(bot)


@pytest.mark.exhaustive
def test_a_tick_of_what_has_changed_since_is_refused(world: World, bot: Bot) -> None:
    assert bot.on("schedule").codes == (0, 0)
    number = dashboard(world)["number"]
    before, _ = edit(world, number, "Keep `spare-3`", CURATOR)
    late = bot.start("issues", number=number, sender=CURATOR, former_body=before)
    world.push("main", spare("spare-3", "spare-3 has quite another text, and its limit is to be set"))
    assert bot.on("schedule").codes == (0, 0)
    assert (late.analyse.run(), late.publish.run()) == (0, 0)
    (record,) = said(world, number)
    assert "Not done: “Keep `spare-3`”. It has changed since it was shown." in record
    assert "/incumbent" not in record
    assert "spare-3" in dashboard(world)["body"]


@pytest.mark.parametrize("edited", one_in(2, [True, False]))
def test_a_record_that_is_edited_or_forged_has_nobody_s_words(world: World, bot: Bot, edited: bool) -> None:
    assert bot.on("schedule").codes == (0, 0)
    number = dashboard(world)["number"]
    assert tick(world, bot, number, "Keep `spare-3`").codes == (0, 0)
    (record,) = [item for item in world.comments(number) if item["body"].startswith("<!-- incumbent:ticked")]
    forged = record["body"].replace("spare-3", "spare-2")
    if edited:
        assert world.act(CURATOR, "PATCH", f"/issues/comments/{record['id']}", {"body": forged}).ok
    else:
        assert world.act(CURATOR, "DELETE", f"/issues/comments/{record['id']}").ok
        # As another workflow of the repository would, under the same account.
        other = Client(world, world.app_token(JOB, {"issues": "write"}))
        assert other("POST", f"/issues/{number}/comments", {"body": forged}).ok
    assert bot.on("schedule").codes == (0, 0)
    body = dashboard(world)["body"]
    assert "- [ ] Keep `spare-2`" in body
    assert "- [ ] Keep `spare-3`" in body


@pytest.mark.exhaustive
def test_the_same_event_twice_and_after_a_kill_is_one_record(world: World, bot: Bot) -> None:
    assert bot.on("schedule").codes == (0, 0)
    number = dashboard(world)["number"]
    before, _ = edit(world, number, "Keep `spare-3`", CURATOR)
    first = bot.start("issues", number=number, sender=CURATOR, former_body=before)
    second = bot.start("issues", number=number, sender=CURATOR, former_body=before)
    for job in (first.analyse, second.analyse, first.publish, second.publish):
        assert job.run() == 0
    assert len([text for text in said(world, number) if text.startswith("<!-- incumbent:ticked")]) == 1
    assert "`spare-3` | in a comment |" in dashboard(world)["body"]


def test_a_query_that_needs_a_person_is_accepted_from_the_dashboard_once_it_is_merged(
    world: World, tmp_path: Path
) -> None:
    bot = Bot(world, tmp_path / "runs")
    world.push("main", platform_files())
    pull = world.open_pull_request("add", customer_files(), user=CUSTOMER)
    assert bot.on("pull_request_target", number=pull.number).codes[0] == 0
    confirm(world, bot, pull.number)
    body = str(dashboard(world)["body"])
    line = next(line for line in body.splitlines() if line.startswith("- [ ] Accept "))
    id = line.split("`")[1]
    assert id not in entries(world)
    assert tick(world, bot, dashboard(world)["number"], f"Accept `{id}` of #{pull.number}").codes == (0, 0)
    assert id in entries(world)
    assert f"/incumbent accept {id}" in said(world, pull.number)[-1]
    assert f"Accept `{id}`" not in dashboard(world)["body"]


@pytest.mark.exhaustive
def test_a_tick_is_recorded_although_the_branch_moved_on_meanwhile(world: World, bot: Bot) -> None:
    assert bot.on("schedule").codes == (0, 0)
    number = dashboard(world)["number"]
    before, _ = edit(world, number, "Keep `spare-3`", CURATOR)
    late = bot.start("issues", number=number, sender=CURATOR, former_body=before)
    assert late.analyse.run() == 0
    world.push("main", customer_files())
    assert late.publish.run() == 0
    (record,) = said(world, number)
    assert "/incumbent keep spare-3" in record
    assert bot.on("schedule").codes == (0, 0)
    assert "`spare-3` | in a comment |" in dashboard(world)["body"]


@pytest.mark.exhaustive
def test_a_tick_that_was_taken_back_does_not_come_back_by_the_same_words(world: World, bot: Bot) -> None:
    assert bot.on("schedule").codes == (0, 0)
    number = dashboard(world)["number"]
    assert tick(world, bot, number, "Keep `spare-3`").codes == (0, 0)
    (record,) = [item for item in world.comments(number) if item["body"].startswith("<!-- incumbent:ticked")]
    assert world.act(CURATOR, "DELETE", f"/issues/comments/{record['id']}").ok
    other = Client(world, world.app_token(JOB, {"issues": "write"}))
    for thread in (number, ours(world)[0]["number"]):
        assert other("POST", f"/issues/{thread}/comments", {"body": record["body"]}).ok
    assert bot.on("schedule").codes == (0, 0)
    assert "- [ ] Keep `spare-3`" in dashboard(world)["body"]


@pytest.mark.exhaustive
def test_the_same_pull_request_reopened_and_closed_again_stays_refused(world: World, bot: Bot) -> None:
    assert bot.on("schedule").codes == (0, 0)
    (pull,) = ours(world)
    close(world, bot, pull["number"])
    world.act(CURATOR, "PATCH", f"/pulls/{pull['number']}", {"state": "open"})
    words = f"Suggest `spare-0` again, refused in #{pull['number']}"
    assert tick(world, bot, dashboard(world)["number"], words).codes == (0, 0)
    time.sleep(1.1)
    close(world, bot, pull["number"])
    assert all(item["title"] != "Evict spare-0: redundant" for item in ours(world))
    stays(bot)
