from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.files.documents import Data
from incumbent.files.snapshot import WorkingTree
from incumbent.intake.agents.reading import read_specification
from incumbent.intake.eval_sets.folder import read_eval_sets
from incumbent.intake.expectation import MAX_PREFIXES, Expectation, ExpectedTools, expected_tools, understand
from incumbent.intake.specification import Tool
from incumbent.intake.tool_calls import ToolCall
from tests.factories import REPOSITORY
from tests.intake.agents.builders import make_limits

SEARCH = {"type": "object", "properties": {"q": {"type": "string"}}}


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ("A list.", "A list."),
        ("  ", None),
        ("", None),
        (None, None),
        (True, None),
        (42, "42"),
        (4.5, "4.5"),
        (["One", "Two"], "One"),
        ([], None),
        ([[], "Two"], None),
        ({}, None),
        ({"expected_response": "A list."}, "A list."),
        ({"Expected response": "A list."}, "A list."),
        ({"expectedOutput": "A list."}, "A list."),
        ({"expected_output": "", "expected": "A list."}, "A list."),
        ({"expected_output": None, "ideal": ["Yes", "yes"]}, "Yes"),
        ({"ideal": "Yes"}, "Yes"),
        ({"ideal": 7}, "7"),
        ({"ideal": 0}, "0"),
        ({"ideal": False}, None),
        ({"ground_truth": "42."}, "42."),
        ({"ground_truth": ["Paris", "paris"]}, "Paris"),
        ({"ground_truth": {"answer": "Paris", "source": "map"}}, "Paris"),
        ({"expected": {"content": "A list."}}, "A list."),
        ({"expected": {"content": " "}}, None),
        ({"expected": {"anything": "A list.", "score": 1}}, "A list."),
        ({"expected": {"one": "A", "two": "B"}}, None),
        ({"expected_outcome": "A room is booked", "scenario": "Books"}, "A room is booked"),
        ({"reference": "far", "expected_response": "near"}, "near"),
        ({"response": "what it said"}, "what it said"),
        ({"actual_output": "what it said", "actualOutput": "again"}, None),
        ({"sample": {"output_text": "what it said"}}, None),
        ({"item": {"correct_label": "Hardware"}, "sample": {"output": "x"}}, "Hardware"),
        ({"item": {"ground_truth": "a"}, "expected_response": "b"}, "b"),
        ({"item": ["no mapping"]}, None),
        ({"Ausgabe": "Eine Liste.", "data_mapping": {"ground_truth": "Ausgabe"}}, "Eine Liste."),
        ({"Ausgabe": "Eine Liste.", "data_mapping": {"ground_truth": "${data.Ausgabe}"}}, "Eine Liste."),
        ({"a": {"b": "Deep."}, "data_mapping": {"ground_truth": "{{ item.a.b }}"}}, "Deep."),
        ({"a.b": "Flat.", "data_mapping": {"ground_truth": "{{item.a.b}}"}}, "Flat."),
        ({"a": "x", "ground_truth": "y", "data_mapping": {"ground_truth": "a"}}, "x"),
        ({"ground_truth": "y", "data_mapping": {"ground_truth": "gone"}}, "y"),
        ({"ground_truth": "y", "data_mapping": {"ground_truth": "{{sample.output_text}}"}}, "y"),
        ({"ground_truth": "y", "data_mapping": ["ground_truth"]}, "y"),
        ({"ground_truth": "y", "data_mapping": {"ground_truth": 7}}, "y"),
    ],
)
def test_the_answer_of_a_query_with_one_turn(expected: Any, answer: str | None) -> None:
    assert understand(expected) == Expectation((answer,), ())
    assert understand(expected).answer == answer


@pytest.mark.parametrize(
    ("expected", "turns", "answers"),
    [
        ({"turns": [{"expected_response": "a"}, {}]}, 2, ("a", None)),
        ({"turns": [{"expected_response": "a"}, {}], "expected_response": "whole"}, 2, ("a", "whole")),
        ({"turns": [{"expected_response": "a"}, {"ideal": "b"}], "expected_response": "whole"}, 2, ("a", "b")),
        ({"turns": ["a", "b"]}, 2, ("a", "b")),
        ({"turns": ["a", None]}, 2, ("a", None)),
        ({"turns": [{"answer": "a"}], "expected": "z"}, 2, (None, "z")),
        ({"turns": [{"role": "user", "content": "Hi"}], "expected_outcome": "Done"}, 1, ("Done",)),
        ({"turns": "no list", "expected": "z"}, 2, (None, "z")),
        ({"expected": "z"}, 3, (None, None, "z")),
        ("z", 2, (None, "z")),
        ("z", 0, ()),
        ({"turns": []}, 0, ()),
        (
            {
                "conversation": {
                    "messages": [
                        {"role": "system", "content": "s"},
                        {"role": "user", "content": "a"},
                        {"role": "assistant", "content": "b", "ground_truth": "one"},
                        {"role": "assistant", "content": "b", "ground_truth": "unasked"},
                        {"role": "user", "content": "c"},
                        {"role": "assistant", "content": "d"},
                        "no message",
                    ]
                }
            },
            2,
            ("one", None),
        ),
        ({"conversation": {"messages": [{"role": "user", "content": "a"}]}, "ground_truth": "x"}, 1, ("x",)),
        ({"conversation": {"messages": [{"role": "user", "content": "a"}]}}, 3, (None, None, None)),
        ({"conversation": "c1", "expected": "z"}, 1, ("z",)),
    ],
)
def test_the_answers_of_several_turns(expected: Any, turns: int, answers: tuple[str | None, ...]) -> None:
    found = understand(expected, turns)
    assert found.answers == answers
    assert found.answer == (answers[-1] if answers else None)


@pytest.mark.parametrize(
    ("expected", "calls"),
    [
        ({"expected_tools": ["search", " book "]}, [ToolCall("search"), ToolCall("book")]),
        ({"metadata": {"expected_tools": ["search"], "tools": ["other"], "k": 1}}, [ToolCall("search")]),
        ({"expectedTools": [{"name": "search", "inputParameters": {"q": "x"}}]}, [ToolCall("search", {"q": "x"})]),
        ({"expected_tools": [{"name": "search", "input_parameters": {"q": "x"}}]}, [ToolCall("search", {"q": "x"})]),
        ({"expected_tools": '[{"name": "search", "inputParameters": {"q": 1}}]'}, [ToolCall("search", {"q": 1})]),
        ({"expected_tools": "search; book|cancel, pay"}, [ToolCall(x) for x in ("search", "book", "cancel", "pay")]),
        ({"expected_tools": "the agent should look it up"}, []),
        ({"expected_tools": "look it up; search"}, []),
        *(({"expected_tools": nothing}, []) for nothing in ("none", "N/A", "-", " null ")),
        ({"expected_tools": '[{"name": "search"'}, []),
        ({"expected_tools": '["search", NaN]'}, []),
        ({"expected_tools": "[" * 100_000}, []),
        ({"expected_tools": {"name": "search"}}, [ToolCall("search")]),
        ({"expected_tools": None}, []),
        ({"expected_tools": 7}, []),
        ({"expected_tools": [None, 7, True, "", " ", {}, {"name": 7}, {"name": " "}, ["search"]]}, []),
        ({"expected_tools": ["search", "search", {"name": "search"}]}, [ToolCall("search")]),
        (
            {"expected_tools": [{"name": "search", "args": {"q": 1}}, {"name": "search", "args": {"q": 2}}]},
            [ToolCall("search", {"q": 1}), ToolCall("search", {"q": 2})],
        ),
        (
            {"expected_tool_calls": [{"type": "function", "function": {"name": "search", "arguments": '{"q": 1}'}}]},
            [ToolCall("search", '{"q": 1}')],
        ),
        ({"tools": [{"name": "search", "description": "Searches", "parameters": SEARCH}]}, []),
        ({"tools": [{"type": "function", "function": {"name": "search", "parameters": SEARCH}}]}, []),
        ({"tools": [{"name": "search", "inputSchema": SEARCH}]}, []),
        ({"tools": [{"name": "leave", "parameters": {"type": "vacation"}}]}, [ToolCall("leave", {"type": "vacation"})]),
        ({"tool_calls": [{"name": "search"}], "tools_called": ["book"], "tool_definitions": [{"name": "x"}]}, []),
        ({"expected_actions": ["search", "book"]}, [ToolCall("search"), ToolCall("book")]),
        ({"ground_truth": ["look_up", "book"]}, [ToolCall("look_up"), ToolCall("book")]),
        ({"ground_truth": ["search", "book"], "actions": [{}]}, [ToolCall("search"), ToolCall("book")]),
        ({"ground_truth": ["search", "book"], "response": [{}]}, [ToolCall("search"), ToolCall("book")]),
        ({"ground_truth": ["search", "book"], "response": "text"}, []),
        ({"ground_truth": ["look_up", "a book"]}, []),
        ({"ground_truth": ["look_up", 7]}, []),
        ({"ground_truth": '["look_up", "book"]'}, [ToolCall("look_up"), ToolCall("book")]),
        (
            {"ground_truth": [["search", "book", ""], {"search": {"q": "x"}}]},
            [ToolCall("search", {"q": "x"}), ToolCall("book")],
        ),
        ({"ground_truth": [[], {"search": {}}]}, []),
        ({"ground_truth": [["search", 7], {}]}, []),
        ({"item": {"expected_tools": ["search"]}}, [ToolCall("search")]),
        ({"path": ["look_up"], "data_mapping": {"ground_truth": "{{item.path}}"}}, [ToolCall("look_up")]),
        (
            {"turns": [{"expected_tools": ["search"]}, {"expected_tools": ["book", "search"]}]},
            [ToolCall("search"), ToolCall("book")],
        ),
        (
            {
                "graders": [
                    {"type": "tool-calls", "config": {"required": [{"command": "list"}], "disallowed": ["delete"]}},
                    {"type": "tool-calls", "config": None},
                    {"type": "other", "config": {"required": ["x"]}},
                    "no grader",
                ]
            },
            [ToolCall("list"), ToolCall("delete", None, True)],
        ),
    ],
)
def test_the_tool_calls_that_are_expected(expected: Any, calls: list[ToolCall]) -> None:
    assert list(understand(expected, len(expected.get("turns", [1]))).tool_calls) == calls


def test_tools_in_the_ground_truth_are_no_answer() -> None:
    assert understand({"ground_truth": ["look_up", "book"], "expected_response": None}).answer is None
    assert understand({"ground_truth": ["look_up", "book"], "answer": "Done."}).answer == "Done."


def test_an_answer_far_down_is_none() -> None:
    deep: Any = "far"
    for _ in range(5000):
        deep = {"expected": deep}
    lists: Any = "far"
    for _ in range(5000):
        lists = [lists]
    assert understand(deep).answer is None
    assert understand({"ideal": lists}).answer is None
    calls = understand({"expected_tools": [{"name": "a", "args": lists}, {"name": "a", "args": lists}]}).tool_calls
    assert [call.name for call in calls] == ["a", "a"]


@pytest.mark.untraced
def test_many_calls_are_told_apart_in_no_time() -> None:
    calls: list[Any] = [{"name": "search", "arguments": {"q": number % 20_000}} for number in range(40_000)]
    assert len(understand({"expected_tools": calls}).tool_calls) == 20_000


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["[", '["a_b"]']),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("turns", "role", "expected", "ground_truth", "groundTruth", "ideal", "item", "output", "content"),
                    *("expected_tools", "tools", "name", "function", "arguments", "parameters", "graders", "config"),
                    *("required", "type", "data_mapping", "conversation", "messages", "actions"),
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(expected=VALUES, turns=st.integers(0, 4))
def test_anything_is_understood_somehow(expected: Any, turns: int) -> None:
    before = json.dumps(expected)
    found = understand(expected, turns)
    assert len(found.answers) == turns
    assert all(answer is None or answer.strip() for answer in found.answers)
    assert all(call.name == call.name.strip() != "" for call in found.tool_calls)
    assert json.dumps(expected) == before


@pytest.mark.parametrize(
    ("expected", "names"),
    [
        ({"expected_tool": "get_sleep"}, ["get_sleep"]),
        ({"expect_tool": "create_event"}, ["create_event"]),
        ({"expect": {"tools": ["lookup_order"], "contains_any": ["30"]}}, ["lookup_order"]),
        ({"reference_trajectory": [{"name": "issue_refund", "arguments": {"order": 7}}]}, ["issue_refund"]),
        ({"expected_tool": "none"}, []),
        ({"expected_tools": ["None", "-"]}, []),
    ],
)
def test_expected_tools_are_understood_by_the_names_that_people_give_them(expected: Data, names: list[str]) -> None:
    assert [call.name for call in understand(expected).tool_calls] == names


def test_calls_are_counted_as_often_as_they_are_expected() -> None:
    found = understand({"response": "Three numbers.", "tool_calls": ["load", "list", "load"]})
    assert [call.name for call in found.tool_calls] == ["load", "list"]
    assert (found.called, found.answer) == (("load", "list", "load"), "Three numbers.")


@pytest.mark.parametrize(
    ("expected", "turns", "called"),
    [
        ({"tool_calls": ["list"]}, 1, ["list"]),
        ({"tool_calls": [{"name": "list", "arguments": {"q": 1}}, {"name": "list"}]}, 1, ["list", "list"]),
        ({"tool_calls": '["list", "list"]', "answer": "x"}, 1, ["list", "list"]),
        ({"tool_calls": [{"id": "call_1", "name": "list"}]}, 1, []),
        ({"tool_calls": [{"type": "tool_call", "tool_call_id": "c", "name": "list"}]}, 1, []),
        ({"tool_calls": '[{"name": "list", "result": 7}]'}, 1, []),
        ({"tool_calls": ["list"], "tool_definitions": []}, 1, []),
        ({"tool_calls": ["list"], "actual_output": "x"}, 1, []),
        ({"tool_calls": ["list"], "response": [{"role": "assistant", "content": "x"}]}, 1, []),
        ({"expected_tools": ["list", "list"], "metadata": {"expected_tools": ["list"]}}, 1, ["list", "list"]),
        (
            {"ground_truth": ["look_up", "look_up"], "data_mapping": {"ground_truth": "ground_truth"}},
            1,
            ["look_up"] * 2,
        ),
        ({"turns": [{"expected_tools": ["list"]}, {"expected_tools": ["list"]}]}, 2, ["list", "list"]),
        ({"turns": [{"expected_tools": ["list"]}, {"expected_tools": []}]}, 2, ["list"]),
        (
            {
                "expected_output": {
                    "messages": [
                        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": {"name": "list"}}]},
                        {"role": "assistant", "content": "", "tool_calls": [{"id": "2", "function": {"name": "list"}}]},
                    ]
                }
            },
            1,
            ["list", "list"],
        ),
        (
            {
                "assert": [
                    {"type": "trajectory:tool-sequence", "value": {"steps": ["list", "get", "list"]}},
                    {"type": "trajectory:tool-used", "value": ["list", {"name": "drop", "max": 0}]},
                    {"type": "trajectory:tool-args-match", "value": {"name": "get", "args": {"q": 1}}},
                ]
            },
            1,
            ["list", "get", "list"],
        ),
        ({"constraints": {"expect_tools": ["list"], "reject_tools": ["drop"]}}, 1, ["list"]),
        ({"answer": "x", "incumbent": {"id": "e", "expected": {"tool_calls": ["list", "list"]}}}, 1, ["list", "list"]),
        ({"expected_tools": ["get"], "incumbent": {"id": "e", "expected": {"tool_calls": ["list"]}}}, 1, ["get"]),
    ],
)
def test_the_names_of_the_calls_in_order(expected: Any, turns: int, called: list[str]) -> None:
    found = understand(expected, turns)
    assert list(found.called) == called
    assert not found.no_tools


NO_CALL: list[Any] = ["none", "None", "no_tool", "no tools", "No-Tool-Call", "no function call", ["none"], [" NONE "]]
NOTHING: list[Any] = ["", "-", "n/a", "null", None, {}, [""], "nothing", 0]


@pytest.mark.parametrize(
    ("expected", "turns", "no_tools"),
    [
        (None, 1, False),
        ("none", 1, False),
        ({}, 1, False),
        # An empty list under a key that says what is expected.
        ({"expected_tools": []}, 1, True),
        ({"expectedTools": "[]"}, 1, True),
        ({"outputs": {"expected_tools": []}}, 1, True),
        ({"expect": {"tools": []}}, 1, True),
        ({"expected": {"tool_calls": []}}, 1, True),
        ({"item": {"expected_tool_calls": []}}, 1, True),
        ({"metadata": {"expected_tools": []}}, 1, True),
        ({"response": "Hello!", "tool_calls": []}, 1, True),
        ({"tool_calls": [], "notes": "A greeting."}, 1, True),
        # An empty list that a program wrote.
        ({"expected_tools": [], "tools_called": []}, 1, False),
        ({"tools": []}, 1, False),
        ({"outputs": {"answer": "x", "tool_calls": []}}, 1, False),
        ({"expected": [{"role": "assistant", "content": "x", "tool_calls": []}]}, 1, False),
        ({"tool_calls": [], "actual_output": "x"}, 1, False),
        ({"tool_calls": [], "latency": 7}, 1, False),
        ({"metadata": {"tools": []}}, 1, False),
        ({"ground_truth": []}, 1, False),
        ({"graders": [{"type": "tool-calls", "config": {"required": []}}]}, 1, False),
        ({"constraints": {"expect_tools": []}}, 1, False),
        # Words.
        *(({"expected_tools": words}, 1, True) for words in NO_CALL),
        ({"tools": "none"}, 1, True),
        ({"expected_tools": "none", "tools_called": []}, 1, True),
        *(({"expected_tools": words}, 1, False) for words in NOTHING),
        ({"expected_tools": "none; search"}, 1, False),
        ({"expected_tools": ["none", "search"]}, 1, False),
        # All turns, or nothing.
        ({"turns": [{"expected_tools": []}, {"expected_tools": "none"}]}, 2, True),
        ({"turns": [{"expected_tools": []}, {}]}, 2, False),
        ({"turns": [{"expected_tools": []}, {"expected_tools": ["search"]}]}, 2, False),
        ({"turns": []}, 0, False),
        # Assertions that refuse every call.
        ({"assert": [{"type": "trajectory:step-count", "value": {"type": "tool", "max": 0}}]}, 1, True),
        ({"assert": [{"type": "trajectory:step-count", "value": {"type": "tool", "pattern": "*", "max": 0}}]}, 1, True),
        (
            {"assert": [{"type": "trajectory:step-count", "value": {"type": "tool", "pattern": "a*", "max": 0}}]},
            1,
            False,
        ),
        ({"assert": [{"type": "trajectory:step-count", "value": {"type": "span", "max": 0}}]}, 1, False),
        ({"assert": [{"type": "trajectory:step-count", "value": {"type": "tool", "max": 3}}]}, 1, False),
        ({"assert": [{"type": "trajectory:tool-used", "value": {"pattern": "*", "max": 0}}]}, 1, True),
        ({"assert": [{"type": "trajectory:tool-used", "value": {"name": "search", "max": 0}}]}, 1, False),
        ({"assert": [{"type": "not-trajectory:tool-used", "value": {"pattern": "*"}}]}, 1, True),
        ({"assert": [{"type": "not-trajectory:tool-used", "value": "*"}]}, 1, True),
        ({"assert": [{"type": "not-trajectory:tool-used", "value": "search"}]}, 1, False),
        ({"constraints": {"reject_tools": ["*"]}}, 1, True),
        # A call that is named counts for more.
        ({"expected_tools": [], "metadata": {"expected_tools": ["search"]}}, 1, False),
        ({"expected_tools": [], "incumbent": {"id": "e", "expected": {"tool_calls": ["list"]}}}, 1, True),
        ({"answer": "x", "incumbent": {"id": "e", "expected": {"tool_calls": []}}}, 1, True),
    ],
)
def test_that_no_tool_is_to_be_called_is_said_plainly(expected: Any, turns: int, no_tools: bool) -> None:
    assert understand(expected, turns).no_tools is no_tools


@given(expected=VALUES, turns=st.integers(0, 4))
def test_what_is_called_and_what_is_not_agree(expected: Any, turns: int) -> None:
    found = understand(expected, turns)
    assert set(found.called) == {call.name for call in found.tool_calls if not call.unwanted}
    assert not (found.no_tools and found.called)


def names_of(found: ExpectedTools | None) -> tuple[str, ...] | None:
    return None if found is None else found.names


def make_tools(*names: str) -> tuple[Tool, ...]:
    return tuple(
        Tool(
            name=name,
            description="",
            protocol="rest",
            effect="read",
            effect_from="",
            confirmation=None,
            card=None,
            auth=None,
            declared_in="a.json",
        )
        for name in names
    )


@pytest.mark.parametrize(
    ("called", "names", "meant"),
    [
        ("listIssues", ["listIssues", "getIssue"], "listIssues"),
        ("listissues", ["listIssues", "getIssue"], "listIssues"),
        ("list_issues", ["listIssues", "list-issues"], None),
        ("list-issues", ["listIssues", "list-issues"], "list-issues"),
        ("List issues", ["listIssues"], "listIssues"),
        *(
            (f"tracker{mark}listIssues", ["listIssues", "getIssue"], "listIssues")
            for mark in (".", "__", "-", "/", ":")
        ),
        *((f"tracker{mark}list_issues", ["listIssues"], "listIssues") for mark in (".", "__", "-", "/", ":")),
        ("mcp__tracker__listIssues", ["listIssues", "tracker__listIssues"], "tracker__listIssues"),
        ("tracker_listIssues", ["listIssues"], None),
        ("tracker.list", ["listIssues"], None),
        ("list", ["tracker.list"], "tracker.list"),
        ("LIST", ["tracker__list"], "tracker__list"),
        ("list", ["tracker.list", "files.list"], None),
        ("tracker.list", ["tracker__list", "files.list"], "tracker__list"),
        ("mail.list", ["tracker.list"], None),
        ("tracker.search", ["search", "Search"], "search"),
        ("tracker.SEARCH", ["search", "Search"], None),
        ("tracker.", ["tracker"], "tracker"),
        ("...", ["_", "-"], None),
        ("-", ["-"], None),
        ("*", ["*"], None),
        ("search", [], None),
        ("search", ["search", "search"], "search"),
        ("a." * MAX_PREFIXES + "search", ["search"], "search"),
        ("a." * (MAX_PREFIXES + 1) + "search", ["search"], "search"),
        ("listIssues", ["listIssues", "*"], "listIssues"),
        ("tracker.LIST_ISSUES", ["listIssues", "*"], "listIssues"),
        ("elsewhere", ["listIssues", "*"], "*"),
        ("elsewhere", ["*"], "*"),
        ("list_issues", ["listIssues", "list-issues", "*"], None),
        ("*", ["listIssues", "*"], None),
        ("...", ["*"], None),
    ],
)
def test_a_name_means_the_one_declared_tool_that_it_fits(called: str, names: list[str], meant: str | None) -> None:
    found = expected_tools({"expected_tools": [called]}, 1, make_tools(*names))
    assert found == (None if meant is None else ExpectedTools(steps=((meant,),), different=1))


@pytest.mark.parametrize(
    ("expected", "turns", "found"),
    [
        (None, 1, None),
        ({"expected_response": "A list."}, 1, None),
        ({"expected_tools": []}, 1, ()),
        ({"expected_tools": "none"}, 1, ()),
        ({"expected_tools": ["other"]}, 1, None),
        ({"expected_tools": ["get", "other", "list", "get"]}, 1, ("get", "list", "get")),
        ({"expected_tools": ["GET", "tracker.get"]}, 1, ("get", "get")),
        ({"turns": [{"expected_tools": ["list"]}, {"expected_tools": ["list", "get"]}]}, 2, ("list", "list", "get")),
        ({"graders": [{"type": "tool-calls", "config": {"disallowed": ["list"]}}]}, 1, ()),
        ({"constraints": {"expect_tools": ["get"], "reject_tools": ["list"]}}, 1, ("get",)),
    ],
)
def test_the_calls_that_an_eval_set_expects_of_declared_tools(
    expected: Any, turns: int, found: tuple[str, ...] | None
) -> None:
    assert names_of(expected_tools(expected, turns, make_tools("list", "get"))) == found


def test_an_agent_without_tools_calls_none_that_are_named() -> None:
    assert expected_tools({"expected_tools": ["list"]}, 1, ()) is None
    assert expected_tools({"expected_tools": []}, 1, ()) == ExpectedTools()


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (None, None),
        ({"expected_response": "A list."}, None),
        ({"expected_tools": []}, ()),
        ({"expected_tools": ["list", "get", "list"]}, ("*", "*", "*")),
        ({"expected_tools": ["*"]}, None),
        ({"constraints": {"reject_tools": ["list"]}}, None),
    ],
)
def test_without_a_word_on_tools_every_name_is_that_of_one_that_is_not_listed(
    expected: Any, found: tuple[str, ...] | None
) -> None:
    assert names_of(expected_tools(expected, 1, None)) == found


@pytest.mark.untraced
def test_many_names_are_told_apart_in_no_time() -> None:
    tools = make_tools(*(f"server-{number}.tool-{number}" for number in range(500)), "a." * 100_000)
    calls: list[Any] = [*(f"tool_{number}" for number in range(30_000)), "b." * 500_000]
    assert names_of(expected_tools({"expected_tools": calls}, 1, tools)) == tuple(
        f"server-{number}.tool-{number}" for number in range(500)
    )


def test_the_calls_of_the_examples_are_understood() -> None:
    folder = WorkingTree(REPOSITORY / "examples" / "customers" / "northwind-tracker" / "tracker")
    tools = read_specification(folder, make_limits()).tools or ()
    (eval_set,) = read_eval_sets(folder, make_limits())
    found = {query.id: names_of(expected_tools(query.expected, len(query.turns), tools)) for query in eval_set.queries}
    assert {name: calls for name, calls in found.items() if calls is not None} == {
        **dict.fromkeys(("q01", "q04", "q05", "q06", "q14", "q16"), ("listIssues",)),
        **dict.fromkeys(("q10", "q13", "q15"), ("createIssue",)),
        **dict.fromkeys(("q03", "q17"), ()),
        "q07": ("getTeamWorkload",) * 3,
        "q08": ("listIssues", "getTeamWorkload", "createIssue"),
        "q09": ("listMilestones", "createIssue"),
        "q12": ("listIssues", "listIssues", "getTeamWorkload"),
        "q18": ("listMilestones", "listIssues", "getIssue"),
    }


NAMES = st.text(alphabet="abAB._-/:*", max_size=8)


# With a mark before it a name must not be called.
@given(
    called=st.lists(NAMES.filter(lambda name: not name.startswith("-")), max_size=5),
    declared=st.lists(NAMES, max_size=5),
)
def test_only_declared_names_come_out_and_exact_ones_always(called: list[Data], declared: list[str]) -> None:
    found = names_of(expected_tools({"expected_tools": called}, 1, make_tools(*declared)))
    assert set(found or ()) <= set(declared)
    exact = Counter(name for name in called if name in declared and name not in ("", "*"))
    assert exact <= Counter(found or ())
    assert found is None or len(found) <= len(called)
    assert (found == ()) == (called == [])
