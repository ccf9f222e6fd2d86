"""The classifier as a whole: which questions go to inference, and what comes of the answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.classifier.classify import ClassifierResult, classify, distinct
from bot.classifier.model import Consensus, Finding
from bot.errors import IncompleteError, IncumbentError, OutsideError, UsageError
from bot.intake.query import Setup
from bot.intake.specification import Specification
from bot.taxonomy.model import Taxonomy
from tests.classifier.factories import (
    NOTHING,
    ScriptedBackend,
    declared,
    intent,
    query,
    says,
    silent,
    specification,
    taxonomy,
    tool,
)

AUTH = (
    declared("oauth", "contains(auth_modes, 'oauth')", "one.auth", requires="call"),
    declared("key", "contains(auth_modes, 'api-key')", "one.auth", requires="call"),
)
EVERYTHING = taxonomy(*AUTH, intent("call"), intent("table"))
TWO_TOOLS = specification([tool("get_parts", "oauth"), tool("get_fares", "api-key"), tool("get_news")])


def run(
    answers: dict[str, Finding], spec: Specification, tax: Taxonomy = EVERYTHING, samples: int = 1
) -> tuple[ClassifierResult, ScriptedBackend]:
    backend = ScriptedBackend(answers, samples)
    return classify([query(id) for id in answers], spec, tax, backend, silent), backend


def test_classifications_are_in_the_order_of_the_queries_and_hold_every_capability() -> None:
    result, _ = run({id: says(call=0.9, table=0.1) for id in "cab"}, NOTHING)
    assert [item.query_id for item in result.classifications] == ["c", "a", "b"]
    assert all(list(item.judgements) == list(EVERYTHING.by_id) for item in result.classifications)


def test_inference_is_asked_only_for_what_the_specification_does_not_decide() -> None:
    _, backend = run({"q": says(call=0.9, table=0.1)}, specification(auth=["oauth"]))
    assert [item.capabilities for item in backend.asked] == [("call", "table")]
    assert backend.asked[0].turns == ("q",)


@pytest.mark.parametrize(
    ("spec", "asked"),
    [
        (specification([tool("get_parts", "oauth")]), ()),
        (TWO_TOOLS, ("get_parts", "get_fares", "get_news")),
        (specification(None, ["oauth", "api-key"]), ()),
    ],
)
def test_tools_are_passed_only_where_they_decide_between_declared_members(
    spec: Specification, asked: tuple[str, ...]
) -> None:
    _, backend = run({"q": says(call=0.9, table=0.1)}, spec)
    assert tuple(item.name for item in backend.asked[0].tools) == asked


@pytest.mark.parametrize(
    ("answer", "signature", "off"),
    [
        pytest.param(says("get_parts", 0.7, call=0.9, table=0.1), {"call": 0.9, "oauth": 0.7}, (), id="oauth"),
        pytest.param(says("get_fares", 0.6, call=0.9, table=0.1), {"call": 0.9, "key": 0.6}, (), id="key"),
        pytest.param(says("get_news", 0.6, call=0.9, table=0.1), {"call": 0.9}, ("one.auth",), id="undeclared auth"),
        pytest.param(says(None, call=0.9, table=0.1), {"call": 0.9}, ("one.auth",), id="no tool"),
        pytest.param(says("get_parts", 0.7, call=0.2, table=0.8), {"table": 0.8}, (), id="requirement"),
    ],
)
def test_the_chosen_tools_declaration_decides_between_declared_members(
    answer: Finding, signature: dict[str, float], off: tuple[str, ...]
) -> None:
    result, _ = run({"q": answer}, TWO_TOOLS)
    (item,) = result.classifications
    assert {name: item.judgements[name].confidence for name in item.signature} == signature
    assert item.off_taxonomy == off


def test_of_two_tools_with_one_name_the_first_counts() -> None:
    twins = specification([tool("get", "oauth"), tool("get", "api-key")])
    result, _ = run({"q": says("get", call=0.9, table=0.1)}, twins)
    assert result.classifications[0].signature == {"call", "oauth"}


def test_a_query_with_too_few_valid_samples_is_unclassified_and_the_others_are_not() -> None:
    good = says(call=0.9, table=0.2)
    result, _ = run({"a": good, "b": Finding(shortfall="2 of 5"), "c": good}, NOTHING, samples=5)
    assert [item.query_id for item in result.classifications] == ["a", "c"]
    assert result.unclassified == ("b",)
    assert result.shortfalls == {"b": "2 of 5"}
    assert result.stopped is None


@pytest.mark.parametrize("error", [OutsideError("away"), IncompleteError("spent")])
def test_what_was_found_before_a_failure_is_kept_and_the_failure_told(error: IncumbentError) -> None:
    backend = ScriptedBackend({"b": says(call=0.9, table=0.1)}, fails=error)
    result = classify([query(id) for id in "abc"], NOTHING, EVERYTHING, backend, silent)
    assert [item.query_id for item in result.classifications] == ["b"]
    assert tuple(result.shortfalls) == result.unclassified == ("a", "c")
    assert result.stopped is error


def test_an_error_of_the_call_itself_ends_it() -> None:
    backend = ScriptedBackend({}, fails=UsageError("no key"))
    with pytest.raises(UsageError):
        classify([query("a")], NOTHING, EVERYTHING, backend, silent)


@pytest.mark.parametrize(
    ("text", "finding", "attempt"),
    [
        ("Show my bills", says(call=0.9, table=0.1), False),
        ("Show my bills", replace(says(call=0.9, table=0.1), attempt=True), True),
        ("Show my bills\U000e0041\U000e0042", says(call=0.9, table=0.1), True),
    ],
)
def test_a_query_that_argues_or_hides_text_is_an_attempt(text: str, finding: Finding, attempt: bool) -> None:
    backend = ScriptedBackend({"q": finding})
    (item,) = classify([query("q", text)], NOTHING, EVERYTHING, backend, silent).classifications
    assert item.attempt is attempt


def test_the_name_of_what_is_attached_may_hide_text_too() -> None:
    hiding = replace(query("q", "Show my bills"), setup=Setup(attachments=("a\U000e0041\U000e0042.png",)))
    backend = ScriptedBackend({"q": says(call=0.9, table=0.1)})
    (item,) = classify([hiding], NOTHING, EVERYTHING, backend, silent).classifications
    assert item.attempt


def test_the_weakest_basis_of_what_was_inferred_is_recorded() -> None:
    bases = {"call": Consensus(True, 0.9, "stated"), "table": Consensus(False, 0.0, "vote")}
    (item,) = run({"q": Finding(consensus=bases)}, NOTHING)[0].classifications
    assert item.basis == "vote"


def test_a_taxonomy_that_the_specification_decides_alone_needs_no_inference() -> None:
    alone = taxonomy(declared("oauth", "contains(auth_modes, 'oauth')"))
    result, backend = run({"q": Finding()}, specification(auth=["oauth"]), alone)
    assert backend.asked == []
    assert result.classifications[0].signature == {"oauth"}
    assert result.unclassified == ()


def test_without_queries_the_backend_is_not_asked() -> None:
    result, backend = run({}, NOTHING)
    assert result == ClassifierResult(classifications=(), unclassified=())
    assert backend.asked == []


def test_progress_is_the_backends() -> None:
    seen: list[tuple[int, int]] = []
    backend = ScriptedBackend({id: says(call=0.9, table=0.1) for id in "ab"})
    classify([query("a"), query("b")], NOTHING, EVERYTHING, backend, lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


def test_tools_of_one_name_get_names_of_their_own() -> None:
    tools = tuple(tool(name) for name in ("search", "get", "search", "search 2"))
    assert [tool.name for tool in distinct(tools)] == ["search", "get", "search 3", "search 2"]
    assert [tool.description for tool in distinct(tools)] == [tool.description for tool in tools]
