"""What the real packages write of a run is read back as it was: entry by entry, outcome by outcome."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from bot.config import RESULT_FILES
from bot.curator.store import RegressionSet
from bot.export.plan import plan_export, writers
from bot.results.reader import read_results
from bot.results.record import match
from tests.factories import make_entry
from tests.runners.test_runners import loaded

ENTRIES = [
    make_entry(
        f"e{number}", {"a": 0.9}, turns=(f"What is {number} **times** two?",), expected={"response": f"it is {number}"}
    )
    for number in range(6)
]
KNOWN = RegressionSet({entry.id: entry for entry in ENTRIES}, {}, {})
PASSED, FAILED, ERROR = "passed", "failed", "error"
ONCE = {
    "e0": [PASSED],
    "e1": [FAILED],
    "e2": [ERROR],
    "e3": [PASSED],
    "e4": [FAILED],
    "e5": [PASSED],
}
TWICE = {id: [*first, PASSED] for id, first in ONCE.items()}


@pytest.mark.parametrize(
    ("runner", "writer", "file", "plan"),
    [
        ("inspect", "inspect", "regression_set.jsonl", TWICE),
        ("deepeval", "deepeval", "goldens.json", TWICE),
        ("azure", "azure-ai-evaluation", "regression_set.jsonl", ONCE),
    ],
)
def test_a_run_is_read_back_entry_by_entry(
    runner: str, writer: str, file: str, plan: dict[str, list[str]], tmp_path: Path
) -> None:
    for name, text in plan_export(ENTRIES, writers()[writer]).written.files.items():
        (tmp_path / name).write_bytes(text.encode())
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    loaded(runner, f"results_of_{runner}.py", tmp_path / file, tmp_path / "plan.json", tmp_path / "results.json")
    results, problems = read_results((tmp_path / "results.json").read_bytes(), "results.json", None, RESULT_FILES)
    assert problems == ()
    found = match(results, KNOWN)
    assert found.unmatched == ()
    for id, outcomes in plan.items():
        counts, read = Counter(outcomes), found.entries[id]
        assert (read.passed, read.failed, read.errors) == (counts[PASSED], counts[FAILED], counts[ERROR]), id
