"""The seed regression set came out of the pipeline, and comes out of it again."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.factories import REPOSITORY


def entries(folder: Path) -> dict[str, dict[str, Any]]:
    """Entries by file, as data."""
    files = (folder / "regression_set").rglob("*.yaml")
    return {path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in files}


@pytest.mark.exhaustive
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
        assert entry == committed[name], name
