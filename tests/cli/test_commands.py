"""Every command: help, JSON against its published schema, faults all at once, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from incumbent.cli.main import COMMANDS
from incumbent.cli.schemas import SCHEMAS, WRITTEN_BY_PEOPLE, schema
from incumbent.curator.store import load_regression_set
from incumbent.files.snapshot import WorkingTree
from tests.cli.conftest import Incumbent
from tests.factories import REPOSITORY

CARD_LINE = "eval_sets/tarnbeck-bank/card-line"
SCORES = {"queries": [{"id": "q1", "turns": ["Freeze my card."], "scores": {}}]}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(command: str, incumbent: Incumbent) -> None:
    outcome = incumbent(command, "--help")
    assert outcome.code == 0
    assert f"incumbent {command}" in outcome.out.split("Examples:")[1]


def test_help_lists_every_command(incumbent: Incumbent) -> None:
    outcome = incumbent("--help")
    assert all(command in outcome.out for command in COMMANDS)


@pytest.mark.parametrize(
    ("addresses", "shown"),
    [
        (
            ["Homepage, https://git.example/a/b", "Documentation, https://git.example/a/b/docs"],
            "https://git.example/a/b/docs/glossary.md",
        ),
        (None, "docs/glossary.md in Incumbent's repository"),
    ],
)
def test_help_links_the_glossary(
    addresses: list[str] | None, shown: str, incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Metadata:
        def get_all(self, name: str) -> list[str] | None:
            return addresses

    monkeypatch.setattr("incumbent.cli.main.metadata.metadata", lambda _: Metadata())
    assert f"The glossary explains each term: {shown}" in " ".join(incumbent("--help").out.split())


def test_a_mistyped_command_gets_the_nearest_one(incumbent: Incumbent) -> None:
    outcome = incumbent("reviwe")
    assert outcome.code == 2
    assert "perhaps you meant 'review'" in outcome.err


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("review", ["review", CARD_LINE, "--json"]),
        ("classify", ["classify", CARD_LINE, "--json"]),
        ("admit", ["admit", CARD_LINE, "--json", "--dry-run"]),
        ("import", ["import", CARD_LINE, "--json", "--dry-run"]),
        ("prune", ["prune", "--json"]),
        ("status", ["status", "--json"]),
        ("status", ["status", "--pairs", "--json"]),
        ("status", ["status", "--growth", "--json"]),
        ("validate", ["validate", "--json"]),
        ("reclassify", ["reclassify", "--json"]),
        ("consolidate", ["consolidate", "--scores", "scores.json", "--json"]),
    ],
)
def test_json_output_fits_its_published_schema(
    name: str, arguments: list[str], platform: Path, incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(platform)
    Path("scores.json").write_text(json.dumps(SCORES), encoding="utf-8")
    outcome = incumbent(*arguments)
    assert outcome.code == 0, outcome.err
    Draft202012Validator(schema(f"{name}-output")).validate(outcome.json)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_one(name: str, incumbent: Incumbent) -> None:
    Draft202012Validator.check_schema(json.loads(incumbent("schema", name).out))


def test_the_published_schemas_are_those_of_files_that_people_write_and_up_to_date(incumbent: Incumbent) -> None:
    published = {path.name: path.read_text(encoding="utf-8") for path in (REPOSITORY / "schemas").iterdir()}
    assert published == {f"{name}.schema.json": incumbent("schema", name).out for name in WRITTEN_BY_PEOPLE}


def test_schema_lists_names_and_suggests(incumbent: Incumbent) -> None:
    assert incumbent("schema").out.split() == list(SCHEMAS)
    outcome = incumbent("schema", "entri")
    assert outcome.code == 2
    assert "perhaps you meant 'entry'" in outcome.err


def test_validate_reports_every_fault_of_every_file_at_once(platform: Path, incumbent: Incumbent) -> None:
    (platform / "regression_set").mkdir()
    (platform / "regression_set" / "broken.yaml").write_text("id: other\nturns: []\n", encoding="utf-8")
    config = platform / "config" / "curation.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace("ceiling:", "cieling:"), encoding="utf-8")
    evals = platform / CARD_LINE / "evals.yaml"
    evals.write_text(evals.read_text(encoding="utf-8") + "  - turns: [7]\n", encoding="utf-8")
    outcome = incumbent("validate", "--repo", platform)
    assert outcome.code == 1
    for expected in ("curation.yaml", "perhaps you meant 'ceiling'", "broken.yaml:2", "fix:"):
        assert expected in outcome.err
    listed = incumbent("validate", "--repo", platform, "--json")
    assert listed.code == 1
    assert len(listed.json["problems"]) >= 3


def test_a_broken_row_is_reported_and_the_rest_is_reviewed(platform: Path, incumbent: Incumbent) -> None:
    evals = platform / CARD_LINE / "evals.yaml"
    good = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json").json
    evals.write_text(evals.read_text(encoding="utf-8") + "  - turns: [7]\n", encoding="utf-8")
    outcome = incumbent("review", platform / CARD_LINE, "--repo", platform, "--json")
    assert outcome.code == 1
    assert outcome.json["verdicts"] == good["verdicts"]
    assert outcome.json["problems"]
    for problem in outcome.json["problems"]:
        assert problem["line"] == len(evals.read_text(encoding="utf-8").splitlines())
        assert problem["fix"]


def test_consolidate_reads_standard_input(platform: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "incumbent", "consolidate", "--scores", "-", "--json", "--repo", str(platform)],
        input=json.dumps(SCORES),
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
    )
    assert done.returncode == 0, done.stderr
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert verdict["reasons"] == ["OFF_TAXONOMY"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"queries": [{"id": "q", "turns": ["x"], "scores": {"no.such": 1}}]}', "no capability 'no.such'"),
        ('{"queries": [{"id": "q", "turns": [], "scores": {}}]}', "turns"),
        ('{"queries": [{"id": "q", "turns": ["x"], "scores": {"a": 2}}]}', "less than or equal to 1"),
        (
            '{"queries": [{"id": "q", "turns": ["x"], "scores": {}}, {"id": "q", "turns": ["y"], "scores": {}}]}',
            "twice",
        ),
        ('{"queries": [], "taxonomy": "0.9.0"}', "scores.json:1: taxonomy: the scores are of version 0.9.0"),
        ('{"querys": []}', "perhaps you meant 'queries'"),
        ("{", "not valid JSON"),
        ('{"queries": NaN}', "NaN"),
    ],
)
def test_faulty_scores_are_refused_with_the_fix(
    content: str, expected: str, platform: Path, incumbent: Incumbent, tmp_path: Path
) -> None:
    scores = tmp_path / "scores.json"
    scores.write_text(content, encoding="utf-8")
    outcome = incumbent("consolidate", "--scores", scores, "--repo", platform)
    assert outcome.code == 1
    assert expected in outcome.err
    assert "fix:" in outcome.err


def test_consolidate_tells_what_is_settled_and_judges_the_rest(
    platform: Path, incumbent: Incumbent, tmp_path: Path
) -> None:
    (entry, *_) = incumbent("admit", platform / CARD_LINE, "--repo", platform, "--json").json["admitted"]
    turns = load_regression_set(WorkingTree(platform), None).entries[entry].turns
    rows = [
        {"id": "q1", "turns": ["Freeze my card."], "scores": {}, "entry": "new"},
        {"id": "q2", "turns": turns, "scores": {}, "entry": entry},
    ]
    scores = tmp_path / "scores.json"
    scores.write_text(json.dumps({"queries": rows}), encoding="utf-8")
    outcome = incumbent("consolidate", "--scores", scores, "--repo", platform)
    assert outcome.out.splitlines() == ["q1  EXCLUDE  direct  OFF_TAXONOMY", f"q2  already decided by {entry}"]
    assert outcome.err == ""
    printed = incumbent("consolidate", "--scores", scores, "--repo", platform, "--json").json
    assert ([row["id"] for row in printed["verdicts"]], printed["settled"]) == (["q1"], {"q2": entry})
    classifier = {"backend": "openai", "model": "m", "prompt": "p", "samples": 5}
    scores.write_text(json.dumps({"queries": rows, "classifier": classifier}), encoding="utf-8")
    assert f"warning: {entry} is stale" in incumbent("consolidate", "--scores", scores, "--repo", platform).err


def test_a_bug_of_ours_is_exit_code_70_with_a_report(incumbent: Incumbent, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("incumbent.cli.entries.open_platform", broken)
    outcome = incumbent("status")
    assert outcome.code == 70
    report = Path(outcome.err.split("attach ")[1].strip())
    assert "RuntimeError: a bug" in report.read_text(encoding="utf-8")
    report.unlink()


@pytest.mark.parametrize("command", ["status", "validate", "prune", "candidates"])
def test_an_empty_folder_is_not_a_platform_repository(command: str, tmp_path: Path, incumbent: Incumbent) -> None:
    outcome = incumbent(command, "--repo", tmp_path)
    assert outcome.code == 1
    assert "this is not a platform repository" in outcome.err
    assert "`incumbent init`" in outcome.err


def test_nothing_comes_alive_on_the_console(platform: Path, incumbent: Incumbent) -> None:
    evals = platform / CARD_LINE / "evals.yaml"
    hostile = '  - id: "x[red]`|"\n    turns: ["\\e[2J\\u202eI lost [red]my card[/red], block it please | @team <b>"]\n'
    evals.write_text(evals.read_text(encoding="utf-8") + hostile, encoding="utf-8")
    for form in ("text", "markdown"):
        outcome = incumbent("review", platform / CARD_LINE, "--repo", platform, "--format", form)
        assert "\x1b" not in outcome.out
        assert "\u202e" not in outcome.out
        assert "[red]my card[/red]" in outcome.out
