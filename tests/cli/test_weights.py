"""A machine without the weights that the config names judges nothing, and says what to do; all else works."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from incumbent.classifier.embedded import weights
from incumbent.classifier.embedded.weights import FILE, SHIPPED_DIGEST, WAYS_OUT
from tests.cli.conftest import Incumbent
from tests.cli.test_migrate import commit, text_of, write
from tests.cli.test_set_life import tree

CARD_LINE = "eval_sets/tarnbeck-bank/card-line"
CONFIG = "config/curation.yaml"
NOTE = "note: config/curation.yaml:33: classifier.embedded.embedding: `auto` means the weights"


@pytest.fixture
def here(platform: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The platform as current folder, with labels and traffic."""
    monkeypatch.chdir(platform)
    write(platform / "traffic.jsonl", json.dumps({"id": "t1", "query": "Freeze my card."}) + "\n")
    write(platform / "labels.tsv", "labels\tquery\nbackend.call\tFreeze my card.\n")
    return platform


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "find_weights", lambda: None)


@pytest.fixture
def cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / FILE).write_bytes(b"cut")
    monkeypatch.setattr(weights, "find_weights", lambda: tmp_path / FILE)


JUDGING = [
    ("review", CARD_LINE),
    ("review", CARD_LINE, "--json"),
    ("explain", CARD_LINE, "c01"),
    ("classify", CARD_LINE),
    ("correct", CARD_LINE, "c01", "+backend.call"),
    ("triage", "traffic.jsonl", "--agent", CARD_LINE, "--out", "out", "--processes", "1"),
    ("admit", CARD_LINE),
    ("import", CARD_LINE, "--agent-folder", CARD_LINE),
    ("reclassify",),
    ("repack",),
    ("candidates",),
    ("evaluate", "--labels", "labels.tsv"),
    ("impact", "HEAD..HEAD"),
    ("site", "--compare", "HEAD..HEAD", "--output", "site"),
]


@pytest.mark.usefixtures("missing")
@pytest.mark.parametrize("command", JUDGING, ids=lambda command: command[0])
def test_what_judges_ends_as_incomplete_and_changes_nothing(
    command: tuple[str, ...], here: Path, incumbent: Incumbent
) -> None:
    before = tree(here)
    outcome = incumbent(*command)
    assert outcome.code == 3, outcome.err
    assert outcome.out == ""
    assert f"not installed: {FILE} (sha256 {SHIPPED_DIGEST[:12]}" in outcome.err
    assert WAYS_OUT in outcome.err
    assert outcome.err.count("error:") == 1
    assert tree(here) == before


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("command", [each for each in JUDGING if CARD_LINE in each], ids=lambda command: command[0])
def test_altered_weights_judge_nothing_either(command: tuple[str, ...], here: Path, incumbent: Incumbent) -> None:
    outcome = incumbent(*command)
    assert outcome.code == 3, outcome.err
    assert "are cut, altered or of another version" in outcome.err
    assert WAYS_OUT in outcome.err


def test_altered_weights_are_refused_though_every_text_is_known(
    here: Path, incumbent: Incumbent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert incumbent("review", CARD_LINE).code == 0
    before = tree(here)
    (tmp_path / FILE).write_bytes(b"cut")
    monkeypatch.setattr(weights, "find_weights", lambda: tmp_path / FILE)
    assert incumbent("admit", CARD_LINE).code == 3
    assert tree(here) == before


@pytest.mark.usefixtures("missing")
@pytest.mark.parametrize(
    "command",
    [("status",), ("list",), ("prune",), ("validate",), ("config",), ("scan",), ("site", "--output", "site")],
    ids=lambda command: command[0],
)
def test_what_needs_no_classifier_works(command: tuple[str, ...], here: Path, incumbent: Incumbent) -> None:
    outcome = incumbent(*command)
    assert outcome.code == 0, outcome.err
    assert FILE not in outcome.err


def test_an_old_config_is_noted_once_by_what_judges_until_it_is_migrated(here: Path, incumbent: Incumbent) -> None:
    whole = text_of(here / CONFIG)
    old = whole.replace(SHIPPED_DIGEST, "auto")
    write(here / CONFIG, old)
    commit(here, "As an earlier version wrote it")
    labelled = ("evaluate", "--labels", "labels.tsv")
    for command in (("review", CARD_LINE), ("impact", "HEAD..HEAD"), labelled, ("validate",), ("config",)):
        outcome = incumbent(*command)
        assert (outcome.code, (outcome.out + outcome.err).count(NOTE)) == (0, 1), outcome.err
    assert "note:" not in incumbent("status").err
    judged = incumbent("review", CARD_LINE).out

    outcome = incumbent("migrate", "--dry-run", "--json")
    assert (outcome.json["weights"], outcome.json["files"], outcome.json["stale"]) == ([CONFIG], [CONFIG], [])
    assert text_of(here / CONFIG) == old
    outcome = incumbent("migrate")
    assert outcome.code == 0
    assert (
        f"{CONFIG}: `embedding` names the weights by their digest in place of `auto`; no verdict changes" in outcome.out
    )
    assert text_of(here / CONFIG) == whole
    assert incumbent("migrate", "--json").json["files"] == []

    outcome = incumbent("review", CARD_LINE)
    assert (outcome.out, "note:" in outcome.err) == (judged, False)


def test_migrate_names_the_weights_in_every_config_and_follows_a_rename_there(here: Path, incumbent: Incumbent) -> None:
    text = text_of(here / CONFIG).replace(SHIPPED_DIGEST, "auto")
    write(here / CONFIG, text)
    write(here / "config/paper.yaml", text)
    write(here / "own.yaml", text.replace("auto", "'auto'"))
    write(here / "config/without.yaml", text.replace("auto", "none"))
    outcome = incumbent("migrate", "--config", "own.yaml", "--json")
    assert outcome.json["weights"] == [CONFIG, "config/paper.yaml", "own.yaml"]
    for path in outcome.json["weights"]:
        assert SHIPPED_DIGEST in text_of(here / path)
        assert incumbent("validate", "--config", path).code == 0


def test_init_names_the_weights(tmp_path: Path, incumbent: Incumbent) -> None:
    assert incumbent("init", "--repo", tmp_path, "--owner", "@example/team").code == 0
    assert f"embedding: {SHIPPED_DIGEST}," in text_of(tmp_path / CONFIG)
