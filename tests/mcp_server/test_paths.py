"""Paths stay inside the repository, whatever a caller writes; and no answer tells where it lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.mcp_server.conftest import CARD_LINE, ask, in_process, refusal_of

BY_FOLDER = [
    ("classify", {}),
    ("rate", {}),
    ("classify_to_verdict", {}),
    ("explain", {"query": "q1"}),
    ("stage_admission", {"dry_run": True}),
]
OUT = "the path leads out of the platform repository"
NONE = "there is no such folder in the platform repository"


@pytest.fixture
def neighbour(platform: Path) -> Path:
    """A whole package beside the repository, which any reader would take."""
    folder = platform.parent / "neighbour"
    return (platform / CARD_LINE).rename(folder)


@pytest.mark.parametrize(("tool", "more"), BY_FOLDER, ids=[tool for tool, _ in BY_FOLDER])
@pytest.mark.parametrize(
    "way", ["../neighbour", "eval_sets/../../neighbour", "{absolute}", "linked", "linked/../linked"]
)
def test_no_way_leads_out(tool: str, more: dict[str, Any], way: str, platform: Path, neighbour: Path) -> None:
    (platform / "linked").symlink_to(neighbour, target_is_directory=True)
    refusal = refusal_of(
        in_process(platform, writes=True), tool, folder=way.format(absolute=neighbour.as_posix()), **more
    )
    assert OUT in refusal or NONE in refusal
    assert OUT in refusal or "linked/../linked" in way
    assert "eval_sets/CUSTOMER/AGENT" in refusal


@pytest.mark.parametrize("way", ["nowhere", "config/curation.yaml", "eval_sets\0", "a" * 999, "~/x"])
def test_what_is_no_folder_is_told(way: str, platform: Path) -> None:
    assert NONE in refusal_of(in_process(platform), "classify", folder=way)


def test_the_nearest_folder_is_suggested(platform: Path) -> None:
    refusal = refusal_of(in_process(platform), "classify", folder="eval_sets/tarnbeck-bank/card-lime")
    assert f"perhaps you meant '{CARD_LINE}'" in refusal


@pytest.mark.parametrize("way", [CARD_LINE, f"./{CARD_LINE}/", "{root}/" + CARD_LINE, f"eval_sets/../{CARD_LINE}"])
def test_ways_that_stay_inside_are_one(way: str, platform: Path) -> None:
    answer = ask(in_process(platform), "classify", folder=way.format(root=platform.as_posix()))
    assert answer["total"] == ask(in_process(platform), "classify", folder=CARD_LINE)["total"]


def test_a_link_inside_a_package_is_not_followed(platform: Path) -> None:
    secret = platform.parent / "secret.yaml"
    secret.write_text("eval_set: 1\nqueries: [{id: leaked, turns: [the secret]}]\n", encoding="utf-8")
    (platform / CARD_LINE / "more.yaml").symlink_to(secret)
    answer = ask(in_process(platform), "classify", folder=CARD_LINE, texts=True, limit=200)
    assert "the secret" not in str(answer)


def test_faults_do_not_tell_where_the_repository_lies(platform: Path) -> None:
    (platform / "config" / "curation.yaml").write_text("mode: [", encoding="utf-8")
    (platform / "regression_set" / "broken.yaml").write_text("id: other\n", encoding="utf-8")
    refusal = refusal_of(in_process(platform), "status")
    assert platform.parent.as_posix() not in refusal
    assert "config/curation.yaml" in refusal
    assert "regression_set/broken.yaml" in refusal
