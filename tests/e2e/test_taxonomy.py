"""The taxonomy evolves by pull requests: the comment says what that would do, and after the merge the set follows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.bot import EVALS, Bot, customer_files, ids_of, platform_files
from tests.e2e.harness.people import CURATOR, OUTSIDER
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import LEDGER, entries, merged, read, sticky
from tests.opinions import ASKED, OPINION, ROWS

TAXONOMY = "taxonomy/taxonomy.yaml"
EXEMPLARS = "taxonomy/exemplars/exemplars.tsv"


def with_opinion(version: str) -> dict[str, str]:
    """The taxonomy with one more capability and its exemplars, under ``version``."""
    files = platform_files()
    return {
        TAXONOMY: files[TAXONOMY].replace("version: 1.0.0", f"version: {version}", 1).rstrip() + "\n" + OPINION,
        EXEMPLARS: files[EXEMPLARS].rstrip("\n") + "\n" + ROWS,
    }


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    """A platform where a customer's eval set was merged, of which b11 was left out."""
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")
    assert ASKED[0] in customer_files()[EVALS]
    pull = world.open_pull_request("quillow", customer_files())
    seen = bot.on("pull_request_target", number=pull.number).report["review"]
    assert "b11" in ids_of(seen, "excluded")
    assert merged(world, bot, pull.number).codes == (0, 0)
    return bot


def events(world: World, path: str) -> list[Any]:
    text = world.read(LEDGER, f"events/{path}.jsonl")
    return [json.loads(line) for line in (text or "").splitlines()]


def check(world: World, number: int) -> Any:
    head = world.pull(number)["head"]["sha"]
    return max(world.checks(head), key=lambda item: int(item["id"]))


@pytest.mark.exhaustive
def test_a_capability_is_added_entries_follow_and_what_was_left_out_comes_back(world: World, bot: Bot) -> None:
    known = entries(world)
    pull = world.open_pull_request("opinion", with_opinion("1.0.1"), user=CURATOR)
    run = bot.on("pull_request_target", number=pull.number)
    assert run.codes == (0, 0)
    assert check(world, pull.number)["conclusion"] == "failure"
    said = sticky(world, pull.number)
    assert "**The version must be `1.1.0`**" in said
    assert "dialog.opinion (“Asking for an opinion”) is new." in said
    assert "write `version: 1.1.0`" in said
    assert "quillow-savings/branch-line/b11" in said.partition("would now earn a slot")[2]
    world.push("opinion", with_opinion("1.1.0"))
    assert bot.on("pull_request_target", number=pull.number, action="synchronize").codes == (0, 0)
    assert check(world, pull.number)["conclusion"] == "success"
    assert check(world, pull.number)["output"]["title"].startswith("Impact: 1 change of the taxonomy")
    said = sticky(world, pull.number)
    assert "Version `1.0.0` becomes `1.1.0`" in said
    assert "The embedded classifier costs nothing." in said
    before = {id: read(world, id) for id in known}
    assert merged(world, bot, pull.number).codes == (0, 0)
    assert entries(world) == known
    messages = world.hosted.bare.git("log", "--format=%s", "-3", "main").splitlines()
    assert f"Classify {len(known)} entries again under taxonomy 1.1.0" in messages
    for id in known:
        entry = read(world, id)
        assert entry["classified"]["taxonomy"] == "1.1.0"
        old = before[id]["scores"]
        assert {name: entry["scores"][name] for name in old} == old
    # What was left out is put before a person, on the pull request that brought it.
    needing = sticky(world, 1).partition("Needs you")[2].partition("\n#### ")[0]
    assert "`b11`" in needing
    assert "incumbent: needs a curator" in world.labels(1)
    comment = world.comment(CURATOR, 1, "/incumbent accept b11 it matters")
    assert bot.on("issue_comment", number=1, comment=comment).codes == (0, 0)
    (new,) = entries(world) - known
    assert read(world, new)["scores"]["dialog.opinion"] >= 0.5
    decided = [item for item in events(world, "1") if item["kind"] == "decided"]
    assert [(item["by"], item["action"], item["reason"]) for item in decided] == [(CURATOR, "accept", "it matters")]
    again = bot.on("schedule")
    assert again.codes == (0, 0)
    assert {call.method for call in again.calls} == {"GET"}


@pytest.mark.exhaustive
def test_of_a_stranger_the_change_is_told_in_words_until_a_curator_lets_it_be_measured(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("opinion", with_opinion("1.1.0"), user=OUTSIDER)
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
    said = sticky(world, pull.number)
    assert "is new." in said
    assert "it is measured once a curator says `/incumbent run`" in said.replace("`` ", "").replace(" ``", "")
    assert "would now earn a slot" not in said
    comment = world.comment(CURATOR, pull.number, "/incumbent run")
    assert bot.on("issue_comment", number=pull.number, comment=comment).codes == (0, 0)
    assert "would now earn a slot" in sticky(world, pull.number)


@pytest.mark.exhaustive
def test_a_changed_knob_is_shown_with_what_it_would_do(world: World, bot: Bot) -> None:
    text = platform_files()["config/curation.yaml"]
    pull = world.open_pull_request(
        "knob", {"config/curation.yaml": text.replace("redundancy_floor: 2", "redundancy_floor: 0")}, user=CURATOR
    )
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
    said = sticky(world, pull.number)
    assert "`knobs.redundancy_floor`" in said
    assert "2 → 0" in said


@pytest.mark.exhaustive
def test_a_renamed_capability_keeps_its_scores_and_asks_nobody(world: World, bot: Bot) -> None:
    known = entries(world)
    (id,) = [name for name in known if "-c10-" in name]
    score = read(world, id)["scores"]["dialog.upset"]
    text, table = platform_files()[TAXONOMY], platform_files()[EXEMPLARS]
    assert "=dialog.upset" in table
    renamed = text.replace("id: dialog.upset\n", "id: dialog.distress\n    was: dialog.upset\n")
    renamed = renamed.replace("version: 1.0.0", "version: 1.1.0", 1).replace("retired: []", "retired: [dialog.upset]")
    files = {TAXONOMY: renamed, EXEMPLARS: table.replace("=dialog.upset", "=dialog.distress")}
    pull = world.open_pull_request("rename", files, user=CURATOR)
    assert bot.on("pull_request_target", number=pull.number).codes == (0, 0)
    said = sticky(world, pull.number)
    assert "dialog.upset is called dialog.distress from now on." in said
    assert "To classify again: 0 entries" in said
    assert merged(world, bot, pull.number).codes == (0, 0)
    after = read(world, id)
    assert after["scores"]["dialog.distress"] == score
    assert "dialog.upset" not in after["scores"]
    assert after["classified"]["taxonomy"] == "1.1.0"
    again = bot.on("schedule")
    assert again.codes == (0, 0)
    assert {call.method for call in again.calls} == {"GET"}
