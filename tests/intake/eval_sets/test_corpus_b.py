"""Samples of Inspect that nobody on this project wrote, counted by other means."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest

from bot.intake.expectation import understand
from tests.intake.eval_sets.folders import read_one

pytestmark = pytest.mark.skipif("INCUMBENT_CORPUS" not in os.environ, reason="INCUMBENT_CORPUS is not set")
CORPUS = Path(os.environ.get("INCUMBENT_CORPUS", "."))
FILES = sorted((CORPUS / "eval_formats").glob("inspect_*"))


def samples_of(path: Path) -> list[dict[str, Any]]:
    """The samples as the file has them."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def spoken(sample: dict[str, Any]) -> tuple[list[str], list[str]]:
    """What the user says in a sample, and the images beside it."""
    if isinstance(sample["input"], str):
        return [sample["input"]], []
    said: list[str] = []
    images: list[str] = []
    for message in sample["input"]:
        if message["role"] == "user":
            content = message["content"]
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            said.append("\n".join(part["text"] for part in parts if part["type"] == "text"))
            images += [part["image"] for part in parts if part["type"] == "image"]
    return said, images


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_real_samples_are_read_without_loss(tmp_path: Path, path: Path) -> None:
    found = read_one(tmp_path, path.name, path.read_bytes())
    samples = samples_of(path)
    assert (found.format, found.problems) == ("inspect", ())
    assert len(found.queries) == len(samples)
    for query, sample in zip(found.queries, samples, strict=True):
        said, images = spoken(sample)
        assert list(query.turns) == said
        assert list(query.setup.attachments) == images
        expected = query.expected
        assert isinstance(expected, dict)
        rest = {key: value for key, value in sample.items() if not (key == "input" and isinstance(value, str))}
        assert expected.keys() == rest.keys()
        for key, value in rest.items():
            # A cell of a table may hold JSON, which is then read.
            assert expected[key] == value or expected[key] == json.loads(value)
        assert understand(expected, len(said)).answer == sample["target"]


def test_there_are_real_samples() -> None:
    assert len(FILES) >= 3
    assert {path.suffix for path in FILES} >= {".csv", ".jsonl"}
