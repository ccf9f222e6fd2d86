from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from incumbent.files.documents import as_mapping
from incumbent.intake.eval_sets.formats.deepeval import READER
from incumbent.intake.expectation import understand
from incumbent.intake.query import EvalSet
from incumbent.intake.tool_calls import ToolCall
from tests.intake.eval_sets.folders import check_one_fault, messages_of, read_one, turns

FIRST = {"input": "before", "expected_output": "x"}
LAST = {"input": "after", "expected_output": "x"}
TURNS = [
    {"role": "user", "content": "Book room 4.", "retrieval_context": ["deepeval_source=a,deepeval_context=b"]},
    {"role": "assistant", "content": "Booked.", "tools_called": [{"name": "book"}]},
    {"role": "user", "content": "And tomorrow?"},
]
TOOLS = [{"name": "book", "type": "FUNCTION", "inputParameters": {"room": 4}}]
GOLDEN = {
    "input": "Book room 4.",
    "actual_output": None,
    "expected_output": "Booked.",
    "retrieval_context": ["deepeval_source=a,deepeval_context=b", "c"],
    "context": ["Room 4; on the first floor", "Room 5"],
    "name": "n",
    "comments": "c",
    "source_file": None,
    "tools_called": None,
    "expected_tools": TOOLS,
    "token_cost": 0.5,
    "additional_metadata": {"a": [1]},
    "custom_column_key_values": {"k": "v"},
    "expectations": {"must": ["be kind"], "must_not": []},
}
CONVERSATION = {
    "scenario": "Books a room",
    "turns": TURNS,
    "expected_outcome": "A room is booked",
    "user_description": "In a hurry",
    "persona": {"characteristics": "In a hurry"},
    "context": None,
    "name": "n",
}


def read_list(folder: Path, *goldens: Any) -> EvalSet:
    """The eval set with these goldens, each in a line of its own from line 2 on."""
    return read_one(folder, "goldens.json", "[\n" + ",\n".join(map(json.dumps, goldens)) + "]")


def read_lines(folder: Path, *goldens: Any) -> EvalSet:
    """The eval set with these goldens in JSON Lines."""
    return read_one(folder, "goldens.jsonl", "".join(json.dumps(golden) + "\n" for golden in goldens))


def read_table(folder: Path, *rows: dict[str, str], header: list[str] | None = None) -> EvalSet:
    """The eval set with these rows in CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, header or list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    writer.writerows(rows)
    return read_one(folder, "goldens.csv", text.getvalue())


def without(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}


@pytest.mark.parametrize(
    ("golden", "spoken", "expected"),
    [
        (GOLDEN, ("Book room 4.",), without(GOLDEN, "input")),
        (CONVERSATION, ("Book room 4.", "And tomorrow?"), CONVERSATION),
        ({**CONVERSATION, "turns": json.dumps(TURNS)}, ("Book room 4.", "And tomorrow?"), CONVERSATION),
        ({**CONVERSATION, "turns": None}, ("Books a room",), {**without(CONVERSATION, "scenario"), "turns": None}),
        ({**CONVERSATION, "turns": []}, ("Books a room",), {**without(CONVERSATION, "scenario"), "turns": []}),
        ({**CONVERSATION, "turns": ""}, ("Books a room",), {**without(CONVERSATION, "scenario"), "turns": ""}),
        ({**CONVERSATION, "turns": "[]"}, ("Books a room",), {**without(CONVERSATION, "scenario"), "turns": []}),
        (without(CONVERSATION, "turns"), ("Books a room",), without(CONVERSATION, "scenario", "turns")),
        (
            {**CONVERSATION, "turns": TURNS[1:2]},
            ("Books a room",),
            {**without(CONVERSATION, "scenario"), "turns": TURNS[1:2]},
        ),
        (without(CONVERSATION, "scenario"), ("Book room 4.", "And tomorrow?"), without(CONVERSATION, "scenario")),
        ({**CONVERSATION, "input": "x"}, ("Book room 4.", "And tomorrow?"), {**CONVERSATION, "input": "x"}),
        ({"scenario": "", **FIRST}, ("before",), {"scenario": "", "expected_output": "x"}),
        ({"scenario": None, "turns": None, **FIRST}, ("before",), None),
        (
            {"scenario": "s", "turns": ["a", "b"], "expected_outcome": "x"},
            ("a", "b"),
            {"scenario": "s", "expected_outcome": "x"},
        ),
        (
            {"turns": [{"input": "a", "expected_output": "A"}, {"input": "b"}], "expected_outcome": "x"},
            ("a", "b"),
            {"turns": [{"expected_output": "A"}, {}], "expected_outcome": "x"},
        ),
        (
            {"input": "a", "expectedOutput": "b", "expectedTools": TOOLS, "customColumnKeyValues": {"k": "v"}},
            ("a",),
            {"expectedOutput": "b", "expectedTools": TOOLS, "customColumnKeyValues": {"k": "v"}},
        ),
        (
            {"scenario": "s", "turns": TURNS, "expectedOutcome": "x", "userDescription": "u"},
            ("Book room 4.", "And tomorrow?"),
            None,
        ),
        ({"input": "a", "expected_output": "[Urgent] b"}, ("a",), {"expected_output": "[Urgent] b"}),
        ({"input": '["a"]', "expected_output": '{"a": 1}'}, ('["a"]',), {"expected_output": '{"a": 1}'}),
        (
            {"input": "a", "expected_tools": [], "context": "one|two"},
            ("a",),
            {"expected_tools": [], "context": "one|two"},
        ),
    ],
)
def test_goldens_are_read_with_all_that_is_expected(
    tmp_path: Path, golden: dict[str, Any], spoken: tuple[str, ...], expected: Any
) -> None:
    found = read_list(tmp_path, FIRST, golden)
    query = found.queries[-1]
    assert (found.format, found.problems) == (READER.name, ())
    assert (query.turns, query.line) == (spoken, 3)
    whole = without(golden, *(["input"] if golden.get("input") == spoken[0] else []))
    assert query.expected == (whole if expected is None else expected)


def flat(golden: dict[str, Any]) -> dict[str, str]:
    """``golden`` as DeepEval writes it into a table."""
    cells: dict[str, str] = {}
    for key, value in golden.items():
        if key in ("context", "retrieval_context") and value is not None:
            cells[key] = "|".join(value)
        elif value is not None:
            cells[key] = value if isinstance(value, str) else json.dumps(value)
    return cells


@pytest.mark.parametrize("golden", [GOLDEN, CONVERSATION])
def test_a_golden_is_the_same_whatever_it_was_saved_as(tmp_path: Path, golden: dict[str, Any]) -> None:
    joined = {key: flat(golden).get(key) if "context" in key else value for key, value in golden.items()}
    (listed,) = read_list(tmp_path / "a", golden).queries
    (line,) = read_lines(tmp_path / "b", joined).queries
    (row,) = read_table(tmp_path / "c", flat(golden)).queries
    assert isinstance(listed.expected, dict)
    assert (line.turns, line.expected) == (listed.turns, listed.expected)
    assert row.turns == listed.turns
    # A table has nothing but texts: an empty cell is none, and a number is one to whom it means something.
    kept = {key: value for key, value in listed.expected.items() if value is not None}
    assert row.expected == {**kept, **({"token_cost": "0.5"} if "token_cost" in kept else {})}


@pytest.mark.parametrize(
    ("cells", "lists"),
    [
        (["a|b", "c"], [["a", "b"], ["c"]]),
        (["a|b;c", "d;e"], [["a", "b;c"], ["d;e"]]),
        (["a;b", "c"], [["a", "b"], ["c"]]),
        (["a; then b", "c"], [["a; then b"], ["c"]]),
        (["a||b", "|"], [["a", "", "b"], ["", ""]]),
        ([" a | b "], [[" a ", " b "]]),
        (["", "a"], [None, ["a"]]),
    ],
)
@pytest.mark.parametrize("column", ["context", "retrieval_context", "retrievalContext"])
def test_lists_of_a_table_are_divided_as_the_column_is(
    tmp_path: Path, column: str, cells: list[str], lists: list[list[str] | None]
) -> None:
    rows = [{"input": f"q{number}", "expected_output": "x", column: cell} for number, cell in enumerate(cells)]
    found = read_table(tmp_path, *rows)
    assert not found.problems
    assert [as_mapping(query.expected).get(column) for query in found.queries] == lists


@pytest.mark.parametrize(
    ("cell", "tools", "calls"),
    [
        (json.dumps(TOOLS), TOOLS, [ToolCall("book", {"room": 4})]),
        ('[{"name": "a"},]', [{"name": "a"}], [ToolCall("a")]),
        ('["a", "b"]', ["a", "b"], [ToolCall("a"), ToolCall("b")]),
        ("a;b", ["a", "b"], [ToolCall("a"), ToolCall("b")]),
        ("a | b;", ["a", "b"], [ToolCall("a"), ToolCall("b")]),
        ("a", ["a"], [ToolCall("a")]),
        ("[]", [], []),
    ],
)
def test_tools_of_a_table_are_read(tmp_path: Path, cell: str, tools: Any, calls: list[ToolCall]) -> None:
    (query,) = read_table(tmp_path, {"input": "q", "expected_tools": cell, "tools_called": '[{"name": "x"}]'}).queries
    assert query.expected == {"expected_tools": tools, "tools_called": [{"name": "x"}]}
    assert list(understand(query.expected).tool_calls) == calls


def test_metadata_that_is_no_json_stays_the_text_it_is(tmp_path: Path) -> None:
    cells = {"additional_metadata": "{'a': b}", "custom_column_key_values": '{"a": None}', "expectations": "be kind"}
    (query,) = read_table(tmp_path, {"input": "q", **cells}).queries
    assert query.expected == cells


def test_exports_are_read_by_their_lists(tmp_path: Path) -> None:
    export = {
        "id": "d",
        "version": "1",
        "goldens": [{"id": "g1", "input": "a", "expectedOutput": "b"}],
        "conversationalGoldens": [{"id": 2, "scenario": "s", "turns": TURNS}],
    }
    found = read_one(tmp_path, "goldens.json", json.dumps(export))
    assert not found.problems
    assert [(query.id, query.turns) for query in found.queries] == [
        ("g1", ("a",)),
        ("2", ("Book room 4.", "And tomorrow?")),
    ]
    one = read_one(tmp_path, "goldens.json", json.dumps({**export, "conversational_goldens": None, "goldens": "no"}))
    assert messages_of(one) == [(1, "goldens: must be a list of goldens")]
    assert len(one.queries) == 1


def test_images_and_documents_are_attachments(tmp_path: Path) -> None:
    golden = {
        "input": "What is [DEEPEVAL:IMAGE:a] beside [DEEPEVAL:PDF:b] and [DEEPEVAL:IMAGE:c]?",
        "expected_output": "x",
        "imagesMapping": {"a": {"filename": "a.png"}, "b": {"filename": None, "url": "https://x/b.pdf"}, "c": 7},
    }
    (query,) = read_list(tmp_path, golden).queries
    assert query.setup.attachments == ("a.png", "https://x/b.pdf", "c")
    assert query.expected == without(golden, "input")


@pytest.mark.parametrize(
    ("golden", "message", "fix"),
    [
        ({"expected_output": "x"}, "[1]: the golden has neither an `input`", "as `input`"),
        ({"inptu": "x", "expected_output": "x"}, "perhaps you meant 'inptu'", "as `input`"),
        ({"scenaro": "x", "expected_outcome": "x"}, "perhaps you meant 'scenaro'", "as `scenario`"),
        ({}, "[1]: the golden has neither an `input`", "as `input`"),
        ({"input": None}, "[1]: the golden has neither an `input`", "as `input`"),
        ({"input": ""}, "the query is empty", "write what the user says"),
        ({"scenario": "", "turns": []}, "the query is empty", "write what the user says"),
        ({"input": 7}, "[1].input: must be a text or a list of messages", "in quotes"),
        ({"input": True}, "[1].input: must be a text or a list of messages", "in quotes"),
        ({"input": {"a": 1}}, "[1].input: must be a text or a list of messages", "in quotes"),
        ({"scenario": 7}, "[1].scenario: must be a text or a list of messages", "in quotes"),
        ({"scenario": "s", "turns": 7}, "[1].turns: must be a list of turns", '"role": "user"'),
        ({"scenario": "s", "turns": {"a": 1}}, "[1].turns: must be a list of turns", '"role": "user"'),
        ({"scenario": "s", "turns": "Hello"}, "[1].turns: must be a list of turns", '"role": "user"'),
        ({"scenario": "s", "turns": '{"a": 1}'}, "[1].turns: must be a list of turns", '"role": "user"'),
        ({"scenario": "s", "turns": '[{"role": "user"'}, "[1].turns: not valid JSON", "write JSON"),
        ({"scenario": "s", "turns": '[{"a": 1, "a": 2}]'}, "[1].turns: the key 'a' is given twice", "write JSON"),
        ({"scenario": "s", "turns": [7]}, "[1].turns[0]: is no message of a known role", "role"),
        ({"scenario": "s", "turns": [{"content": "x"}]}, "[1].turns[0]: is no message of a known role", "role"),
        ({"scenario": "s", "turns": [{"role": "user"}]}, "[1].turns[0].content: must be a text", "in quotes"),
        ({"turns": TURNS[1:2]}, "[1].turns: holds no message of the user", "add one"),
        ({"turns": [{"input": "a"}, {"output": "b"}]}, "[1].turns[1]: the turn has no `input`", '{"input": "..."}'),
        ({"input": "x", "expected_tools": '[{"name": '}, "[1].expected_tools: not valid JSON", "write JSON"),
        ({"input": "x", "id": True}, "[1].id: must be a string or a whole number", '"true"'),
        ({"input": "x", "id": 1.5}, "[1].id: must be a string or a whole number", '"1.5"'),
        ([FIRST], "[1]: must be an object", "write `{...}`"),
    ],
)
def test_a_broken_golden_is_a_fault_at_its_line_and_the_others_are_read(
    tmp_path: Path, golden: Any, message: str, fix: str
) -> None:
    found = read_list(tmp_path, FIRST, golden, LAST)
    assert turns(found) == ["before", "after"]
    check_one_fault(found, 3, message, fix)


def test_all_faults_of_a_golden_are_told_at_once(tmp_path: Path) -> None:
    found = read_list(tmp_path, FIRST, {"input": "x", "expected_tools": '[{"', "tools_called": '[{"'})
    assert [message.partition(":")[0] for _, message in messages_of(found)] == [
        "[1].expected_tools",
        "[1].tools_called",
    ]


def test_a_broken_row_of_a_table_is_a_fault_at_its_line(tmp_path: Path) -> None:
    found = read_table(
        tmp_path,
        {"scenario": "a", "turns": '[{"role":\n"user", "content": "x"}]'},
        {"scenario": "b", "turns": '[{"role": "user", "content": }]'},
        {"scenario": "c", "turns": ""},
        {"scenario": "", "turns": "", "expected_outcome": "x"},
    )
    assert turns(found) == ["x", "c"]
    assert [line for line, _ in messages_of(found)] == [4, 6]


@pytest.mark.parametrize(
    ("golden", "answers", "calls"),
    [
        (GOLDEN, ("Booked.",), [ToolCall("book", {"room": 4})]),
        (CONVERSATION, (None, "A room is booked"), []),
        ({"input": "a", "expectedOutput": "b", "expectedTools": TOOLS}, ("b",), [ToolCall("book", {"room": 4})]),
        (
            {"turns": [{"input": "a", "expected_output": "A"}, {"input": "b"}], "expected_outcome": "x"},
            ("A", "x"),
            [],
        ),
    ],
)
def test_what_is_expected_is_understood(tmp_path: Path, golden: Any, answers: Any, calls: list[ToolCall]) -> None:
    (query,) = read_list(tmp_path, golden).queries
    found = understand(query.expected, len(query.turns))
    assert (found.answers, list(found.tool_calls)) == (answers, calls)


def test_lists_and_objects_as_python_writes_them_are_read(tmp_path: Path) -> None:
    cells = {"additional_metadata": "{'a': None}", "tools_called": "[{'name': 'f', 'ok': True}]"}
    (query,) = read_table(tmp_path, {"input": "q", **cells}).queries
    assert query.expected == {"additional_metadata": {"a": None}, "tools_called": [{"name": "f", "ok": True}]}


def test_a_name_is_the_id_where_no_other_golden_has_it(tmp_path: Path) -> None:
    names = ["Greets", "Twice", "Twice", "", None, "two\nlines", "x" * 201, "taken"]
    goldens = [{"input": f"q{n}", "expected_output": "x", "name": name} for n, name in enumerate(names)]
    found = read_list(tmp_path, *goldens, {"id": "taken", "input": "q", "expected_output": "x", "name": "Greets"})
    ids = [query.id for query in found.queries]
    assert (ids[0], ids[-1], found.problems) == ("Greets", "taken", ())
    assert all(id.startswith("q-") for id in ids[1:-1])
    assert as_mapping(found.queries[0].expected)["name"] == "Greets"
