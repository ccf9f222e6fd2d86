"""What an id may hold: it becomes an entry's id and the name of its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import InputError
from bot.files.snapshot import WorkingTree
from bot.intake.eval_sets.folder import read_eval_sets
from bot.intake.eval_sets.query_ids import fault_of_id
from bot.pipeline.submission import faults_of_names, read_package
from tests.factories import SHIPPED

MAIL = "kim.lee@northwind.com"
CARD = "4539-1488-0343-6467"
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    ("id", "holds"),
    [
        (MAIL, "an e-mail address"),
        (f"refund {CARD}", "a payment card number"),
        (f"{MAIL} pays {CARD}", "a payment card number and an e-mail address"),
        ("DE89 3704 0044 0532 0130 01", None),
        ("q07", None),
        ("support@northwind.com", None),
        ("2026-11-23-0001", None),
    ],
)
def test_an_id_names_nobody(id: str, holds: str | None) -> None:
    assert fault_of_id(id) == (None if holds is None else f"the id holds {holds}")


def test_a_row_with_such_an_id_is_a_fault_and_a_title_is_no_id(tmp_path: Path) -> None:
    text = f'eval_set: 1\nqueries:\n  - {{id: "{MAIL}", query: Show my bills}}\n  - {{query: Where is it?}}\n'
    (tmp_path / "evals.yaml").write_text(text, encoding="utf-8")
    (found,) = read_eval_sets(WorkingTree(tmp_path), SHIPPED.limits)
    ((problem),) = found.problems
    assert (problem.line, problem.message) == (3, "the id holds an e-mail address")
    assert "ids become names of files" in problem.fix
    assert MAIL not in str(problem)
    assert len(found.queries) == 1


@pytest.mark.parametrize(
    ("customer", "agent", "said"),
    [
        (MAIL, "desk", ["the name of the customer holds an e-mail address"]),
        ("acme", f"card {CARD}", ["the name of the agent holds a payment card number"]),
        (
            KEY,
            MAIL,
            ["the name of the agent holds an e-mail address", "the name of the customer holds what looks like a key"],
        ),
        ("acme", "desk", []),
    ],
)
def test_names_of_customers_and_agents_name_nobody(customer: str, agent: str, said: list[str], tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("agent: 1\nname: Desk\nplatform: x\n", encoding="utf-8")
    (tmp_path / "e.jsonl").write_text('{"query": "Show my bills"}\n', encoding="utf-8")
    assert sorted(problem.message for problem in faults_of_names(customer, agent, "folder")) == said
    if not said:
        assert read_package(WorkingTree(tmp_path), customer, agent, "folder", SHIPPED.limits).submission.queries
        return
    with pytest.raises(InputError) as caught:
        read_package(WorkingTree(tmp_path), customer, agent, "folder", SHIPPED.limits)
    assert sorted(problem.message for problem in caught.value.problems) == said
