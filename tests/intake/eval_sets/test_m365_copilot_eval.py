from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incumbent.intake.query import EvalSet
from tests.intake.eval_sets.folders import messages_of, read_one, turns

CURRENT = """\
{
  "schemaVersion": "1.4.0",
  "metadata": {"name": "Rooms"},
  "default_evaluators": {"Relevance": {}},
  "items": [
    {"prompt": "Which rooms are free?", "expected_response": "A list.",
     "evaluators": {"Citations": {"threshold": 1}}, "evaluators_mode": "extend"},
    {
      "name": "Booking",
      "description": "Keeps the room in mind",
      "turns": [
        {"prompt": "Book room 4.", "expected_response": "Booked."},
        {"prompt": "And tomorrow?", "evaluators": {"Similarity": {}}, "evaluators_mode": "replace"}
      ]
    }
  ]
}
"""


def read_items(folder: Path, *items: Any) -> EvalSet:
    """The eval set with these items, each beginning in a line of its own from line 2 on."""
    lines = ",\n".join(json.dumps(item) for item in items)
    return read_one(folder, "evals.json", f'{{"schemaVersion": "1.2.0", "items": [\n{lines}]}}')


def test_current_document_is_read_with_all_its_expectations(tmp_path: Path) -> None:
    found = read_one(tmp_path, "evals.json", CURRENT)
    single, thread = found.queries
    assert not found.problems
    assert (single.line, single.turns) == (6, ("Which rooms are free?",))
    assert single.expected == {
        "expected_response": "A list.",
        "evaluators": {"Citations": {"threshold": 1}},
        "evaluators_mode": "extend",
        "default_evaluators": {"Relevance": {}},
    }
    assert (thread.line, thread.turns) == (8, ("Book room 4.", "And tomorrow?"))
    assert thread.expected == {
        "name": "Booking",
        "description": "Keeps the room in mind",
        "turns": [
            {"expected_response": "Booked."},
            {"evaluators": {"Similarity": {}}, "evaluators_mode": "replace"},
        ],
        "default_evaluators": {"Relevance": {}},
    }


@pytest.mark.parametrize(
    "content",
    [
        '[{"prompt": "a", "expected_response": "x"}, {"prompt": "b", "expected_response": "y"}]',
        '{"prompts": ["a", "b"], "expected_responses": ["x", "y"]}',
        '\ufeff{"items": [{"prompt": "a", "expected_response": "x"}, {"prompt": "b", "expected_response": "y"}]}',
    ],
)
def test_older_shapes_and_missing_versions_are_read(tmp_path: Path, content: str) -> None:
    found = read_one(tmp_path, "evals.json", content)
    assert not found.problems
    assert [(query.turns, query.expected) for query in found.queries] == [
        (("a",), {"expected_response": "x"}),
        (("b",), {"expected_response": "y"}),
    ]


@pytest.mark.parametrize("items", ['{"prompt": "a"}', '"a"', "null"])
def test_items_that_are_no_list_are_said_to_be_none(tmp_path: Path, items: str) -> None:
    found = read_one(tmp_path, "evals.json", f'{{"schemaVersion": "1.0.0",\n"items": {items}}}')
    assert messages_of(found) == [(2, "items: must be a list of evaluation items")]
    assert found.problems[0].fix == 'write `"items": [{"prompt": "..."}]`'


def test_what_the_document_says_of_all_items_travels_along(tmp_path: Path) -> None:
    shared = {"default_evaluators": {"Relevance": {}}, "default_allowed_tools": ["orders_get"]}
    found = read_one(tmp_path, "evals.json", json.dumps({**shared, "items": [{"prompt": "a"}]}))
    assert found.queries[0].expected == shared


def test_a_list_of_other_records_with_prompts_is_none_of_this_format(tmp_path: Path) -> None:
    records = [{"id": 1, "prompt": "a", "must_contain": ["x"]}, {"id": 2, "prompt": "b", "must_contain": []}]
    found = read_one(tmp_path, "evals.json", json.dumps(records))
    assert (found.format, [query.id for query in found.queries], found.problems) == ("plain-records", ["1", "2"], ())


def test_prompts_without_expectations_have_none(tmp_path: Path) -> None:
    for name, content in [("a", '{"prompts": ["a"]}'), ("b", '[{"prompt": "a"}]')]:
        found = read_one(tmp_path / name, "evals.json", content)
        assert not found.problems
        assert found.queries[0].expected is None


def test_ids_that_items_give_are_kept(tmp_path: Path) -> None:
    found = read_items(
        tmp_path,
        {"id": "q7", "prompt": "a"},
        {"conversation_id": "renewal", "turns": [{"prompt": "b"}]},
        {"id": 12, "prompt": "d"},
        {"id": None, "prompt": "c"},
    )
    assert [query.id for query in found.queries][:3] == ["q7", "renewal", "12"]
    assert found.queries[3].id.startswith("q-")
    assert not found.problems


@pytest.mark.parametrize(
    ("item", "messages"),
    [
        ({"expected_response": "x"}, ["items.1: an item must have either `prompt` or `turns`"]),
        ({"promt": "x"}, ["either `prompt` or `turns`; perhaps you meant 'promt'"]),
        ({"prompt": "a", "turns": [{"prompt": "b"}]}, ["items.1: an item must have either `prompt` or `turns`"]),
        ({"prompt": None}, ["items.1.prompt: must be a string"]),
        ({"prompt": 7}, ["items.1.prompt: must be a string"]),
        ({"prompt": "  "}, ["items.1.prompt: is empty"]),
        ({"turns": []}, ["items.1.turns: must be a list of at least one turn"]),
        ({"turns": {"prompt": "a"}}, ["items.1.turns: must be a list of at least one turn"]),
        ({"turns": None}, ["items.1.turns: must be a list of at least one turn"]),
        ({"turns": ["a"]}, ["items.1.turns.0: a turn must be an object"]),
        (
            {"turns": [{"prompt": "a"}, {"prmpt": "b"}, {"prompt": ""}]},
            [
                "items.1.turns.1.prompt: the key is missing; perhaps you meant 'prmpt'",
                "items.1.turns.2.prompt: is empty",
            ],
        ),
        ({"id": 1.5, "prompt": "a"}, ["items.1.id: must be a string or a whole number"]),
        ({"id": True, "prompt": 3}, ["items.1.id: must be a string", "items.1.prompt: must be a string"]),
        ({"conversation_id": ["x"], "prompt": "a"}, ["items.1.conversation_id: must be a string"]),
    ],
)
def test_a_broken_item_is_a_fault_at_its_line_and_the_others_are_read(
    tmp_path: Path, item: Any, messages: list[str]
) -> None:
    found = read_items(tmp_path, {"prompt": "before"}, item, {"prompt": "after"})
    assert turns(found) == ["before", "after"]
    faults = messages_of(found)
    assert [line for line, _ in faults] == [3] * len(messages)
    assert all(message in text for message, (_, text) in zip(messages, faults, strict=True))


def test_an_id_that_is_no_string_is_to_be_quoted(tmp_path: Path) -> None:
    found = read_items(tmp_path, {"id": True, "prompt": "a"})
    assert '"id": "true"' in found.problems[0].fix


@pytest.mark.parametrize(
    ("content", "read", "faults"),
    [
        ('{"schemaVersion": "2.0.0", "items": [{"prompt": "a"}]}', ["a"], [(1, "schemaVersion: only version 1")]),
        ('{"schemaVersion": 1, "items": [{"prompt": "a"}]}', ["a"], [(1, "schemaVersion: only version 1")]),
        (
            '{"schemaVersion": "1.2.0",\n"itms": [], "default_evaluators": {}}',
            [],
            [(1, "items: the list of evaluation")],
        ),
        (
            '{"schemaVersion": "1.2.0",\n"items": {"prompt": "a"}}',
            [],
            [(2, "items: must be a list of evaluation items")],
        ),
        (
            '{"prompts": ["a",\n"b",\n7,\n""], "expected_responses": ["x", "y", "z", "w"]}',
            ["a", "b"],
            [(3, "prompts.2: must be a text"), (4, "prompts.3: must be a text")],
        ),
        (
            '{"prompts": ["a",\n"b"], "expected_responses": ["x"]}',
            ["a"],
            [(2, "prompts.1: has no counterpart in expected_responses")],
        ),
        (
            '{"prompts": ["a"], "expected_responses": ["x",\n"y"]}',
            ["a"],
            [(2, "expected_responses.1: has no counterpart in prompts")],
        ),
        (
            '{"prompts": ["a",\n"b",\n"c", "d"], "expected_responses": ["x"]}',
            ["a"],
            [
                (2, "prompts.1: has no counterpart in expected_responses"),
                (3, "prompts.2: has no counterpart in expected_responses"),
                (3, "prompts.3: has no counterpart in expected_responses"),
            ],
        ),
        (
            '{"prompts": ["a",\n{},\n"b",\n"c"], "expected_responses": ["x", "y"]}',
            ["a"],
            [
                (2, "prompts.1: must be a text"),
                (3, "prompts.2: has no counterpart in expected_responses"),
                (4, "prompts.3: has no counterpart in expected_responses"),
            ],
        ),
        (
            '{"prompts": ["a"], "expected_responses": ["x",\n"y",\n"z"]}',
            ["a"],
            [(2, "expected_responses.1: has no counterpart in prompts, nor have the 1 after it")],
        ),
        ('{"prompts": null, "expected_responses": []}', [], [(1, "prompts: must be a list")]),
        ('{"prompts": ["a"], "expected_responses": "x"}', [], [(1, "expected_responses: must be a list")]),
        ('[{"prompt": "a"},\n7]', ["a"], [(2, "1: an item must be an object")]),
    ],
)
def test_faults_of_the_document(tmp_path: Path, content: str, read: list[str], faults: list[tuple[int, str]]) -> None:
    found = read_one(tmp_path, "evals.json", content)
    assert turns(found) == read
    assert [
        (line, text[: len(expected)]) for (line, text), (_, expected) in zip(messages_of(found), faults, strict=True)
    ] == faults


def test_lines_are_known_whatever_the_json_escapes(tmp_path: Path) -> None:
    items = [{"prompt": "smile 😀", "k" * 2000: "\u2028\x7f"}, {"prompt": 7}]
    found = read_one(tmp_path, "evals.json", json.dumps(items, indent=1))
    assert found.queries[0].line == 2
    assert [line for line, _ in messages_of(found)] == [7]


def test_half_a_character_is_a_fault(tmp_path: Path) -> None:
    found = read_one(tmp_path, "evals.json", '[{"prompt": "a"},\n{"prompt": "\\ud83d"}]')
    assert messages_of(found) == [(2, "a text holds half of a surrogate pair")]
