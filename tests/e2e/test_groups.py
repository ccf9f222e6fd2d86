"""Groups of evictions, end to end: any part is kept, dropped by a commit, refused or merged, and remembered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.bot import Bot, platform_files
from tests.e2e.harness.merging import MergeMethod
from tests.e2e.harness.people import CURATOR, STRANGER
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import entries, read
from tests.e2e.test_requests import asked
from tests.e2e.test_suggestions import check, ours, settled, spare
from tests.variants import one_in

IDS = tuple(f"spare-{number}" for number in range(4))


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    """A bot that may open one pull request at a time, where four entries could go."""
    config = platform_files()["config/curation.yaml"].replace("open_evictions: 10", "open_evictions: 1")
    files = platform_files() | {"config/curation.yaml": config}
    for id in IDS:
        files |= spare(id, f"{id} is to have its limit set anew please")
    world.push("main", files)
    return Bot(world, tmp_path / "runs")


def group(world: World, bot: Bot) -> Any:
    """The pull request of the group."""
    assert bot.on("schedule").codes == (0, 0)
    (pull,) = ours(world)
    return pull


def confirm(world: World, bot: Bot, number: int, method: MergeMethod = "merge") -> None:
    before = world.head("main")
    after = world.merge(number, user=CURATOR, method=method)
    assert bot.on("push", before=before, after=after).codes == (0, 0)


def commits(world: World, pull: Any) -> list[str]:
    """The first lines of the commits that ``pull`` has, oldest first."""
    log = world.hosted.bare.git("log", "--reverse", "--format=%s", f"main..{pull['head']['ref']}")
    return log.splitlines()


def drop(world: World, pull: Any, id: str, **more: str | None) -> str:
    """A curator reverts the commit of one entry."""
    path = f"regression_set/{id}.yaml"
    back = {path: world.read("main", path), f"regression_set/evicted/{id}.yaml": None}
    return world.push(pull["head"]["ref"], back | more, user=CURATOR)


def take_back(world: World, pull: Any, tip: str, id: str) -> str:
    """A curator reverts the revert of one entry; ``tip`` is the commit that evicts it."""
    paths = (f"regression_set/{id}.yaml", f"regression_set/evicted/{id}.yaml")
    return world.push(pull["head"]["ref"], {path: world.read(tip, path) for path in paths}, user=CURATOR)


def suggests(world: World, number: int) -> set[str]:
    """The entries that a group's description lists."""
    body = world.pull(number)["body"]
    return {id for id in IDS if f"| `{id}` |" in body}


def test_beyond_the_limit_all_that_could_go_is_one_pull_request_with_a_commit_for_each(world: World, bot: Bot) -> None:
    pull = group(world, bot)
    assert pull["title"].startswith("Evict several entries of customer ")
    assert sorted(commits(world, pull)) == [f"Evict {id}: redundant" for id in IDS]
    assert suggests(world, pull["number"]) == set(IDS)
    assert check(world, pull["number"])["conclusion"] == "success"
    settled(bot)
    confirm(world, bot, pull["number"])
    assert not set(IDS) & entries(world)
    tombstones = [read(world, f"evicted/{id}")["evicted"] for id in IDS]
    assert {(item["by"], item["reason"]) for item in tombstones} == {
        (CURATOR, "redundant: others cover all that it covers")
    }
    assert ours(world) == []
    settled(bot)


@pytest.mark.parametrize("method", one_in(3, ["merge", "squash", "rebase"]))
def test_a_comment_keeps_one_and_the_rest_goes(world: World, bot: Bot, method: MergeMethod) -> None:
    pull = group(world, bot)
    head = pull["head"]["sha"]
    asked(world, bot, pull["number"], "/incumbent keep spare-1: an audit wants it")
    assert suggests(world, pull["number"]) == set(IDS) - {"spare-1"}
    assert f"People keep `spare-1` (by `{CURATOR}`)" in world.pull(pull["number"])["body"]
    assert world.hosted.bare.git("merge-base", head, pull["head"]["ref"]).strip() == head, "commits are only added"
    assert check(world, pull["number"])["conclusion"] == "success"
    confirm(world, bot, pull["number"], method)
    assert set(IDS) & entries(world) == {"spare-1"}
    assert read(world, "evicted/spare-0")["evicted"]["by"] == CURATOR
    assert ours(world) == []
    bot.on("schedule")
    assert ours(world) == []


@pytest.mark.exhaustive
def test_without_the_comment_it_is_suggested_again(world: World, bot: Bot) -> None:
    pull = group(world, bot)
    comment = world.comment(CURATOR, pull["number"], "/incumbent keep spare-1 spare-2")
    bot.on("issue_comment", number=pull["number"], comment=comment)
    confirm(world, bot, pull["number"])
    assert ours(world) == []
    world.act(CURATOR, "DELETE", f"/issues/comments/{comment['id']}")
    bot.on("schedule")
    (again,) = ours(world)
    assert suggests(world, again["number"]) == {"spare-1", "spare-2"}


def test_a_reverted_commit_keeps_one_for_as_long_as_its_grounds(world: World, bot: Bot) -> None:
    pull = group(world, bot)
    head = drop(world, pull, "spare-2")
    assert bot.on("pull_request_target", number=pull["number"], action="synchronize").codes == (0, 0)
    assert world.head(pull["head"]["ref"]) == head
    assert check(world, pull["number"])["conclusion"] == "success"
    assert suggests(world, pull["number"]) == set(IDS) - {"spare-2"}
    assert "People keep `spare-2` (a commit)" in world.pull(pull["number"])["body"]
    settled(bot)
    confirm(world, bot, pull["number"])
    assert set(IDS) & entries(world) == {"spare-2"}
    bot.on("schedule")
    assert ours(world) == []
    world.push("main", spare("spare-2", "Quite another text by now, about nothing else"))
    bot.on("schedule")
    assert [item["title"] for item in ours(world)] == ["Evict spare-2: redundant"]


@pytest.mark.parametrize("runs_between", [False, True])
@pytest.mark.exhaustive
def test_a_revert_that_is_reverted_counts_for_nothing(world: World, bot: Bot, runs_between: bool) -> None:
    pull = group(world, bot)
    tip = pull["head"]["sha"]
    drop(world, pull, "spare-2")
    if runs_between:
        bot.on("pull_request_target", number=pull["number"], action="synchronize")
        assert suggests(world, pull["number"]) == set(IDS) - {"spare-2"}
    head = take_back(world, pull, tip, "spare-2")
    assert bot.on("pull_request_target", number=pull["number"], action="synchronize").codes == (0, 0)
    assert world.head(pull["head"]["ref"]) == head
    assert check(world, pull["number"])["conclusion"] == "success"
    assert suggests(world, pull["number"]) == set(IDS)
    assert "People keep" not in world.pull(pull["number"])["body"]
    settled(bot)
    drop(world, pull, "spare-2")
    bot.on("pull_request_target", number=pull["number"], action="synchronize")
    assert suggests(world, pull["number"]) == set(IDS) - {"spare-2"}
    take_back(world, pull, tip, "spare-2")
    confirm(world, bot, pull["number"])
    assert not set(IDS) & entries(world)
    assert ours(world) == []


@pytest.mark.exhaustive
def test_what_a_commit_takes_back_stays_where_the_branch_is_behind(world: World, bot: Bot) -> None:
    pull = group(world, bot)
    tip = pull["head"]["sha"]
    drop(world, pull, "spare-1")
    bot.on("pull_request_target", number=pull["number"], action="synchronize")
    take_back(world, pull, tip, "spare-1")
    text = world.read("main", "regression_set/spare-2.yaml")
    world.push("main", {"regression_set/spare-2.yaml": f"{text}# a remark\n"})
    for _ in range(2):
        assert bot.on("schedule").codes == (0, 0)
        assert suggests(world, pull["number"]) == set(IDS)
    confirm(world, bot, pull["number"])
    assert not set(IDS) & entries(world)


@pytest.mark.exhaustive
def test_what_a_comment_keeps_comes_back_by_the_comment_alone(world: World, bot: Bot) -> None:
    pull = group(world, bot)
    tip, number = pull["head"]["sha"], pull["number"]
    comment = world.comment(CURATOR, number, "/incumbent keep spare-1")
    bot.on("issue_comment", number=number, comment=comment)
    take_back(world, pull, tip, "spare-1")
    bot.on("pull_request_target", number=number, action="synchronize")
    shown = check(world, number)
    assert shown["conclusion"] == "failure"
    paths = "`regression_set/evicted/spare-1.yaml` and `regression_set/spare-1.yaml`"
    assert f"what was suggested ({paths})" in shown["output"]["summary"]
    world.act(CURATOR, "DELETE", f"/issues/comments/{comment['id']}")
    assert bot.on("schedule").codes == (0, 0)
    assert check(world, number)["conclusion"] == "success"
    assert suggests(world, number) == set(IDS)
    assert [item["number"] for item in ours(world)] == [number]
    settled(bot)


@pytest.mark.exhaustive
def test_what_a_comment_keeps_is_suggested_alone_once_a_later_one_asks_for_it(world: World, bot: Bot) -> None:
    pull = group(world, bot)
    asked(world, bot, pull["number"], "/incumbent keep spare-1")
    asked(world, bot, pull["number"], "/incumbent suggest spare-1")
    assert suggests(world, pull["number"]) == set(IDS) - {"spare-1"}
    assert "People keep" not in world.pull(pull["number"])["body"]
    assert {item["title"] for item in ours(world)} == {pull["title"], "Evict spare-1: redundant"}


@pytest.mark.exhaustive
def test_one_that_is_reverted_as_people_merge_is_kept_too(world: World, bot: Bot) -> None:
    pull = group(world, bot)
    drop(world, pull, "spare-2")
    confirm(world, bot, pull["number"])
    assert set(IDS) & entries(world) == {"spare-2"}
    assert ours(world) == []
    bot.on("schedule")
    assert ours(world) == []


@pytest.mark.exhaustive
def test_any_part_passes_the_check_and_anything_else_fails(world: World, bot: Bot) -> None:
    pull = group(world, bot)
    drop(world, pull, "spare-2", **{"notes.txt": "a person was here\n"})
    bot.on("pull_request_target", number=pull["number"], action="synchronize")
    assert check(world, pull["number"])["conclusion"] == "success"
    for files in (
        {"regression_set/evicted/spare-1.yaml": None},
        spare("spare-9", "Something new"),
        {"config/curation.yaml": "mode: observe\n"},
    ):
        tip = world.push(pull["head"]["ref"], files, user=CURATOR)
        bot.on("pull_request_target", number=pull["number"], action="synchronize")
        assert check(world, pull["number"])["conclusion"] == "failure"
        back = {path: world.read(f"{tip}~1", path) for path in files}
        world.push(pull["head"]["ref"], back, user=CURATOR)
        bot.on("pull_request_target", number=pull["number"], action="synchronize")
        assert check(world, pull["number"])["conclusion"] == "success"


def test_closing_it_refuses_every_entry(world: World, bot: Bot) -> None:
    pull = group(world, bot)
    world.close(pull["number"])
    bot.on("pull_request_target", number=pull["number"], action="closed")
    assert ours(world) == []
    world.push("main", spare("spare-9", "One more of them wants its limit changed"))
    bot.on("schedule")
    assert [item["title"] for item in ours(world)] == ["Evict spare-9: redundant"]
    world.act(CURATOR, "PATCH", f"/pulls/{pull['number']}", {"state": "open"})
    bot.on("pull_request_target", number=pull["number"], action="reopened")
    assert suggests(world, pull["number"]) == set(IDS)
    settled(bot)


@pytest.mark.exhaustive
def test_only_curators_keep_and_only_what_is_suggested(world: World, bot: Bot) -> None:
    pull = group(world, bot)
    for user, text, answer in (
        (STRANGER, "/incumbent keep spare-1", "Only curators may say keep"),
        (CURATOR, "/incumbent keep spare-11", "perhaps you meant 'spare-1'"),
        (CURATOR, f"/incumbent keep {min(entries(world) - set(IDS))}", "no open pull request suggests to evict it"),
    ):
        assert answer in asked(world, bot, pull["number"], text, user)["body"]
    assert suggests(world, pull["number"]) == set(IDS)


@pytest.mark.exhaustive
def test_a_description_that_somebody_edited_is_written_again_where_the_group_changes(world: World, bot: Bot) -> None:
    pull = group(world, bot)
    body = f"I look at this.\n\n{pull['body']}".replace("\n", "\r\n")
    world.act(CURATOR, "PATCH", f"/pulls/{pull['number']}", {"body": body})
    bot.on("schedule")
    assert world.pull(pull["number"])["body"] == body
    asked(world, bot, pull["number"], "/incumbent keep spare-0")
    assert "I look at this." not in world.pull(pull["number"])["body"]
    assert suggests(world, pull["number"]) == set(IDS) - {"spare-0"}


def test_a_forged_refusal_of_a_group_holds_nothing_back(world: World, bot: Bot) -> None:
    pull = group(world, bot)
    drop(world, pull, "spare-2")
    confirm(world, bot, pull["number"])
    world.push("main", spare("spare-9", "Another limit, to be set by noon"))
    bot.on("schedule")
    (single,) = ours(world)
    grounds = single["head"]["ref"].rpartition("-")[2]
    record = json.loads(world.read("incumbent/ledger", "suggestions.json") or "")
    (refusal,) = record["refusals"]
    assert list(refusal["entries"]) == ["spare-2"]
    for number in (999, single["number"], pull["number"]):
        forged = {"pull_request": number, "branch": refusal["branch"], "entries": {"spare-9": grounds}}
        text = json.dumps({**record, "refusals": [forged]})
        world.push("incumbent/ledger", {"suggestions.json": text})
        bot.on("schedule")
        assert [item["number"] for item in ours(world)] == [single["number"]]
        written = json.loads(world.read("incumbent/ledger", "suggestions.json") or "")
        assert written["refusals"] == [refusal]


@pytest.mark.exhaustive
def test_what_a_commit_dropped_stays_dropped_where_the_branch_is_behind(world: World, bot: Bot) -> None:
    pull = group(world, bot)
    drop(world, pull, "spare-1")
    text = world.read("main", "regression_set/spare-2.yaml")
    world.push("main", {"regression_set/spare-2.yaml": f"{text}# a remark\n"})
    for _ in range(2):
        assert bot.on("schedule").codes == (0, 0)
        assert "spare-1" not in suggests(world, pull["number"])
    assert "People keep `spare-1` (a commit)" in world.pull(pull["number"])["body"]
    assert "Evict spare-1: redundant" not in commits(world, pull)[-2:]
    confirm(world, bot, pull["number"])
    assert "spare-1" in entries(world)


@pytest.mark.exhaustive
def test_one_is_dropped_by_a_commit_and_another_kept_by_a_comment_before_one_run(world: World, bot: Bot) -> None:
    pull = group(world, bot)
    drop(world, pull, "spare-1")
    asked(world, bot, pull["number"], "/incumbent keep spare-2")
    assert suggests(world, pull["number"]) == {"spare-0", "spare-3"}
    assert check(world, pull["number"])["conclusion"] == "success"
    confirm(world, bot, pull["number"])
    assert set(IDS) & entries(world) == {"spare-1", "spare-2"}
    bot.on("schedule")
    assert ours(world) == []
