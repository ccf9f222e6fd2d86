"""Files of other tools, as `docs/coming-from.md` names them: what becomes a turn, and what is carried along."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from incumbent.cli.main import run
from tests.factories import REPOSITORY

EXAMPLES: Final = REPOSITORY / "examples" / "coming-from"
AGENT: Final = REPOSITORY / "examples" / "customers" / "northwind-tracker" / "tracker"
TURNS: Final = {
    "openai-evals.jsonl": [
        ["Which issues block milestone Osprey? Answer as a table."],
        ["List my open issues.", "Close the oldest one."],
    ],
    "langsmith.jsonl": [["Who has the most open issues?"], ["File an issue: the search page is empty."]],
    "promptfooconfig.yaml": [["Which bug is the oldest?"], ["Translate the title of issue 12 into French."]],
}
CARRIED: Final = {
    "openai-evals.jsonl": {"input", "ideal"},
    "langsmith.jsonl": {"inputs", "outputs", "metadata"},
    "promptfooconfig.yaml": {"description", "vars", "assert", "prompt", "config"},
}


def entries(file: str, repository: Path) -> list[dict[str, Any]]:
    where = ("--customer", "contoso", "--agent", "tracker", "--agent-folder", str(AGENT))
    when = ("--by", "Kim", "--at", "2026-11-21T10:00:00Z")
    assert run(["init", "--repo", str(repository)]) == 0
    assert run(["import", str(EXAMPLES / file), *where, *when, "--repo", str(repository)]) == 0
    found = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in repository.glob("regression_set/*.yaml")]
    return sorted(found, key=lambda entry: TURNS[file].index(entry["turns"]))


def test_every_example_is_known_here() -> None:
    assert {path.name for path in EXAMPLES.iterdir()} == TURNS.keys()


@pytest.mark.parametrize("file", TURNS)
def test_a_file_of_another_tool_is_read_as_it_is(file: str, tmp_path: Path) -> None:
    found = entries(file, tmp_path)
    assert [entry["turns"] for entry in found] == TURNS[file]
    assert {key for entry in found for key in entry["expected"]} == CARRIED[file]


@pytest.mark.parametrize(
    ("file", "id"),
    [("langsmith.jsonl", "5a0c7d1e-4a51-4a0e-9c2c-1b1f6f0a7d01"), ("promptfooconfig.yaml", "oldest-bug")],
)
def test_ids_are_those_of_the_other_tool(file: str, id: str, tmp_path: Path) -> None:
    assert entries(file, tmp_path)[0]["id"].startswith(f"contoso-tracker-{id}-")
