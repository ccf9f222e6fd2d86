"""A platform that classifies without an embedding, and so quickly; its regression set is classified alike."""

from __future__ import annotations

import shutil
from pathlib import Path

from bot.classifier.embedded.weights import SHIPPED_DIGEST
from bot.cli.main import run
from tests.copies import copy_of
from tests.factories import REPOSITORY


def quick_platform(folder: Path, settings: str) -> Path:
    """The platform in ``folder``, with these ``settings`` of a triage."""
    copy_of(_make, folder)
    config = folder / "config/curation.yaml"
    config.write_text(f"{config.read_text(encoding='utf-8')}\ntriage: {settings}\n", encoding="utf-8")
    return folder


def _make(folder: Path) -> None:
    for name in ("taxonomy", "regression_set", "eval_sets", "examples", "config"):
        shutil.copytree(REPOSITORY / name, folder / name)
    config = folder / "config/curation.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace(SHIPPED_DIGEST, "none"), encoding="utf-8")
    assert run(["reclassify", "--repo", str(folder)]) == 0
