from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incumbent.intake.eval_sets.formats.ai_agent_evals import READER
from incumbent.intake.eval_sets.inputs import column_of, path_of
from incumbent.intake.expectation import understand
from incumbent.intake.query import EvalSet
from incumbent.intake.tool_calls import ToolCall
from tests.intake.eval_sets.folders import check_one_fault, messages_of, read_one, turns

EVALUATORS = ["builtin.fluency"]


def read_items(folder: Path, *items: Any, **beside: Any) -> EvalSet:
    """The eval set with these items, each beginning in a line of its own from line 2 on."""
    head = json.dumps({"name": "Rooms", "evaluators": EVALUATORS, **beside}).removesuffix("}")
    data = ",\n".join(json.dumps(item) for item in items)
    return read_one(folder, "evals.json", f'{head}, "data": [\n{data}]}}')


def test_items_are_read_with_what_holds_for_all_of_them(tmp_path: Path) -> None:
    graders = {"g": {"input": "{{sample.output_text}}", "reference": "{{item.ground_truth}}"}}
    parameters = {"custom": {"threshold": 4}}
    found = read_items(
        tmp_path,
        {"id": "a", "query": "Rooms?", "ground_truth": "Room 4.", "context": "c"},
        {"id": 7, "query": "Which floor?", "evaluators": ["own"]},
        openai_graders=graders,
        evaluator_parameters=parameters,
        data_mapping={},
    )
    of_all = {"openai_graders": graders, "evaluator_parameters": parameters, "data_mapping": {}}
    assert (found.format, found.problems) == (READER.name, ())
    assert [(query.id, query.line, query.turns) for query in found.queries] == [
        ("a", 2, ("Rooms?",)),
        ("7", 3, ("Which floor?",)),
    ]
    assert found.queries[0].expected == {
        "ground_truth": "Room 4.",
        "context": "c",
        "evaluators": EVALUATORS,
        **of_all,
    }
    assert found.queries[1].expected == {"evaluators": ["own"], "evaluators (of the file)": EVALUATORS, **of_all}


def test_a_file_of_nothing_but_queries_expects_what_its_evaluators_do(tmp_path: Path) -> None:
    (query,) = read_items(tmp_path, {"query": "Rooms?"}).queries
    assert query.expected == {"evaluators": EVALUATORS}
    assert query.id.startswith("q-")


@pytest.mark.parametrize(
    ("mapping", "item", "spoken", "kept"),
    [
        ({}, {"query": "Rooms?"}, "Rooms?", {}),
        (None, {"query": "Rooms?"}, "Rooms?", {}),
        ({"query": None}, {"query": "Rooms?"}, "Rooms?", {}),
        ({"query": "q"}, {"q": "Rooms?", "x": 1}, "Rooms?", {"x": 1}),
        ({"query": "user question"}, {"user question": "Rooms?"}, "Rooms?", {}),
        ({"query": " q "}, {"q": "Rooms?"}, "Rooms?", {}),
        ({"query": "${data.q}"}, {"q": "Rooms?"}, "Rooms?", {}),
        ({"query": "{{item.q}}"}, {"q": "Rooms?"}, "Rooms?", {}),
        ({"query": "{{ item.q }}"}, {"q": "Rooms?"}, "Rooms?", {}),
        ({"query": "{{item.query}}"}, {"query": "Rooms?"}, "Rooms?", {}),
        ({"query": "{{item.a.b}}"}, {"a": {"b": "Rooms?", "c": 1}}, "Rooms?", {"a": {"b": "Rooms?", "c": 1}}),
        ({"query": "{{item.a.b}}"}, {"a.b": "Rooms?", "a": {"b": "x"}}, "Rooms?", {"a": {"b": "x"}}),
        ({"query": "q"}, {"q": "Rooms?", "query": "rooms"}, "Rooms?", {"query": "rooms"}),
        ({"query": "q"}, {"query": "Rooms?"}, "Rooms?", {}),
        ({"query": "{{sample.output_text}}"}, {"query": "Rooms?"}, "Rooms?", {}),
        ({"ground_truth": "a"}, {"query": "Rooms?", "a": "x"}, "Rooms?", {"a": "x"}),
    ],
)
def test_the_query_stands_where_the_mapping_says(
    tmp_path: Path, mapping: Any, item: Any, spoken: str, kept: dict[str, Any]
) -> None:
    found = read_items(tmp_path, item, data_mapping=mapping)
    assert not found.problems
    assert turns(found) == [spoken]
    assert found.queries[0].expected == {**kept, "evaluators": EVALUATORS, "data_mapping": mapping}


@pytest.mark.parametrize(
    ("item", "message", "fix"),
    [
        ({"ground_truth": "x"}, "data[1]: the item has no 'query'", '"query": "..."'),
        ({"qeury": "x"}, "data[1]: the item has no 'query'; perhaps you meant 'qeury'", "name the column"),
        ({"query": None}, "data[1]: the item has no 'query'", '"query": "..."'),
        ({}, "data[1]: the item has no 'query'", '"query": "..."'),
        ({"query": ""}, "the query is empty", "write what the user says"),
        ({"query": 7}, "data[1].query: must be a text or a list of messages", "in quotes"),
        ({"query": False}, "data[1].query: must be a text or a list of messages", "in quotes"),
        ({"query": {"a": 1}}, "data[1].query: must be a text or a list of messages", "in quotes"),
        ({"query": []}, "data[1].query: holds no message of the user", "add one"),
        ({"query": "x", "id": True}, "data[1].id: must be a string or a whole number", '"true"'),
        ({"query": "x", "id": {}}, "data[1].id: must be a string or a whole number", "in quotes"),
    ],
)
def test_a_broken_item_is_a_fault_at_its_line_and_the_others_are_read(
    tmp_path: Path, item: Any, message: str, fix: str
) -> None:
    found = read_items(tmp_path, {"query": "before"}, item, {"query": "after"})
    assert turns(found) == ["before", "after"]
    check_one_fault(found, 3, message, fix)


def test_a_column_that_an_item_lacks_is_named(tmp_path: Path) -> None:
    found = read_items(tmp_path, {"question": "before"}, {"qestion": "x"}, data_mapping={"query": "{{item.question}}"})
    assert turns(found) == ["before"]
    assert messages_of(found) == [
        (
            3,
            "data[1]: the item has no 'question', which data_mapping names for the query; perhaps you meant 'qestion'",
        )
    ]


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (["query"], "data_mapping: must be an object"),
        ("query", "data_mapping: must be an object"),
        ({"query": 7}, "data_mapping.query: must be the name of a column"),
        ({"query": ""}, "data_mapping.query: must be the name of a column"),
        ({"query": {}}, "data_mapping.query: must be the name of a column"),
    ],
)
def test_a_mapping_that_is_none_is_a_fault_and_the_usual_one_holds(tmp_path: Path, mapping: Any, message: str) -> None:
    found = read_items(tmp_path, {"query": "Rooms?"}, data_mapping=mapping)
    assert turns(found) == ["Rooms?"]
    assert messages_of(found) == [(1, message)]


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        ('{"evaluators": [],\n"data": null}', [(2, "data: must be a list of objects")]),
        ('{"evaluators": [],\n"data": {"query": "x"}}', [(2, "data: must be a list of objects")]),
        ('{"evaluators": [],\n"data": "evals.jsonl"}', [(2, "data: must be a list of objects")]),
        ('{"evaluators": [],\n"data": []}', [(1, "the eval set holds no queries")]),
    ],
)
def test_faults_of_the_document(tmp_path: Path, content: str, faults: list[tuple[int, str]]) -> None:
    found = read_one(tmp_path, "evals.json", content)
    assert (found.format, messages_of(found)) == (READER.name, faults)


def test_a_file_that_is_said_to_be_one_and_is_none_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "formats.yaml").write_text("formats: 1\nfiles: {e.json: {format: ai-agent-evals}}\n")
    for content, fault in [
        ('{"dta": []}', "data: must be a list of objects; perhaps you meant 'dta'"),
        ("[1]", "data: must be a list of objects"),
        ('{"query": "a"}\n{"query": "b"}\n', "the file holds no JSON object"),
    ]:
        found = read_one(tmp_path, "e.json", content)
        assert messages_of(found) == [(1, fault)]


def test_answers_and_tools_are_found_by_the_mapping(tmp_path: Path) -> None:
    found = read_items(
        tmp_path,
        {"query": "a", "antwort": "A list."},
        {"query": "b", "antwort": ["list_rooms", "book"]},
        {"query": "c", "ground_truth": "own"},
        data_mapping={"ground_truth": "{{item.antwort}}"},
    )
    understood = [understand(query.expected) for query in found.queries]
    assert [one.answer for one in understood] == ["A list.", None, "own"]
    assert [list(one.tool_calls) for one in understood] == [[], [ToolCall("list_rooms"), ToolCall("book")], []]


@pytest.mark.parametrize(
    ("reference", "column"),
    [
        ("q", "q"),
        (" q ", "q"),
        ("user question", "user question"),
        ("${data.q}", "q"),
        ("${data.a.b}", "a.b"),
        ("{{item.q}}", "q"),
        ("{{  item.q  }}", "q"),
        ("{{sample.output_text}}", None),
        ("${target.response}", None),
        ("{{item.q}} and {{item.r}}", None),
        ("{{item.}}", None),
        ("", None),
        (" ", None),
        (None, None),
        (7, None),
        (["q"], None),
    ],
)
def test_references_mean_columns(reference: Any, column: str | None) -> None:
    assert column_of(reference) == column


@pytest.mark.parametrize(
    ("reference", "record", "path"),
    [
        ("q", {"q": None}, ("q",)),
        ("q", {}, ()),
        ("a.b", {"a.b": 1, "a": {"b": 2}}, ("a.b",)),
        ("a.b", {"a": {"b": 2}}, ("a", "b")),
        ("a.b", {"a": "b"}, ()),
        ("a.0", {"a": ["b"]}, ()),
        ("{{sample.q}}", {"q": 1}, ()),
    ],
)
def test_references_lead_to_places(reference: Any, record: Any, path: tuple[str, ...]) -> None:
    assert path_of(reference, record) == path
