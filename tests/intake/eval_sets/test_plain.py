"""Plain lists and tables: whatever their columns are called, nothing of a record is lost."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from incumbent.files.documents import as_mapping
from incumbent.intake.expectation import understand
from incumbent.intake.tool_calls import ToolCall
from tests.intake.eval_sets.folders import check_one_fault, messages_of, read, read_one, refused, turns

NAMES = [
    *("query", "Question", "PROMPT", "input", "utterance", "instruction", "User Query", "user_input", "userPrompt"),
    *("user-message", "user question", "Test Utterance"),
]


@pytest.mark.parametrize("name", NAMES)
def test_the_query_is_found_by_its_usual_names(tmp_path: Path, name: str) -> None:
    lines = read_one(tmp_path / "1", "a.jsonl", json.dumps({name: "Hi?", "note": 1}) + "\n")
    assert (turns(lines), lines.queries[0].expected) == (["Hi?"], {"note": 1})
    table = read_one(tmp_path / "2", "a.tsv", f"note\t{name}\n1\tHi?\n")
    assert (turns(table), table.queries[0].expected) == (["Hi?"], {"note": "1"})


SPOKEN: list[tuple[Any, list[Any]]] = [
    ("a", ["a"]),
    (["a", "b"], [["a", "b"]]),
    ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "x"}, {"role": "user", "content": "b"}],
     [["a", "b"]]),
    ({"messages": [{"role": "user", "content": "a"}]}, ["a"]),
]  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), SPOKEN)
def test_turns_and_messages_are_read_in_records_and_in_cells(tmp_path: Path, value: Any, expected: list[Any]) -> None:
    for name, content in [
        ("a.jsonl", json.dumps({"query": value})),
        ("b.json", json.dumps([{"query": value}])),
        ("c.csv", table([["query", "n"], [value if isinstance(value, str) else json.dumps(value), "1"]])),
    ]:
        found = read_one(tmp_path / name, name, content)
        assert (turns(found), found.problems) == (expected, ())
        if not isinstance(value, str) and not isinstance(value[0] if isinstance(value, list) else None, str):
            # Messages that are no turns are kept.
            assert "query" in (found.queries[0].expected or {})  # type: ignore[operator]


def table(rows: list[list[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue()


@pytest.mark.parametrize(
    "text", ["[urgent] Where is my badge?", "{name} please", "[1] or [2]?", '{"order": 5}', "[[2, 3]] is what?"]
)
def test_a_cell_with_brackets_is_a_text(tmp_path: Path, text: str) -> None:
    found = read_one(tmp_path, "a.csv", table([["query", "n"], [text, "1"], ["ok", "2"]]))
    assert turns(found) in ([text, "ok"], ["ok"])
    assert len(found.queries) + len(found.problems) == 2
    assert turns(found) == [text, "ok"] or text.startswith("[[")


def test_a_broken_cell_of_json_costs_its_row_and_its_conversation(tmp_path: Path) -> None:
    rows = [["query", "conversation"], ["a", "1"], ['[{"role": "user"', "1"], ["b", "2"]]
    found = read_one(tmp_path, "a.csv", table(rows))
    assert turns(found) == ["b"]
    (left_out, (line, message)) = messages_of(found)
    assert left_out == (2, "the row is left out, since line 3 of its conversation cannot be read")
    assert line == 3
    assert "query: not valid JSON" in message


def test_each_row_of_a_conversation_with_a_broken_row_is_reported(tmp_path: Path) -> None:
    found = read_one(tmp_path, "a.csv", "query,note,conversation\n,,x\na,,x\nb,,y\nc,,x\n")
    left_out = "the row is left out, since line 2 of its conversation cannot be read"
    assert turns(found) == ["b"]
    assert messages_of(found) == [(2, "query: the record has no query"), (3, left_out), (5, left_out)]


def test_ids_conversations_answers_and_tools(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "conversation_id": 0, "query": "a", "expected_response": "A"},
        {"id": 2, "conversation_id": 1, "query": "x", "expected_tools": ["find"]},
        {"id": 3, "conversation_id": 0, "query": "b", "expected_response": "B"},
        {"query": "lone", "conversation_id": None},
    ]
    found = read_one(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)))
    talk, single, lone = found.queries
    assert not found.problems
    assert (talk.id, talk.turns, talk.line) == ("0", ("a", "b"), 1)
    assert talk.expected == {
        "conversation": "0",
        "turns": [{"id": "1", "expected_response": "A"}, {"id": "3", "expected_response": "B"}],
    }
    assert understand(talk.expected, 2).answers == ("A", "B")
    assert (single.id, single.expected) == ("2", {"conversation_id": 1, "expected_tools": ["find"]})
    assert understand(single.expected).tool_calls == (ToolCall("find"),)
    assert (lone.turns, lone.expected) == (("lone",), {"conversation_id": None})


def test_a_conversation_with_one_id_has_it(tmp_path: Path) -> None:
    found = read_one(tmp_path, "a.csv", "id,query,conversation\nq1,a,x\n,b,x\n")
    assert (found.queries[0].id, found.queries[0].turns) == ("q1", ("a", "b"))


FAULTS = [
    ("a.jsonl", '{"query": "ok"}\n{"query": \n{"query": "b"}\n', 2, "not valid JSON"),
    ("a.jsonl", '{"query": "ok"}\n{"query": 7}\n', 2, "query: must be a text"),
    ("a.jsonl", '{"query": "ok"}\n{"note": 7}\n', 2, "query: the record has no query"),
    ("a.jsonl", '{"query": "ok"}\n{"query": "a", "id": 1.5}\n', 2, "id: must be a string or a whole number"),
    ("a.jsonl", '{"query": "ok"}\n{"query": "a", "conversation": []}\n', 2, "conversation: must be a string"),
    ("a.jsonl", '{"query": "ok"}\n{"query": "a", "query": "b"}\n', 2, "the key 'query' is given twice"),
    ("a.csv", "query,n\nok,1\na,1,1\n", 3, "the row has 3 cells, the header 2"),
    ("a.csv", "query,n\nok,1\n,1\n", 3, "query: the record has no query"),
]


@pytest.mark.parametrize(("name", "content", "line", "message"), FAULTS)
def test_a_broken_record_is_a_fault_at_its_line_and_costs_no_other(
    tmp_path: Path, name: str, content: str, line: int, message: str
) -> None:
    found = read_one(tmp_path, name, content)
    assert "ok" in turns(found)
    check_one_fault(found, line, message)


def test_json_lines_and_lists_are_told_by_what_they_are(tmp_path: Path) -> None:
    lines = '{"query": "a"}\n{"query": "b"}\n'
    assert turns(read_one(tmp_path / "1", "a.json", lines)) == ["a", "b"]
    assert turns(read_one(tmp_path / "2", "a.jsonl", '[{"query": "a"},\n {"query": "b"}]')) == ["a", "b"]
    assert turns(read_one(tmp_path / "3", "a.ndjson", "\ufeff" + lines)) == ["a", "b"]
    assert turns(read_one(tmp_path / "4", "a.JSONL", lines.replace("\n", "\r\n"))) == ["a", "b"]


def test_columns_that_could_both_hold_the_query_are_an_error_that_says_how_to_decide(tmp_path: Path) -> None:
    found = read_one(tmp_path, "a.csv", "Input,Prompt\na,b\n")
    assert found.queries == ()
    (problem,) = found.problems
    assert (problem.line, problem.message) == (2, "several columns could hold the query: 'Input' and 'Prompt'")
    line = 'files: {"a.csv": {format: plain-table, columns: {query: "Input"}}}'
    assert line in problem.fix
    # What the fix says works.
    both = read(tmp_path, {"formats.yaml": f"formats: 1\n{line}\n"})
    assert [(turns(item), item.queries[0].expected) for item in both] == [(["a"], {"Prompt": "b"})]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", '[{"query": "a"}, {"turns": ["b", "c"], "query": null}, {"query": "d", "turns": []}]'),
        ("a.yaml", "- query: a\n- turns: [b, c]\n- query: d\n"),
        ("a.jsonl", '{"query": "a"}\n{"turns": ["b", "c"]}\n{"query": "d"}\n'),
        ("a.csv", 'query,turns\na,\n,"[""b"", ""c""]"\nd,\n'),
    ],
)
def test_records_with_a_query_and_records_with_turns_are_read_one_by_one(
    tmp_path: Path, name: str, content: str
) -> None:
    found = read_one(tmp_path, name, content)
    assert (turns(found), found.problems) == (["a", ["b", "c"], "d"], ())


def test_a_record_with_both_in_a_list_that_mixes_them_costs_no_other(tmp_path: Path) -> None:
    lines = '{"query": "a"}\n{"turns": ["b"]}\n{"query": "c", "turns": ["d"]}\n{"note": "x"}\n'
    found = read_one(tmp_path, "a.jsonl", lines)
    assert turns(found) == ["a", "b"]
    assert messages_of(found) == [
        (3, "the record has 'query' and 'turns', and one of them is the query"),
        (4, "query or turns: the record has no query"),
    ]


@pytest.mark.parametrize("content", ['{"note": "query"}\n', "[]", '{"a": "query"}', '[["query"]]'])
def test_other_records_are_no_eval_sets(tmp_path: Path, content: str) -> None:
    refused(tmp_path, {"a.jsonl": content})


@pytest.mark.parametrize(
    ("record", "query"),
    [
        ({"customer_message": "a", "expected_intent": "x"}, "a"),
        ({"message": "a", "expected": {"intent": "x"}}, "a"),
        ({"ticket": "a", "accepted_categories": ["x"]}, "a"),
        ({"input_text": "a", "expected_output": "x"}, "a"),
        ({"question_text": "a", "correct_answer": "x"}, "a"),
        ({"sample_question": "a", "message": "b", "rubric": "x"}, "a"),
        ({"question": "a", "customer_message": "b", "answer": "x"}, "a"),
    ],
)
def test_records_that_say_what_they_expect_may_call_the_query_otherwise(
    tmp_path: Path, record: dict[str, Any], query: str
) -> None:
    assert turns(read_one(tmp_path, "a.jsonl", json.dumps(record) + "\n")) == [query]


@pytest.mark.parametrize("record", [{"message": "a", "level": "info"}, {"ticket": "a", "status": "x"}, {"body": "a"}])
def test_records_of_other_things_are_no_eval_sets(tmp_path: Path, record: dict[str, Any]) -> None:
    refused(tmp_path, {"a.jsonl": json.dumps(record) + "\n"})


def test_a_table_of_one_column_of_utterances_is_read(tmp_path: Path) -> None:
    assert turns(read_one(tmp_path, "a.csv", "utterances\nhi\ncheck my balance\n")) == ["hi", "check my balance"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", '{"version": 2, "cases": [{"id": 1, "input": "a"}, {"id": 2, "input": "b"}]}'),
        ("a.json", '{"version": 2, "data": [{"id": 1, "input": "a", "expect": {}}, {"id": 2, "input": "b"}]}'),
        ("a.yaml", "version: 2\ntest_cases:\n  - {id: 1, input: a}\n  - {id: 2, input: b}\n"),
    ],
)
def test_the_list_may_stand_in_the_file_by_a_usual_name(tmp_path: Path, name: str, content: str) -> None:
    found = read_one(tmp_path, name, content)
    assert (found.format, found.problems) == ("plain-records", ())
    assert [(query.id, query.turns) for query in found.queries] == [("1", ("a",)), ("2", ("b",))]
    assert all(as_mapping(query.expected)["eval_set"] == {"version": 2} for query in found.queries)


def test_a_list_in_yaml_is_read(tmp_path: Path) -> None:
    found = read_one(tmp_path, "a.yaml", "- question: a\n  must_contain: [x]\n- question: b\n  must_contain: []\n")
    assert (turns(found), [query.line for query in found.queries]) == (["a", "b"], [1, 3])


def test_lists_of_other_things_are_no_eval_sets(tmp_path: Path) -> None:
    for number, document in enumerate([{"items": [{"prompt": "a", "title": "b"}]}, {"steps": [{"input": "a"}]}]):
        refused(tmp_path / str(number), {"a.yaml": json.dumps(document)})


def test_a_query_inside_an_object_can_be_named(tmp_path: Path) -> None:
    record = {"name": "n1", "request": {"policy": "P1", "description": "My car was hit."}, "expected": "approve"}
    found = read_one(tmp_path, "a.json", json.dumps([record]))
    (problem,) = found.problems
    assert problem.message == "[0].request: is an object, of whose values (policy, description) one must be named"
    line = 'files: {"a.json": {format: plain-records, columns: {query: "request.description"}}}'
    assert line in problem.fix
    (named,) = read(tmp_path, {"formats.yaml": f"formats: 1\n{line}\n"})
    assert turns(named) == ["My car was hit."]
    assert named.queries[0].expected == {"name": "n1", "request": {"policy": "P1"}, "expected": "approve"}


def test_columns_that_all_rows_leave_out_are_missed_by_none(tmp_path: Path) -> None:
    found = read_one(tmp_path, "a.csv", "question,answer,type\na,x\nb,y\n")
    assert [(query.turns, query.expected) for query in found.queries] == [
        (("a",), {"answer": "x"}),
        (("b",), {"answer": "y"}),
    ]
    assert not found.problems


def test_a_row_that_is_shorter_than_others_is_broken(tmp_path: Path) -> None:
    found = read_one(tmp_path, "a.csv", "question,answer,type\na,x\nb,y,z\n")
    assert (turns(found), len(found.problems)) == (["b"], 1)


def test_messages_may_be_a_list_for_each_turn(tmp_path: Path) -> None:
    first, second = {"role": "user", "content": "Book a table."}, {"role": "user", "content": "For two."}
    record = {"id": "b1", "question": [[first], [], [second]], "function": []}
    found = read_one(tmp_path, "a.json", json.dumps(record) + "\n" + json.dumps({**record, "id": "b2"}) + "\n")
    assert (turns(found), found.problems) == ([["Book a table.", "For two."]] * 2, ())
    assert found.queries[0].expected == {"question": record["question"], "function": []}
