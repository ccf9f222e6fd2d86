"""Remarks on queries that hold placeholders."""

from __future__ import annotations

from pathlib import Path

import pytest

from incumbent.files.snapshot import WorkingTree
from incumbent.intake.placeholder_remarks import SHOWN, placeholder_remarks
from incumbent.intake.query import Query
from incumbent.pipeline.submission import read_package
from tests.factories import SHIPPED

ASKED = "placeholders are judged as a neutral word"


def remarks(*texts: str, files: str = "a") -> list[str]:
    names = files.ljust(len(texts), files[-1])
    queries = [
        Query(id=f"q{number}", turns=(text,), file=f"{name}.jsonl", line=number)
        for number, (name, text) in enumerate(zip(names, texts, strict=True), 1)
    ]
    return [f"{item.file}:{item.line}: {item.message}" for item in placeholder_remarks(queries)]


@pytest.mark.parametrize(
    ("texts", "files", "found"),
    [
        (["Hi", "Hello <b>you</b>"], "a", []),
        (["Hi", "Hi {{name}}"], "a", [f"a.jsonl:2: q2: {ASKED}: {{{{name}}}}"]),
        (["In ${A}", "Hi", "To ${A} by ${B}"], "a", [f"a.jsonl:1: q1 and 1 more: {ASKED}: ${{A}}, ${{B}}"]),
        (["In ${A}", "To <city>"], "ab", [f"a.jsonl:1: q1: {ASKED}: ${{A}}", f"b.jsonl:2: q2: {ASKED}: <city>"]),
        (
            [f"In <place{number}>" for number in range(SHOWN + 2)],
            "a",
            [f"a.jsonl:1: q1 and 6 more: {ASKED}: <place0>, <place1>, <place2>, <place3>, <place4> and 2 more"],
        ),
    ],
)
def test_each_file_gets_one_remark(texts: list[str], files: str, found: list[str]) -> None:
    assert remarks(*texts, files=files) == found


def test_they_are_remarks_of_the_package(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("agent: 1\nname: Desk\nplatform: p\n", encoding="utf-8")
    (tmp_path / "evals.csv").write_text("id,query\nq1,Hi\nq2,Book a table in ${CITY}\n", encoding="utf-8")
    package = read_package(WorkingTree(tmp_path), "acme", "desk", "eval_sets/acme/desk", SHIPPED.limits)
    (note,) = [note for note in package.submission.notes if "placeholders" in note.message]
    assert (note.file, note.line) == ("evals.csv", 3)
    assert "${CITY}" in note.message
