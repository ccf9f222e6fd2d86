from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from incumbent.files.documents import as_mapping
from incumbent.intake.eval_sets.formats.azure_ai_evaluation import READER
from incumbent.intake.expectation import understand
from incumbent.intake.query import EvalSet
from incumbent.intake.tool_calls import ToolCall
from tests.intake.eval_sets.folders import check_one_fault, messages_of, read_one, turns

FIRST = {"query": "before", "response": "x"}
LAST = {"query": "after", "response": "x"}
SYSTEM = {"role": "system", "content": "You help."}
HISTORY = [
    SYSTEM,
    {"role": "user", "createdAt": "2025-04-04T20:48:01Z", "content": [{"type": "text", "text": "Rooms?"}]},
    {"role": "assistant", "content": [{"type": "tool_call", "tool_call_id": "c", "name": "list_rooms"}]},
    {"role": "tool", "tool_call_id": "c", "content": [{"type": "tool_result", "tool_result": ["4"]}]},
    {"role": "assistant", "content": "Room 4."},
    {"role": "user", "content": "Book it."},
]


def read_lines(folder: Path, *records: Any) -> EvalSet:
    """The eval set with these records, one a line."""
    return read_one(folder, "evals.jsonl", "".join(json.dumps(record) + "\n" for record in records))


def read_table(folder: Path, *rows: list[str]) -> EvalSet:
    """The eval set with these rows, the first being the header."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return read_one(folder, "evals.csv", text.getvalue())


@pytest.mark.parametrize(
    ("record", "spoken", "expected"),
    [
        (
            {"query": "Rooms?", "response": "Room 4.", "context": "c", "ground_truth": "g"},
            ("Rooms?",),
            {"response": "Room 4.", "context": "c", "ground_truth": "g"},
        ),
        ({"response": "Room 4.", "query": "Rooms?"}, ("Rooms?",), {"response": "Room 4."}),
        ({"query": "Rooms?", "response": None}, ("Rooms?",), {"response": None}),
        (
            {"query": HISTORY, "response": [{"role": "assistant", "content": "Done."}], "tool_definitions": {"a": 1}},
            ("Rooms?", "Book it."),
            {
                "query": HISTORY,
                "response": [{"role": "assistant", "content": "Done."}],
                "tool_definitions": {"a": 1},
            },
        ),
        (
            {"conversation": {"messages": HISTORY, "context": {"citations": []}}},
            ("Rooms?", "Book it."),
            {"conversation": {"messages": HISTORY, "context": {"citations": []}}},
        ),
        ({"conversation": {"messages": HISTORY}, "query": None}, ("Rooms?", "Book it."), None),
        ({"conversation": HISTORY, "context": "x"}, ("Rooms?", "Book it."), None),
        ({"messages": HISTORY, "tool_definitions": []}, ("Rooms?", "Book it."), None),
        ({"messages": HISTORY, "query": "Book it.", "response": "x"}, ("Rooms?", "Book it."), None),
        ({"conversation": "c1", "query": "Rooms?", "context": ""}, ("Rooms?",), {"conversation": "c1", "context": ""}),
        ({"query": "[Urgent] Rooms?", "response": "x"}, ("[Urgent] Rooms?",), {"response": "x"}),
        ({"query": '["Rooms?"]', "response": "x"}, ('["Rooms?"]',), {"response": "x"}),
    ],
)
def test_records_are_read_with_all_that_is_expected(
    tmp_path: Path, record: Any, spoken: tuple[str, ...], expected: Any
) -> None:
    found = read_lines(tmp_path, FIRST, record)
    query = found.queries[-1]
    assert (found.format, found.problems) == (READER.name, ())
    assert (query.turns, query.line) == (spoken, 2)
    assert query.expected == (record if expected is None else expected)


def test_ids_are_kept_where_data_has_them(tmp_path: Path) -> None:
    found = read_lines(tmp_path, {**FIRST, "id": "a"}, {**LAST, "id": 7}, {"id": None, "query": "x", "response": "y"})
    assert [query.id for query in found.queries][:2] == ["a", "7"]
    assert found.queries[2].id.startswith("q-")
    assert all("id" not in as_mapping(query.expected) for query in found.queries)


def test_images_are_attachments(tmp_path: Path) -> None:
    content = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "https://x/y.png"}}]
    conversation = {"messages": [SYSTEM, {"role": "user", "content": content}]}
    (query,) = read_lines(tmp_path, {"conversation": conversation}).queries
    assert (query.turns, query.setup.attachments) == (("What is it?",), ("https://x/y.png",))
    assert query.expected == {"conversation": conversation}


@pytest.mark.parametrize(
    ("record", "message", "fix"),
    [
        ({"response": "x"}, "the record has no `query`", "write what the user says as `query`"),
        ({"qurey": "x", "response": "x"}, "perhaps you meant 'qurey'", "write what the user says as `query`"),
        ({"query": None, "response": "x"}, "the record has no `query`", "as `query`"),
        ({}, "the record has no `query`", "as `query`"),
        ({"query": "", "response": "x"}, "the query is empty", "write what the user says"),
        ({"query": " \n", "response": "x"}, "the query is empty", "write what the user says"),
        ({"query": 7, "response": "x"}, "query: must be a text or a list of messages", "in quotes"),
        ({"query": True, "response": "x"}, "query: must be a text or a list of messages", "in quotes"),
        ({"query": {}, "response": "x"}, "query: must be a text or a list of messages", "in quotes"),
        ({"query": [], "response": "x"}, "query: holds no message of the user", "add one"),
        ({"query": [SYSTEM], "response": "x"}, "query: holds no message of the user", "add one"),
        ({"query": [{"role": "robot"}]}, "query[0]: is no message of a known role", "role"),
        (
            {"query": [{"role": "user", "content": None}]},
            "query[0].content: must be a text or a list of parts",
            "quotes",
        ),
        ({"query": [{"role": "user", "content": ""}]}, "the query is empty", "write what the user says"),
        ({"query": [7, *HISTORY]}, "query[0]: is no message of a known role", "role"),
        ({"conversation": "c1", "response": "x"}, "conversation: must hold the messages", '"messages": ['),
        ({"messages": "x", "response": "x"}, "messages: must hold the messages", '{"messages": ['),
        ({"conversation": {"messages": []}}, "conversation.messages: holds no message of the user", "add one"),
        ({"conversation": {}}, "conversation: must be a text or a list of messages", "in quotes"),
        (
            {"conversation": {"messages": HISTORY}, "query": "x"},
            "both `conversation` and `query`",
            "remove one of them",
        ),
        ({"query": "x", "response": "x", "id": True}, "id: must be a string or a whole number", 'quotes: "true"'),
        ({"query": "x", "response": "x", "id": 1.5}, "id: must be a string or a whole number", 'quotes: "1.5"'),
        ({"query": "x", "response": "x", "id": ["a"]}, "id: must be a string or a whole number", "in quotes"),
        ({"query": "x", "response": "x", "id": ""}, "the id is empty", "write a short id"),
    ],
)
def test_a_broken_record_is_a_fault_at_its_line_and_the_others_are_read(
    tmp_path: Path, record: Any, message: str, fix: str
) -> None:
    found = read_lines(tmp_path, FIRST, record, LAST)
    assert turns(found) == ["before", "after"]
    check_one_fault(found, 2, message, fix)


def test_all_faults_of_a_record_are_told_at_once(tmp_path: Path) -> None:
    found = read_lines(tmp_path, FIRST, {"query": 7, "id": True, "response": "x"})
    assert [line for line, _ in messages_of(found)] == [2, 2]


def test_a_table_is_read_as_its_lines_would_be(tmp_path: Path) -> None:
    found = read_table(
        tmp_path,
        ["id", "query", "response", "ground_truth", "note"],
        ["a", "Rooms?", "Room 4.", '["list_rooms"]', ""],
        ["", json.dumps(HISTORY), "Done.", "", "x"],
        ["", "[Urgent] Rooms?", "", "", ""],
    )
    assert not found.problems
    assert [query.turns for query in found.queries] == [("Rooms?",), ("Rooms?", "Book it."), ("[Urgent] Rooms?",)]
    assert [query.expected for query in found.queries] == [
        {"response": "Room 4.", "ground_truth": '["list_rooms"]'},
        {"query": HISTORY, "response": "Done.", "note": "x"},
        None,
    ]
    assert found.queries[0].id == "a"
    assert [query.line for query in found.queries] == [2, 3, 4]


def test_conversations_in_a_table_are_read(tmp_path: Path) -> None:
    conversation = {"messages": HISTORY}
    found = read_table(
        tmp_path, ["conversation"], [json.dumps(conversation)], ['{"messages": [}'], [json.dumps(conversation)]
    )
    assert [query.turns for query in found.queries] == [("Rooms?", "Book it.")] * 2
    assert found.queries[0].expected == {"conversation": conversation}
    ((line, message),) = messages_of(found)
    assert line == 3
    assert message.startswith("conversation: not valid JSON")


@pytest.mark.parametrize(
    ("record", "answers", "calls"),
    [
        ({"query": "a", "response": "x", "ground_truth": "g"}, ("g",), []),
        ({"query": "a", "tool_calls": [{"name": "x"}], "tool_definitions": [{"name": "x"}]}, (None,), []),
        ({"query": "a", "ground_truth": ["look_up", "book"]}, (None,), [ToolCall("look_up"), ToolCall("book")]),
        (
            {"query": "a", "ground_truth": [["search"], {"search": {"q": "x"}}], "response": [{"role": "assistant"}]},
            (None,),
            [ToolCall("search", {"q": "x"})],
        ),
        ({"query": "a", "actions": [{}], "expected_actions": ["search"]}, (None,), [ToolCall("search")]),
        (
            {
                "conversation": {
                    "messages": [
                        {"role": "user", "content": "a"},
                        {"role": "assistant", "content": "b", "ground_truth": "g"},
                        {"role": "user", "content": "c"},
                    ]
                }
            },
            ("g", None),
            [],
        ),
    ],
)
def test_what_is_expected_is_understood(tmp_path: Path, record: Any, answers: Any, calls: list[ToolCall]) -> None:
    query = read_lines(tmp_path, FIRST, record).queries[-1]
    found = understand(query.expected, len(query.turns))
    assert (found.answers, list(found.tool_calls)) == (answers, calls)
