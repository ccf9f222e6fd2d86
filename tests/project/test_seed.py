"""The seed regression set came out of the pipeline, and comes out of it again."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.factories import REPOSITORY

VENDORS: Final = 0.02
"""By how much a score may differ: the embedding takes reciprocal square roots, which Intel and AMD approximate
differently (docs/classifier.md)."""


def entries(folder: Path) -> dict[str, dict[str, Any]]:
    """Entries by file, as data."""
    files = (folder / "regression_set").rglob("*.yaml")
    return {path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in files}


def test_the_committed_set_is_what_the_pipeline_makes_of_the_customers(
    tmp_path: Path, shared_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INCUMBENT_CACHE", str(shared_cache))
    for name in ("taxonomy", "config", "eval_sets"):
        shutil.copytree(REPOSITORY / name, tmp_path / name)
    runpy.run_path(str(REPOSITORY / "dev" / "seed.py"))["seed"](tmp_path)
    made, committed = entries(tmp_path), entries(REPOSITORY)
    assert made.keys() == committed.keys()
    assert 30 <= len(made) <= 50
    for name, entry in made.items():
        other = committed[name]
        scores, expected = entry.pop("scores"), other.pop("scores")
        for capability in scores.keys() | expected.keys():
            # A capability that one of the two lacks is TRUE for the other by a hair.
            score, wanted = scores.get(capability, 0.5), expected.get(capability, 0.5)
            assert abs(score - wanted) <= VENDORS, (name, capability, score, wanted)
        shared = scores.keys() & expected.keys()
        for definitions in (entry["classified"]["definitions"], other["classified"]["definitions"]):
            for capability in definitions.keys() - shared:
                del definitions[capability]
        assert entry == other, name
