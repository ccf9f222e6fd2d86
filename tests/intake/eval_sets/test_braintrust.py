from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incumbent.intake.expectation import understand
from incumbent.intake.query import EvalSet
from incumbent.intake.tool_calls import ToolCall
from tests.hostile.templates import json_lines
from tests.intake.eval_sets.folders import check_one_fault, messages_of, read, read_one, turns


def read_lines(folder: Path, *records: Any) -> EvalSet:
    """The records in JSON Lines: a good one in line 1, then ``records``."""
    return read_one(folder, "records.jsonl", json_lines({"input": "first", "expected": "x"}, *records))


EVENT: dict[str, Any] = {
    "id": "row-1",
    "_xact_id": "1000192656880881099",
    "_pagination_key": "p07",
    "created": "2026-01-01T00:00:00Z",
    "project_id": "p",
    "dataset_id": "d",
    "root_span_id": "s",
    "span_id": "s",
    "is_root": True,
    "origin": None,
    "input": {"question": "Which river is the longest?", "language": "en"},
    "expected": {"answer": "The Volga", "tool_calls": [{"name": "search", "arguments": {"q": "rivers"}}]},
    "metadata": {"topic": "rivers"},
    "tags": ["geography"],
}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", json.dumps([EVENT], indent=2)),
        ("a.json", json.dumps({"events": [EVENT], "cursor": "next"})),
        ("a.json", json.dumps({"rows": [EVENT]})),
        ("a.json", json.dumps({"data": [EVENT], "schema": {}})),
        ("a.jsonl", json_lines(EVENT)),
    ],
)
def test_a_record_is_read_with_all_it_holds(tmp_path: Path, name: str, content: str) -> None:
    found = read_one(tmp_path, name, content)
    assert (found.format, messages_of(found)) == ("braintrust", [])
    (query,) = found.queries
    assert (query.id, query.turns) == ("row-1", ("Which river is the longest?",))
    rest = {key: value for key, value in EVENT.items() if key != "id"}
    assert query.expected == {**rest, "input": {"language": "en"}}
    understood = understand(query.expected)
    assert understood.answer == "The Volga"
    assert understood.tool_calls == (ToolCall("search", {"q": "rivers"}),)


_FILE = {"type": "braintrust_attachment", "filename": "map.png", "content_type": "image/png", "key": "k"}


@pytest.mark.parametrize(
    ("spoken", "said", "kept", "attached"),
    [
        ("a", ["a"], None, ()),
        ({"question": "a"}, ["a"], None, ()),
        ({"text": "a", "k": 1}, ["a"], {"k": 1}, ()),
        (["a", "b"], [["a", "b"]], None, ()),
        ([{"role": "user", "content": "a"}], ["a"], "all", ()),
        ({"messages": [{"role": "user", "content": "a"}], "model": "m"}, ["a"], "all", ()),
        ({"question": "a", "image": _FILE}, ["a"], {"image": _FILE}, ("map.png",)),
        (
            {"question": "a", "files": [{"type": "external_attachment", "url": "s3://b/c.pdf"}]},
            ["a"],
            {"files": [{"type": "external_attachment", "url": "s3://b/c.pdf"}]},
            ("s3://b/c.pdf",),
        ),
    ],
)
def test_the_query_is_found_in_the_input_and_the_rest_is_kept(
    tmp_path: Path, spoken: Any, said: list[Any], kept: Any, attached: tuple[str, ...]
) -> None:
    found = read_lines(tmp_path, {"input": spoken, "expected": "x"})
    assert messages_of(found) == []
    assert turns(found)[1:] == said
    left = spoken if kept == "all" else kept
    assert found.queries[1].expected == {"expected": "x"} | ({} if left is None else {"input": left})
    assert found.queries[1].setup.attachments == attached


@pytest.mark.parametrize(
    ("spoken", "names", "suggested"),
    [
        ({"question": "a", "query": "b"}, "`input.question` and `input.query`", "input.question"),
        (
            {"first": "a", "second": "b", "third": "c"},
            "`input.first` and `input.second` and `input.third`",
            "input.first",
        ),
    ],
)
def test_inputs_that_do_not_decide_name_the_line_that_does(
    tmp_path: Path, spoken: Any, names: str, suggested: str
) -> None:
    content = json_lines({"input": spoken, "expected": "x"}, {"input": {**spoken, "z": 1}, "expected": "y"})
    broken = read_one(tmp_path, "a.jsonl", content)
    assert [line for line, _ in messages_of(broken)] == [1, 2]
    assert broken.problems[0].message == f"input: several could be the query: {names}"
    fix = broken.problems[0].fix
    declared = "formats: 1\n" + fix[fix.index("files:") : fix.index("` into")]
    assert suggested in declared
    (fixed,) = read(tmp_path, {"formats.yaml": declared})
    assert messages_of(fixed) == []
    assert turns(fixed) == ["a", "a"]


@pytest.mark.parametrize(
    ("expected", "answer", "tools"),
    [
        ("x", "x", []),
        (4, "4", []),
        (False, None, []),
        (None, None, []),
        ({}, None, []),
        ({"answer": "x"}, "x", []),
        ({"text": "x", "score": 1}, "x", []),
        (["x", "y"], "x", []),
        ({"expected_tools": ["f"], "answer": "x"}, "x", ["f"]),
        ({"messages": [{"role": "assistant", "content": "x", "tool_calls": [{"name": "f", "args": {}}]}]}, "x", ["f"]),
        ([{"role": "assistant", "content": [{"type": "text", "text": "x"}]}], "x", []),
    ],
)
def test_what_is_expected_is_understood(tmp_path: Path, expected: Any, answer: str | None, tools: list[str]) -> None:
    (query,) = read_one(tmp_path, "a.json", json.dumps([{"input": "a", "expected": expected}])).queries
    assert query.expected == {"expected": expected}
    understood = understand(query.expected)
    assert understood.answer == answer
    assert [call.name for call in understood.tool_calls] == tools


@pytest.mark.parametrize(
    ("header", "row", "said", "expected"),
    [
        (
            "id,input,expected,metadata,tags,created",
            '1,a,x,"{""m"": 1}","[""t""]",2026-01-01',
            "a",
            {"expected": "x", "metadata": {"m": 1}, "tags": ["t"], "created": "2026-01-01"},
        ),
        (
            "input,expected",
            '"{""question"": ""a"", ""k"": [1]}","{""answer"": ""x""}"',
            "a",
            {"input": {"k": [1]}, "expected": {"answer": "x"}},
        ),
        (
            "input,expected",
            '"[{""role"": ""user"", ""content"": ""a""}]",x',
            "a",
            {"input": [{"role": "user", "content": "a"}], "expected": "x"},
        ),
        ("input.question,input.k,expected", "a,1,x", "a", {"input": {"k": "1"}, "expected": "x"}),
        ("input,expected.answer", "a,x", "a", {"expected": {"answer": "x"}}),
        ("input,expected", "[1] is odd,[see 2]", "[1] is odd", {"expected": "[see 2]"}),
        ("input,_xact_id", "a,12", "a", {"_xact_id": "12"}),
        ("\n\ninput;expected;note", "a;x;n", "a", {"expected": "x", "note": "n"}),
    ],
)
def test_tables_are_read_as_the_records_that_they_were_written_from(
    tmp_path: Path, header: str, row: str, said: str, expected: Any
) -> None:
    found = read_one(tmp_path, "records.csv", f"{header}\n{row}\n")
    assert (found.format, messages_of(found)) == ("braintrust", [])
    (query,) = found.queries
    assert (query.turns, query.expected) == ((said,), expected)


@pytest.mark.parametrize(
    ("record", "message", "fix"),
    [
        ({"expected": "x"}, "input: the record has no query", "under `input`"),
        ({"inputs": "a", "expected": "x"}, "input: the record has no query; perhaps you meant 'inputs'", "`input`"),
        ({"input": None}, "input: the record has no query", "under `input`"),
        ({"input": ""}, "input: the record has no query", "under `input`"),
        ({"input": []}, "input: the record has no query", "under `input`"),
        ({"input": {"k": 1}}, "input: none of them is what a user says", "input.NAME"),
        ({"input": {"image": _FILE, "question": ""}}, "input: none of them is what a user says", "input.NAME"),
        ({"input": 7}, "input: must be a text or a list of messages", "in quotes"),
        ({"input": True}, "input: must be a text or a list of messages", "in quotes"),
        ({"input": [7]}, "input[0]: is no message of a known role", '"role": "user"'),
        ({"input": [{"role": "user", "content": {}}]}, "input[0].content: must be a text", "in quotes"),
        ({"input": [{"role": "assistant", "content": "a"}]}, "input: holds no message of the user", '"role": "user"'),
        ({"input": "a", "id": {}}, "id: must be a string or a whole number", "write a string"),
        ({"input": "a", "id": " "}, "the id is empty", "write a short id"),
    ],
)
def test_a_broken_record_is_a_fault_at_its_line_and_the_others_are_read(
    tmp_path: Path, record: Any, message: str, fix: str
) -> None:
    found = read_lines(tmp_path, record, {"input": "last", "expected": None})
    assert turns(found) == ["first", "last"]
    check_one_fault(found, 2, message, fix)


def test_ids_that_are_numbers_are_ids(tmp_path: Path) -> None:
    found = read_lines(tmp_path, {"id": 7, "input": "a"}, {"id": "7", "input": "b"}, {"id": None, "input": "c"})
    assert [query.id for query in found.queries][1] == "7"
    assert [query.id[:2] for query in found.queries] == ["q-", "7", "q-"]
    assert messages_of(found) == [(3, "the id '7' is used already at records.jsonl:2")]


def test_a_broken_cell_is_a_fault_of_its_row(tmp_path: Path) -> None:
    rows = 'input,expected\n"{""question"": ""a",x\n"{""question"": ""b""}",y\n'
    found = read_one(tmp_path, "a.csv", rows)
    assert turns(found) == ["b"]
    assert [(line, text.partition(":")[0]) for line, text in messages_of(found)] == [(2, "input")]
