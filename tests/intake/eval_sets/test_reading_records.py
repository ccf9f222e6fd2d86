"""What the readers of records share: cells and texts that hold JSON, and separators of tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.intake.eval_sets.folders import read_one, turns

TALK = json.dumps(
    [{"role": role, "content": text} for role, text in (("user", "Hi"), ("assistant", "Yes?"), ("user", "Go"))]
)


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("a.jsonl", {"query": TALK, "response": "x"}),
        ("a.jsonl", {"input": TALK, "target": "x"}),
        ("a.jsonl", {"messages": TALK, "expected": "x"}),
        ("a.jsonl", {"input": TALK, "expected": "x", "metadata": {}}),
        ("a.json", {"evaluators": ["x"], "data": [{"query": TALK}]}),
    ],
)
def test_messages_in_a_text_are_messages_outside_of_tables_too(
    tmp_path: Path, name: str, record: dict[str, object]
) -> None:
    found = read_one(tmp_path, name, json.dumps(record))
    assert (turns(found), found.problems) == ([["Hi", "Go"]], ())


def test_a_text_that_is_other_json_is_a_text(tmp_path: Path) -> None:
    function, human = '[ {"type": "function", "name": "x"} ]', '[{"type": "human", "name": "Al"}]'
    for text in (
        function,
        human,
        '[{"role": "system", "content": "a"}]',
        '[{"a": 1}]',
        '{"messages": 1}',
        '[{"role": "user"',
        '[{"role": "user", "content": NaN}]',
    ):
        found = read_one(tmp_path, "a.jsonl", json.dumps({"query": text, "response": "x"}))
        assert (turns(found), found.problems) == ([text], ())


def test_what_pandas_writes_of_objects_is_read(tmp_path: Path) -> None:
    table = "inputs,outputs,id\n\"{'question': 'Where?', 'n': None}\",\"{'answer': 'Here'}\",1\n"
    (query,) = read_one(tmp_path, "a.csv", table).queries
    assert (query.turns, query.expected) == (("Where?",), {"inputs": {"n": None}, "outputs": {"answer": "Here"}})


@pytest.mark.parametrize("text", ["{'a': {1, 2}}", "{'a'", "{'a': 1e999}", "{'a': __import__('os')}", "{'a': b'x'}"])
def test_other_literals_are_texts(tmp_path: Path, text: str) -> None:
    (query,) = read_one(tmp_path, "a.csv", f'query,response\n"{text}",x\n').queries
    assert query.turns == (text,)


def test_the_cells_of_a_table_are_counted_by_its_own_separator(tmp_path: Path) -> None:
    rows = "query;expected\n" + f"a{',' * 60};b\n" * 3_500
    assert len(read_one(tmp_path, "a.csv", rows).queries) == 3_500


def test_the_line_that_tells_a_spreadsheet_the_separator_is_no_header(tmp_path: Path) -> None:
    (query,) = read_one(tmp_path, "a.csv", "sep=;\nquery;response\nWhere, please?;x\n").queries
    assert (query.turns, query.line) == (("Where, please?",), 3)
