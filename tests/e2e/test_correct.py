"""A curator corrects tags on a pull request, end to end: the verdict, the ledger, and the entry after the merge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incumbent.classifier.corrections import Correction
from incumbent.curator.corrections import CorrectedText, written
from tests.e2e.bot import ADMITTED, EXCLUDED, WAITING, Bot, BotRun, customer_files, notes_what_it_read, platform_files
from tests.e2e.harness.people import CURATOR, CUSTOMER
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import entries, merged, read, sticky

LEDGER = "incumbent/ledger"


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    world.push("main", platform_files())
    return Bot(world, tmp_path / "runs")


def say(world: World, bot: Bot, number: int, user: str, body: str) -> BotRun:
    return bot.on("issue_comment", number=number, comment=world.comment(user, number, body))


def verdict(run: BotRun, name: str) -> Any:
    (found,) = [item for item in run.report["review"]["verdicts"] if item["id"] == name]
    return found


def recorded(world: World) -> dict[str, Any]:
    return dict(json.loads(world.read(LEDGER, "corrections.json") or "{}").get("texts", {}))


def test_a_curator_corrects_tags_and_the_entry_keeps_them(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    first = bot.on("pull_request_target", number=pull.number)
    before = verdict(first, EXCLUDED)
    assert before["decision"] == "EXCLUDE"
    missed = "speech.spell-out"
    assert missed not in before["scores"]

    refused = say(world, bot, pull.number, CUSTOMER, f"/incumbent correct {EXCLUDED} +{missed}")
    assert verdict(refused, EXCLUDED) == before
    fact = say(world, bot, pull.number, CURATOR, f"/incumbent correct {ADMITTED} -picture")
    assert verdict(fact, ADMITTED)["decision"] == "INCLUDE"
    assert "by what is counted in the query" in world.comments(pull.number)[-1]["body"]
    say(world, bot, pull.number, CURATOR, f"/incumbent correct {EXCLUDED} +{missed}s -speech.languages")
    answer = world.comments(pull.number)[-1]["body"]
    assert f"perhaps you meant '{missed}'" in answer
    assert "perhaps you meant 'speech.language'" in answer
    assert recorded(world) == {}

    command = world.comment(CURATOR, pull.number, f"/incumbent correct {EXCLUDED} +{missed} +picture-like")
    assert bot.on("issue_comment", number=pull.number, comment=command).codes == (0, 0)
    assert recorded(world) == {}
    words = f"/incumbent correct {EXCLUDED} +{missed} -upset: it is what they ask"
    command = world.comment(CURATOR, pull.number, words)
    corrected = bot.on("issue_comment", number=pull.number, comment=command)
    assert corrected.codes == (0, 0)
    assert verdict(corrected, EXCLUDED)["scores"][missed] == 1.0
    assert corrected.report["review"]["corrected"][EXCLUDED][missed]["by"] == CURATOR
    assert f"Corrected by `{CURATOR}`: `{EXCLUDED}` exercises " in sticky(world, pull.number)
    (tags,) = recorded(world).values()
    assert {name: (item["value"], item["by"]) for name, item in tags.items()} == {
        missed: (True, CURATOR),
        "dialog.upset": (False, CURATOR),
    }
    assert '"kind":"corrected"' in (world.read(LEDGER, f"events/{pull.number}.jsonl") or "")
    again = bot.on("pull_request_target", number=pull.number, action="synchronize")
    assert {call.method for call in again.calls} == {"GET"}

    world.act(CURATOR, "DELETE", f"/issues/comments/{command['id']}")
    gone = bot.on("pull_request_target", number=pull.number, action="synchronize")
    assert verdict(gone, EXCLUDED) == before
    assert "is void" in sticky(world, pull.number)
    assert recorded(world) == {}

    say(world, bot, pull.number, CURATOR, f"/incumbent correct {EXCLUDED} +{missed}")
    # What a person says covers, and wins nothing.
    say(world, bot, pull.number, CURATOR, f"/incumbent accept {EXCLUDED}: the second test of it")
    known = entries(world)
    assert merged(world, bot, pull.number).codes == (0, 0)
    (entry,) = [id for id in entries(world) - known if read(world, id)["source"]["item"] == EXCLUDED]
    found = read(world, entry)
    assert found["scores"][missed] == 1.0
    assert found["classified"]["corrected"] == {missed: True}
    assert {call.method for call in bot.on("schedule").calls} == {"GET"}


@pytest.mark.exhaustive
def test_a_correction_after_the_merge_counts_as_well(world: World, bot: Bot) -> None:
    pull = world.open_pull_request("quillow", customer_files())
    first = bot.on("pull_request_target", number=pull.number)
    assert merged(world, bot, pull.number).codes == (0, 0)
    name = WAITING[0]
    scores = verdict(first, name)["scores"]
    known = entries(world)
    wrong = max(scores, key=lambda capability: (scores[capability] < 1, scores[capability]))
    said = say(world, bot, pull.number, CURATOR, f"/incumbent correct {name} -{wrong} no")
    assert said.codes == (0, 0)
    assert f"Corrected by `{CURATOR}`: `{name}` exercises not" in sticky(world, pull.number)
    assert [tags[wrong]["value"] for tags in recorded(world).values()] == [False]
    assert notes_what_it_read(bot.on("schedule"))
    assert {call.method for call in bot.on("schedule").calls} == {"GET"}
    assert entries(world) >= known


@pytest.mark.exhaustive
def test_an_entry_follows_a_correction_by_hand_once_it_is_merged(world: World, bot: Bot) -> None:
    bot.on("schedule")
    id = min(entries(world))
    entry = read(world, id)
    missed = next(name for name in ("dialog.upset", "speech.spell-out") if name not in entry["scores"])
    text = CorrectedText(
        turns=tuple(entry["turns"]),
        tags={missed: Correction(value=True, by="Cora", at="2026-11-01T10:00:00Z")},
    )
    change = written(text, None)
    assert change.content is not None
    before, after = world.head("main"), world.push("main", {change.path: change.content})
    assert bot.on("push", before=before, after=after).codes == (0, 0)
    found = read(world, id)
    assert found["scores"] == {**entry["scores"], missed: 1.0}
    assert found["classified"]["corrected"] == {missed: True}
    assert {call.method for call in bot.on("schedule").calls} == {"GET"}
