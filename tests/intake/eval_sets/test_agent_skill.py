"""Evals of agent skills: behaviour (``evals``) and triggers (``should_trigger``)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incumbent.intake.expectation import understand
from incumbent.intake.query import Setup
from tests.intake.eval_sets.folders import check_one_fault, read, read_one, refused, turns

EVALS = {
    "skill_name": "minutes",
    "evals": [
        {
            "id": 1,
            "prompt": "Write the minutes.",
            "expected_output": "Minutes with a date",
            "files": ["evals/files/talk.txt", {"path": "b.txt"}],
            "expectations": ["Names a date"],
        },
        {"id": "two", "prompt": "Shorten them.", "assertions": ["Is short"]},
    ],
}


def test_evals_are_queries_whose_ids_bear_the_name_of_the_skill(tmp_path: Path) -> None:
    found = read_one(tmp_path, "evals.json", json.dumps(EVALS, indent=1))
    assert (found.format, found.problems) == ("agent-skill", ())
    first, second = found.queries
    assert (first.id, first.turns, first.line) == ("minutes/1", ("Write the minutes.",), 4)
    assert first.setup == Setup(fixtures=("evals/files/talk.txt", "b.txt"))
    given_ = EVALS["evals"][0]
    assert isinstance(given_, dict)
    assert first.expected == {key: value for key, value in given_.items() if key != "prompt"} | {
        "skill_name": "minutes"
    }
    assert understand(first.expected).answer == "Minutes with a date"
    assert (second.id, second.expected) == (
        "minutes/two",
        {"id": "two", "assertions": ["Is short"], "skill_name": "minutes"},
    )


def test_two_skills_stand_beside_each_other(tmp_path: Path) -> None:
    files = {
        f"{name}/evals/evals.json": json.dumps({"skill_name": name, "evals": [{"id": 1, "prompt": name}]})
        for name in ("a", "b")
    }
    found = read(tmp_path, files)
    assert [(query.id, item.problems) for item in found for query in item.queries] == [("a/1", ()), ("b/1", ())]


SHAPES: list[tuple[Any, list[Any], list[Any]]] = [
    ([{"query": "a", "should_trigger": True}], ["a"], [{"should_trigger": True}]),
    ({"evals": [{"query": "a", "should_trigger": False}]}, ["a"], [{"should_trigger": False}]),
    ({"evals": [{"id": "x", "prompt": "a"}]}, ["a"], [None]),
    ({"evals": [{"title": "t", "turns": [{"prompt": "a", "expected_response": "r"}, {"prompt": "b"}]}]},
     [["a", "b"]], [{"title": "t", "turns": [{"expected_response": "r"}, {}]}]),
    ({"evals": [{"id": "x", "prompt": "a", "skill_name": "s"}], "version": 1}, ["a"],
     [{"skill_name": "s", "version": 1}]),
]  # fmt: skip


@pytest.mark.parametrize(("data", "spoken", "expected"), SHAPES)
def test_the_shapes_there_are(tmp_path: Path, data: Any, spoken: list[Any], expected: list[Any]) -> None:
    found = read_one(tmp_path, "evals.json", json.dumps(data))
    assert (found.format, turns(found), found.problems) == ("agent-skill", spoken, ())
    assert [query.expected for query in found.queries] == expected


FAULTS: list[tuple[str, int, str]] = [
    ('{"skill_name": "s",\n "evals": {}}', 2, "evals: must be a list of evals"),
    ('{"skill_name": "s", "evals": []}', 1, "the eval set holds no queries"),
    ('{"evals": [{"prompt": "ok"},\n{"id": 2}]}', 2, "evals[1]: must have either `prompt` or `turns`"),
    ('{"evals": [{"prompt": "ok"},\n{"id": 2.5, "prompt": "a"}]}', 2, "must be a string or a whole number"),
    ('{"evals": [{"prompt": "ok"},\n{"id": 2, "prompt": null}]}', 2, "must have either"),
    ('{"evals": [{"prompt": "ok"},\n{"prompt": " "}]}', 2, "the query is empty"),
    ('[{"query": "ok", "should_trigger": true},\n{"should_trigger": true}]', 2, "must have either"),
]


@pytest.mark.parametrize(("content", "line", "message"), FAULTS)
def test_a_broken_eval_costs_no_other(tmp_path: Path, content: str, line: int, message: str) -> None:
    found = read_one(tmp_path, "evals.json", content)
    assert turns(found) == (["ok"] if "ok" in content else [])
    check_one_fault(found, line, message)


@pytest.mark.parametrize("data", [{"evals": []}, {"evals": [{"name": "x"}]}, {"evals": {"a": 1}}])
def test_other_files_with_evals_are_none(tmp_path: Path, data: Any) -> None:
    refused(tmp_path, {"a.json": json.dumps(data)})


def test_cases_of_a_skill_are_evals_and_prompts_may_say_whether_they_trigger(tmp_path: Path) -> None:
    cases = [{"id": "t1", "prompt": "Split this task.", "should_trigger": True}, {"id": "t2", "prompt": "Fix a typo."}]
    for number, document in enumerate([{"skill": "splitter", "cases": cases}, cases]):
        found = read_one(tmp_path / str(number), "trigger-evals.json", json.dumps(document))
        assert (found.format, found.problems) == ("agent-skill", ())
        assert [query.turns for query in found.queries] == [("Split this task.",), ("Fix a typo.",)]
        assert [query.id for query in found.queries] == [["splitter/t1", "splitter/t2"], ["t1", "t2"]][number]
