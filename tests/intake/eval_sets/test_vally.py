"""Vally eval specs: stimuli with their graders and set-up, and what the file says of all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from incumbent.intake.expectation import understand
from incumbent.intake.query import Setup
from incumbent.intake.tool_calls import ToolCall
from tests.intake.eval_sets.folders import check_one_fault, read_one, refused, turns

SPEC = """name: rooms
type: capability
environment: rooms-mock
scoring: {threshold: 0.8}
stimuli:
  - name: free-rooms
    prompt: Which rooms are free?
    graders:
      - type: tool-calls
        config: {required: [{name: rooms, command: rooms_list}], disallowed: [rooms_book]}
  - name: book
    prompt: |
      Book room 4.
    environment: {files: [{src: plan.txt, dest: p.txt}], mcpServers: {rooms: {command: x}}}
    attachments: [a.png]
    constraints: {expect_tools: [rooms_book], reject_tools: [rooms_delete]}
"""


def test_stimuli_are_queries_with_what_the_file_says_of_all(tmp_path: Path) -> None:
    found = read_one(tmp_path, "rooms.eval.yaml", SPEC)
    assert (found.format, found.problems) == ("vally", ())
    free, book = found.queries
    assert (free.id, free.turns, free.line) == ("free-rooms", ("Which rooms are free?",), 6)
    assert (book.id, book.turns, book.line) == ("book", ("Book room 4.\n",), 11)
    spec = {"name": "rooms", "type": "capability", "environment": "rooms-mock", "scoring": {"threshold": 0.8}}
    assert isinstance(free.expected, dict)
    assert free.expected.keys() == {"graders", "eval_spec"}
    assert free.expected["eval_spec"] == spec
    assert free.setup == Setup(tenant="rooms-mock")
    assert book.setup == Setup(
        tenant="rooms-mock", connectors=("rooms",), fixtures=("plan.txt",), attachments=("a.png",)
    )
    assert understand(free.expected).tool_calls == (
        ToolCall("rooms_list"),
        ToolCall("rooms_book", unwanted=True),
    )
    assert understand(book.expected).tool_calls == (ToolCall("rooms_book"), ToolCall("rooms_delete", unwanted=True))


SHAPES: list[tuple[str, list[Any]]] = [
    ("stimuli: [{prompt: a}]", ["a"]),
    ("stimuli: [{name: x, turns: [a, {prompt: b, graders: []}]}]", [["a", "b"]]),
    ("stimuli: [{name: x, prompt: [a, b]}]", [["a", "b"]]),
    ("stimuli: [{name: x, turns: [{role: user, content: a}, {role: assistant, content: b}]}]", ["a"]),
    ('{"stimuli": [{"name": "x", "prompt": "a"}]}', ["a"]),
]


@pytest.mark.parametrize(("content", "expected"), SHAPES)
def test_prompts_and_turns(tmp_path: Path, content: str, expected: list[Any]) -> None:
    found = read_one(tmp_path, "a.yaml", content)
    assert (turns(found), found.problems) == (expected, ())


FAULTS = [
    ("stimuli: 1\nscoring: {}\n", 1, "stimuli: must be a list of stimuli"),
    ("stimuli: []\nscoring: {}\n", 1, "the eval set holds no queries"),
    ("stimuli:\n- {prompt: ok}\n- {name: b}\n", 3, "stimuli[1]: must have either `prompt` or `turns`"),
    ("stimuli:\n- {prompt: ok}\n- {promt: b}\n", 3, "perhaps you meant 'promt'"),
    ("stimuli:\n- {prompt: ok}\n- {prompt: a, turns: [b]}\n", 3, "must have either `prompt` or `turns`"),
    ("stimuli:\n- {prompt: ok}\n- {prompt: 7}\n", 3, "stimuli[1].prompt: must be a text"),
    ("stimuli:\n- {prompt: ok}\n- {turns: []}\n", 3, "must be a list of at least one turn"),
    ("stimuli:\n- {prompt: ok}\n- {turns: [a, 1]}\n", 3, "stimuli[1].turns[1]: must be a text"),
]


@pytest.mark.parametrize(("content", "line", "message"), FAULTS)
def test_a_broken_stimulus_costs_no_other(tmp_path: Path, content: str, line: int, message: str) -> None:
    found = read_one(tmp_path, "a.yaml", content)
    assert turns(found) == (["ok"] if "ok" in content else [])
    check_one_fault(found, line, message)


def test_a_parameter_is_no_tenant(tmp_path: Path) -> None:
    found = read_one(tmp_path, "a.yaml", "stimuli: [{prompt: a, environment: '${ENVIRONMENT}'}]")
    assert found.queries[0].setup == Setup()
    assert found.queries[0].expected == {"environment": "${ENVIRONMENT}"}


@pytest.mark.parametrize("content", ["stimuli: [a.png, b.png]\n", "colour: red\n", "stimuli: [{image: a.png}]\n"])
def test_other_files_with_stimuli_are_none(tmp_path: Path, content: str) -> None:
    refused(tmp_path, {"a.yaml": content})
