"""What several agents bring is told apart, whatever names they chose."""

from __future__ import annotations

from pathlib import Path

import pytest

from incumbent.curator.entry import Source, entry_id
from incumbent.curator.store import RegressionSet
from incumbent.errors import InputError
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.query import Query
from incumbent.intake.specification import UNDECLARED
from incumbent.pipeline.submission import Package, Submission, read_package, refuse_shared_ids
from tests.factories import SHIPPED, make_entry

# Found by trying some hundred thousand names: the entries of both would have one id.
ONE, OTHER = "?!!!????!???!!?!", "??!!????!!!??!!??"
EMPTY = RegressionSet({}, {}, {})


def package(*items: str, customer: str = "harbour") -> Package:
    queries = tuple(
        Query(id=item, turns=("Which berth is free?",), file="evals.yaml", line=line)
        for line, item in enumerate(items, 1)
    )
    submission = Submission(customer=customer, agent="desk", folder="", queries=queries)
    return Package(submission=submission, specification=UNDECLARED)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("openapi.yaml", "openapi: 3.0.0\npaths:\n  /a: {get: {summary: L\xe4}}\n", 3),
        ("openapi.yaml", "openapi: 3.0.0\npaths:\n  /a: {}\n  /a: {}\n", 4),
        ("openapi.json", '{"openapi": "3.0.0",\n "paths": NaN}', 2),
        ("mcp.json", '{"tools": [{"name": "a",\n "inputSchema": {}', 2),
        ("openapi.json", '{"openapi": "3.0.0", "paths": ' + "[" * 500 + "]" * 500 + "}", 1),
    ],
    ids=["encoding", "a key twice", "not a number", "cut short", "nested deeply"],
)
def test_a_broken_file_of_the_agent_is_one_fault(tmp_path: Path, name: str, text: str, line: int) -> None:
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    (tmp_path / "q.jsonl").write_text('{"prompt": "Which berth is free?"}\n{"prompt": 5}\n', encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_package(WorkingTree(tmp_path), "harbour", "desk", "", SHIPPED.limits)
    first, *others = error.value.problems
    assert (first.file, first.line) == (name, line)
    assert "move it into a sub-folder" not in first.fix
    assert {problem.file for problem in others} == {"q.jsonl"}
    # Beside an agent it may be an eval set.
    (tmp_path / "agent.yaml").write_text("agent: 1\nname: Desk\nplatform: acme\n", encoding="utf-8")
    (fault,) = (
        problem
        for problem in read_package(WorkingTree(tmp_path), "harbour", "desk", "", SHIPPED.limits).submission.problems
        if problem.file == name
    )
    assert "move it into a sub-folder" in fault.fix


def test_the_names_share_an_id() -> None:
    assert entry_id("harbour", "desk", ONE) == entry_id("harbour", "desk", OTHER)


def test_the_second_of_two_queries_whose_entries_would_share_an_id_is_refused() -> None:
    (found,) = refuse_shared_ids([package(ONE, "a", OTHER)], EMPTY)
    assert [query.id for query in found.submission.queries] == [ONE, "a"]
    (problem,) = found.submission.problems
    assert (problem.file, problem.line, problem.fix) == ("evals.yaml", 3, "give the query another id")
    assert f"harbour/desk/{ONE}" in problem.message


def test_a_query_is_refused_whose_entry_would_have_the_id_of_one_in_the_set() -> None:
    id = entry_id("harbour", "desk", ONE)
    there = make_entry(id, {}, source=Source(customer="harbour", agent="desk", eval_set="evals.yaml", item=ONE))
    regression_set = RegressionSet({id: there}, {}, {})
    (found,) = refuse_shared_ids([package(OTHER)], regression_set)
    assert (found.submission.queries, len(found.submission.problems)) == ((), 1)
    (same,) = refuse_shared_ids([package(ONE)], regression_set)
    assert same.submission.problems == ()


def test_queries_of_several_agents_with_one_name_share_nothing() -> None:
    found = refuse_shared_ids([package(ONE), package(ONE, customer="pilots")], EMPTY)
    assert [each.submission.problems for each in found] == [(), ()]
