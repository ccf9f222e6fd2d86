"""Remarks on expected calls: what was not understood, and what the agent does not declare."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from incumbent.files.snapshot import WorkingTree
from incumbent.intake.expectation_remarks import SHOWN, expectation_remarks
from incumbent.intake.query import Query
from incumbent.intake.specification import UNDECLARED, Tool
from incumbent.pipeline.submission import read_package
from tests.factories import SHIPPED
from tests.intake.test_expectation import make_tools

TOOLS = make_tools("find_slip", "book_slip", "cancel")
UNREAD = (
    "is not understood as a statement about tool calls / "
    "list the calls under `expected_tools`, or under `forbidden_tools` those that must not be made"
)


def remarks(*expected: Any, tools: tuple[Tool, ...] | None = TOOLS) -> list[str]:
    queries = [
        Query(id=f"q{number}", turns=("Hi",), expected=each, file="a.jsonl", line=number)
        for number, each in enumerate(expected, 1)
    ]
    return [
        f"{problem.line}: {problem.message} / {problem.fix}"
        for problem in expectation_remarks(queries, replace(UNDECLARED, tools=tools))
    ]


@pytest.mark.parametrize(
    ("expected", "path", "names"),
    [
        ({"tool": "book_slip"}, "tool", "book_slip"),
        ({"expected_tools": "It should call book_slip."}, "expected_tools", "book_slip"),
        ({"checks": [{"uses": ["cancel"]}]}, "checks.uses", "cancel"),
        ({"criteria": {"text": '["book_slip"]'}}, "criteria.text", "book_slip"),
        ({"rubric": "find_slip, then book_slip."}, "rubric", "find_slip, book_slip"),
        ({"plan": {"book_slip": {"id": 4}}}, "plan.book_slip", "book_slip"),
        ({"turns": [{"steps": ["book_slip"]}]}, "turns.steps", "book_slip"),
        ({"expected_tools": ["find_slip"], "then": "book_slip"}, "then", "book_slip"),
        ({"note": "book_slip(id=4) or so"}, "note", "book_slip"),
        ({"solution": {"tool_calls": [{"id": "1", "name": "book_slip"}]}}, "solution.tool_calls.name", "book_slip"),
    ],
)
def test_a_declared_tool_in_a_value_that_was_not_understood_is_remarked_on(
    expected: Any, path: str, names: str
) -> None:
    assert remarks(expected) == [f"1: q1: {path} names {names}, and {UNREAD}"]


@pytest.mark.parametrize("value", [7, 0, "7", [7], [None], {"weight": 1}, "It should look for the slip first."])
def test_expected_calls_that_are_neither_names_nor_calls_are_remarked_on(value: Any) -> None:
    (remark,) = remarks({"expected_tools": value})
    assert remark == f"1: q1: expected_tools has neither names nor calls of tools, and {UNREAD}"


@pytest.mark.parametrize("value", [None, True, False, "", "-", "n/a", [], {}, "none", ["none"], "*", "cancel"])
def test_an_empty_cell_or_what_is_understood_is_not(value: Any) -> None:
    assert remarks({"expected_tools": value} if value != "*" else {"forbidden_tools": value}) == []


@pytest.mark.parametrize(
    "expected",
    [
        None,
        "An answer.",
        {"expected_tools": ["book_slip"], "rubric": "It calls book_slip."},
        {"forbidden_tools": ["book_slip"], "rubric": "It does not call book_slip."},
        {"expected_tools": [], "rubric": "It does not call book_slip."},
        {"rubric": "The user may cancel."},
        {"rubric": "It calls rebook_slip or book_slips."},
        {"tools_called": ["book_slip"], "actual_output": "book_slip"},
        {"messages": [{"role": "assistant", "tool_calls": [{"name": "book_slip"}]}]},
        {"chat": [{"role": "assistant", "content": "book_slip"}]},
        {"tools": [{"name": "book_slip", "parameters": {"type": "object"}}]},
        {"catalogue": [{"name": "book_slip", "description": "Books."}]},
        {"tool_calls": [{"id": "1", "name": "book_slip"}]},
        {"eval_set": {"tool": "book_slip"}},
        {"deep": [[[[[[[[["book_slip"]]]]]]]]]},
    ],
)
def test_what_is_understood_or_a_record_is_not(expected: Any) -> None:
    assert remarks(expected) == []


@pytest.mark.parametrize(
    ("expected", "path"),
    [
        ({"expected_tools": [], "golden_path": "book_slip"}, "golden_path"),
        ({"forbidden_tools": ["book_slip"], "plan": {"next": "book_slip"}}, "plan.next"),
    ],
)
def test_a_name_alone_is_remarked_on_where_something_else_states_that_it_is_not_called(
    expected: Any, path: str
) -> None:
    assert remarks(expected) == [f"1: q1: {path} names book_slip, and {UNREAD}"]


def test_a_tool_that_is_expected_and_must_not_be_called_is_remarked_on() -> None:
    both = {"expected_tools": ["book_slip"], "forbidden_tools": ["book_slip"]}
    said = "book_slip is expected and must not be called; it counts as not called / take it out of one of the two"
    assert remarks(both) == [f"1: q1: {said}"]


def test_one_thing_is_remarked_on_once_and_many_are_a_number() -> None:
    assert remarks({"tool": "book_slip"}, {"tool": "find_slip"}) == [
        f"1: q1 and 1 more: tool names book_slip, find_slip, and {UNREAD}"
    ]
    many = remarks({f"k{number}": "book_slip" for number in range(SHOWN + 2)})
    assert len(many) == SHOWN + 1
    assert many[-1] == "1: 2 more remarks on expected tool calls are not shown / correct the others first"


def test_an_expected_tool_that_is_not_declared_is_remarked_on() -> None:
    (remark,) = remarks({"expected_tools": ["bok_slip", "find_slip"]})
    assert remark == (
        "1: q1: the agent does not declare the expected tool 'bok_slip', which is ignored; perhaps you meant "
        "'book_slip' / write the name as the agent declares it, or declare the tool"
    )
    assert len(remarks({"forbidden_tools": ["other"]}, {"must_call": ["other"]})) == 1
    assert len(remarks({"expected_tools": ["other"]}, tools=())) == 1
    # If not all tools are listed, it may be one of the others.
    assert remarks({"expected_tools": ["other"]}, tools=make_tools("*")) == []
    assert remarks({"expected_tools": ["other"]}, tools=None) == []


def test_remarks_are_notes_of_a_submission(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        "agent: 1\nname: Desk\nplatform: demo\ntools:\n"
        "  - {name: book_slip, description: Books a slip., protocol: rest, effect: write, auth: none}\n",
        encoding="utf-8",
    )
    (tmp_path / "q.jsonl").write_text('{"query": "Hi"}\n{"query": "Book it.", "tool": "book_slip"}\n', encoding="utf-8")
    package = read_package(WorkingTree(tmp_path), "harbour", "desk", "", SHIPPED.limits)
    (note,) = (note for note in package.submission.notes if "tool calls" in note.message)
    assert (note.file, note.line) == ("q.jsonl", 2)
