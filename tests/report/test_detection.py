"""The published figure of expected detection, and the queries on which it rests."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import git
import pytest

from incumbent.classifier.model import Classification, Judgement
from incumbent.curator.store import RegressionSet
from incumbent.files.git.working_copy import commit_on_branch
from incumbent.ledger.classifications import shards_of
from incumbent.ledger.clone import recorded_scores
from incumbent.ledger.model import BRANCH, FolderRecord, folder_path
from incumbent.ledger.store import record_text
from incumbent.pipeline.review import Platform
from incumbent.report.detection import Detection, detection_of
from incumbent.text.digests import digest
from tests.factories import make_config, make_entry, make_taxonomy

FOLDER: Final = "eval_sets/acme/desk"
AT: Final = "2026-01-01T00:00:00Z"


def platform(*entries: dict[str, float], waiting: dict[str, float] | None = None) -> Platform:
    known = {f"e{place}": make_entry(f"e{place}", scores) for place, scores in enumerate(entries)}
    line = {} if waiting is None else {"w": make_entry("w", waiting)}
    config = make_config(novelty=2, competence_bar=0.5, flakiness=0.5)
    return Platform(taxonomy=make_taxonomy("a", "b", "c"), config=config, regression_set=RegressionSet(known, line, {}))


@pytest.mark.parametrize(
    ("entries", "others", "expected"),
    [
        ([], [], (1.0, 1.0, 0)),
        ([{"a": 0.8}], [], (0.4, 1.0, 1)),
        ([{"a": 0.8}], [{"b": 0.9}], (0.2, 1.0, 2)),
        ([{"a": 0.8, "b": 1.0}], [], (0.45, 0.4, 1)),
        # 0.45, 0.5, 0 alone; a + b has 0.4, the other two pairs nothing.
        ([{"a": 0.8, "b": 1.0}], [{"a": 0.6, "b": 0.6, "c": 0.6}], (0.3, 0.133333333, 2)),
        # What is not competent is not on record.
        ([{"a": 0.8}], [{"a": 0.8, "b": 0.4}], (0.4, 1.0, 2)),
    ],
)
def test_it_is_the_mean_over_what_queries_on_record_exercise(
    entries: list[dict[str, float]], others: list[dict[str, float]], expected: tuple[float, float, int]
) -> None:
    found = detection_of(platform(*entries), others)
    assert (found.single, found.pairs, found.on_record) == expected
    if len(others) == 1:
        assert detection_of(platform(*entries, waiting=others[0])) == found


def test_it_says_on_how_many_queries_it_rests() -> None:
    found = Detection(single=0.639, pairs=0.456, on_record=1)
    assert str(found) == "0.64 for single capabilities, 0.46 for pairs, by 1 query on record"


def test_without_a_ledger_no_more_queries_are_known(tmp_path: Path) -> None:
    assert recorded_scores(tmp_path, platform().taxonomy) == []


def test_the_ledger_tells_what_undecided_queries_exercise(tmp_path: Path) -> None:
    clone = git.Repo.init(tmp_path)
    commit_on_branch(tmp_path, "main", None, {"README.md": "x"}, "x", AT, "x")
    path = folder_path(FOLDER)

    def said(names: str, **scores: float) -> Classification:
        return Classification(
            judgements={name: Judgement(name in scores, scores.get(name, 0.1), "inference") for name in names}
        )

    # One is of a taxonomy that had fewer capabilities.
    found = {digest("one"): said("abc", a=0.9, b=0.6), digest("two"): said("ab", a=0.9)}
    corrupt = {folder_path("eval_sets/other/desk"): "{"}
    files = {path: record_text(FolderRecord(folder=FOLDER)), **shards_of(path, found), **corrupt}
    commit_on_branch(tmp_path, BRANCH, None, files, "x", AT, "x")
    clone.close()
    assert recorded_scores(tmp_path, platform().taxonomy) == [{"a": 0.9, "b": 0.6}]
