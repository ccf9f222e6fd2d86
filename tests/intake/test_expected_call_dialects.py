"""Expected tool calls as people and tools write them: what is read, what is a record, and what says nothing."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.intake.expectation import ExpectedTools, Order, expected_tools, understand
from incumbent.intake.tool_calls import ToolCall, call_syntax
from tests.intake.test_expectation import make_tools

FIND, BOOK = "find_slip", "book_slip"
TOOLS = make_tools(FIND, BOOK, "cancel", "Slips.listAll")
IS_TOOL = {FIND, BOOK, "cancel", "Slips.listAll"}.__contains__
ARGS = {"id": 4}


def found(expected: Any, turns: int = 1) -> ExpectedTools | None:
    return expected_tools(expected, turns, TOOLS)


def said(tool: str) -> list[dict[str, Any]]:
    """A user's message, and the agent's that calls a tool."""
    return [{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": [{"name": tool, "args": {}}]}]


ONE: dict[str, Any] = {
    # Keys by their words, in any spelling.
    "ADK": {"expected_tool_use": [{"tool_name": BOOK, "tool_input": ARGS}]},
    "camel case": {"expectedToolCalls": [{"toolName": BOOK, "args": ARGS}]},
    "kebab": {"expected-tool-calls": [BOOK]},
    "words": {"Expected Tool Calls": BOOK},
    "capitals": {"EXPECTED_TOOLS": BOOK},
    "no separators": {"expectedtooluse": BOOK},
    "the other way round": {"tools_expected": [BOOK]},
    "Ragas": {"reference_tool_calls": [{"name": BOOK, "args": ARGS}]},
    "Vertex": {"reference_trajectory": [{"tool_name": BOOK, "tool_input": ARGS}]},
    "Bedrock AgentCore": {"expectedTrajectory": {"toolNames": [BOOK]}},
    "Bedrock Converse": {"expected_calls": [{"toolUse": {"name": BOOK, "input": ARGS}}]},
    "Gemini": {"expected_function_calls": [{"functionCall": {"name": BOOK, "args": ARGS}}]},
    "OpenAI": {"required_tool_calls": [{"type": "function", "function": {"name": BOOK, "arguments": '{"id": 4}'}}]},
    "LangChain action": {"expected_actions": [{"action": {"tool": BOOK, "tool_input": ARGS}}]},
    "Anthropic": {"expected_tool_use": {"type": "tool_use", "name": BOOK, "input": ARGS}},
    "must": {"must_call": [BOOK]},
    "must be": {"mustBeCalled": BOOK},
    "must use": {"must-use": BOOK},
    "should": {"should_call_tool": BOOK},
    "called as expected": {"expected_tools_called": [BOOK]},
    "golden": {"golden_trajectory": [BOOK]},
    "correct": {"correct_function": BOOK},
    "ground truth": {"ground_truth_tool_calls": [BOOK]},
    "invocation": {"expected_invocations": [{"operationId": BOOK}]},
    "asserted": {"assertions": {"toolsUsed": [BOOK]}},
    # One level of nesting: either half of the words may be above.
    "MLflow": {"expectations": {"expected_tool_calls": [{"name": BOOK, "arguments": ARGS}]}},
    "nested halves": {"expectations": {"tool_calls": [{"name": BOOK}]}},
    "expect": {"expect": {"calls": [BOOK]}},
    "reference": {"reference": {"trajectory": [BOOK]}},
    "must nested": {"must": {"call": BOOK}},
    "halves the other way": {"tools": {"required": [BOOK]}},
    "Phoenix": {"metadata": {"expected_tool": BOOK}},
    "LangSmith": {"outputs": {"expected_trajectory": [BOOK]}},
    "Langfuse": {"expectedOutput": {"toolCalls": [{"name": BOOK, "args": ARGS}]}},
    "labels": {"labels": {"expected_tools": [BOOK]}},
    "a list of checks": {"evaluators": [{"type": "tool_match", "expected_tools": [BOOK]}]},
    "expected messages": {
        "expected_messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "tool": BOOK, "args": ARGS}]},
        ]
    },
    # Values.
    "steps": {"expected_trajectory": {"steps": [{"tool": BOOK, "parameters": ARGS}]}},
    "arguments by tool": {"expected_tools": {BOOK: ARGS}},
    "whether": {"expected_tools": {BOOK: True}},
    "JSON in a cell": {"expected_tools": json.dumps([{"name": BOOK, "args": ARGS}])},
    "JSON of JSON": {"expected_tools": json.dumps(json.dumps(json.dumps([BOOK])))},
    "a quoted name": {"expected_tools": f'"{BOOK}"'},
    "a bullet": {"expected_tools": f"- {BOOK}"},
    "a number": {"expected_tools": f"1. {BOOK}"},
    "code": {"expected_tools": f"`{BOOK}`"},
    "another server": {"expected_tools": [f"marina.{BOOK}"]},
    # Call syntax and declared names.
    "BFCL": {"ground_truth": [{BOOK: {"id": [4]}}]},
    "BFCL in Python": {"ground_truth": [f"{BOOK}(id=4)"]},
    "BFCL as a list": {"expected": f"[{BOOK}(id=4)]"},
    "call syntax anywhere": {"notes": f"{BOOK}(id=4)"},
    "call syntax in a list": {"checks": [{"about": f'{BOOK}(id=4, name="a, b (c)")'}]},
    "call syntax as JSON": {"label": f'{BOOK}({{"id": 4}})'},
    "an expected answer": {"expected": BOOK},
    "a reference": {"reference": [BOOK]},
    "an ideal answer": {"ideal": BOOK},
    "an answer in quotes": {"expected": json.dumps(BOOK)},
    "a call as an answer": {"expected": {"name": BOOK, "arguments": ARGS}},
    "calls as an answer": {"ideal": [{"type": "function", "function": {"name": BOOK, "arguments": "{}"}}]},
    "an answer in a cell": {"expected": json.dumps([{"tool_name": BOOK, "tool_input": ARGS}])},
    "needed": {"needs_tools": BOOK},
    "numbered columns": {"expected_tool_1": BOOK, "expected_tool_2": ""},
    "steps of an expectation": {"expected_steps": [{"tool": BOOK}]},
    "a list as Python writes it": {"expected_tools": f"['{BOOK}']"},
    "a list without quotes": {"expected_tools": f"[{BOOK}]"},
    "with a description": {"expected_tools": [{"name": BOOK, "parameters": ARGS, "description": "why"}]},
    "a plus": {"expected_tools": [f"+{BOOK}"]},
    "words behind names": {"expected_tools": {BOOK: "required", FIND: "optional"}},
    "beside the tools that there are": {"expected_tools": [BOOK], "tools": [FIND, BOOK, "cancel"]},
    "beside a call whose status is optional": {"expected_tools": [BOOK, {"name": FIND, "type": "optional"}]},
    "a call that is made once": {"expected_tools": [{"name": BOOK, "args": ARGS, "count": 1}]},
    "beside one that may be made": {"expected_tools": [BOOK, {"name": FIND, "required": False}]},
    "beside a recorded action": {"expected_actions": [BOOK], "actions": [f"{FIND}()"]},
    "a turn of ADK": {"conversation": [{"intermediate_data": {"tool_uses": [{"name": BOOK, "args": ARGS}]}}]},
}


@pytest.mark.parametrize("expected", ONE.values(), ids=ONE.keys())
def test_a_call_is_read_in_any_dialect(expected: Any) -> None:
    assert found(expected) == ExpectedTools(steps=((BOOK,),), different=1)


@pytest.mark.parametrize(
    ("expected", "steps"),
    [
        pytest.param({"expected_tools": f"{FIND} -> {BOOK}"}, [FIND, BOOK], id="an arrow"),
        pytest.param({"expected_tools": f"{FIND} then {BOOK}"}, [FIND, BOOK], id="then"),
        pytest.param({"expected_tools": [f"{FIND} -> {BOOK}"]}, [FIND, BOOK], id="an arrow in an item"),
        pytest.param({"expected_tools": f"{BOOK} and {FIND}"}, [BOOK, FIND], id="and"),
        pytest.param({"expected_tools": f"1. {BOOK}\n2. {FIND}"}, [BOOK, FIND], id="a numbered list"),
        pytest.param({"expected_calls": f"{FIND}(); {BOOK}(id=4)"}, [FIND, BOOK], id="call syntax"),
        pytest.param({"ground_truth": f"[{FIND}(), {BOOK}(id=4)]"}, [FIND, BOOK], id="call syntax in brackets"),
        pytest.param({"answer": f"{BOOK}(id={FIND}(night='x'))"}, [FIND, BOOK], id="a call in a call"),
        pytest.param({"expected_trajectory": {"ordered": [FIND, BOOK]}}, [FIND, BOOK], id="ordered"),
        pytest.param({"expected_tools": [[FIND, BOOK]]}, [FIND, BOOK], id="the list of the only turn"),
        pytest.param({"expected_tools": {FIND: {}, BOOK: ARGS}}, [FIND, BOOK], id="arguments by tool"),
        pytest.param(
            {"expected_tools": [BOOK], "required_tools": [FIND, BOOK]}, [BOOK, FIND], id="two keys, each once"
        ),
        pytest.param({"expected": f"{FIND} → {BOOK}"}, [FIND, BOOK], id="an answer that names calls"),
        pytest.param({"expected_tools": [BOOK, "think"]}, [BOOK], id="an undeclared one is ignored"),
    ],
)
def test_several_calls_keep_their_order(expected: Any, steps: list[str]) -> None:
    statement = found(expected)
    assert statement is not None
    assert statement.steps == tuple((name,) for name in steps)


@pytest.mark.parametrize(
    "expected",
    [
        {"expected_tools": {"any_of": [FIND, BOOK]}},
        {"expected_tools": [{"anyOf": [FIND, BOOK]}]},
        {"expected_tools": {"one_of": [{"name": FIND}, {"name": BOOK, "args": ARGS}]}},
        {"expected_tools": f"{FIND} or {BOOK}"},
        {"expected_tools": [f"{FIND} or {BOOK}"]},
        {"expected_any_tool": [FIND, BOOK]},
        {"acceptable_tools": [FIND, BOOK]},
        {"expected_tools": f"either {FIND} or {BOOK}"},
        {"expected_tools": [f"Either {FIND} or {BOOK}"]},
        {"must_call_one_of": f"{FIND}, {BOOK}"},
        {"expectations": {"acceptable_tools": [FIND, BOOK]}},
        {"expect": {"tools": {"either": [FIND, BOOK]}}},
    ],
)
def test_alternatives_are_one_call(expected: Any) -> None:
    assert found(expected) == ExpectedTools(steps=((FIND, BOOK),), different=1)


@pytest.mark.parametrize(
    "expected",
    [
        {"forbidden_tools": [FIND]},
        {"must_not_call": FIND},
        {"shouldNotUse": [FIND]},
        {"disallowed-tools": f'["{FIND}"]'},
        {"expect": {"not_called": [FIND]}},
        {"expected_tools": {"forbidden": [FIND]}},
        {"expected_tools": {FIND: False}},
        {"expected_tools": [{"name": FIND, "max": 0}]},
        {"assertions": {"toolsNotUsed": [FIND]}},
        {"assertions": [{"type": "tool_not_called", "tool": FIND}]},
        {"prohibited_calls": f"{FIND}()"},
        {"forbidden_tools": [[f"{FIND}"]]},
        {"constraints": {"forbidden_tools": [FIND]}},
        {"expected_tools": [f"!{FIND}"]},
        {"expected_tools": f"!{FIND}"},
        {"expected_tools": {FIND: 0}},
        {"expected_tools": [{"name": FIND, "forbidden": True}]},
        {"expected_tools": [{"name": FIND, "called": False}]},
        {"expected_tools": [{"name": FIND, "status": "forbidden"}]},
        {"expected_tools": [{"name": FIND, "expectation": "not_called"}]},
        {"expected_tools": {FIND: "forbidden"}},
        {"expected_tools": {FIND: "no"}},
        {"expected_tools": {FIND: {"max": 0}}},
        {"expected_tools": [f"-{FIND}"]},
        {"expected_tools": [f"~{FIND}"]},
        {"expected_tools": [f"not: {FIND}"]},
        {"expected_tools": [f"!{FIND}(night='x')"]},
        *(
            {key: [FIND]}
            for key in ("wrong_tools", "bad_tool_calls", "tools_not_allowed", "dont_call", "tool_blacklist")
        ),
        # In call syntax, under any key that forbids.
        {"forbidden": [f"{FIND}()"]},
        {"expect": {"not": [f"{FIND}()"]}},
        {"expectations": {"must_not": [f"{FIND}()"]}},
        {"checks": [{"disallowed": f"{FIND}()"}]},
        {"wrong_calls": [f"{FIND}()"]},
        {"turns": [{"forbidden": [f"{FIND}()"]}]},
    ],
)
def test_forbidden_tools_state_no_call(expected: Any) -> None:
    assert found(expected) == ExpectedTools(forbidden=(FIND,), states_calls=False, order=None)
    both = found({**expected, "required_calls": [BOOK]})
    assert both == ExpectedTools(steps=((BOOK,),), forbidden=(FIND,), different=1)


@pytest.mark.parametrize(
    ("expected", "is_stated"),
    [
        *(
            ({key: []}, True)
            for key in ("expected_tool_use", "expectedToolCalls", "reference_trajectory", "golden_tools")
        ),
        ({"expectations": {"tool_calls": []}}, True),
        ({"conversation": [{"intermediate_data": {"tool_uses": []}}]}, True),
        ({"expected_tool_call": False}, True),
        ({"expected_tool_call": "FALSE"}, True),
        ({"tool_call_expected": "no"}, True),
        ({"should_call_tool": False}, True),
        ({"expect": {"no_tools": True}}, True),
        ({"expected": {"no_tool_call": True}}, True),
        ({"expected_no_tool": True}, True),
        ({"tools": {"expected": []}}, True),
        ({"expected_no_tool": False}, False),
        ({"tool_call_expected": "yes"}, False),
        ({"required_tools": {"names": []}}, False),
        ({"should_not_call_tools": True}, True),
        ({"must_not_call": ["*"]}, True),
        ({"expected_tools": {"none_of": ["*"]}}, False),
        ({"requires_tool": False}, False),
        ({"expected_tool_call": True}, False),
        ({"expected_tool_use": "[]"}, True),
        ({"expected_trajectory": {"tool_names": []}}, True),
        ({"expected_trajectory": {"required": []}}, False),
        ({"must_not_call": 1}, False),
        # An empty demand demands nothing.
        *(({key: []}, False) for key in ("required_tools", "must_call", "forbidden_tools", "should_use")),
        ({"tools": {"required": []}}, False),
    ],
)
def test_an_empty_list_is_a_statement_where_calls_are_expected(expected: Any, is_stated: bool) -> None:
    assert found(expected) == (ExpectedTools() if is_stated else None)


RECORDS: dict[str, Any] = {
    **{key: {key: [{"name": BOOK}]} for key in ("tools_called", "tools_used", "actual_tool_calls", "called_tools")},
    **{
        key: {key: f"{BOOK}(id=4)"} for key in ("actual_output", "response", "outputs", "output", "prediction", "input")
    },
    "predicted": {"predicted_trajectory": [BOOK]},
    "messages": {"messages": [{"role": "assistant", "content": f"{BOOK}(id=4)"}]},
    "history": {"conversation_history": [f"{BOOK}(id=4)"]},
    "identifiers": {"tool_calls": [{"id": "1", "name": BOOK}]},
    "beside an actual answer": {"tool_calls": [{"name": BOOK}], "actual_output": "x"},
    "actions of a run": {"actions": [{"name": BOOK}]},
    **{
        key: {key: [f"{BOOK}(id=4)"]}
        for key in ("actions", "tool_uses", "invocations", "steps_taken", "bot_reply", "assistant", "context")
    },
    "definitions": {"tool_definitions": [{"name": BOOK, "parameters": {"type": "object"}}]},
    "available": {"available_tools": [BOOK]},
    "definitions of tools": {"tools": [{"name": BOOK, "parameters": {"type": "object"}}]},
    "metadata": {"metadata": {"tools": [BOOK]}},
    "definitions without types": {"tools": [{"name": BOOK, "description": "x", "parameters": {}}]},
    # An ordinary word with a remark in brackets, and what an answer must not say.
    **{
        key: {key: "Cancel (by phone)", "answer": "cancel(now)"}
        for key in ("expected_answer", "title", "notes", "expected")
    },
    "a text that must not be said": {"must_not_contain": [f"{BOOK}(id=1)"]},
    "a wrong answer": {"wrong_answer": f"{BOOK}(id=1)"},
    # What is about something else than calls denies none.
    **{key: {key: False} for key in ("should_use_markdown", "should_call_back", "must_use", "expected_action_items")},
    **{f"{key}: none": {key: "none"} for key in ("expected_action_items", "intended_use", "follow_up_action_needed")},
    "several tools, and no server": {"expected_tools": [f"{FIND}/{BOOK}", f"{FIND}.{BOOK}"]},
    # Words that only look like those of a key.
    **{
        key: {key: BOOK}
        for key in ("expected_user", "expected_transaction", "reference_use_case", "expected_tool_output")
    },
    "arguments": {"expected_tool_args": {"name": BOOK}},
    "a count": {"expected_tool_calls_count": 2},
    # Values that are no calls.
    "prose": {"expected_tools": f"The agent should call {BOOK} with the id."},
    "prose about alternatives": {"expected_tools": "the first or the second"},
    "a flag": {"expected_tool_call": True},
    "an undeclared tool": {"expected_tools": ["elsewhere"]},
    "undeclared call syntax": {"notes": "elsewhere(id=4)"},
    "an ordinary word": {"expected": "cancel"},
    "some calls": {"notes": [f"{BOOK}(id=4)", "and so on"]},
    "unfinished": {"notes": f"{BOOK}(id=4"},
    "arguments alone": {"expected_tools": [{"arguments": {"id": 4}}]},
    "a whole table as a key": {"expected tools of this table" * 10: BOOK},
    "of the file": {"eval_set": {"expected_tools": [BOOK]}},
}


@pytest.mark.parametrize("expected", RECORDS.values(), ids=RECORDS.keys())
def test_a_record_of_a_run_states_nothing(expected: Any) -> None:
    assert found(expected) is None


@pytest.mark.parametrize(
    ("expected", "turns", "order"),
    [
        ({"expected_tools": []}, 1, "single"),
        ({"expected_tools": [BOOK]}, 1, "single"),
        ({"expected_tools": [{"any_of": [BOOK, FIND]}]}, 1, "single"),
        ({"expected_tools": [FIND, BOOK]}, 1, "several"),
        ({"expected_tools": [FIND, BOOK]}, 2, "several"),
        ({"expected_calls": [f"{BOOK}(id=1)", f"{BOOK}(id=2)"]}, 1, "several"),
        # It is left open whether these differ.
        ({"expected_tools": [BOOK, BOOK]}, 1, None),
        ({"expected_calls": [f"{BOOK}(id=1)", f"{BOOK}(id=1)"]}, 1, None),
        ({"expected_calls": [{"name": BOOK, "args": {"id": 1}}, {"name": BOOK}]}, 1, None),
        ({"expected_tools": [{"any_of": [BOOK, FIND]}, BOOK]}, 1, None),
        ({"expected_tools": [BOOK, "elsewhere"]}, 1, None),
        ({"expected_tools": [{"name": BOOK, "times": 2}]}, 1, None),
        ({"expected_tools": {BOOK: 2}}, 1, None),
        # By turn.
        ({"expected_tools": [[], []]}, 2, "single"),
        ({"expected_tools": [["none"], []]}, 2, "single"),
        ({"expected_tools": [{"turn": 2, "tools": [BOOK]}, {"turn": 1, "tools": [FIND]}]}, 2, "single"),
        ({"expected_tools": [{"turn": 1, "tool": BOOK}, {"turn": 1, "tool": FIND}]}, 2, "several"),
        ({"expected_tools": [{"turn": "1", "tools": [FIND]}, {"turn": "Turn 2", "tools": [BOOK]}]}, 2, "single"),
        ({"messages": [message for tool in (FIND, BOOK) for message in said(tool)]}, 2, "single"),
        ({"messages": [*said(FIND), {"role": "user", "content": "?"}, *said(BOOK)[1:], *said(FIND)[1:]]}, 2, "several"),
        ({"expected_tools": {BOOK: {"times": 2}}}, 1, None),
        ({"expected": [{"expected_tools": [FIND]}, {"expected_tools": [BOOK]}]}, 2, "single"),
        ({"expected_tools": [[FIND], [BOOK]]}, 2, "single"),
        ({"expected_tools": [[], [FIND, BOOK]]}, 2, "several"),
        ({"ground_truth": [[f"{FIND}()"], [f"{BOOK}(id=1)"]]}, 2, "single"),
        ({"turns": [{"expected_tools": [FIND]}, {"expected_tools": [BOOK]}]}, 2, "single"),
        ({"turns": [{"expected_tools": [FIND]}, {"expected_tools": [BOOK, FIND]}]}, 2, "several"),
        ({"turns": [{"expected_tools": [FIND]}, {}], "expected_tools": [BOOK]}, 2, "several"),
    ],
)
def test_number_and_order_of_calls(expected: Any, turns: int, order: Order | None) -> None:
    statement = found(expected, turns)
    assert statement is not None
    assert statement.order == order


REFERENCES: list[Any] = [
    *(
        "{{find_slip.id}}",
        "${find_slip.output.id}",
        "<find_slip>",
        "{find_slip[0].id}",
        "$find_slip.id",
        "find_slip.id",
    ),
    *("find_slip", "find_slip(night='x')", "{{ steps.1.output }}", "${step_1.id}", "<node-0>", "$1", "$1.id", "#E1"),
    *("API_call_0", "{{previous}}", "$prev.id", "{{result}}", "result_of_find_slip", "the output of find_slip"),
    *("previous_result", "Slip {{call_1.id}}, please", {"$ref": "0.id"}, {"from_call": 0}, [{"result_of": "x"}]),
    *("$var_1.id$", "<result of the first call>", "{output.id}", "{{find_slip_result.id}}", "{{findSlip.id}}"),
    *("{{lastResult.id}}", "{{prevResult}}", "$.find_slip.id", "[find_slip.id]", "{{#find_slip.id#}}"),
]
NO_REFERENCES: list[Any] = [
    *(
        "4",
        4,
        None,
        True,
        "",
        "{{customer_id}}",
        "${TENANT}",
        "<name>",
        "$50",
        "$50.00",
        "#1",
        "find a slip",
        "book_slip",
    ),
    *("Results from Tuesday", "result of the match", "Output of 30 kW", "last response time"),
    *("a result", "the output", "{{user.name}}", "step by step", {"reference": "x"}, "{", "find_slip and more"),
]


@pytest.mark.parametrize("value", REFERENCES, ids=str)
def test_an_argument_may_refer_to_an_earlier_call(value: Any) -> None:
    for held in (value, {"deep": [value]}, json.dumps({"x": value})):
        calls = [{"name": FIND}, {"name": BOOK, "args": {"id": held}}]
        assert found({"expected_calls": calls}).order == "chain"  # type: ignore[union-attr]
        assert found({"expected_calls": calls[::-1]}).order == "several"  # type: ignore[union-attr]


@pytest.mark.parametrize("value", NO_REFERENCES, ids=str)
def test_other_arguments_refer_to_nothing(value: Any) -> None:
    calls = [{"name": FIND}, {"name": BOOK, "args": {"id": value}}]
    assert found({"expected_calls": calls}).order == "several"  # type: ignore[union-attr]


def test_an_ordinary_word_is_no_name_of_an_earlier_call_but_an_id_is() -> None:
    for text in ("cancel", "cancel (old booking)", "cancel. then rebook", "{please cancel my stay}"):
        calls = [{"name": "cancel"}, {"name": BOOK, "args": {"kind": text}}]
        assert found({"expected_calls": calls}).order == "several"  # type: ignore[union-attr]
    calls = [{"id": "c1", "name": "cancel"}, {"name": BOOK, "args": {"kind": "{{c1.output.id}}"}}]
    assert found({"expected_calls": calls}).order == "chain"  # type: ignore[union-attr]


def test_what_one_turn_forbids_another_may_expect() -> None:
    turns = {"turns": [{"forbidden_tools": [FIND]}, {"expected_tools": [FIND]}]}
    assert found(turns, 2) == ExpectedTools(steps=((FIND,),), different=1)
    assert found({"expected": turns["turns"]}, 2) == ExpectedTools(steps=((FIND,),), different=1)
    denied = ExpectedTools(steps=((FIND,),), forbidden=(FIND,), different=1)
    assert found({"turns": [{"expected_tools": [FIND], "forbidden_tools": [FIND]}, {}]}, 2) == denied
    assert found({"forbidden_tools": [FIND], "turns": [{"expected_tools": [FIND]}, {}]}, 2) == denied


def test_a_tool_may_be_called_as_a_word_of_the_keys() -> None:
    tools = make_tools("list_slips", "call_pilot", FIND)
    both: list[Any] = [{"list_slips": {}, FIND: {}}, [{"call_pilot": {"id": 1}}, FIND]]
    for expected in both:
        statement = expected_tools({"expected_tools": expected}, 1, tools)
        assert statement is not None
        assert len(statement.steps) == 2


def test_blank_lines_cost_no_time() -> None:
    began = time.process_time()
    assert found({"expected": "x" + "\n " * 50_000 + "y"}) is None
    assert time.process_time() - began < 2


def test_what_is_far_down_in_arguments_refers_to_nothing() -> None:
    value: Any = "{{find_slip.id}}"
    for _ in range(40):
        value = [value]
    calls = [{"name": FIND}, {"name": BOOK, "args": {"id": value}}]
    assert found({"expected_calls": calls}).order == "several"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("f()", [ToolCall("f", {})]),
        ("f(x=1, y='a', z=None, w=[1, 2])", [ToolCall("f", {"x": 1, "y": "a", "z": None, "w": [1, 2]})]),
        ("f(x: 1)", [ToolCall("f", {"x": 1})]),
        ("f(1, 2)", [ToolCall("f", "1, 2")]),
        ("f(x=NaN, y=b c)", [ToolCall("f", {"x": "NaN", "y": "b c"})]),
        ("a.b-c(x=1);", [ToolCall("a.b-c", {"x": 1})]),
        ('f(x="a)\\")b")', [ToolCall("f", {"x": 'a)")b'})]),
        ("f(x=1) -> g(), h()", [ToolCall("f", {"x": 1}), ToolCall("g", {}), ToolCall("h", {})]),
        *((text, []) for text in ("", "f", "f(", "f)", "see f(x)", "f(x) is called", "(x)", "1(x)", "f(x))")),
        ("f(" * 30_000 + ")", []),
    ],
)
def test_call_syntax(text: str, calls: list[ToolCall]) -> None:
    assert list(call_syntax(text)) == calls


CELLS = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([FIND, BOOK, "none", "", f"{BOOK}(id=4)", "a b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "tool", "args", "any_of", "forbidden", "required", "tool_calls", FIND, "type"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        *(
            "expected_tools",
            "must_call",
            "forbidden_tools",
            "expectations",
            "expected",
            "ground_truth",
            "notes",
            "tools",
        ),
        *("tool_calls", "expect", "reference", "tools_called", "metadata", "answer", "outputs", "turns", "graders"),
    ]
)


@given(expected=st.dictionaries(KEYS, CELLS, max_size=4), turns=st.integers(1, 2))
def test_encoding_a_cell_as_json_never_changes_which_calls_are_read(expected: dict[str, Any], turns: int) -> None:
    read = understand(expected, turns, IS_TOOL)
    for key, value in expected.items():
        again = understand({**expected, key: json.dumps(value)}, turns, IS_TOOL)
        assert (again.tool_calls, again.wanted, again.no_tools) == (read.tool_calls, read.wanted, read.no_tools)


@pytest.mark.untraced
@pytest.mark.parametrize(
    "value",
    [
        "[" * 50_000,
        "f(" * 9_000 + ")" * 9_000,
        f"{BOOK}(" + "x=1," * 4_000 + ")",
        {"any_of": "x" * 100_000},
        [{"name": "{" * 10_000}] * 100,
        [[[[[[BOOK]]]]]] * 1_000,
        {"x" * 200: BOOK},
        " or " * 20_000,
        "->" * 20_000,
        "{{" * 9_000,
    ],
    ids=range(10),
)
def test_a_hostile_value_is_read_quickly(value: Any) -> None:
    for key in ("expected_tools", "notes", "must_not_call", "ground_truth", "expectations"):
        understand({key: value}, 2, IS_TOOL)
        found({key: [FIND, {"name": BOOK, "args": {"id": value}}]}, 2)
