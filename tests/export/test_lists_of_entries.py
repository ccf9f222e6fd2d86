"""The list of entries beside a test set of Copilot Studio, whatever people did to the two."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incumbent.files.snapshot import WorkingTree
from incumbent.intake.eval_sets.folder import read_eval_sets
from tests.factories import SHIPPED

LIST = "set.entries.json"
SETUP = {"cost": 2.0, "tenant": "test", "connectors": [], "fixtures": []}


def entry(id: str, prompt: str | None = None, file: str = "set.csv") -> dict[str, Any]:
    said = {} if prompt is None else {"prompt": prompt}
    return {"file": file, "case": 1, **said, "id": id, "setup": SETUP}


def read(folder: Path, prompts: list[str], listed: Any) -> list[tuple[str, str, float]]:
    (folder / "set.csv").write_text("\n".join(["Prompt,Expected response", *(f"{text},x" for text in prompts), ""]))
    (folder / LIST).write_text(json.dumps(listed))
    found = [item for item in read_eval_sets(WorkingTree(folder), SHIPPED.limits) if item.file == "set.csv"]
    return [(query.id, query.turns[0], query.setup.cost) for item in found for query in item.queries]


def test_rows_are_joined_by_what_they_ask_in_whatever_order(tmp_path: Path) -> None:
    listed = {"entries": [entry("e1", "Hi"), entry("e2", "Hi"), entry("e3", "Bye")]}
    assert read(tmp_path, ["Bye", "Hi", "Hi"], listed) == [("e3", "Bye", 2.0), ("e1", "Hi", 2.0), ("e2", "Hi", 2.0)]


@pytest.mark.parametrize(
    "listed",
    [
        {"entries": [entry("e1", "Hello")]},
        {"entries": [entry("e1")]},
        {"entries": [entry("e1", "Hi", file="other.csv")]},
        {"entries": {"e1": "Hi"}},
        {},
    ],
)
def test_what_is_about_other_rows_says_nothing(tmp_path: Path, listed: Any) -> None:
    ((id, text, cost),) = read(tmp_path, ["Hi"], listed)
    assert (id[:2], text, cost) == ("q-", "Hi", 1.0)


@pytest.mark.parametrize("content", [None, "{broken", "[]"])
def test_rows_without_a_list_that_can_be_read_are_read_all_the_same(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / LIST).write_text(content)
    (tmp_path / "set-01.csv").write_text("Prompt,Expected response\nHi,x\n")
    (found,) = [item for item in read_eval_sets(WorkingTree(tmp_path), SHIPPED.limits) if item.file == "set-01.csv"]
    assert [query.turns for query in found.queries] == [("Hi",)]
