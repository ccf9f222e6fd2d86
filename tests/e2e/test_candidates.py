"""What customers ask for and the taxonomy lacks: raised as a draft, edited and merged by people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from incumbent.files.documents import parse_yaml
from incumbent.taxonomy.config import REVIEWED_FILES
from tests.e2e.bot import Bot, platform_files
from tests.e2e.harness.people import CURATOR, JOB
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import merged, sticky
from tests.e2e.test_taxonomy import TAXONOMY, check

WORDS = {
    "amber-bank": ("harbour", "garden", "winter", "train", "bakery", "lighthouse"),
    "birch-bank": ("river", "market", "storm", "violin", "orchard", "cathedral"),
    "cedar-bank": ("meadow", "tram", "snow", "kitchen", "castle", "island"),
}
SONGS = (
    "Sing me a short song about the {}, with a chorus.",
    "Please sing a song about my {} and make it rhyme.",
    "Could you sing something with a chorus about the {}?",
    "Make up a rhyme about the {} and sing it to me.",
    "Sing a lullaby about a {}, it has to rhyme.",
    "I would love a song about the {}, sing it with a chorus. <!-- @everyone | `x` -->",
)
"""What three customers ask for, each of something else; one text is hostile."""


def singing() -> dict[str, str]:
    """Eval sets of several customers, in which the agents are asked to sing."""
    files = {}
    for customer, words in WORDS.items():
        rows = [
            {"id": f"s{place}", "query": song.format(word)}
            for place, (song, word) in enumerate(zip(SONGS, words, strict=True))
        ]
        folder = f"eval_sets/{customer}/line"
        files[f"{folder}/agent.yaml"] = yaml.safe_dump({"agent": 1, "name": customer, "platform": "any"})
        files[f"{folder}/evals.yaml"] = yaml.safe_dump({"eval_set": 1, "queries": rows}, width=1000)
    return files


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    """Customers whose eval sets were merged, and a first run after that."""
    world.push("main", platform_files())
    bot = Bot(world, tmp_path / "runs")
    assert bot.on("schedule").codes == (0, 0)
    number = world.open_pull_request("songs", singing()).number
    bot.on("pull_request_target", number=number)
    assert merged(world, bot, number).codes == (0, 0)
    # What is merged is settled at once; all queries are looked through by hand and each week.
    assert drafts(world) == []
    assert bot.on("workflow_dispatch").codes == (0, 0)
    return bot


def drafts(world: World, state: str = "open") -> list[Any]:
    pulls = world.pages(f"/pulls?state={state}")
    return [pull for pull in pulls if pull["head"]["ref"].startswith("incumbent-candidates/")]


def capabilities(text: str | None) -> dict[str, Any]:
    assert text is not None
    data: Any = parse_yaml(text.encode(), TAXONOMY, REVIEWED_FILES).data
    return {item["id"]: item for item in data["capabilities"]}


def exemplars(world: World, branch: str) -> dict[str, str]:
    """The tables of exemplars on ``branch``."""
    paths = world.hosted.bare.git("ls-tree", "-r", "--name-only", branch, "taxonomy/exemplars/").splitlines()
    return {path: text for path in paths if (text := world.read(branch, path)) is not None}


@pytest.mark.exhaustive
def test_a_candidate_is_raised_as_a_draft_edited_by_people_and_merged(world: World, bot: Bot) -> None:
    (draft,) = drafts(world)
    assert draft["user"]["login"] == JOB
    assert draft["draft"] is True
    assert "incumbent: candidate" in world.labels(draft["number"])
    assert "A new behaviour" in draft["body"]
    assert "`amber-bank/line/s0`" in draft["body"]
    assert "<!-- @everyone" not in draft["body"]
    assert check(world, draft["number"])["conclusion"] == "success"
    branch = draft["head"]["ref"]
    before = capabilities(world.read("main", TAXONOMY))
    proposed = capabilities(world.read(branch, TAXONOMY))
    (new,) = proposed.keys() - before.keys()
    tables = exemplars(world, branch)
    rows = [line.split("\t") for text in tables.values() for line in text.splitlines() if not line.startswith("#")]
    assert len([row for row in rows if new in row[1].split(",")]) >= 5
    # A run more finds nothing to do, whether it looks through all queries again or not.
    for event in ("schedule", "workflow_dispatch"):
        again = bot.on(event)
        assert {call.method for call in again.calls} == {"GET"}
    # A person gives it a better name; the pull request is reviewed as any change of the taxonomy is.
    text = world.read(branch, TAXONOMY)
    assert text is not None
    edited = text.replace(f"id: {new}", "id: dialog.singing").replace(proposed[new]["name"], "Singing")
    labelled = {path: text.replace(new, "dialog.singing") for path, text in tables.items()}
    world.push(branch, {TAXONOMY: edited} | labelled, user=CURATOR)
    assert bot.on("pull_request_target", number=draft["number"], action="synchronize").codes == (0, 0)
    said = sticky(world, draft["number"])
    assert "dialog.singing (“Singing”) is new." in said
    # It begins on trial: nothing enters by it, until an appraisal passes and a person ends the trial.
    assert "would now earn a slot" not in said
    assert merged(world, bot, draft["number"]).codes == (0, 0)
    assert "dialog.singing" in capabilities(world.read("main", TAXONOMY))
    assert drafts(world) == []
    again = bot.on("workflow_dispatch")
    assert again.codes == (0, 0)
    assert {call.method for call in again.calls} == {"GET"}
