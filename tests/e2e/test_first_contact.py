"""The first days on a repository as people have it: names that are taken, rules, and eval sets that go again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.bot import ADMITTED, EVALS, Bot, customer_files, notes_what_it_read, platform_files
from tests.e2e.harness.messages import json_response
from tests.e2e.harness.people import CURATOR
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import entries, merged, read, sticky
from tests.e2e.test_suggestions import TEXT, check, ours, settled, spare, suggested
from tests.variants import one_in


@pytest.fixture
def bot(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bot:
    def wait(attempt: int) -> None:
        raise AssertionError("what is in the way does not go by waiting")

    monkeypatch.setattr("incumbent.cli.ci._wait", wait)
    world.push("main", platform_files())
    return Bot(world, tmp_path / "runs")


def writes(calls: list[Any]) -> list[str]:
    return [f"{call.method} {call.path}" for call in calls if call.method != "GET"]


# --- a branch in the way ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", one_in(2, ["incumbent", "incumbent/ledger/old"]))
def test_a_branch_in_the_way_of_the_ledger_is_named_at_once(
    world: World, bot: Bot, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    world.push(name, {"notes.txt": "set up here"})
    pull = world.open_pull_request("quillow", customer_files())
    run = bot.on("pull_request_target", number=pull.number)
    assert run.codes == (0, 4)
    shown = check(world, pull.number)
    assert (shown["conclusion"], shown["output"]["title"]) == ("failure", "The review could not be written")
    assert f"delete or rename the branch `{name}`" in shown["output"]["summary"]
    assert f"delete or rename the branch `{name}`" in capsys.readouterr().err
    assert len([call for call in run.calls if call.path.endswith("/git/refs")]) == 1
    world.hosted.bare.git("branch", "-D", name)
    world.gateway.pushed(world.full_name, {f"refs/heads/{name}": pull.head})
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
    assert check(world, pull.number)["conclusion"] == "success"


@pytest.mark.exhaustive
def test_a_branch_in_the_way_of_a_suggestion_is_named(
    world: World, bot: Bot, capsys: pytest.CaptureFixture[str]
) -> None:
    world.push("main", spare("spare-one", TEXT))
    world.push("incumbent/evict", {"notes.txt": "mine"})
    assert bot.on("schedule").codes == (0, 4)
    assert "delete or rename the branch `incumbent/evict`" in capsys.readouterr().err
    assert ours(world) == []


# --- a rate limit -----------------------------------------------------------------------------------------------------


def test_a_rate_limit_that_outlasts_the_job_ends_it_with_a_word(
    world: World, bot: Bot, capsys: pytest.CaptureFixture[str]
) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    said = {"message": "You have exceeded a secondary rate limit. Please wait.", "documentation_url": "https://x"}
    world.gateway.fail(lambda call: True, json_response(403, said, retry_after="3600"), 99)
    run = bot.on("pull_request_target", number=pull.number)
    world.gateway.faults.clear()
    assert run.codes == (0, 4)
    assert "it asks to wait for 60 minutes, longer than a run does" in capsys.readouterr().err
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
    assert check(world, pull.number)["conclusion"] == "success"


# --- eval sets that go again ------------------------------------------------------------------------------------------


@pytest.fixture
def entry(world: World, bot: Bot) -> str:
    """The entry that came with a customer's pull request; it alone covers what it covers of pictures."""
    known = entries(world)
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    assert merged(world, bot, pull.number).codes == (0, 0)
    (new,) = entries(world) - known
    return new


def offered(world: World, bot: Bot, branch: str, files: dict[str, str | None]) -> tuple[int, str]:
    """A pull request with ``files``, reviewed: its number and what the bot says on it."""
    number = world.open_pull_request(branch, files).number
    assert bot.on("pull_request_target", number=number).codes == (0, 0)
    again = bot.on("pull_request_target", number=number, action="synchronize")
    assert writes(again.calls) == []
    return number, sticky(world, number)


def test_a_pull_request_that_removes_a_customer_says_what_the_merge_costs(world: World, bot: Bot, entry: str) -> None:
    number, said = offered(world, bot, "leave", dict.fromkeys(customer_files()))
    run = check(world, number)
    assert run["conclusion"] == "success"
    assert run["output"]["title"].startswith("1 entry would lose its source; ")
    assert f"suggests to evict `{entry}` (`customer-left`" in said
    assert "| *Picture* | 1 → 0 | no entry would cover it |" in said
    assert world.labels(number) == []
    assert merged(world, bot, number).codes == (0, 0)
    (left,) = ours(world)
    assert left["title"] == f"Evict {entry}: customer-left"
    settled(bot)


@pytest.mark.exhaustive
def test_a_pull_request_that_removes_queries_says_what_the_merge_costs(world: World, bot: Bot, entry: str) -> None:
    whole = customer_files()[EVALS]
    head, _, rest = whole.partition(f"  - id: {ADMITTED}\n")
    assert rest
    left = head + "  - id: " + rest.partition("  - id: ")[2]
    number, said = offered(world, bot, "fewer", {EVALS: left})
    assert f"suggests to evict `{entry}` (`source-deleted`" in said
    assert "*Picture*" in said
    assert check(world, number)["conclusion"] == "success"
    # What comes back costs nothing.
    world.push("fewer", {EVALS: whole + "# as it was\n"})
    assert bot.on("pull_request_target", number=number, action="synchronize").codes == (0, 0)
    assert "suggests to evict" not in sticky(world, number)
    assert "would lose" not in check(world, number)["output"]["title"]


@pytest.mark.exhaustive
def test_what_others_brought_meanwhile_is_not_taken_for_removed(world: World, bot: Bot) -> None:
    whole = customer_files()[EVALS]
    head, _, rest = whole.partition(f"  - id: {ADMITTED}\n")
    without = head + "  - id: " + rest.partition("  - id: ")[2]
    world.push("main", customer_files() | {EVALS: without})
    world.push("later", {"eval_sets/quillow-savings/branch-line/notes.md": "words"})
    known = entries(world)
    pull = world.open_pull_request("quillow", {EVALS: whole})
    bot.on("pull_request_target", number=pull.number)
    merged(world, bot, pull.number)
    assert len(entries(world) - known) == 1
    number = world.open_pull_request("later").number
    assert bot.on("pull_request_target", number=number).codes == (0, 0)
    assert "would lose" not in check(world, number)["output"]["title"]


def test_a_revert_says_what_it_costs_and_its_own_revert_puts_things_right(world: World, bot: Bot, entry: str) -> None:
    number, said = offered(world, bot, "revert", dict.fromkeys(customer_files()))
    assert "`customer-left`" in said
    assert merged(world, bot, number).codes == (0, 0)
    (eviction,) = ours(world)
    known = entries(world)
    number, said = offered(world, bot, "revert-revert", dict(customer_files()))
    assert "would lose" not in said
    assert merged(world, bot, number).codes == (0, 0)
    assert ours(world) == []
    assert world.pull(eviction["number"])["state"] == "closed"
    assert entries(world) == known
    assert writes(bot.on("schedule").calls) == []


@pytest.mark.exhaustive
def test_a_pinned_entry_is_not_said_to_go(world: World, bot: Bot, entry: str) -> None:
    path = f"regression_set/{entry}.yaml"
    text = world.read("main", path) or ""
    world.push("main", {path: text.replace("pin: null", "pin: an audit wants it")})
    _, said = offered(world, bot, "leave", dict.fromkeys(customer_files()))
    assert f"Pinned by a person, and so not suggested: `{entry}`" in said
    assert "suggests to evict" not in said


# --- an eviction whose grounds have gone ------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_an_eviction_that_is_safe_no_more_when_it_is_merged_says_so(world: World, bot: Bot) -> None:
    pull = suggested(world, bot)
    (other,) = [id for id in entries(world) if "c05" in id]
    world.push("main", {f"regression_set/{other}.yaml": None}, message="Take the other one out by hand")
    assert merged(world, bot, pull["number"]).codes == (0, 0)
    assert read(world, "evicted/spare-one")["evicted"]["by"] == CURATOR
    (said,) = [item["body"] for item in world.comments(pull["number"]) if "No longer true" in item["body"]]
    assert "short of 2" in said
    assert "`/incumbent restore spare-one`" in said
    assert bot.on("schedule").codes == (0, 0)
    assert len([item for item in world.comments(pull["number"]) if "No longer true" in item["body"]]) == 1
    comment = world.comment(CURATOR, pull["number"], "/incumbent restore spare-one")
    assert bot.on("issue_comment", number=pull["number"], comment=comment).codes == (0, 0)
    assert "spare-one" in entries(world)
    assert notes_what_it_read(bot.on("schedule"))
    settled(bot)


@pytest.mark.exhaustive
def test_a_run_that_dies_after_it_said_so_says_it_once(world: World, bot: Bot) -> None:
    pull = suggested(world, bot)
    (other,) = [id for id in entries(world) if "c05" in id]
    world.push("main", {f"regression_set/{other}.yaml": None})
    before, after = world.head("main"), world.merge(pull["number"], user=CURATOR)
    world.gateway.fail(lambda call: call.method == "PATCH" and call.path.endswith("/heads/main"), "409", 9)
    assert bot.on("push", before=before, after=after).codes == (0, 4)
    world.gateway.faults.clear()
    assert bot.on("schedule").codes == (0, 0)
    assert len([item for item in world.comments(pull["number"]) if "No longer true" in item["body"]]) == 1
