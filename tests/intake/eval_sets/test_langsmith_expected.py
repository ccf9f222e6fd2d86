"""What examples of LangSmith expect: answers and tool calls, in all the ways that outputs have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.intake.expectation import understand
from bot.intake.tool_calls import ToolCall
from tests.hostile.templates import json_lines
from tests.intake.eval_sets.folders import messages_of, read, read_one


def test_answer_and_tools_may_be_named(tmp_path: Path) -> None:
    columns = "{query: inputs.q, id: metadata.key, answer: outputs.result.text, tools: metadata.steps}"
    record = {
        "inputs": {"q": "a", "p": "b"},
        "outputs": {"result": {"text": "x"}, "draft": "y", "note": "z"},
        "metadata": {"key": 5, "steps": ["search", {"name": "book", "args": {"room": 4}}]},
        "expected_response": "kept",
    }
    (found,) = read(
        tmp_path,
        {
            "formats.yaml": f"formats: 1\nfiles: {{a.jsonl: {{format: langsmith, columns: {columns}}}}}\n",
            "a.jsonl": json_lines(record),
        },
    )
    assert messages_of(found) == []
    (query,) = found.queries
    assert (query.id, query.turns) == ("5", ("a",))
    assert query.expected == {
        "inputs": {"p": "b"},
        "outputs": {"draft": "y", "note": "z"},
        "expected_response (2)": "kept",
        "expected_response": "x",
        "expected_tools": record["metadata"]["steps"],  # type: ignore[index]
    }
    understood = understand(query.expected)
    assert understood.answer == "x"
    assert understood.tool_calls == (ToolCall("search"), ToolCall("book", {"room": 4}))


_CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}


@pytest.mark.parametrize(
    ("outputs", "answer", "tools"),
    [
        ({"answer": "x"}, "x", []),
        ({"expected_response": "x", "confidence": 0.5}, "x", []),
        ({"completion": "x"}, "x", []),
        ({"output": {"type": "ai", "data": {"content": "x"}}}, "x", []),
        ({"output": {"content": "x", "role": "assistant"}}, "x", []),
        ({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "x"}]}, "x", []),
        ({"messages": [{"type": "ai", "content": "", "tool_calls": [_CALL]}]}, None, ["search"]),
        (
            {
                "expected_output": {
                    "messages": [{"type": "ai", "content": "x", "tool_calls": [{"name": "f", "args": {}}]}]
                }
            },
            "x",
            ["f"],
        ),
        (
            {"messages": [{"type": "ai", "data": {"content": "x", "additional_kwargs": {"tool_calls": [_CALL]}}}]},
            "x",
            ["search"],
        ),
        ({"output": {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}}, None, ["f"]),
        ({"expected_trajectory": ["list_tables", "query"]}, None, ["list_tables", "query"]),
        ({"trajectory": ["a"], "response": "x"}, "x", ["a"]),
        ({"tool_calls": [{"name": "a", "args": {}}], "answer": "x"}, "x", ["a"]),
        (
            {"choices": [{"index": 0, "message": {"role": "assistant", "content": "x", "tool_calls": [_CALL]}}]},
            "x",
            ["search"],
        ),
        ({"generations": [[{"text": "x"}]]}, "x", []),
        ({"generations": [{"text": "x"}, {"text": "y"}]}, "x", []),
        ({"title": "x", "body": "y"}, None, []),
        ({}, None, []),
        (None, None, []),
        (["x"], "x", []),
    ],
)
@pytest.mark.parametrize("key", ["outputs", "reference_outputs"])
def test_outputs_are_the_expected_answer_and_calls(
    tmp_path: Path, key: str, outputs: Any, answer: str | None, tools: list[str]
) -> None:
    (query,) = read_one(
        tmp_path, "examples.json", json.dumps([{"inputs": {"question": "a"}, key: outputs, "dataset_id": "d"}])
    ).queries
    assert query.expected == {key: outputs, "dataset_id": "d"}
    understood = understand(query.expected)
    assert understood.answer == answer
    assert [call.name for call in understood.tool_calls] == tools


def test_what_was_said_before_in_the_inputs_is_not_expected(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "before", "tool_calls": [_CALL]},
        {"role": "user", "content": "b"},
    ]
    (query,) = read_one(
        tmp_path, "a.json", json.dumps([{"inputs": {"messages": said}, "outputs": {"answer": "x"}}])
    ).queries
    understood = understand(query.expected, len(query.turns))
    assert understood.answers == (None, "x")
    assert understood.tool_calls == ()


def test_chats_for_fine_tuning_are_read_with_the_answers_of_each_turn(tmp_path: Path) -> None:
    definition = {
        "type": "function",
        "function": {"name": "unused", "description": "d", "parameters": {"type": "object"}},
    }
    chat = {
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "x"},
            {"role": "user", "content": "b"},
            {"role": "assistant", "content": None, "tool_calls": [_CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "found"},
            {"role": "assistant", "content": "y"},
        ],
        "tools": [definition],
    }
    found = read_one(tmp_path, "chats.jsonl", json_lines(chat, {"messages": []}, {"messages": None}))
    assert found.format == "langsmith"
    assert [(line, text.partition(":")[0]) for line, text in messages_of(found)] == [(2, "messages"), (3, "messages")]
    (query,) = found.queries
    assert query.turns == ("a", "b")
    assert query.expected == chat
    understood = understand(query.expected, 2)
    assert understood.answers == ("x", "y")
    assert understood.tool_calls == (ToolCall("search", '{"q": "x"}'),)
