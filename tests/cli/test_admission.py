"""What enters the set: what it needs to be run, and repacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from incumbent.cli.main import run
from tests.cli.conftest import Incumbent
from tests.cli.test_set_life import BRANCH_LINE, CARD_LINE
from tests.e2e.bot import EVALS
from tests.e2e.test_suggestions import ALL, PAIRS, repacking_files

FIXTURES = ("accounts.json", "branches.json", "calendar.json", "cards.json", "payments.json")


def needs(platform: Path) -> set[tuple[str, str]]:
    """What the set-ups of all entries name."""
    found: set[tuple[str, str]] = set()
    for path in (platform / "regression_set").glob("*.yaml"):
        setup = yaml.safe_load(path.read_text(encoding="utf-8"))["setup"]
        found |= {("tenant", setup["tenant"])} if setup["tenant"] else set()
        found |= {(kind, name) for kind in ("connector", "fixture") for name in setup[f"{kind}s"]}
    return found


def test_an_admission_names_what_the_set_does_not_have_yet(platform: Path, incumbent: Incumbent) -> None:
    review = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json
    first = incumbent("admit", platform / CARD_LINE, "--repo", platform, "--json").json
    told = {(item["kind"], item["name"]) for item in first["provisions"]}
    assert told == needs(platform) != set()
    assert {(item["kind"], item["name"]) for item in review["provisions"]} == told
    assert {id for item in first["provisions"] for id in item["needed_by"]} <= set(first["admitted"])
    second = incumbent("admit", platform / BRANCH_LINE, "--repo", platform, "--dry-run", "--json").json
    assert second["provisions"]
    assert not told & {(item["kind"], item["name"]) for item in second["provisions"]}
    text = incumbent("admit", platform / BRANCH_LINE, "--repo", platform, "--dry-run").out
    assert all(f"{item['kind']}\t{item['name']}\t" in text for item in second["provisions"])
    for form in ("markdown", "text"):
        assert "To provision" in incumbent("review", platform / BRANCH_LINE, "--repo", platform, "--format", form).out


@pytest.fixture
def checked(platform: Path) -> Path:
    """The platform with a folder for fixtures, in which all of them are."""
    config = platform / "config" / "curation.yaml"
    config.write_text(config.read_text(encoding="utf-8") + "\nfixtures_folder: mocks/\n", encoding="utf-8")
    (platform / "mocks").mkdir()
    for name in FIXTURES:
        (platform / "mocks" / name).write_text("{}", encoding="utf-8")
    return platform


def test_fixtures_are_not_looked_for_unless_a_folder_is_configured(platform: Path, incumbent: Incumbent) -> None:
    assert incumbent("validate", "--repo", platform).code == 0


def test_each_missing_fixture_is_a_fault_with_its_line(checked: Path, incumbent: Incumbent) -> None:
    outcome = incumbent("validate", "--repo", checked)
    assert outcome.code == 0, outcome.err
    (checked / "mocks" / "cards.json").unlink()
    found = incumbent("validate", "--repo", checked, "--json")
    assert found.code == 1
    lines = (checked / CARD_LINE / "evals.yaml").read_text(encoding="utf-8").splitlines()
    users = [place for place, line in enumerate(lines, 1) if "cards.json" in line]
    # A query begins with its id, before its set-up.
    starts = [place for place, line in enumerate(lines, 1) if line.lstrip().startswith("- id:")]
    problems = found.json["problems"]
    assert [item["line"] for item in problems] == [max(start for start in starts if start <= user) for user in users]
    assert all(item["message"].endswith(": not in mocks/: cards.json") for item in problems)
    assert all("commit below mocks/: cards.json" in item["fix"] for item in problems)


def test_an_entry_without_its_fixture_is_not_exported(checked: Path, incumbent: Incumbent) -> None:
    assert incumbent("admit", checked / CARD_LINE, "--repo", checked).code == 0
    everything = incumbent("export", "--to", "jsonl", "--repo", checked)
    assert "0 left out" in everything.err
    for name in FIXTURES:
        (checked / "mocks" / name).unlink()
    found = incumbent("export", "--to", "jsonl", "--repo", checked)
    assert "its fixtures are not in mocks/" in found.err


@pytest.mark.parametrize("folder", ["../mocks", "/mocks", "~/mocks", "a/../../b", "."])
def test_the_folder_for_fixtures_is_in_the_repository(folder: str, platform: Path, incumbent: Incumbent) -> None:
    config = platform / "config" / "curation.yaml"
    config.write_text(config.read_text(encoding="utf-8") + f"\nfixtures_folder: {folder}\n", encoding="utf-8")
    outcome = incumbent("validate", "--repo", platform)
    assert outcome.code == 1
    assert "fixtures_folder" in outcome.err


OCCASION = ("--at", "2026-11-21T10:00:00Z", "--by", "curator")


@pytest.fixture
def repackable(tmp_path: Path) -> Path:
    for name, text in repacking_files().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def said(repackable: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert run(["repack", *arguments, "--repo", str(repackable), *OCCASION]) == 0
    return capsys.readouterr().out


def files(repackable: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (repackable / "regression_set").rglob("*.yaml")}


def test_it_lists_what_could_be_done_and_does_what_is_named(
    repackable: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(repackable)
    (found,) = json.loads(said(repackable, capsys, "--json"))["repacks"]
    assert found["admit"].startswith(ALL)
    assert sorted(found["remove"]) == sorted(PAIRS)
    assert found["cost_freed"] > found["cost_needed"]
    assert found["admit"] in said(repackable, capsys)
    trial = said(repackable, capsys, found["admit"], "--dry-run")
    assert f"would be admitted: {found['admit']}; would be evicted: " in trial
    assert files(repackable) == before
    said(repackable, capsys, found["admit"])
    entry = yaml.safe_load((repackable / f"regression_set/{found['admit']}.yaml").read_text(encoding="utf-8"))
    assert entry["admitted"]["by"] == "curator"
    after = files(repackable)
    assert f"{found['admit']}.yaml" in after
    assert "by: curator" in (repackable / "regression_set/evicted/pic-rec.yaml").read_text(encoding="utf-8")
    assert not any((repackable / f"regression_set/{id}.yaml").exists() for id in PAIRS)
    assert json.loads(said(repackable, capsys, "--json"))["repacks"] == []


def test_with_free_slots_to_fill_it_lists_top_ups_and_admits_what_is_named(
    repackable: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = repackable / "config/curation.yaml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("\noptions:", "\noptions:\n  fill_to: 1.0"), encoding="utf-8")
    output = json.loads(said(repackable, capsys, "--json"))
    (found,) = output["top_ups"]
    assert output["repacks"] == []
    assert found["admit"].startswith(ALL)
    assert found["gain"] > 0
    assert "Top-ups (1)" in said(repackable, capsys)
    before = files(repackable)
    assert f"admitted: {found['admit']}\n" in said(repackable, capsys, found["admit"])
    after = files(repackable)
    assert after.keys() - before.keys() == {f"{found['admit']}.yaml"}
    entry = yaml.safe_load(after[f"{found['admit']}.yaml"])
    assert (entry["admitted"]["by"], entry["admitted"]["override"]) == ("curator", "it raises expected detection")


def test_it_names_what_the_admitted_query_needs(repackable: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evals = repackable / EVALS
    evals.write_text(
        evals.read_text(encoding="utf-8").replace("setup:", "setup:\n    connectors: [line]"), encoding="utf-8"
    )
    listed = json.loads(said(repackable, capsys, "--json"))
    assert listed["provisions"] == []
    (id,) = [item["admit"] for item in listed["repacks"]]
    assert "To provision (1)" in said(repackable, capsys, id, "--dry-run")
    named = json.loads(said(repackable, capsys, id, "--dry-run", "--json"))
    assert named["provisions"] == [{"kind": "connector", "name": "line", "needed_by": [id]}]


def test_an_unknown_one_is_refused_and_an_eval_set_that_cannot_be_read_is_named(
    repackable: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["repack", "nothing", "--repo", str(repackable), *OCCASION]) != 0
    assert "see `incumbent repack`" in capsys.readouterr().err
    broken = repackable / "eval_sets/tarnbeck-bank/card-line/evals.yaml"
    broken.write_text("eval_set: 1\nqueries: 7\n", encoding="utf-8")
    assert run(["repack", "--json", "--repo", str(repackable), *OCCASION]) == 1
    out, err = capsys.readouterr()
    assert len(json.loads(out)["repacks"]) == 1
    assert "evals.yaml:2" in err
