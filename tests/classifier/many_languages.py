"""Texts in all supported languages, from the label files."""

from __future__ import annotations

from pathlib import Path

from incumbent.classifier.evaluation.labels import read_tsv
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.config import load_config
from tests.factories import REPOSITORY

LABELS = REPOSITORY / "tests" / "labels"


def texts(number: int) -> list[str]:
    """About ``number`` texts, as many of each language, English among them."""
    files = [*sorted((LABELS / "languages").iterdir()), LABELS / "unseen_1.tsv"]
    return [text for file in files for text in _read(file)[: max(1, number // len(files))]]


def _read(file: Path) -> list[str]:
    limits = load_config(WorkingTree(REPOSITORY), None).limits
    return ["\n".join(row.turns) for row in read_tsv(file.read_text(encoding="utf-8"), file.name, limits).rows]
