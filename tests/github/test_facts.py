"""The document of facts: what it cannot say."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from incumbent.classifier.usage import Usage
from incumbent.errors import Problem
from incumbent.github.facts import FORMAT, Analysis, classified_of, facts_of, without_secrets
from incumbent.intake.expectation import ExpectedTools
from incumbent.intake.query import Setup
from incumbent.taxonomy.config import Prices
from tests.github.scenes import make_analysis, make_query, reworded


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("judged", "submissions", 0, "queries", 0, "query", "turns"), []),
        (("judged", "submissions", 0, "queries", 0, "query", "line"), 0),
        (("judged", "submissions", 0, "queries", 0, "query", "id"), "b02"),
        (("judged", "submissions", 0, "about", "moved_from"), ["a"]),
        (("judged", "problems"), [{"file": "x", "line": -1, "message": "m", "fix": "f"}]),
        (("judged", "submissions", 0, "about", "notes"), [{"file": "x", "line": 0, "message": "m", "fix": "f"}]),
        (("judged", "submissions", 0, "about", "customer"), ""),
    ],
    ids=[
        "no turns",
        "line 0",
        "two of a name",
        "moved from half a place",
        "a fault before the first line",
        "a note before the first line",
        "no customer",
    ],
)
def test_a_document_that_contradicts_itself_is_no_analysis(path: tuple[str | int, ...], value: object) -> None:
    facts: Any = make_analysis(queries=(make_query("b01", {"a": 0.9}), make_query("b02", {"b": 0.9}))).model_dump()
    Analysis.model_validate(facts)
    place = facts
    for step in path[:-1]:
        place[step] = dict(place[step]) if isinstance(place[step], dict) else list(place[step])
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(ValidationError):
        Analysis.model_validate(facts)


def test_paths_of_any_bytes_fit_into_the_document() -> None:
    problem = Problem("eval_sets/\udcff/" + "x" * 9000, 3, "token ghp_" + "a" * 36, "take it out")
    facts = without_secrets(problem)
    assert len(facts.file) == 4096
    assert "\udcff" not in facts.file
    assert "ghp_" not in facts.message
    assert facts.line == 3


def test_facts_outlive_the_document() -> None:
    analysis = make_analysis()
    (facts,) = analysis.judged.submissions
    keys = {item.query.id: item.key for item in facts.queries if item.key is not None}
    assert facts_of(classified_of(facts), facts.specification, keys, {}) == facts
    assert [query.expected_tools for query in facts.queries] == [None] * len(facts.queries)


def test_expected_tools_are_facts_of_a_query() -> None:
    (facts,) = make_analysis().judged.submissions
    expected = {"q01": ExpectedTools(steps=(("add",),)), "q02": ExpectedTools(), "q03": None}
    found = facts_of(classified_of(facts), facts.specification, {}, {}, expected)
    again = type(found).model_validate_json(found.model_dump_json())
    assert [query.expected_tools for query in again.queries] == [*expected.values(), None]


def test_a_decision_is_bound_to_what_is_attached_as_well() -> None:
    def content(*attachments: str) -> str:
        query = reworded(make_query("b01", {"a": 0.9}), setup=Setup(attachments=attachments))
        return make_analysis(queries=(query,)).judged.submissions[0].contents["b01"]

    assert len({content(), content("a.png"), content("b.png")}) == 3


def test_a_decision_is_bound_to_the_calls_that_are_expected() -> None:
    def content(expected: ExpectedTools | None) -> str:
        query = make_query("b01", {"a": 0.9}).model_copy(update={"expected_tools": expected})
        return make_analysis(queries=(query,)).judged.submissions[0].contents["b01"]

    add, get = ("add",), ("get",)
    different = [
        *(ExpectedTools(steps=steps) for steps in ((), (add,), (add, get), (("add", "get"),))),
        *(ExpectedTools(steps=(add, get), order="chain"), ExpectedTools(forbidden=get, states_calls=False)),
    ]
    assert len({content(None), *map(content, different)}) == 7


@pytest.mark.parametrize("version", [None, 2, 3.0, "3", True])
def test_a_document_of_no_version_or_another_is_none(version: object) -> None:
    facts = make_analysis().model_dump(mode="json")
    assert Analysis.model_validate(facts, strict=False).format == FORMAT
    with pytest.raises(ValidationError):
        Analysis.model_validate(facts | {"format": version}, strict=False)
    del facts["format"]
    with pytest.raises(ValidationError):
        Analysis.model_validate(facts, strict=False)


@pytest.mark.parametrize("prices", [None, Prices(currency="EUR", input=1, cached=0.5, output=2)])
def test_what_asking_has_cost_is_the_same_on_both_sides(prices: Prices | None) -> None:
    usage = Usage(requests=3, probing=1, tokens_in=100, tokens_cached=50, tokens_out=20, prices=prices)
    analysis = make_analysis(usage=usage)
    assert Analysis.model_validate_json(analysis.model_dump_json()).work.usage == usage


def test_a_fault_has_a_line_that_counts_from_one_and_nothing_private() -> None:
    facts: Any = make_analysis().model_dump()
    fault = {"file": "f", "line": 1, "message": "m", "fix": "x"}

    def read(fault: dict[str, Any]) -> Analysis:
        return Analysis.model_validate({**facts, "judged": {**facts["judged"], "problems": [fault]}})

    assert read(fault).judged.problems == (Problem("f", 1, "m", "x"),)
    wrongs: tuple[dict[str, Any], ...] = ({"line": 0}, {"_parts": []}, {"line": "1"})
    for wrong in wrongs:
        with pytest.raises(ValidationError):
            read({**fault, **wrong})
