"""What release runs said, end to end: counted by the command, pushed with the ledger, and shown where people decide."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

import git
import pytest

from incumbent.cli.main import run
from incumbent.github.client import GitHubClient
from incumbent.github.models import MadeCommit, WriteLedger
from incumbent.ledger.releases.record import ReleaseRecord, release_path
from incumbent.ledger.store import record_text
from tests.e2e.bot import Bot, platform_files
from tests.e2e.harness.people import JOB
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


def job(world: World, bot: Bot, folder: Path, *, sha: str = "5" * 40, **about: str) -> dict[str, str]:
    """The environment of a job of the platform's own that ran the set; its token may write contents alone."""
    return {
        "GITHUB_API_URL": world.url,
        "GITHUB_SERVER_URL": bot.server,
        "GITHUB_REPOSITORY": world.full_name,
        "GITHUB_SHA": sha,
        "GITHUB_TOKEN": world.app_token(JOB, {"contents": "write"}),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_OUTPUT": str(folder / "output"),
        **about,
    }


def wrote(folder: Path, name: str, *rows: dict[str, str]) -> Path:
    file = folder / name
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


def ledger_releases(world: World) -> list[dict[str, Any]]:
    with git.Repo(world.hosted.bare.folder) as repository:
        found = pushed(repository)
    return [json.loads(text or "") for path, text in sorted(found.items()) if path.startswith("results/")]


def counts(world: World, bot: Bot, folder: Path, *words: str, **about: str) -> int:
    with patch.dict(os.environ, job(world, bot, folder, **about)):
        return run(["ci", "results", *words])


def test_a_job_that_ran_the_set_counts_its_results_on_the_ledger(world: World, bot: Bot, tmp_path: Path) -> None:
    out = tmp_path / "out of runs"
    out.mkdir()
    wrote(out, "one.jsonl", {"entry": "spare-one", "outcome": "failed"}, {"entry": "nobody", "outcome": "passed"})
    wrote(out, "[two].jsonl", {"entry": "spare-one", "outcome": "passed"})
    names = f"\n  {out}/o*.jsonl\n{out / '[two].jsonl'}\n"
    assert counts(world, bot, tmp_path, INCUMBENT_RESULTS=names, GITHUB_REF_TYPE="tag", GITHUB_REF_NAME="v1.0") == 0
    (release,) = ledger_releases(world)
    assert (release["release"], release["commit"], release["unmatched"]) == ("v1.0", "5" * 40, 1)
    assert (release["entries"]["spare-one"]["passed"], release["entries"]["spare-one"]["failed"]) == (1, 1)
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("### Results of `v1.0`\n\n2 results counted, of 1 entry\n\n1 fit no entry: `nobody`")
    assert "| `spare-one` | 1 of 1 | 0 |" in summary
    outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text(encoding="utf-8").splitlines())
    before = world.head("incumbent/ledger")
    report = json.loads(outputs["report"])
    assert (report["results"], report["commit"]) == (2, before)
    assert counts(world, bot, tmp_path, "--results", f"{out}/*", "--release", "v1.0") == 0
    last = (tmp_path / "output").read_text(encoding="utf-8").splitlines()[-1]
    assert json.loads(last.removeprefix("report="))["commit"] is None
    assert world.head("incumbent/ledger") == before, "each file is counted once"
    assert counts(world, bot, tmp_path, "--results", f"{out}/**/one.jsonl", "--dry-run", "--json") == 0
    assert world.head("incumbent/ledger") == before
    assert counts(world, bot, tmp_path, "--results", f"{out}/one.jsonl") == 0
    assert {item["release"] for item in ledger_releases(world)} == {"v1.0", "5" * 12}
    assert bot.on("schedule").codes == (0, 0)
    assert "2 releases" in dashboard(world)["body"]


@pytest.mark.exhaustive
def test_a_release_comes_after_those_that_are_there_whatever_their_times(
    world: World, bot: Bot, tmp_path: Path
) -> None:
    ahead = ReleaseRecord(release="v1", at="2999-01-01T00:00:00Z")
    world.push("incumbent/ledger", {release_path(ahead.release, ahead.at): record_text(ahead)})
    file = wrote(tmp_path, "one.jsonl", {"entry": "spare-one", "outcome": "failed"})
    assert counts(world, bot, tmp_path, "--results", str(file), "--release", "v2") == 0
    assert [(item["release"], item["at"]) for item in ledger_releases(world)] == [
        ("v1", "2999-01-01T00:00:00Z"),
        ("v2", "2999-01-01T00:00:01Z"),
    ]


@pytest.mark.exhaustive
def test_what_another_job_wrote_meanwhile_is_kept(world: World, bot: Bot, tmp_path: Path) -> None:
    assert bot.on("schedule").codes == (0, 0)
    file = wrote(tmp_path, "one.jsonl", {"entry": "spare-one", "outcome": "failed"})
    write, lost = GitHubClient.write_ledger, list[Any]()

    def beaten(self: GitHubClient, operation: WriteLedger, tree: str | None) -> MadeCommit:
        if not lost:
            lost.append(operation)
            world.push("incumbent/ledger", {"results/other.txt": "of another job"})
        return write(self, operation, tree)

    with patch.object(GitHubClient, "write_ledger", beaten), patch("incumbent.cli.ci._wait"):
        assert counts(world, bot, tmp_path, "--results", str(file)) == 0
    with git.Repo(world.hosted.bare.folder) as repository:
        found = pushed(repository)
    assert found["results/other.txt"] == "of another job"
    assert any(path.endswith(".json") and path.startswith("results/") for path in found)


@pytest.mark.exhaustive
def test_faults_of_a_file_count_nothing_and_are_all_told(
    world: World, bot: Bot, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = wrote(tmp_path, "good.jsonl", {"entry": "spare-one", "outcome": "failed"})
    bad = wrote(tmp_path, "bad.jsonl", {"entry": "spare-one", "outcome": "odd"}, {"outcome": "passed"})
    assert counts(world, bot, tmp_path, "--results", f"{good}\n{bad}") == 1
    said = capsys.readouterr().err
    assert "bad.jsonl:1" in said
    assert "bad.jsonl:2" in said
    assert counts(world, bot, tmp_path, "--results", f"{good}\n{tmp_path}/none/*.xml\n{tmp_path}/a**b") == 1
    said = capsys.readouterr().err
    assert said.count("there is no such file") == 2
    assert counts(world, bot, tmp_path, "--results", " \n ") == 2
    assert counts(world, bot, tmp_path, "--results", str(good), sha="") == 2
    assert counts(world, bot, tmp_path, "--results", str(good), GITHUB_REPOSITORY="") == 2
    assert world.head("incumbent/ledger") is None
