"""The paper's worked example as a platform: what the documented commands give in both readings."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from incumbent.cli.main import run
from incumbent.curator.entry import Admitted
from incumbent.curator.store import RegressionSet
from incumbent.curator.suggestions import suggest
from incumbent.pipeline.workspace import open_platform
from tests.factories import REPOSITORY

EXAMPLE: Final = REPOSITORY / "examples" / "worked-example"
TABLE_2: Final = {
    "competent": ["auth.oauth", "orchestration.single-turn", "tools.read"],
    "new_capabilities": [],  # the table: Structured Output
    "wins": {"format.structured": "tickets-list"},  # the table: none
    "novel": False,
}
"""The rows of the paper's table as its definitions give them; where the table differs, a comment says so."""


def verdict(capsys: pytest.CaptureFixture[str], config: str) -> dict[str, Any]:
    words = ["consolidate", "--scores", str(EXAMPLE / "scores.yaml"), "--repo", str(EXAMPLE), "--config", config]
    assert run([*words, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert isinstance(found, dict)
    return found


def ruling(found: dict[str, Any]) -> tuple[Any, ...]:
    return found["decision"], found["route"], found["reasons"], found["displaces"]


def test_the_papers_reading_follows_its_definitions(capsys: pytest.CaptureFixture[str]) -> None:
    found = verdict(capsys, "config/paper.yaml")
    assert {name: found["facts"][name] for name in TABLE_2} == TABLE_2
    assert found["facts"]["max_similarity"] < 0.80
    assert ruling(found) == ("REPLACE", "direct", ["DOMINATES"], ["tickets-list"])


def test_as_shipped_a_weak_tag_wins_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """0.72 is below the shipped bar, and so is the 0.45 by which the query would beat the shallow coverer."""
    found = verdict(capsys, "config/curation.yaml")
    assert found["facts"]["competent"] == ["auth.oauth", "tools.read"]
    assert ruling(found) == ("EXCLUDE", "direct", ["REDUNDANT"], [])


def test_once_admitted_the_shallow_coverer_is_suggested_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    """The paper's “curator action”; before, nothing is suggested."""
    platform = open_platform(EXAMPLE, "config/paper.yaml")
    known = platform.regression_set
    assert suggest(known, platform.taxonomy, platform.config).evictions == ()
    beaten = known.entries["tickets-list"]
    scores = {"auth.oauth": 1.0, "tools.read": 1.0, "orchestration.single-turn": 0.72, "format.structured": 0.45}
    admitted = Admitted(
        at="2026-02-02T09:00:00Z",
        decision="REPLACE",
        route="direct",
        reasons=("DOMINATES",),
        displaces=("tickets-list",),
    )
    changed = {"id": "tracker", "turns": ("Pull recent issues.",), "scores": scores, "admitted": admitted}
    tracker = beaten.model_copy(update=changed)
    grown = RegressionSet({**known.entries, "tracker": tracker}, {}, {})
    (suggestion,) = suggest(grown, platform.taxonomy, platform.config).evictions
    assert (suggestion.id, suggestion.grounds.yields_to) == ("tickets-list", ("tracker",))


@pytest.mark.parametrize("config", ["config/curation.yaml", "config/paper.yaml"])
def test_its_knobs_and_options_are_the_shipped_ones(config: str) -> None:
    example, shipped = (open_platform(folder, config).config for folder in (EXAMPLE, REPOSITORY))
    assert (example.knobs, example.options) == (shipped.knobs, shipped.options)
