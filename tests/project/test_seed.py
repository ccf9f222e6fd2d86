"""The seed regression set came out of the pipeline, and comes out of it again."""

from __future__ import annotations

import re
import runpy
import shutil
from pathlib import Path

from tests.factories import REPOSITORY


def entries(folder: Path) -> dict[str, str]:
    """Entries by file; a score may differ in its last digits between machines."""
    return {
        path.name: re.sub(r"(\d\.\d{2})\d+", r"\1", path.read_text(encoding="utf-8"))
        for path in (folder / "regression_set").rglob("*.yaml")
    }


def test_the_committed_set_is_what_the_pipeline_makes_of_the_customers(tmp_path: Path) -> None:
    for name in ("taxonomy", "config", "eval_sets"):
        shutil.copytree(REPOSITORY / name, tmp_path / name)
    runpy.run_path(str(REPOSITORY / "tools" / "seed.py"))["seed"](tmp_path)
    made = entries(tmp_path)
    assert made == entries(REPOSITORY)
    assert 30 <= len(made) <= 50
