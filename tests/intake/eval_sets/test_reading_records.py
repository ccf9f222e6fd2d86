"""Properties of the readers of records: anything of nearly their shape is read or told of, and nothing is lost."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import InputError
from bot.files.snapshot import WorkingTree
from bot.intake.eval_sets.formats import ai_agent_evals, azure_ai_evaluation, deepeval, openai_evals
from bot.intake.eval_sets.reader import EvalSetReader, EvalSetRows, open_source
from tests.intake.eval_sets.folders import limits, read_one, turns

READERS = (ai_agent_evals.READER, azure_ai_evaluation.READER, deepeval.READER, openai_evals.READER)

TEXTS = st.text(max_size=12) | st.sampled_from(
    [
        *("", " ", "a|b", "a; b", "a;b", "[x] y", "[{", '["a"]', "{}", '{"messages": []}', "{{item.query}}", "query"),
        *('[{"role": "user", "content": "Hi"}]', "[DEEPEVAL:IMAGE:a]"),
    ]
)
LEAVES = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "role": st.sampled_from(["user", "assistant", "system", "robot", 7]),
            "type": st.sampled_from(["human", "ai", None]),
            "content": LEAVES | st.lists(st.dictionaries(st.sampled_from(["type", "text", "image_url"]), LEAVES)),
            "name": st.just("example_user"),
            "input": TEXTS,
            "ground_truth": TEXTS,
        },
    ),
    max_size=4,
)
VALUES = LEAVES | MESSAGES | st.lists(LEAVES, max_size=3) | st.builds(lambda held: {"messages": held}, MESSAGES)
KEYS = st.sampled_from(
    [
        *("query", "conversation", "messages", "response", "ground_truth", "context", "tool_definitions"),
        *("input", "ideal", "item", "sample", "choice_strings", "question", "id", "Input", "expectedOutput"),
        *("expected_output", "scenario", "turns", "expected_outcome", "expected_tools", "tools_called"),
        *("retrieval_context", "additional_metadata", "imagesMapping"),
    ]
)
RECORDS = st.dictionaries(KEYS, VALUES | st.dictionaries(KEYS, VALUES, max_size=3), max_size=6)


def reading_of(reader: EvalSetReader, name: str, content: str) -> EvalSetRows | None:
    """What ``reader`` makes of a file; ``None`` if it cannot be opened at all."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, name).write_text(content, newline="")
        try:
            source = open_source(WorkingTree(Path(folder)), name, limits())
        except InputError:
            return None
        reader.recognises(source)
        return reader.read(source)


def check(reading: EvalSetRows, records: Sequence[Any], *, of_the_file: bool = False) -> None:
    """Every one of ``records`` is a row or is told of, unless a fault ``of_the_file`` stands for all of them."""
    assert all(problem.message and problem.fix and problem.line for problem in reading.problems)
    assert all(row.turns and row.line for row in reading.rows)
    assert len(reading.rows) + len(reading.problems) >= (1 if of_the_file else len(records))


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@given(records=st.lists(RECORDS | VALUES, min_size=1, max_size=5))
def test_every_record_is_read_or_told_of(reader: EvalSetReader, records: list[Any]) -> None:
    written = {"records.json": json.dumps(records, indent=1)}
    if ".jsonl" in reader.endings:
        # A file that begins with a list is one list.
        written["records.jsonl"] = "\n".join(map(json.dumps, [{}, *records]))
    if reader is ai_agent_evals.READER:
        written["records.json"] = json.dumps({"evaluators": [], "data": records}, indent=1)
    for name, content in written.items():
        reading = reading_of(reader, name, content)
        assert reading is not None
        # Items whose query cannot be told are the fault of the file, once.
        unnamed = reader is openai_evals.READER and any("`item`" in problem.message for problem in reading.problems)
        check(reading, records, of_the_file=unnamed)


@pytest.mark.parametrize("reader", [azure_ai_evaluation.READER, deepeval.READER], ids=lambda reader: reader.name)
@given(rows=st.lists(st.lists(TEXTS, min_size=6, max_size=6), min_size=1, max_size=5), data=st.data())
def test_every_row_of_a_table_is_read_or_told_of(
    reader: EvalSetReader, rows: list[list[str]], data: st.DataObject
) -> None:
    header = data.draw(st.lists(KEYS, min_size=6, max_size=6, unique=True))
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([header, *rows])
    reading = reading_of(reader, "records.csv", text.getvalue())
    if reading is not None:
        # Lines of nothing but white space are none.
        check(reading, [row for row in rows if any(cell.strip() for cell in row)])


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@given(
    data=st.recursive(VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner), max_leaves=8)
)
def test_a_document_of_any_shape_raises_nothing(reader: EvalSetReader, data: Any) -> None:
    for key in ("data", "goldens", "conversationalGoldens"):
        reading = reading_of(reader, "records.json", json.dumps({"evaluators": [], "data_mapping": data, key: data}))
        assert reading is not None
        assert all(row.turns for row in reading.rows)


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
