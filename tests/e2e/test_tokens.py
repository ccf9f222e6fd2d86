"""Whose token the job that writes holds: its own, or that of a GitHub App; both end the same but for who wrote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.bot import ADMITTED, WAITING, Bot, BotRun, customer_files, platform_files
from tests.e2e.final_state import differences, final_state
from tests.e2e.harness.messages import Request
from tests.e2e.harness.people import CURATOR, CUSTOMER, JOB, OUR_APP, OWNER
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import entries, merged, read
from tests.e2e.test_suggestions import spare

LEDGER = "incumbent/ledger"
FILES = platform_files() | spare("spare-one", "Set my limit to nine hundred please")


def suggested(world: World) -> list[Any]:
    """The open pull requests of the bot's, whoever it is."""
    return [pull for pull in world.pages("/pulls?state=open") if pull["head"]["ref"].startswith("incumbent/")]


def wrote(run: BotRun) -> list[str]:
    assert run.codes == (0, 0)
    return [f"{call.method} {call.path}" for call in run.calls if call.method != "GET"]


def authors(world: World) -> set[str]:
    """The accounts that commented, opened, checked, reacted or committed, without people's."""
    items = world.pages("/issues?state=all")
    comments = [comment for item in items for comment in world.comments(item["number"])]
    checks = [check for pull in world.pages("/pulls?state=all") for check in world.checks(pull["head"]["sha"])]
    reactions = [each for item in comments for each in world.pages(f"/issues/comments/{item['id']}/reactions")]
    commits = {
        author.removesuffix("@users.noreply.github.com").partition("+")[2]
        for author in world.hosted.bare.git("log", "--format=%ae", "main", LEDGER).split()
        if author.endswith("@users.noreply.github.com")
    }
    users = {item["user"]["login"] for item in (*items, *comments, *reactions)}
    return (users | {f"{check['app']['slug']}[bot]" for check in checks} | commits) - {CURATOR, CUSTOMER, OWNER}


def play(world: World, folder: Path, login: str) -> None:
    """A customer's pull request is reviewed, decided and merged, and an eviction is suggested and merged."""
    bot = Bot(world, folder, world.url, login=login)
    world.push("main", FILES)
    if login == OUR_APP:
        world.protect("main", past=[OUR_APP])  # what such a token is for: a ruleset never lets a job by
    known = entries(world)

    pull = world.open_pull_request("quillow", customer_files())
    assert wrote(bot.on("pull_request_target", number=pull.number))
    (check,) = world.checks(pull.head)
    assert f"{check['app']['slug']}[bot]" == login
    assert [item["user"]["login"] for item in world.comments(pull.number)] == [login]
    comment = world.comment(CURATOR, pull.number, f"/incumbent accept {WAITING[0]} it matters\n/incumbent help")
    assert wrote(bot.on("issue_comment", number=pull.number, comment=comment))
    assert wrote(merged(world, bot, pull.number))
    items = {read(world, entry)["source"]["item"] for entry in entries(world) - known}
    assert items == {ADMITTED, WAITING[0]}

    (eviction,) = suggested(world)
    assert (eviction["title"], eviction["user"]["login"]) == ("Evict spare-one: redundant", login)
    assert world.labels(eviction["number"]) == ["incumbent: suggestion"]
    assert wrote(merged(world, bot, eviction["number"]))
    assert "spare-one" not in entries(world)
    assert read(world, "evicted/spare-one")["evicted"]["by"] == CURATOR

    (dashboard,) = [item for item in world.pages("/issues") if "pull_request" not in item]
    assert dashboard["user"]["login"] == login
    assert authors(world) == {login}
    assert wrote(bot.on("schedule")) == []


@pytest.mark.exhaustive
def test_a_whole_story_ends_the_same_with_either_token(make_world: Callable[..., World], tmp_path: Path) -> None:
    by_job, by_app = make_world(), make_world()
    play(by_job, tmp_path / "job", JOB)
    play(by_app, tmp_path / "app", OUR_APP)
    assert differences(final_state(by_job, JOB), final_state(by_app, OUR_APP)) == []


def test_the_runs_that_an_apps_own_writes_start_find_nothing_to_do(world: World, tmp_path: Path) -> None:
    bot = Bot(world, tmp_path / "runs", login=OUR_APP)
    world.push("main", FILES)
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    assert wrote(merged(world, bot, pull.number))
    merge = str(world.hosted.bare.resolve("main^"))
    assert wrote(bot.on("push", before=merge, after=world.head("main"), sender=OUR_APP)) == [], "its admission"
    (eviction,) = suggested(world)
    for action in ("opened", "edited", "synchronize"):
        started = bot.on("pull_request_target", number=eviction["number"], action=action, sender=OUR_APP)
        assert wrote(started) == [], action
    (comment,) = world.comments(pull.number)
    assert wrote(bot.on("issue_comment", number=pull.number, comment=comment)) == [], "its comment"


@pytest.mark.exhaustive
def test_a_run_that_overlaps_the_one_which_started_it_doubles_nothing(
    make_world: Callable[..., World], tmp_path: Path
) -> None:
    """By an app's token a suggestion starts a run at once, while the run that opened it has not labelled it yet."""
    calm, world = make_world(), make_world()
    for each in (calm, world):
        each.push("main", FILES)
    assert wrote(Bot(calm, tmp_path / "calm", login=OUR_APP).on("schedule"))
    bot = Bot(world, tmp_path / "runs", login=OUR_APP)
    mark = world.gateway.mark()
    started: list[BotRun] = []

    def start(request: Request) -> None:
        calls = world.gateway.calls_since(mark)
        if any(call.method == "POST" and call.path.endswith("/pulls") for call in calls):
            world.gateway.before_call = lambda request: None
            (eviction,) = suggested(world)
            started.append(bot.on("pull_request_target", number=eviction["number"], sender=OUR_APP))

    world.gateway.before_call = start
    try:
        first = bot.on("schedule")
    finally:
        world.gateway.before_call = lambda request: None
    assert first.codes == (0, 0)
    assert [run.codes for run in started] == [(0, 0)]
    assert wrote(bot.on("schedule")) == []
    assert differences(final_state(calm, OUR_APP), final_state(world, OUR_APP)) == []
    assert len(suggested(world)) == 1
