"""Files that runners wrote of an exported set, asked a provider by script: what is read is what was done.

``written/`` has the files of promptfoo 0.123.1 (``--repeat 2``; and once a grader that fails), Inspect (two epochs),
DeepEval, the Azure AI Evaluation SDK and pytest, in the versions that `make test-runners` installs, without answers,
prompts and events.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from incumbent.ledger.releases.record import CaseResult
from incumbent.runners.results.reader import read_results, result_readers
from incumbent.runners.results.result_file import ResultFile
from incumbent.taxonomy.config import RESULT_FILES

FOLDER = Path(__file__).parent / "written"
ASKED = {
    "refunds-passed": ("Where is my refund?",),
    "refunds-failed": ("Please fail: cancel **all** orders",),
    "refunds-error": ("Please raise an error",),
    "refunds-flaps": ("Please flap",),
    "two-turns": ("Open a ticket", "Please fail at closing it"),
}
BY_FILE = {
    "promptfoo.json": (
        "promptfoo",
        [
            *[("refunds-error", "error")] * 2,
            *[("refunds-failed", "failed")] * 2,
            ("refunds-flaps", "passed"),
            ("refunds-flaps", "failed"),
            *[("refunds-passed", "passed")] * 2,
            *[("two-turns", "failed")] * 2,
            ("refunds-passed", "error"),
        ],
    ),
    "promptfoo_junit.xml": ("junit", [("refunds-passed", "failed")]),
    "inspect.json": (
        "inspect",
        [
            *[("refunds-error", "error"), ("refunds-failed", "failed")],
            *[("refunds-flaps", "passed"), ("refunds-passed", "passed")],
            *[("refunds-error", "error"), ("refunds-failed", "failed")],
            *[("refunds-flaps", "failed"), ("refunds-passed", "passed")],
        ],
    ),
    "deepeval.json": (
        "deepeval",
        [
            *[("refunds-error", "error"), ("refunds-failed", "failed")],
            *[("refunds-flaps", "failed"), ("refunds-passed", "passed")],
        ],
    ),
    "deepeval_conversation.json": ("deepeval", [("two-turns", "failed")]),
    "azure_ai_evaluation.json": (
        "azure-ai-evaluation",
        [
            *[("refunds-error", "error"), ("refunds-failed", "failed")],
            *[("refunds-flaps", "failed"), ("refunds-passed", "passed")],
        ],
    ),
    "pytest.xml": (
        "junit",
        [
            *[("refunds-passed", "passed"), ("refunds-failed", "failed"), ("refunds-error", "error")],
            *[("refunds-skipped", "skipped"), ("two-turns", "passed")],
        ],
    ),
}


def read(file: str) -> tuple[CaseResult, ...]:
    results, problems = read_results((FOLDER / file).read_bytes(), file, None, RESULT_FILES)
    assert problems == ()
    return results


def test_every_file_is_told_of() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(BY_FILE)


@pytest.mark.parametrize("file", BY_FILE)
def test_what_is_read_is_what_was_done(file: str) -> None:
    name, wanted = BY_FILE[file]
    source = ResultFile((FOLDER / file).read_bytes(), file, RESULT_FILES)
    assert [reader.name for reader in result_readers() if reader.fits(source)] == [name]
    results = read(file)
    assert [(item.entry, item.outcome.value) for item in results] == wanted
    # JUnit has no place for what was asked.
    assert [item.turns for item in results if name != "junit"] == [
        ASKED[entry] for entry, _ in wanted if name != "junit"
    ]


@pytest.mark.parametrize(
    ("file", "entry", "tokens", "cost"),
    [
        ("promptfoo.json", "refunds-failed", 12, 0.0015),
        ("promptfoo.json", "two-turns", 24, 0.003),
        # The provider failed before it stated any.
        ("promptfoo.json", "refunds-error", None, None),
        ("inspect.json", "refunds-flaps", 12, None),
        ("inspect.json", "refunds-error", None, None),
        ("deepeval.json", "refunds-passed", None, 0.003),
        ("azure_ai_evaluation.json", "refunds-passed", None, None),
    ],
)
def test_what_a_run_took(file: str, entry: str, tokens: int | None, cost: float | None) -> None:
    found = [item for item in read(file) if item.entry == entry and item.line is not None]
    assert {(item.tokens, item.cost) for item in found[:2]} == {(tokens, cost)}
    assert all(item.seconds is None or 0 <= item.seconds < 2 for item in found)
