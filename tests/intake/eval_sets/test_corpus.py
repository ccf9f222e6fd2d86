"""Eval sets that nobody on this project wrote, counted by other means."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest

from bot.errors import InputError
from bot.intake.eval_sets import read_eval_sets
from bot.snapshot import WorkingTree
from tests.intake.eval_sets.folders import limits, read_one

pytestmark = pytest.mark.skipif("INCUMBENT_CORPUS" not in os.environ, reason="INCUMBENT_CORPUS is not set")
CORPUS = Path(os.environ.get("INCUMBENT_CORPUS", "."))
FORMATS = CORPUS / "eval_formats"


def expected_of(path: Path) -> list[tuple[list[str], list[Any]]]:
    """Per query its prompts, and what is expected of each."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = [row for row in csv.reader(file) if row]
        column = [name.strip() for name in header].index("Expected response")
        return [([row[0]], [row[column]]) for row in rows]
    data = json.loads(path.read_text(encoding="utf-8-sig"))
    if isinstance(data, dict) and "prompts" in data:
        return [([one], [two]) for one, two in zip(data["prompts"], data["expected_responses"], strict=True)]
    items = data if isinstance(data, list) else data["items"]
    per_item = [item.get("turns", [item]) for item in items]
    return [
        ([turn["prompt"] for turn in turns], [turn.get("expected_response") for turn in turns]) for turns in per_item
    ]


FILES = sorted(
    path
    for pattern in ("m365_*.json", "copilotstudio_*.csv")
    for path in FORMATS.glob(pattern)
    if "schema" not in path.name
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_real_eval_set_is_read_without_loss(tmp_path: Path, path: Path) -> None:
    found = read_one(tmp_path, path.name, path.read_bytes())
    expected = expected_of(path)
    assert found.problems == ()
    assert [list(query.turns) for query in found.queries] == [prompts for prompts, _ in expected]
    assert len({query.id for query in found.queries}) == len(expected)
    for query, (_, answers) in zip(found.queries, expected, strict=True):
        assert isinstance(query.expected, dict)
        per_turn = query.expected.get("turns", [query.expected])
        assert isinstance(per_turn, list)
        told = [
            turn.get("expected_response", turn.get("Expected response")) for turn in per_turn if isinstance(turn, dict)
        ]
        assert told == answers


def test_there_are_real_eval_sets() -> None:
    assert len(FILES) >= 5


@pytest.mark.parametrize("source", ["ess_starter_csv", "m365_copilot_eval_samples"])
def test_real_queries_survive_the_formats_they_came_from(tmp_path: Path, source: str) -> None:
    customers: dict[str, list[dict[str, Any]]] = {}
    for line in (CORPUS / "queries" / f"{source}.jsonl").read_text(encoding="utf-8").splitlines():
        query = json.loads(line)
        customers.setdefault(query["customer"], []).append(query)
    for customer, queries in customers.items():
        if source == "ess_starter_csv":
            path = tmp_path / customer / "evals.csv"
            path.parent.mkdir()
            with path.open("w", encoding="utf-8-sig", newline="") as file:
                rows = [
                    (query["turns"][0], query["labels"]["expected"], query["labels"]["method"]) for query in queries
                ]
                csv.writer(file).writerows([("Prompt", "Expected response ", "Test Method Type"), *rows])
            found = read_one(path.parent, path.name, path.read_bytes())
        else:
            items = [{"turns": [{"prompt": turn} for turn in query["turns"]]} for query in queries]
            found = read_one(tmp_path / customer, "evals.json", json.dumps({"schemaVersion": "1.2.0", "items": items}))
        assert found.problems == ()
        assert [list(query.turns) for query in found.queries] == [query["turns"] for query in queries]


def test_no_file_of_a_real_agent_package_is_taken_for_an_eval_set_or_reported_as_a_stray() -> None:
    packages = sorted({path.parent for path in (CORPUS / "agents").rglob("manifest.json")})
    assert packages
    for package in packages:
        with pytest.raises(InputError, match="no eval set was found") as caught:
            read_eval_sets(WorkingTree(package), limits())
        assert [problem.file for problem in caught.value.problems] == ["."]
