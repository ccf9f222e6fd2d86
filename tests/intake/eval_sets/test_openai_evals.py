from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incumbent.intake.eval_sets.formats.openai_evals import READER
from incumbent.intake.expectation import understand
from incumbent.intake.query import EvalSet
from incumbent.intake.tool_calls import ToolCall
from tests.intake.eval_sets.folders import messages_of, read, read_one, turns

SYSTEM = {"role": "system", "content": "Answer briefly."}
EXAMPLES = [
    {"role": "system", "name": "example_user", "content": "1+1?"},
    {"role": "system", "name": "example_assistant", "content": "2"},
]
USER = {"role": "user", "content": "2+2?"}
FIRST = {"input": "before", "ideal": "x"}
LAST = {"input": "after", "ideal": "x"}


def read_lines(folder: Path, *records: Any) -> EvalSet:
    """The eval set with these records, one a line."""
    return read_one(folder, "samples.jsonl", "".join(json.dumps(record) + "\n" for record in records))


@pytest.mark.parametrize(
    ("record", "spoken", "expected"),
    [
        ({"input": "2+2?", "ideal": "4"}, ("2+2?",), {"ideal": "4"}),
        ({"input": "2+2?", "ideal": ["4", "four"]}, ("2+2?",), {"ideal": ["4", "four"]}),
        ({"input": [SYSTEM, USER], "ideal": "4"}, ("2+2?",), None),
        ({"input": [SYSTEM, *EXAMPLES, USER], "ideal": "4"}, ("2+2?",), None),
        ({"input": [SYSTEM], "ideal": "4"}, ("Answer briefly.",), None),
        ({"input": [SYSTEM, {"role": "developer", "content": "2+2?"}], "ideal": "4"}, ("2+2?",), None),
        ({"input": [SYSTEM, *EXAMPLES], "ideal": "4"}, ("Answer briefly.",), None),
        ({"input": [SYSTEM, {"role": "assistant", "content": "Hi"}], "ideal": "4"}, ("Answer briefly.",), None),
        (
            {"input": [USER, {"role": "assistant", "content": "4"}, {"role": "user", "content": "And 3+3?"}]},
            ("2+2?", "And 3+3?"),
            None,
        ),
        ({"input": [USER], "ideal": "B", "choice_strings": ["A", "B"]}, ("2+2?",), None),
        ({"input": "2+2?", "ideal": "B", "choices": ["3", "4"], "args": {"a": 1}}, ("2+2?",), None),
        ({"input": [USER], "completion": "4", "choice": "Yes"}, ("2+2?",), None),
        ({"input": [USER], "criteria": "polite"}, ("2+2?",), None),
        ({"input": "2+2?"}, ("2+2?",), None),
    ],
)
def test_samples_are_read_with_all_that_is_expected(
    tmp_path: Path, record: Any, spoken: tuple[str, ...], expected: Any
) -> None:
    found = read_lines(tmp_path, FIRST, record)
    query = found.queries[-1]
    assert (found.format, found.problems) == (READER.name, ())
    assert (query.turns, query.line) == (spoken, 2)
    rest = {key: value for key, value in record.items() if key != "input" or isinstance(value, list)}
    assert query.expected == (rest or None if expected is None else expected)


def test_images_are_attachments(tmp_path: Path) -> None:
    content = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "https://x/y.png"}}]
    (query,) = read_lines(tmp_path, {"input": [{"role": "user", "content": content}], "ideal": "A cat"}).queries
    assert (query.turns, query.setup.attachments) == (("What is it?",), ("https://x/y.png",))


def test_a_list_in_json_is_read_as_lines_are(tmp_path: Path) -> None:
    found = read_one(tmp_path, "samples.json", json.dumps([{"input": "2+2?", "ideal": "4", "id": 3}]))
    (query,) = found.queries
    assert (query.id, query.turns, query.expected) == ("3", ("2+2?",), {"ideal": "4"})


@pytest.mark.parametrize(
    ("record", "message", "fix"),
    [
        ({"ideal": "x"}, "the sample has no `input`", "write the prompt as `input`"),
        ({"inptu": "x", "ideal": "x"}, "perhaps you meant 'inptu'", "as `input`"),
        ({"sample": [USER]}, "the sample has no `input`", "as `input`"),
        ({"input": None, "ideal": "x"}, "the sample has no `input`", "as `input`"),
        ({}, "the sample has no `input`", "as `input`"),
        ({"input": "", "ideal": "x"}, "the query is empty", "write what the user says"),
        ({"input": 7, "ideal": "x"}, "input: must be a text or a list of messages", "in quotes"),
        ({"input": True, "ideal": "x"}, "input: must be a text or a list of messages", "in quotes"),
        ({"input": {}, "ideal": "x"}, "input: must be a text or a list of messages", "in quotes"),
        ({"input": [], "ideal": "x"}, "input: holds no message of the user", "add one"),
        ({"input": EXAMPLES, "ideal": "x"}, "input: holds no message of the user", "add one"),
        ({"input": [{"role": "assistant", "content": "x"}]}, "input: holds no message of the user", "add one"),
        ({"input": [{"role": "system", "content": None}]}, "input[0].content: must be a text", "in quotes"),
        ({"input": [{"role": "robot", "content": "x"}]}, "input[0]: is no message of a known role", "role"),
        ({"input": ["x", 7]}, "input[0]: is no message of a known role", "role"),
        ({"input": "x", "id": True}, "id: must be a string or a whole number", '"true"'),
        ({"input": "x", "id": 0.5}, "id: must be a string or a whole number", '"0.5"'),
        ({"item": "x"}, "item: must be an object", '"item": {...}'),
    ],
)
def test_a_broken_sample_is_a_fault_at_its_line_and_the_others_are_read(
    tmp_path: Path, record: Any, message: str, fix: str
) -> None:
    found = read_lines(tmp_path, FIRST, record, LAST)
    assert turns(found) == ["before", "after"]
    faults = messages_of(found)
    assert {line for line, _ in faults} == {2}
    assert message in faults[0][1]
    assert fix in found.problems[0].fix


def test_items_of_the_evals_api_are_read(tmp_path: Path) -> None:
    found = read_lines(
        tmp_path,
        {"item": {"query": "2+2?", "ground_truth": "4"}, "sample": {"output_text": "5"}},
        {"item": {"query": [SYSTEM, USER], "id": 7}},
        {"item": {"query": "3+3?"}},
        {"item": {"query": "4+4?", "expected_tools": ["add"]}, "sample": {}},
    )
    assert (found.format, found.problems) == (READER.name, ())
    assert turns(found) == ["2+2?", "2+2?", "3+3?", "4+4?"]
    assert [query.expected for query in found.queries] == [
        {"item": {"ground_truth": "4"}, "sample": {"output_text": "5"}},
        {"item": {"query": [SYSTEM, USER]}},
        None,
        {"item": {"expected_tools": ["add"]}, "sample": {}},
    ]
    assert found.queries[1].id == "7"
    assert understand(found.queries[0].expected).answer == "4"
    assert understand(found.queries[3].expected).tool_calls == (ToolCall("add"),)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"label": "x"}, "the item has no 'query'"),
        ({"qurey": "x"}, "the item has no 'query'; perhaps you meant 'qurey'"),
        ({"query": None}, "the item has no 'query'"),
        ({"query": 7}, "item.query: must be a text or a list of messages"),
        ({"query": "x", "id": False}, "item.id: must be a string or a whole number"),
        (None, "item: must be an object"),
        (["query"], "item: must be an object"),
    ],
)
def test_a_broken_item_is_a_fault_at_its_line_and_the_others_are_read(tmp_path: Path, item: Any, message: str) -> None:
    found = read_lines(tmp_path, {"item": {"query": "before"}}, {"item": item}, {"item": {"query": "after"}})
    assert turns(found) == ["before", "after"]
    assert messages_of(found) == [(2, message)]


def test_an_item_without_a_usual_name_for_its_query_is_one_fault_that_says_what_to_write(tmp_path: Path) -> None:
    found = read_lines(tmp_path, *({"item": {"ticket_text": text, "correct_label": "x"}} for text in "ab"))
    assert not found.queries
    assert messages_of(found) == [
        (1, "no key of `item` is known to hold the query; there are: ticket_text, correct_label")
    ]
    assert 'columns: {query: "NAME"}' in found.problems[0].fix


def test_an_item_with_two_usual_names_is_one_fault_that_says_what_to_write(tmp_path: Path) -> None:
    found = read_lines(tmp_path, {"item": {"question": "a", "prompt": "b"}})
    assert messages_of(found) == [(1, "several keys of `item` could hold the query: 'question' and 'prompt'")]
    assert 'columns: {query: "question"}' in found.problems[0].fix


def test_columns_of_items_may_be_named(tmp_path: Path) -> None:
    (found,) = read(
        tmp_path,
        {
            "t.jsonl": '{"item": {"ticket_text": "a", "label": "Hardware", "route": ["list_rooms"], "no": 3}}\n'
            '{"item": {"ticket_text": "b"}}\n{"item": {"text": "c"}}\n',
            "formats.yaml": "formats: 1\nfiles:\n  t.jsonl:\n    format: openai-evals\n"
            "    columns: {query: ticket_text, id: no, answer: label, tools: route}\n",
        },
    )
    assert turns(found) == ["a", "b"]
    assert messages_of(found) == [(3, "the item has no 'ticket_text'")]
    first = found.queries[0]
    assert first.id == "3"
    assert first.expected == {
        "expected_response": "Hardware",
        "expected_tools": ["list_rooms"],
        "item": {"label": "Hardware", "route": ["list_rooms"]},
    }
    assert understand(first.expected).tool_calls == (ToolCall("list_rooms"),)


def test_a_named_column_that_no_item_has_is_a_fault(tmp_path: Path) -> None:
    (found,) = read(
        tmp_path,
        {
            "t.jsonl": '{"item": {"query": "a", "number": 3, "more": {"told": "b"}}}\n',
            "formats.yaml": "formats: 1\nfiles:\n  t.jsonl:\n    format: openai-evals\n"
            "    columns: {query: query, id: nunber, conversation: talk, answer: more.told}\n",
        },
    )
    assert (found.queries, [problem.message for problem in found.problems]) == (
        (),
        [
            "columns.conversation: openai-evals has one record for each conversation",
            "columns.id: no record has 'nunber'; perhaps you meant 'number'",
        ],
    )


def test_columns_inside_of_items_are_named_with_dots(tmp_path: Path) -> None:
    (found,) = read(
        tmp_path,
        {
            "t.jsonl": '{"item": {"asked": {"text": "a", "by": "b"}, "meta": {"number": 3}}}\n',
            "formats.yaml": "formats: 1\nfiles:\n  t.jsonl:\n    format: openai-evals\n"
            "    columns: {query: asked.text, id: meta.number}\n",
        },
    )
    (query,) = found.queries
    assert (query.id, query.turns, query.expected) == ("3", ("a",), {"item": {"asked": {"by": "b"}}})


@pytest.mark.parametrize(
    ("record", "answer"),
    [
        ({"input": "a", "ideal": "4"}, "4"),
        ({"input": "a", "ideal": ["4", "four"]}, "4"),
        ({"input": "a", "ideal": 4}, "4"),
        ({"input": [USER], "ideal": None, "completion": "4"}, None),
    ],
)
def test_what_is_expected_is_understood(tmp_path: Path, record: Any, answer: str | None) -> None:
    query = read_lines(tmp_path, FIRST, record).queries[-1]
    assert understand(query.expected).answer == answer
