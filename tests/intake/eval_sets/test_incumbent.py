from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incumbent.intake.query import Setup
from tests.intake.eval_sets.folders import check_one_fault, messages_of, read, read_one, turns

FULL = """\
eval_set: 1
queries:
  - id: q01
    turns: ["Show my open tickets.", "Close the first."]
    expected: {response: "Closed.", tool_calls: [list, close], score: 0.5, strict: true, note: null}
    setup: {cost: 2.5, tenant: contoso, connectors: [tickets], fixtures: [open.json]}
  - query: "Show my tickets."   # one turn, an id of its own is made
"""


def test_everything_a_query_says_is_read(tmp_path: Path) -> None:
    found = read_one(tmp_path, "evals.yaml", FULL)
    first, second = found.queries
    assert not found.problems
    assert (first.id, first.line, first.turns) == ("q01", 3, ("Show my open tickets.", "Close the first."))
    assert first.expected == {
        "response": "Closed.",
        "tool_calls": ["list", "close"],
        "score": 0.5,
        "strict": True,
        "note": None,
    }
    assert first.setup == Setup(cost=2.5, tenant="contoso", connectors=("tickets",), fixtures=("open.json",))
    assert (second.line, second.turns, second.expected, second.setup) == (7, ("Show my tickets.",), None, Setup())


def test_the_same_is_read_from_json(tmp_path: Path) -> None:
    (yaml_set,) = read(tmp_path / "yaml", {"e.yaml": FULL})
    (json_set,) = read(tmp_path / "json", {"e.json": json.dumps(yaml.safe_load(FULL))})
    assert [(query.id, query.turns, query.expected, query.setup) for query in json_set.queries] == [
        (query.id, query.turns, query.expected, query.setup) for query in yaml_set.queries
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{id: 12, query: a}", "queries.1.id: must be a string"),
        ("{id: ' ', query: a}", "queries.1.id: must be a text with at least one visible character"),
        ("{id: x}", "given as exactly one of `query` (one turn) or `turns` (a list)"),
        ("{query: a, turns: [b]}", "given as exactly one of `query` (one turn) or `turns` (a list)"),
        ("{query: null}", "given as exactly one of `query` (one turn) or `turns` (a list)"),
        ("{query: ''}", "queries.1.query: must be a text with at least one visible character"),
        ("{query: 7}", "queries.1.query: must be a string"),
        ("{query: [a]}", "queries.1.query: must be a string"),
        ("{turns: []}", "queries.1.turns: must have 1 or more items"),
        ("{turns: a}", "queries.1.turns: must be a list"),
        ("{turns: [a, '']}", "queries.1.turns.1: must be a text with at least one visible character"),
        ("{turns: [a, [b]]}", "queries.1.turns.1: must be a string"),
        ("{query: a, expcted: b}", "queries.1.expcted: unknown key; perhaps you meant 'expected'"),
        ("{query: a, setup: {cost: -1}}", "queries.1.setup.cost: must be greater than or equal to 0"),
        ("{query: a, setup: {cost: '1'}}", "queries.1.setup.cost: must be a number"),
        ("{query: a, setup: {conectors: []}}", "perhaps you meant 'connectors'"),
    ],
)
def test_a_broken_query_is_a_fault_at_its_line_and_the_others_are_read(tmp_path: Path, row: str, message: str) -> None:
    found = read_one(tmp_path, "evals.yaml", f"eval_set: 1\nqueries:\n  - query: before\n  - {row}\n  - query: after\n")
    assert turns(found) == ["before", "after"]
    check_one_fault(found, 4, message)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("queries: [{query: a}]", "add `eval_set: 1`"),
        ("eval_set: 1\nqueries: [{query: a, turns: [b]}]", "give exactly one of `query` or `turns`"),
        ("eval_set: 1\nqueries: [{id: q1}]", "give exactly one of `query` or `turns`"),
    ],
)
def test_fixes_say_what_to_do(tmp_path: Path, text: str, fix: str) -> None:
    (problem,) = read_one(tmp_path, "evals.yaml", text).problems
    assert problem.fix == fix


def test_an_id_that_is_no_string_is_to_be_quoted(tmp_path: Path) -> None:
    found = read_one(tmp_path, "evals.yaml", "eval_set: 1\nqueries:\n  - {id: 12, query: a}\n")
    assert "quote" in found.problems[0].fix


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("eval_set: 2", "eval_set: 2 was written by a later version, nothing was changed"),
        ("eval_set: true", "eval_set: must be a whole number"),
        ("eval_sets: 1", "eval_sets: unknown key; perhaps you meant 'eval_set'"),
        ("name: x\neval_set: 1", "name: unknown key"),
        ("# nothing", "eval_set: the key is missing"),
    ],
)
def test_a_fault_of_the_file_costs_no_query(tmp_path: Path, head: str, message: str) -> None:
    found = read_one(tmp_path, "evals.yaml", f"{head}\nqueries:\n  - query: a\n")
    assert turns(found) == ["a"]
    assert any(message in text for _, text in messages_of(found))


def test_queries_that_are_no_list_are_a_fault(tmp_path: Path) -> None:
    for number, value in enumerate(["null", "{query: a}", "a"]):
        found = read_one(tmp_path / str(number), "evals.yaml", f"eval_set: 1\nqueries: {value}\n")
        assert messages_of(found) == [(2, "queries: must be a list")]


def test_yaml_that_is_not_plain_data_is_a_fault(tmp_path: Path) -> None:
    for number, value in enumerate(["!!python/name:os.system", "&a [*a]", "{a: 1, a: 2}"]):
        found = read_one(tmp_path / str(number), "evals.yaml", f"eval_set: 1\nqueries:\n  - query: {value}\n")
        assert found.queries == ()
        assert len(messages_of(found)) == 1


# PyYAML, which writes here, takes some numbers of YAML 1.2 (0E0, 0o7) for texts and leaves them without quotes.
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]) | st.just("\n"), min_size=1).filter(
    lambda text: text.strip() and not re.fullmatch(r"[-+]?[0-9.][-+.0-9a-fA-FoOxX_]*", text)
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
QUERIES = st.fixed_dictionaries(
    {"turns": st.lists(TEXTS, min_size=1, max_size=3)},
    optional={"expected": JSON_VALUES, "setup": st.fixed_dictionaries({"cost": st.floats(0, 1e6)})},
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(QUERIES, min_size=1, max_size=4))
def test_what_is_written_is_what_is_read(tmp_path: Path, queries: list[dict[str, Any]]) -> None:
    queries = [{"id": f"q{place}"} | query for place, query in enumerate(queries)]
    data = {"eval_set": 1, "queries": queries}
    for name, text in [
        ("e.json", json.dumps(data)),
        ("e.json", json.dumps(data, ensure_ascii=False, indent=1)),
        ("e.yaml", yaml.safe_dump(data, allow_unicode=True)),
    ]:
        found = read_one(tmp_path / name, name, text)
        assert not found.problems
        assert [query.id for query in found.queries] == [query["id"] for query in queries]
        assert [list(query.turns) for query in found.queries] == [query["turns"] for query in queries]
        assert [query.expected for query in found.queries] == [query.get("expected") for query in queries]
        assert [query.setup.cost for query in found.queries] == [
            query.get("setup", {"cost": 1.0})["cost"] for query in queries
        ]
