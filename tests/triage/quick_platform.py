"""A platform of few capabilities, which classifies quickly; its regression set is classified alike."""

from __future__ import annotations

import shutil
from pathlib import Path

from incumbent.classifier.embedded.weights import SHIPPED_DIGEST
from incumbent.cli.main import run
from tests.copies import copy_of
from tests.factories import BY_HAND, REPOSITORY, config_with


def quick_platform(folder: Path, settings: str, *, embeds: bool = False) -> Path:
    """The platform in ``folder``, with these ``settings`` of a triage; unless it ``embeds``, there is no estimate."""
    copy_of(_make_embedding if embeds else _make, folder)
    config = folder / "config/curation.yaml"
    config.write_text(f"{config.read_text(encoding='utf-8')}\ntriage: {settings}\n", encoding="utf-8")
    return folder


def _make_embedding(folder: Path) -> None:
    _make(folder, SHIPPED_DIGEST)


def _make(folder: Path, embedding: str = "none") -> None:
    shutil.copytree(REPOSITORY / "tests/service_desk", folder, dirs_exist_ok=True)
    shutil.copytree(REPOSITORY / "examples", folder / "examples")
    config = folder / "config/curation.yaml"
    text = config_with(config.read_text(encoding="utf-8"), **BY_HAND)
    config.write_text(text.replace(SHIPPED_DIGEST, embedding), encoding="utf-8")
    assert run(["reclassify", "--repo", str(folder)]) == 0
