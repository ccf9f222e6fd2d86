"""A platform of few capabilities that classifies without an embedding, and so quickly; its set is classified alike."""

from __future__ import annotations

import shutil
from pathlib import Path

from bot.classifier.embedded.weights import SHIPPED_DIGEST
from bot.cli.main import run
from tests.copies import copy_of
from tests.factories import BY_HAND, REPOSITORY, config_with


def quick_platform(folder: Path, settings: str) -> Path:
    """The platform in ``folder``, with these ``settings`` of a triage."""
    copy_of(_make, folder)
    config = folder / "config/curation.yaml"
    config.write_text(f"{config.read_text(encoding='utf-8')}\ntriage: {settings}\n", encoding="utf-8")
    return folder


def _make(folder: Path) -> None:
    shutil.copytree(REPOSITORY / "tests/service_desk", folder, dirs_exist_ok=True)
    shutil.copytree(REPOSITORY / "examples", folder / "examples")
    config = folder / "config/curation.yaml"
    text = config_with(config.read_text(encoding="utf-8"), first_floor=BY_HAND["honesty_floor"], **BY_HAND)
    config.write_text(text.replace(SHIPPED_DIGEST, "none"), encoding="utf-8")
    assert run(["reclassify", "--repo", str(folder)]) == 0
