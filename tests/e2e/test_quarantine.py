"""Quarantine, end to end: offered by what releases show, merged, left out of exports, stable, and ended."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import git
import pytest

from incumbent.cli.main import run
from incumbent.ledger.events import SET_EVENTS
from incumbent.ledger.releases.quarantine import FLAPS
from tests.e2e.bot import Bot, platform_files
from tests.e2e.harness.world import World
from tests.e2e.test_reconcile import merged, read
from tests.e2e.test_results import pushed
from tests.e2e.test_suggestions import check, dashboard, ours

CONFIG = "config/curation.yaml"
FLAPPING = "tarnbeck-bank-card-line-c05-c0514171"
CALM = "tarnbeck-bank-card-line-c04-e7382bcc"
LATE = "2027"
"""A year after all that people did here."""


def offering(text: str) -> str:
    """The config with quarantines offered."""
    limits = "open_evictions: 10\n  open_quarantines: 2"
    return f"{text.replace('open_evictions: 10', limits)}results: {{stable: 4}}\n"


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    place = tmp_path / "of people"
    place.mkdir()
    return place


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    files = platform_files()
    world.push("main", files | {CONFIG: offering(files[CONFIG])})
    return Bot(world, tmp_path / "runs")


def count(world: World, folder: Path, marks: str, year: str = "2026", other: str = "+") -> None:
    """Count a release for each of ``marks`` of the flapping entry, and push the ledger."""
    clone = folder / f"clone-{year}-{len(list(folder.iterdir()))}"
    with git.Repo.clone_from(str(world.hosted.bare.folder), clone) as repository:
        for place, mark in enumerate(marks):
            outcomes = {FLAPPING: mark, CALM: other}
            rows = [{"entry": id, "outcome": {"+": "passed", "-": "failed"}[said]} for id, said in outcomes.items()]
            file = folder / "release.jsonl"
            file.write_text("\n".join(json.dumps(row | {"seconds": place + 1}) for row in rows), encoding="utf-8")
            words = ["results", "add", str(file), "--release", f"v{year}.{place}", "--repo", str(clone)]
            assert run([*words, "--at", f"{year}-01-{place + 1:02}T00:00:00Z"]) == 0
        world.push("incumbent/ledger", pushed(repository))


def titles(pulls: Iterable[Any]) -> list[str]:
    return [pull["title"] for pull in pulls]


def settled(bot: Bot) -> None:
    """One more run finds nothing to do.  While quarantines are offered it asks for two lists more.

    Until a run does something, it asks who brought the last change of the set, too.
    """
    run = bot.on("schedule")
    assert run.codes == (0, 0)
    assert {call.method for call in run.calls} == {"GET"}
    assert len(run.calls) <= 8 + len(ours(bot.world))


def exported(world: World, folder: Path, *words: str) -> set[str]:
    clone, file = folder / f"export-{len(list(folder.iterdir()))}", folder / "export.jsonl"
    git.Repo.clone_from(str(world.hosted.bare.folder), clone).close()
    assert run(["export", "--to", "jsonl", "--repo", str(clone), "--output", str(file), *words]) == 0
    return {json.loads(line)["id"] for line in file.read_text(encoding="utf-8").splitlines()}


def test_what_flaps_is_quarantined_by_people_and_comes_back_once_it_is_stable(
    world: World, bot: Bot, clones: Path
) -> None:
    everything = exported(world, clones)
    count(world, clones, "+-+-")
    assert bot.on("schedule").codes == (0, 0)
    (pull,) = ours(world)
    assert pull["title"] == f"Quarantine {FLAPPING}: it flaps"
    assert "| `v2026.3` | 0 | 1 | changed |" in pull["body"]
    assert world.labels(pull["number"]) == ["incumbent: suggestion"]
    assert check(world, pull["number"])["output"]["title"] == "No verdict changes"
    assert "#### Quarantine, for you to merge or close (1)" in dashboard(world)
    assert f"| #{pull['number']} | `{FLAPPING}` | flaps: quarantine |" in dashboard(world)
    settled(bot)
    assert exported(world, clones) == everything, "nothing is quarantined unless people merge it"

    assert merged(world, bot, pull["number"]).codes == (0, 0)
    assert read(world, FLAPPING)["quarantined"] == FLAPS
    assert exported(world, clones) == everything - {FLAPPING}
    assert exported(world, clones, "--quarantined") == {FLAPPING}
    assert ours(world) == []
    assert "#### Quarantined (1)" in dashboard(world)
    settled(bot)
    assert "changed-by-hand" not in (world.read("incumbent/ledger", SET_EVENTS) or ""), (
        "it was merged, not made by hand"
    )

    count(world, clones, "++++", LATE)
    assert bot.on("schedule").codes == (0, 0)
    (pull,) = ours(world)
    assert pull["title"] == f"End the quarantine of {FLAPPING}: it is stable"
    settled(bot)
    assert merged(world, bot, pull["number"]).codes == (0, 0)
    assert "quarantined" not in read(world, FLAPPING)
    assert exported(world, clones) == everything
    assert ours(world) == []
    settled(bot)


@pytest.mark.exhaustive
def test_a_refused_quarantine_stays_away_until_later_releases_alone_show_the_same(
    world: World, bot: Bot, clones: Path
) -> None:
    count(world, clones, "+-+-")
    assert bot.on("schedule").codes == (0, 0)
    (pull,) = ours(world)
    world.close(pull["number"])
    assert bot.on("pull_request_target", number=pull["number"], action="closed").codes == (0, 0)
    assert ours(world) == []
    settled(bot)
    count(world, clones, "+-+", LATE)
    assert bot.on("schedule").codes == (0, 0)
    assert ours(world) == []
    count(world, clones, "+-+-", LATE)
    assert bot.on("schedule").codes == (0, 0)
    (again,) = ours(world)
    assert again["number"] != pull["number"]
    assert "v2026" not in again["body"]
    settled(bot)


@pytest.mark.exhaustive
def test_what_is_moot_is_closed_and_no_offer_is_made_unless_the_config_says_so(
    world: World, bot: Bot, clones: Path
) -> None:
    count(world, clones, "+-+-")
    assert bot.on("schedule").codes == (0, 0)
    (pull,) = ours(world)
    text = world.read("main", f"regression_set/{FLAPPING}.yaml")
    assert text is not None
    world.push("main", {f"regression_set/{FLAPPING}.yaml": f"{text}quarantined: asked by a person\n"})
    assert bot.on("schedule").codes == (0, 0)
    assert ours(world) == []
    assert world.pull(pull["number"])["state"] == "closed"
    assert world.head(pull["head"]["ref"]) is None
    count(world, clones, "++++", LATE)
    assert bot.on("schedule").codes == (0, 0)
    assert ours(world) == [], "a person's quarantine is theirs"
    world.push("main", platform_files())
    count(world, clones, "+-+-+-+-", LATE)
    assert bot.on("schedule").codes == (0, 0)
    assert ours(world) == []
    assert "Quarantine, for you" not in dashboard(world)
