"""What release runs said, end to end: counted by the command, pushed with the ledger, and shown where people decide."""

from __future__ import annotations

import json
from pathlib import Path

import git
import pytest

from bot.cli.main import run
from tests.e2e.bot import Bot, platform_files
from tests.e2e.harness.world import World
from tests.e2e.test_suggestions import ours, spare
from tests.e2e.test_ticks import dashboard, stays


@pytest.fixture
def bot(world: World, tmp_path: Path) -> Bot:
    world.push("main", platform_files() | spare("spare-one", "spare-one is to have its limit set anew please"))
    return Bot(world, tmp_path / "runs")


def add(world: World, folder: Path, release: str, outcomes: dict[str, str]) -> None:
    """Count the ``outcomes`` of a ``release`` in a clone, and push what was counted."""
    clone = folder / f"clone-{release}"
    with git.Repo.clone_from(str(world.hosted.bare.folder), clone) as repository:
        file = folder / f"{release}.jsonl"
        rows = [json.dumps({"entry": id, "outcome": outcome}) for id, outcome in outcomes.items()]
        file.write_text("\n".join(rows), encoding="utf-8")
        words = ["results", "add", str(file), "--release", release, "--repo", str(clone)]
        assert run([*words, "--at", f"2026-10-{len(release) + 10}T00:00:00Z"]) == 0
        world.push("incumbent/ledger", pushed(repository))


def pushed(repository: git.Repo) -> dict[str, str | None]:
    """The files of the ledger as the clone has it."""
    paths = str(repository.git.ls_tree("-r", "--name-only", "incumbent/ledger")).splitlines()
    show = repository.git.show
    return {path: str(show(f"incumbent/ledger:{path}", strip_newline_in_stdout=False)) for path in paths}


def test_results_that_were_pushed_are_on_the_dashboard_and_in_suggestions(
    world: World, bot: Bot, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bot.on("schedule").codes == (0, 0)
    (before,) = ours(world)
    assert "WARNING" not in before["body"]
    assert "in a release" not in dashboard(world)["body"]
    add(world, tmp_path, "v1", {"spare-one": "failed"})
    add(world, tmp_path, "v2.0", {"spare-one": "passed", "unknown": "failed"})
    assert "1 fit no entry: unknown" in capsys.readouterr().out
    assert bot.on("schedule").codes == (0, 0)
    (pull,) = ours(world)
    assert (pull["number"], pull["title"]) == (before["number"], before["title"]), "no result changes what is suggested"
    assert "> In release runs no other entry that covers these ever failed:" in pull["body"]
    body = dashboard(world)["body"]
    assert "#### Never seen to fail in a release, or flapping" in body
    assert "2 releases, the last `v2.0`: 1 run passed, 0 failed." in body
    stays(bot)
