"""Real Vally specs and lists of queries that nobody on this project wrote, counted by other means."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from bot.intake.expectation import understand
from tests.intake.eval_sets.folders import read_one

pytestmark = pytest.mark.skipif("INCUMBENT_CORPUS" not in os.environ, reason="INCUMBENT_CORPUS is not set")
CORPUS = Path(os.environ.get("INCUMBENT_CORPUS", "."))
SPECS = sorted((CORPUS / "eval_formats").glob("vally_*"))
QUERIES = sorted((CORPUS / "queries").iterdir()) if (CORPUS / "queries").is_dir() else []


def test_there_are_real_files() -> None:
    assert len(SPECS) >= 2
    assert len(QUERIES) >= 7


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_a_real_vally_spec_is_read_without_loss(tmp_path: Path, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = read_one(tmp_path, path.name, text)
    names = re.findall(r"^  - name: (.+)$", text, re.MULTILINE)
    prompts = [prompt.strip('"') for prompt in re.findall(r"^    prompt: (.+)$", text, re.MULTILINE)]
    assert (found.format, found.problems) == ("vally", ())
    assert [query.id for query in found.queries] == names
    assert [query.turns for query in found.queries] == [(prompt,) for prompt in prompts]
    everything = json.dumps([query.expected for query in found.queries])
    for value in re.findall(r"(?:substring|command|threshold|executor|area|environment): (.+)$", text, re.MULTILINE):
        assert value.strip('"') in everything
    calls = [call for query in found.queries for call in understand(query.expected).tool_calls]
    assert len(calls) == len(re.findall(r"^            - name:", text, re.MULTILINE))


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.name)
def test_a_real_list_of_queries_is_read_without_loss(tmp_path: Path, path: Path) -> None:
    content = path.read_bytes()
    found = read_one(tmp_path, path.name, content)
    rows: list[dict[str, Any]] = [json.loads(line) for line in content.split(b"\n") if line.strip()]
    assert (found.format, found.problems) == ("plain-records", ())
    assert len(found.queries) == len(rows) == content.count(b"\n")
    for number, (query, row) in enumerate(zip(found.queries, rows, strict=True), 1):
        assert (query.id, list(query.turns), query.line) == (row.pop("qid"), row.pop("turns"), number)
        assert query.expected == row
        tools = [call.name for call in understand(query.expected).tool_calls]
        assert tools == list(dict.fromkeys(row["tools"] or []))
