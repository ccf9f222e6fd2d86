"""`incumbent explain`: a verdict, what it rests on, and what would turn it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from incumbent.cli.schemas import schema
from tests.cli.conftest import Incumbent

ROOT = Path(__file__).parents[2]
CARD_LINE = "eval_sets/tarnbeck-bank/card-line"
SEVERAL_TURNS = """\
version: 1.0.0
groups:
  - {id: dialog, name: Course of the call}
capabilities:
  - id: dialog.turns
    name: Several turns
    group: dialog
    description: The caller says more than one thing.
    source: structure
    when: user_turns > `1`
  - id: dialog.long
    name: Long conversation
    group: dialog
    description: The caller says a great many things.
    source: structure
    when: user_turns > `20`
"""


@pytest.fixture
def here(platform: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(platform)
    return platform


def test_every_query_is_explained_with_the_verdict_of_its_review(here: Path, incumbent: Incumbent) -> None:
    verdicts = incumbent("review", CARD_LINE, "--json").json["verdicts"]
    assert verdicts
    for verdict in verdicts:
        found = incumbent("explain", CARD_LINE, verdict["id"], "--json").json
        Draft202012Validator(schema("explain-output")).validate(found)
        assert found["verdict"] == {name: verdict[name] for name in found["verdict"]}
        assert found["why"] == verdict["why"]
        assert {item["capability"]: item["score"] for item in found["contests"]} == verdict["scores"]
        assert all(item["then"]["outcome"] != found["outcome"] for item in found["scores"] + found["knobs"])


def test_the_text_names_the_smallest_changes(here: Path, incumbent: Incumbent) -> None:
    first = incumbent("review", CARD_LINE, "--json").json["verdicts"][0]
    output = incumbent("explain", CARD_LINE, first["id"]).out
    assert first["why"] in output
    assert "Smallest changes that would change the outcome:" in output
    assert "instead of" in output


def test_what_the_classifier_remarks_on_the_query_is_told(here: Path, incumbent: Incumbent) -> None:
    shutil.rmtree(here / "taxonomy")
    shutil.copytree(ROOT / "taxonomy", here / "taxonomy")
    shutil.copyfile(ROOT / "config" / "curation.yaml", here / "config" / "curation.yaml")
    shutil.rmtree(here / "eval_sets")
    folder = here / "eval_sets" / "northwind" / "tracker"
    shutil.copytree(ROOT / "examples" / "customers" / "northwind-tracker" / "tracker", folder)
    queries = [
        {"id": "create", "query": "Create an issue about the broken login.", "expected": {"tool_calls": []}},
        {"id": "runes", "query": "ᚠᛇᚻ ᛒᛦᚦ ᚠᚱᚩᚠᚢᚱ ᚠᛁᚱᚪ ᚷᛖᚻᚹᛦᛚᚳᚢᛗ"},
    ]
    (folder / "evals.yaml").write_text(json.dumps({"eval_set": 1, "queries": queries}), encoding="utf-8")
    contradicts = "the eval set expects no tool call; the classifier expected createIssue. The expectation counts."
    unfamiliar = "the classifier cannot judge this kind of text"
    found = incumbent("explain", folder, "create", "--json").json
    assert (found["contradiction"]["expected"], found["unfamiliar"]) == ([], None)
    assert contradicts in incumbent("explain", folder, "create").out
    found = incumbent("explain", folder, "runes", "--json").json
    assert (found["contradiction"], found["unfamiliar"]) == (None, "script")
    assert unfamiliar in incumbent("explain", folder, "runes").out
    assert found["contests"]
    assert {item["path"] for item in found["contests"]} <= {"structure", "inference", "arbitration", "tool"}
    admit = ("admit", folder, "--dry-run", "--accept", "create", "--reason", "the tool is called without its name")
    admitted = incumbent(*admit, "--json").json
    assert set(admitted["contradictions"]) == {id for id in admitted["admitted"] if "-create-" in id} != set()
    assert contradicts in incumbent(*admit).out
    arguments = ("import", folder / "evals.yaml", "--agent-folder", folder, "--dry-run")
    imported = incumbent(*arguments, "--json").json
    Draft202012Validator(schema("import-output")).validate(imported)
    assert (len(imported["contradictions"]), len(imported["unfamiliar"])) == (1, 1)
    output = incumbent(*arguments).out
    assert contradicts in output
    assert unfamiliar in output


def test_an_entry_is_judged_as_if_it_came_today(here: Path, incumbent: Incumbent) -> None:
    admitted = incumbent("admit", CARD_LINE, "--json").json["admitted"]
    found = incumbent("explain", "--entry", admitted[0], "--json").json
    assert (found["kind"], found["verdict"]["id"], found["usage"]) == ("entry", admitted[0], None)
    output = incumbent("explain", "--entry", admitted[0]).out
    assert "(as if it came today)" in output
    assert "pinned" in output
    query = incumbent("review", CARD_LINE, "--json").json["settled"]
    settled = incumbent("explain", CARD_LINE, min(query))
    assert settled.code == 1
    assert f"the entry or tombstone {query[min(query)]} settles it" in settled.err


def test_an_entry_that_lags_behind_has_no_verdict(here: Path, incumbent: Incumbent) -> None:
    (first, *_) = incumbent("admit", CARD_LINE, "--json").json["admitted"]
    path = here / "regression_set" / f"{first}.yaml"
    text = path.read_text(encoding="utf-8")
    assert "model: " in text
    others = [item for item in (here / "regression_set").glob("*.yaml") if item != path]
    assert others
    path.write_text(text.replace("model: ", "model: other-"), encoding="utf-8")
    assert "the entry is stale" in incumbent("explain", "--entry", first).err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([CARD_LINE, "no-such-query"], 1, "there is no such query"),
        (["--entry", "no-such-entry"], 1, "no such entry is in the set or on the waitlist"),
        ([CARD_LINE], 2, "name a folder and a query"),
        ([], 2, "name a folder and a query"),
        ([CARD_LINE, "q1", "--entry", "x"], 2, "use --entry alone"),
        (["nowhere", "q1"], 2, "does not exist"),
    ],
)
def test_what_cannot_be_explained_says_why(
    arguments: list[str], code: int, message: str, here: Path, incumbent: Incumbent
) -> None:
    outcome = incumbent("explain", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err


@pytest.fixture
def even(here: Path) -> Path:
    """The platform with a taxonomy in which all queries of several turns are equally good; one of them is enough."""
    shutil.rmtree(here / "taxonomy")
    shutil.rmtree(here / "eval_sets")
    (here / "taxonomy").mkdir()
    (here / "taxonomy" / "taxonomy.yaml").write_text(SEVERAL_TURNS, encoding="utf-8")
    config = here / "config" / "curation.yaml"
    text = config.read_text(encoding="utf-8")
    assert "redundancy_floor: 2" in text
    config.write_text(text.replace("redundancy_floor: 2", "redundancy_floor: 1"), encoding="utf-8")
    return here


def brought(platform: Path, customer: str, queries: dict[str, list[str]]) -> str:
    """The folder of an eval set with these ``queries``: their turns by id."""
    folder = f"eval_sets/{customer}/agent"
    (platform / folder).mkdir(parents=True)
    (platform / folder / "agent.yaml").write_text("agent: 1\nname: agent\nplatform: test\n", encoding="utf-8")
    rows = [{"id": id, "turns": turns} for id, turns in queries.items()]
    (platform / folder / "evals.yaml").write_text(json.dumps({"eval_set": 1, "queries": rows}), encoding="utf-8")
    return folder


def test_a_change_that_the_rest_of_the_cycle_undoes_is_told_as_such(even: Path, incumbent: Incumbent) -> None:
    """Without that entry it would win, and so would another query that has its turn before."""
    first = brought(even, "first", {"e1": ["Block my card.", "Yes, the blue one."]})
    admitted = incumbent("admit", first, "--json")
    assert admitted.code == 0, admitted.err
    (entry,) = admitted.json["admitted"]
    queries = {"q1": ["What is an overdraft?", "And a loan?"], "q2": ["Good morning to you.", "Where is Mill Lane?"]}
    second = brought(even, "second", queries)
    turns = [verdict["id"] for verdict in incumbent("review", second, "--json").json["verdicts"]]
    for id, in_cycle in zip(turns, ("enters", "stays out"), strict=True):
        asked = ("explain", second, id)
        (absence,) = incumbent(*asked, "--json").json["absences"]
        assert (absence["id"], absence["then"]["outcome"], absence["in_cycle"]) == (entry, "enters", in_cycle)
        (line,) = [line for line in incumbent(*asked).out.splitlines() if f"without {entry}" in line]
        assert line.endswith("; with the whole cycle judged so, it stays out") is (in_cycle == "stays out")
