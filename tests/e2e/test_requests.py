"""What curators ask of entries in comments, end to end: admissions taken back, evicted entries brought back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from incumbent.cli.main import run
from tests.e2e.bot import Bot, customer_files, notes_what_it_read, platform_files
from tests.e2e.harness.people import CURATOR, CUSTOMER, JOB, STRANGER
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import entries, merged, read
from tests.e2e.test_review import conclusion
from tests.e2e.test_suggestions import check, ours, settled, spare, suggested


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    world.push("main", platform_files())
    return Bot(world, tmp_path / "runs")


def asked(world: World, bot: Bot, number: int, text: str, user: str = CURATOR) -> Any:
    """The last comment after somebody said ``text`` and the bot heard it."""
    comment = world.comment(user, number, text)
    run = bot.on("issue_comment", number=number, comment=comment)
    assert run.codes == (0, 0)
    return world.comments(number)[-1]


def evicted(world: World, bot: Bot) -> tuple[int, dict[str, Any]]:
    """The merged pull request that evicted an entry, and the entry as it was."""
    pull = suggested(world, bot)
    known = read(world, "spare-one")
    assert merged(world, bot, pull["number"]).codes == (0, 0)
    assert "spare-one" not in entries(world)
    return pull["number"], known


def test_a_merged_eviction_is_restored_by_a_comment_with_its_history(world: World, bot: Bot) -> None:
    number, known = evicted(world, bot)
    comment = world.comment(CURATOR, number, "/incumbent restore spare-one")
    assert bot.on("issue_comment", number=number, comment=comment).codes == (0, 0)
    entry = read(world, "spare-one")
    assert entry.pop("restored")
    assert entry == known
    assert world.read("main", "regression_set/evicted/spare-one.yaml") is None
    assert [item["body"] for item in world.comments(number)][-1].startswith("/incumbent")
    assert ours(world) == []  # On the same grounds it is not suggested again.
    assert notes_what_it_read(bot.on("schedule"))
    settled(bot)


@pytest.mark.exhaustive
def test_on_the_dashboard_and_by_the_clock_alone_it_is_restored_as_well(world: World, bot: Bot) -> None:
    evicted(world, bot)
    (issue,) = [item for item in world.pages("/issues?state=open") if "pull_request" not in item]
    world.comment(CURATOR, issue["number"], "/incumbent restore SPARE-ONE: it was too early")
    assert bot.on("schedule").codes == (0, 0)
    assert "spare-one" in entries(world)
    assert notes_what_it_read(bot.on("schedule"))
    settled(bot)


@pytest.mark.exhaustive
def test_at_the_ceiling_what_is_restored_waits(world: World, bot: Bot) -> None:
    number, _ = evicted(world, bot)
    world.push("main", platform_files(ceiling=str(len(entries(world)))))
    asked(world, bot, number, "/incumbent restore spare-one")
    assert "spare-one" not in entries(world)
    assert read(world, "waiting/spare-one")["restored"]


@pytest.mark.exhaustive
def test_what_cannot_be_followed_is_answered(world: World, bot: Bot) -> None:
    number, _ = evicted(world, bot)
    for user, text, answer in (
        (STRANGER, "/incumbent restore spare-one", "Only curators may say restore"),
        (CURATOR, "/incumbent restore spare-two", "perhaps you meant 'spare-one'"),
        (CURATOR, "/incumbent restore", "it does not say which entries"),
        (CURATOR, "/incumbent undo spare-one", "it is not in the regression set"),
    ):
        said = asked(world, bot, number, text, user)
        assert said["user"]["login"] == JOB, text
        assert answer in said["body"], text
        assert "spare-one" not in entries(world), text
    settled(bot)


def test_nobody_restores_what_they_brought_themselves(world: World, bot: Bot) -> None:
    known = entries(world)
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    merged(world, bot, pull.number)
    (new,) = entries(world) - known
    item = read(world, new)["source"]["item"]
    said = asked(world, bot, pull.number, f"/incumbent undo {item}", user=CUSTOMER)
    assert "cannot undo their own queries" in said["body"]
    assert ours(world) == []


def test_an_admission_is_taken_back_by_a_reviewed_pull_request(world: World, bot: Bot) -> None:
    known = entries(world)
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    merged(world, bot, pull.number)
    (new,) = entries(world) - known
    item = read(world, new)["source"]["item"]
    comment = world.comment(CURATOR, pull.number, f"/incumbent undo {item}")
    assert bot.on("issue_comment", number=pull.number, comment=comment).codes == (0, 0)
    assert new in entries(world)
    (undo,) = ours(world)
    assert undo["title"] == f"Evict {new}: undone"
    assert "a curator asked to take its admission back" in undo["body"]
    assert check(world, undo["number"])["conclusion"] == "success"
    settled_with_one_request(bot)
    assert merged(world, bot, undo["number"]).codes == (0, 0)
    assert new not in entries(world)
    assert read(world, f"evicted/{new}")["evicted"]["by"] == CURATOR
    assert ours(world) == []
    settled_with_one_request(bot)


@pytest.mark.exhaustive
def test_an_undo_is_taken_back_with_its_comment_or_by_closing(world: World, bot: Bot) -> None:
    (weak,) = [id for id in entries(world) if "c07" in id]
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    merged(world, bot, pull.number)
    comment = world.comment(CURATOR, pull.number, f"/incumbent undo {weak}")
    bot.on("issue_comment", number=pull.number, comment=comment)
    (undo,) = ours(world)
    world.act(CURATOR, "DELETE", f"/issues/comments/{comment['id']}")
    assert bot.on("schedule").codes == (0, 0)
    assert ours(world) == []
    again = world.comment(CURATOR, pull.number, f"/incumbent undo {weak}")
    bot.on("issue_comment", number=pull.number, comment=again)
    (second,) = ours(world)
    assert second["number"] != undo["number"]
    world.close(second["number"])
    bot.on("pull_request_target", number=second["number"], action="closed")
    assert ours(world) == []
    assert weak in entries(world)
    third = world.comment(CURATOR, pull.number, f"/incumbent undo {weak}")
    bot.on("issue_comment", number=pull.number, comment=third)
    assert len(ours(world)) == 1


@pytest.mark.exhaustive
def test_on_an_open_pull_request_the_review_says_where_to_ask(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    bot.on("pull_request_target", number=pull.number)
    (weak,) = [id for id in entries(world) if "c07" in id]
    said = asked(world, bot, pull.number, f"/incumbent undo {weak}")
    assert "on a pull request that is merged" in said["body"]
    bot.on("schedule")
    assert ours(world) == []
    assert len([item for item in world.comments(pull.number) if "incumbent:re" in item["body"]]) == 1
    assert merged(world, bot, pull.number).codes == (0, 0)
    assert ours(world) == []


def settled_with_one_request(bot: Bot) -> None:
    run = bot.on("schedule")
    assert run.codes == (0, 0)
    assert {call.method for call in run.calls} == {"GET"}
    assert len(run.calls) <= 12 + 2 * len(ours(bot.world))


@pytest.mark.exhaustive
def test_what_the_command_line_restores_or_evicts_is_not_by_hand(
    world: World, bot: Bot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evicted(world, bot)
    world.push("main", spare("spare-two", "Set my limit to seven hundred please"))
    for command, id in ((["restore"], "spare-one"), (["evict", "--reason", "enough of it"], "spare-two")):
        here = checked_out(world, tmp_path / id)
        assert run([command[0], id, *command[1:], "--repo", str(here)]) == 0
        known = {f"regression_set/{id}.yaml", f"regression_set/evicted/{id}.yaml"}
        files = {name: text(here / name) for name in known}
        pull = world.open_pull_request(f"by-{id}", files)
        assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
        name = next(name for name, content in files.items() if content is not None)
        again = world.open_pull_request(f"not-{id}", files | {name: f"{files[name]}# a remark\n"})
        assert bot.on("pull_request_target", number=again.number).codes == (0, 0)
        assert conclusion(world, again.head) == "failure"


@pytest.mark.parametrize("how", ["closed", "kept", "asked for again"])
@pytest.mark.exhaustive
def test_an_eviction_by_hand_that_people_refused_passes_and_says_who(
    world: World, bot: Bot, tmp_path: Path, how: str
) -> None:
    pull = suggested(world, bot)
    number = pull["number"]
    if how == "kept":
        asked(world, bot, number, "/incumbent keep spare-one")
        says = f"`{CURATOR}` keeps it (#{number}, 20"
    else:
        world.close(number)
        assert bot.on("pull_request_target", number=number, action="closed").codes == (0, 0)
        says = f"people refused that in #{number} on 20"
    if how == "asked for again":
        (issue,) = [item for item in world.pages("/issues?state=open") if "pull_request" not in item]
        asked(world, bot, issue["number"], "/incumbent suggest spare-one")
    here = checked_out(world, tmp_path / "here")
    assert run(["evict", "spare-one", "--reason", "enough of it", "--repo", str(here)]) == 0
    names = ("regression_set/spare-one.yaml", "regression_set/evicted/spare-one.yaml")
    mine = world.open_pull_request("by-hand", {name: text(here / name) for name in names}, user=CURATOR)
    assert bot.on("pull_request_target", number=mine.number).codes == (0, 0)
    shown = check(world, mine.number)
    assert shown["conclusion"] == "success"
    if how == "asked for again":
        assert shown["output"]["title"] == "Nothing to curate"
        assert world.comments(mine.number) == []
        return
    assert shown["output"]["title"] == "Evicts what people refused to evict"
    for said in (shown["output"]["summary"], world.comments(mine.number)[-1]["body"]):
        assert f"This evicts `spare-one`: {says}" in said


def checked_out(world: World, folder: Path) -> Path:
    """The default branch as files."""
    bare = world.hosted.bare
    bare.git("worktree", "add", "--quiet", "--detach", str(folder), "main")
    return folder


def text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None
