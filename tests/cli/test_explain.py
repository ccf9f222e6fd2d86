"""`incumbent explain`: a verdict, what it rests on, and what would turn it."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from bot.schemas import schema
from tests.cli.conftest import Incumbent
from tests.factories import REPOSITORY

CARD_LINE = "eval_sets/tarnbeck-bank/card-line"


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
    told = incumbent("explain", CARD_LINE, first["id"]).out
    assert first["why"] in told
    assert "The smallest changes that would turn that:" in told
    assert "instead of" in told


def test_an_entry_is_judged_as_if_it_came_today(here: Path, incumbent: Incumbent) -> None:
    admitted = incumbent("admit", CARD_LINE, "--json").json["admitted"]
    found = incumbent("explain", "--entry", admitted[0], "--json").json
    assert (found["kind"], found["verdict"]["id"], found["usage"]) == ("entry", admitted[0], None)
    told = incumbent("explain", "--entry", admitted[0]).out
    assert "(as if it came today)" in told
    assert "pinned" in told
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
    assert "lags behind" in incumbent("explain", "--entry", first).err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([CARD_LINE, "no-such-query"], 1, "there is no such query"),
        (["--entry", "no-such-entry"], 1, "there is no such entry"),
        ([CARD_LINE], 2, "name a folder and a query"),
        ([], 2, "name a folder and a query"),
        ([CARD_LINE, "q1", "--entry", "x"], 2, "--entry stands alone"),
        (["nowhere", "q1"], 2, "does not exist"),
    ],
)
def test_what_cannot_be_explained_says_why(
    arguments: list[str], code: int, message: str, here: Path, incumbent: Incumbent
) -> None:
    outcome = incumbent("explain", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err


def test_a_change_that_the_rest_of_the_cycle_undoes_is_told_as_such(
    monkeypatch: pytest.MonkeyPatch, incumbent: Incumbent
) -> None:
    """Without that entry it would win, and so would another query that has its turn before."""
    monkeypatch.chdir(REPOSITORY)
    asked = ("explain", "examples/customers/harbor-parcels/dispatch", "q-02cb9912e3")
    undone = [item for item in incumbent(*asked, "--json").json["absences"] if item["in_cycle"] == "stays out"]
    assert [item["then"]["outcome"] for item in undone] == ["enters"]
    (line,) = [line for line in incumbent(*asked).out.splitlines() if f"without {undone[0]['id']}" in line]
    assert line.endswith("; with the whole cycle judged so, it stays out")
