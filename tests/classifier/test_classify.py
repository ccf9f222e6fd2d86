"""The classifier as a whole: which questions go to inference, and what comes of the answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from incumbent.classifier.classify import ClassifierResult, classify, distinct, ruled_out
from incumbent.classifier.model import (
    CalledTools,
    Classification,
    Consensus,
    Contradiction,
    Finding,
    Judgement,
    StatedCalls,
)
from incumbent.errors import IncompleteError, IncumbentError, OutsideError, UsageError
from incumbent.files.documents import Data
from incumbent.intake.query import Query, Setup
from incumbent.intake.specification import Knowledge, Specification
from incumbent.taxonomy.model import Exemplars, Taxonomy
from tests.classifier.factories import (
    NOTHING,
    ScriptedBackend,
    counted,
    declared,
    intent,
    of_tools,
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
    assert list(result.classifications) == ["c", "a", "b"]
    assert all(list(item.judgements) == list(EVERYTHING.by_id) for item in result.classifications.values())


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
def test_without_capabilities_of_tools_these_are_passed_only_where_they_decide_between_declared_members(
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
    (item,) = result.classifications.values()
    assert {name: item.judgements[name].confidence for name in item.signature} == signature
    assert item.off_taxonomy == off


def test_of_two_tools_with_one_name_the_first_counts() -> None:
    twins = specification([tool("get", "oauth"), tool("get", "api-key")])
    result, _ = run({"q": says("get", call=0.9, table=0.1)}, twins)
    assert next(iter(result.classifications.values())).signature == {"call", "oauth"}


def test_a_query_with_too_few_valid_samples_is_unclassified_and_the_others_are_not() -> None:
    good = says(call=0.9, table=0.2)
    result, _ = run({"a": good, "b": Finding(shortfall="2 of 5"), "c": good}, NOTHING, samples=5)
    assert list(result.classifications) == ["a", "c"]
    assert result.unclassified == ("b",)
    assert result.shortfalls == {"b": "2 of 5"}
    assert result.stopped is None


@pytest.mark.parametrize("error", [OutsideError("away"), IncompleteError("spent")])
def test_what_was_found_before_a_failure_is_kept_and_the_failure_told(error: IncumbentError) -> None:
    backend = ScriptedBackend({"b": says(call=0.9, table=0.1)}, fails=error)
    result = classify([query(id) for id in "abc"], NOTHING, EVERYTHING, backend, silent)
    assert list(result.classifications) == ["b"]
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
    (item,) = classify([query("q", text)], NOTHING, EVERYTHING, backend, silent).classifications.values()
    assert item.attempt is attempt


def test_the_name_of_what_is_attached_may_hide_text_too() -> None:
    hiding = replace(query("q", "Show my bills"), setup=Setup(attachments=("a\U000e0041\U000e0042.png",)))
    backend = ScriptedBackend({"q": says(call=0.9, table=0.1)})
    (item,) = classify([hiding], NOTHING, EVERYTHING, backend, silent).classifications.values()
    assert item.attempt


def test_the_weakest_basis_of_what_was_inferred_is_recorded() -> None:
    bases = {"call": Consensus(True, 0.9, "stated"), "table": Consensus(False, 0.0, "vote")}
    (item,) = run({"q": Finding(consensus=bases)}, NOTHING)[0].classifications.values()
    assert item.basis == "vote"


def test_a_taxonomy_that_the_specification_decides_alone_needs_no_inference() -> None:
    alone = taxonomy(declared("oauth", "contains(auth_modes, 'oauth')"))
    result, backend = run({"q": Finding()}, specification(auth=["oauth"]), alone)
    assert backend.asked == []
    assert next(iter(result.classifications.values())).signature == {"oauth"}
    assert result.unclassified == ()


def test_without_queries_the_backend_is_not_asked() -> None:
    result, backend = run({}, NOTHING)
    assert result == ClassifierResult(classifications={})
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


# Called tools (semantics, section 2.1).

SHOWN = Exemplars(positive=("do it",))
TOOL_CALL = of_tools("tool-call", "`true`", exemplars=SHOWN)
WRITE = of_tools("write", "effect == 'write' || (effect == 'unknown' && `null`)", exemplars=SHOWN)
ON_TOOLS = taxonomy(
    TOOL_CALL,
    WRITE,
    of_tools("a-oauth", "auth == 'oauth'", "one.auth"),
    of_tools("a-key", "auth == 'api-key'", "one.auth"),
)
GET, ADD = tool("get", "api-key"), tool("add", "oauth", effect="write")
ANY = tool("any", "other", effect="unknown")


def called(p: float, *steps: dict[str, float], **texts: float) -> Finding:
    return replace(says(None, 1.0, **texts), calls=CalledTools(p, steps))


def confidences(result: ClassifierResult) -> dict[str, tuple[bool, float, str]]:
    (item,) = result.classifications.values()
    return {name: (each.value, round(each.confidence, 9), each.path) for name, each in item.judgements.items()}


def test_the_tools_are_asked_for_with_all_that_helps_to_choose() -> None:
    spec = replace(specification([GET, ADD]), starters=("Add a job",))
    _, backend = run({"q": called(0.9, {"add": 1.0})}, spec, ON_TOOLS)
    (asked,) = backend.asked
    assert (asked.capabilities, asked.tools, asked.starters) == ((), (GET, ADD), ("Add a job",))
    assert asked.call_capability == "tool-call"


def test_the_text_is_asked_where_a_tool_is_silent() -> None:
    result, backend = run({"q": called(1.0, {"any": 1.0}, write=0.8)}, specification([GET, ANY]), ON_TOOLS)
    assert backend.asked[0].capabilities == ("write",)
    assert confidences(result)["write"] == (True, 0.8, "tool")


@pytest.mark.parametrize(
    ("finding", "values", "off"),
    [
        pytest.param(
            called(0.9, {"add": 0.8, "get": 0.2}),
            {
                "tool-call": (True, 0.9, "tool"),
                "write": (True, 0.72, "tool"),
                "a-oauth": (True, 0.72, "tool"),
                "a-key": (False, 0.18, "tool"),
            },
            (),
            id="the likely tool writes",
        ),
        pytest.param(
            called(0.9, {"get": 1.0}),
            {
                "tool-call": (True, 0.9, "tool"),
                "write": (False, 0.0, "tool"),
                "a-oauth": (False, 0.0, "tool"),
                "a-key": (True, 0.9, "tool"),
            },
            (),
            id="a read is no write, whatever the agent could do",
        ),
        pytest.param(
            called(0.8, {"get": 1.0}, {"add": 1.0}),
            {
                "tool-call": (True, 0.8, "tool"),
                "write": (True, 0.8, "tool"),
                "a-oauth": (True, 0.8, "tool"),
                "a-key": (False, 0.8, "arbitration"),
            },
            (),
            id="two steps, and one auth mode",
        ),
        pytest.param(
            called(0.1, {"add": 1.0}),
            {
                "tool-call": (False, 0.1, "tool"),
                "write": (False, 0.1, "tool"),
                "a-oauth": (False, 0.1, "tool"),
                "a-key": (False, 0.0, "tool"),
            },
            (),
            id="no call",
        ),
        pytest.param(
            called(0.9, {"other": 1.0}),
            {
                "tool-call": (True, 0.9, "tool"),
                "write": (False, 0.0, "tool"),
                "a-oauth": (False, 0.0, "tool"),
                "a-key": (False, 0.0, "tool"),
            },
            ("one.auth",),
            id="a tool whose auth the taxonomy does not know",
        ),
        pytest.param(
            says(),
            {
                "tool-call": (False, 0.0, "tool"),
                "write": (False, 0.0, "tool"),
                "a-oauth": (False, 0.0, "tool"),
                "a-key": (False, 0.0, "tool"),
            },
            (),
            id="a backend that says nothing of tools",
        ),
    ],
)
def test_values_are_those_of_the_called_tools(
    finding: Finding, values: dict[str, tuple[bool, float, str]], off: tuple[str, ...]
) -> None:
    result, _ = run({"q": finding}, specification([GET, ADD, tool("other", "other")]), ON_TOOLS)
    assert confidences(result) == values
    (item,) = result.classifications.values()
    assert item.off_taxonomy == off
    assert item.calls == (finding.calls or CalledTools(0.0))


def test_an_agent_that_declares_no_tools_calls_none_and_is_not_asked() -> None:
    result, backend = run({"q": says()}, specification([]), ON_TOOLS)
    assert backend.asked == []
    assert set(confidences(result).values()) == {(False, 0.0, "tool")}
    assert next(iter(result.classifications.values())).off_taxonomy == ()
    assert next(iter(result.classifications.values())).calls == CalledTools(0.0)


def test_without_a_word_on_tools_their_capabilities_are_inferred_or_undeclared() -> None:
    result, backend = run({"q": says(None, 1.0, **{"tool-call": 0.9, "write": 0.2})}, NOTHING, ON_TOOLS)
    assert (backend.asked[0].capabilities, backend.asked[0].tools) == (("tool-call", "write"), ())
    assert backend.asked[0].call_capability is None
    assert confidences(result) == {
        "tool-call": (True, 0.9, "inference"),
        "write": (False, 0.2, "inference"),
        "a-oauth": (False, 0.0, "undeclared"),
        "a-key": (False, 0.0, "undeclared"),
    }
    assert next(iter(result.classifications.values())).calls is None


def expecting(*names: str) -> Query:
    return replace(query("q"), expected={"expected_tools": list(names)})


@pytest.mark.parametrize(
    ("item", "finding", "write", "contradiction"),
    [
        pytest.param(
            expecting("add"), called(0.6, {"add": 0.7, "get": 0.3}), (True, 1.0, "expected"), None, id="they agree"
        ),
        pytest.param(
            expecting("add"),
            called(0.2, {"add": 1.0}),
            (True, 1.0, "expected"),
            Contradiction(expected=("add",), likeliest=(), probability=0.2),
            id="the classifier expected no call",
        ),
        pytest.param(
            expecting("get"),
            called(0.9, {"add": 1.0}),
            (False, 1.0, "expected"),
            Contradiction(expected=("get",), likeliest=("add",), probability=0.9),
            id="the classifier expected another tool",
        ),
        pytest.param(expecting("get"), says(), (False, 1.0, "expected"), None, id="the classifier said nothing"),
        pytest.param(expecting("unknown"), called(0.9, {"add": 1.0}), (True, 0.9, "tool"), None, id="not declared"),
    ],
)
def test_an_expected_call_decides_and_a_contradiction_is_told(
    item: Query, finding: Finding, write: tuple[bool, float, str], contradiction: Contradiction | None
) -> None:
    backend = ScriptedBackend({"q": finding})
    result = classify([item], specification([GET, ADD]), ON_TOOLS, backend, silent)
    assert [each.tools for each in backend.asked] == [(GET, ADD)]
    assert confidences(result)["write"] == write
    assert next(iter(result.classifications.values())).contradiction == contradiction


def test_an_expected_call_decides_between_declared_members_too() -> None:
    backend = ScriptedBackend({"q": says("get_parts", 0.7, call=0.9, table=0.1)})
    item = replace(query("q"), expected={"expected_tools": ["get_fares"]})
    (found,) = classify([item], TWO_TOOLS, EVERYTHING, backend, silent).classifications.values()
    assert found.judgements["key"].confidence == 1.0
    assert "key" in found.signature
    assert found.contradiction is not None


NO_CALL = dict.fromkeys(("tool-call", "write", "a-oauth", "a-key"), (False, 1.0, "expected"))
"""What the eval set says that expects no call, whatever is declared."""
SOME_CALL = {
    "tool-call": (True, 1.0, "expected"),
    "write": (False, 0.2, "expected"),
    "a-oauth": (False, 0.0, "expected"),
    "a-key": (False, 0.0, "expected"),
}
"""What it says that expects a call of a tool of which nothing is known: the text has to say what it does."""


@pytest.mark.parametrize(
    ("item", "call", "values", "calls", "contradiction"),
    [
        pytest.param(expecting(), 0.1, NO_CALL, CalledTools(0.0), None, id="no call, and they agree"),
        pytest.param(
            expecting(),
            0.9,
            NO_CALL,
            CalledTools(0.0),
            Contradiction(expected=(), likeliest=("*",), probability=0.9),
            id="no call, and the classifier expected one",
        ),
        pytest.param(
            expecting("add"), 0.9, SOME_CALL, CalledTools(1.0, ({"*": 1.0},)), None, id="a call, and they agree"
        ),
        pytest.param(
            expecting("add", "get"),
            0.1,
            SOME_CALL,
            CalledTools(1.0, ({"*": 1.0}, {"*": 1.0})),
            Contradiction(expected=("*", "*"), likeliest=(), probability=0.1),
            id="calls, and the classifier expected none",
        ),
    ],
)
def test_an_expectation_decides_where_nothing_is_declared_about_tools(
    item: Query,
    call: float,
    values: dict[str, tuple[bool, float, str]],
    calls: CalledTools,
    contradiction: Contradiction | None,
) -> None:
    backend = ScriptedBackend({"q": says(None, 1.0, **{"tool-call": call, "write": 0.2})})
    result = classify([item], NOTHING, ON_TOOLS, backend, silent)
    assert [(each.tools, each.call_capability) for each in backend.asked] == [((), None)]
    # Of two steps each may be the one that does what the text says.
    wanted = values | ({"write": (False, 1 - 0.8**2, "expected")} if len(calls.steps) == 2 else {})
    assert confidences(result) == {name: pytest.approx(value) for name, value in wanted.items()}
    assert next(iter(result.classifications.values())).off_taxonomy == ()
    assert next(iter(result.classifications.values())).calls == calls
    assert next(iter(result.classifications.values())).contradiction == contradiction


def test_an_expectation_decides_on_declared_members_of_an_agent_without_a_word_on_tools() -> None:
    modes = specification(None, ["oauth", "api-key"])
    backend = ScriptedBackend({"q": says(call=0.9, table=0.1)})
    for item, off in ((expecting(), ()), (expecting("add"), ("one.auth",)), (query("q"), ("one.auth",))):
        (found,) = classify([item], modes, EVERYTHING, backend, silent).classifications.values()
        assert found.signature == {"call"}
        assert found.off_taxonomy == off
        assert found.contradiction is None


UNLISTED_TOOL = tool("*", "oauth", effect="unknown")


@pytest.mark.parametrize(
    ("item", "finding", "values", "contradiction"),
    [
        pytest.param(
            expecting("add"),
            called(0.02, {"*": 1.0}, write=0.3),
            {
                "tool-call": (True, 1.0, "expected"),
                "write": (False, 0.3, "expected"),
                "a-oauth": (True, 1.0, "expected"),
            },
            Contradiction(expected=("*",), likeliest=(), probability=0.02),
            id="a name that no listed tool has",
        ),
        pytest.param(
            expecting("get"),
            called(0.9, {"*": 1.0}, write=0.3),
            {
                "tool-call": (True, 1.0, "expected"),
                "write": (False, 1.0, "expected"),
                "a-oauth": (False, 1.0, "expected"),
            },
            Contradiction(expected=("get",), likeliest=("*",), probability=0.9),
            id="the name of a listed tool",
        ),
    ],
)
def test_a_call_may_be_expected_of_a_tool_that_is_not_listed(
    item: Query,
    finding: Finding,
    values: dict[str, tuple[bool, float, str]],
    contradiction: Contradiction,
) -> None:
    backend = ScriptedBackend({"q": finding})
    result = classify([item], specification([GET, UNLISTED_TOOL]), ON_TOOLS, backend, silent)
    found = confidences(result)
    assert {name: found[name] for name in values} == {name: pytest.approx(value) for name, value in values.items()}
    assert next(iter(result.classifications.values())).contradiction == contradiction


# What is counted, and gates.

COUNTING = taxonomy(
    counted("turns", "(user_turns > `1`) || `null`", exemplars=SHOWN),
    counted("image", "contains(attachments, 'image')"),
    intent("web", when="contains(knowledge, 'web-search')"),
)


def test_each_query_is_asked_only_for_what_cannot_be_counted_in_it() -> None:
    backend = ScriptedBackend({id: says(turns=0.8, web=0.9) for id in "ab"})
    pictured = replace(query("b", "What is this?", "And this?"), setup=Setup(attachments=("a.png",)))
    result = classify([query("a"), pictured], NOTHING, COUNTING, backend, silent)
    assert [item.capabilities for item in backend.asked] == [("turns", "web"), ("web",)]
    first, second = (
        {name: (each.value, each.path) for name, each in item.judgements.items()}
        for item in result.classifications.values()
    )
    assert first == {"turns": (True, "inference"), "image": (False, "undeclared"), "web": (True, "inference")}
    assert second == {"turns": (True, "structure"), "image": (True, "structure"), "web": (True, "inference")}


def test_a_query_of_which_nothing_has_to_be_asked_is_classified_without_asking() -> None:
    closed = replace(specification(), knowledge=())
    seen: list[tuple[int, int]] = []
    backend = ScriptedBackend({"a": says(turns=0.2)})
    queries = [query("b", "one", "two"), query("a"), query("c", "one", "two")]
    result = classify(queries, closed, COUNTING, backend, lambda done, total: seen.append((done, total)))
    assert [item.query_id for item in backend.asked] == ["a"]
    assert seen == [(1, 1)]
    assert list(result.classifications) == ["b", "a", "c"]
    assert next(iter(result.classifications.values())).judgements["web"] == Judgement(False, 1.0, "specification")


def test_what_the_backend_cannot_judge_is_marked() -> None:
    result, _ = run({"q": replace(says(call=0.9, table=0.1), unfamiliar="script")}, NOTHING)
    assert next(iter(result.classifications.values())).unfamiliar == "script"


def knowing(spec: Specification, *kinds: str) -> Specification:
    return replace(spec, knowledge=tuple(Knowledge(kind=kind, declared_in="test") for kind in kinds))


OPEN_TO_ALL = taxonomy(
    declared("spec", "contains(auth_modes, 'oauth')"),
    declared("guessed", "contains(knowledge, 'files')", exemplars=Exemplars(positive=("guess",))),
    declared("bound", "`true`", requires="web"),
    intent("web", when="contains(knowledge, 'web-search')"),
    intent("table"),
    of_tools("call", "`true`"),
    of_tools("write", "effect == 'write'"),
    of_tools("asked", "confirmation", exemplars=Exemplars(positive=("ask",))),
    counted("long", "user_turns > `9`"),
)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(NOTHING, ("spec", "write"), id="nothing declared: what has no exemplars"),
        pytest.param(
            knowing(specification([], ["oauth"])), ("guessed", "bound", "web", "call", "write", "asked"), id="no tools"
        ),
        pytest.param(
            knowing(specification([tool("get", confirmation=False)], []), "files", "web-search"),
            ("spec", "write", "asked"),
            id="what its tools deny",
        ),
        pytest.param(
            knowing(specification([tool("get"), tool("put", effect="write")], ["oauth"]), "files", "web-search"),
            (),
            id="one tool is enough, and what a tool does not say may be inferred",
        ),
    ],
)
def test_a_specification_rules_out_what_no_query_to_the_agent_can_exercise(
    spec: Specification, expected: tuple[str, ...]
) -> None:
    assert ruled_out(OPEN_TO_ALL, spec) == expected


def test_a_declared_member_of_a_group_rules_out_the_others_that_are_not_counted_or_on_trial() -> None:
    group = taxonomy(
        declared("oauth", "contains(auth_modes, 'oauth')", "one"),
        declared("key", "contains(auth_modes, 'api-key')", "one"),
        intent("other", "one"),
        intent("tried", "one", trial=True),
        counted("long", "user_turns > `9`", "one"),
        intent("small", "one.more"),
        intent("large", "one.more"),
    )
    assert ruled_out(group, specification(auth=["oauth"])) == ("key", "other")
    assert ruled_out(group, specification(auth=["oauth", "api-key"])) == ("other",)
    assert ruled_out(group, specification(auth=[])) == ("oauth", "key")


# Alternatives, forbidden tools, and the number and order of expected calls.

ORDERED = taxonomy(
    TOOL_CALL,
    WRITE,
    intent("parallel", expected_calls="several"),
    intent("chain", expected_calls="several", chained=True),
    intent("loop", when="contains(knowledge, 'web-search')", expected_calls="several"),
)
SEARCHLESS = replace(specification([GET, ADD]), knowledge=())
THEN_ADD: Data = [{"name": "get"}, {"name": "add", "args": {"id": "{{get.id}}"}}]


@pytest.mark.parametrize(
    ("expected", "write"),
    [
        pytest.param({"any_of": ["get", "add"]}, (True, 0.5, "expected"), id="one of the alternatives writes"),
        pytest.param([{"any_of": ["get", "add"]}, "add"], (True, 1.0, "expected"), id="another call writes"),
        pytest.param([{"any_of": ["get", "get"]}], (False, 1.0, "expected"), id="none writes"),
    ],
)
def test_alternatives_are_certain_only_if_all_agree(expected: Data, write: tuple[bool, float, str]) -> None:
    item = replace(query("q"), expected={"expected_tools": expected})
    result = classify([item], specification([GET, ADD]), ON_TOOLS, ScriptedBackend({"q": called(0.9)}), silent)
    assert confidences(result)["write"] == write


@pytest.mark.parametrize(
    ("forbidden", "wanted", "write"),
    [
        pytest.param("add", [], (False, 0.27, "tool"), id="the classifier decides on the others"),
        pytest.param("get", [], (True, 0.9, "tool"), id="it gave this one nothing"),
        pytest.param("add", ["get"], (False, 1.0, "expected"), id="another is expected"),
        pytest.param("add", ["add"], (False, 1.0, "expected"), id="the same is expected"),
    ],
)
def test_a_forbidden_tool_is_not_called(forbidden: str, wanted: list[Data], write: tuple[bool, float, str]) -> None:
    item = replace(query("q"), expected={"forbidden_tools": [forbidden], "must_call": wanted})
    finding = called(0.9, {"add": 0.7, "any": 0.3}, write=1.0)
    result = classify([item], specification([GET, ADD, ANY]), ON_TOOLS, ScriptedBackend({"q": finding}), silent)
    assert confidences(result)["write"] == write
    calls = result.classifications["q"].calls
    assert calls is not None
    assert not any(forbidden in step for step in calls.steps)


@pytest.mark.parametrize(
    ("expected", "texts", "parallel", "chain"),
    [
        pytest.param([], {}, (False, 1.0, "expected"), (False, 1.0, "expected"), id="none"),
        pytest.param(["add"], {}, (False, 1.0, "expected"), (False, 1.0, "expected"), id="one"),
        pytest.param(THEN_ADD, {}, (False, 1.0, "expected"), (True, 1.0, "expected"), id="a chain"),
        pytest.param(
            ["get", "add"],
            {"parallel": 0.6, "chain": 0.2},
            (True, 0.75, "expected"),
            (False, 0.25, "expected"),
            id="the likelier",
        ),
        pytest.param(["get", "add"], {}, (True, 0.5, "expected"), (False, 0.5, "expected"), id="no text"),
        pytest.param(
            ["add", "add"],
            {"parallel": 0.6, "chain": 0.2},
            (True, 0.6, "inference"),
            (False, 0.2, "inference"),
            id="perhaps one call",
        ),
        pytest.param(
            None, {"parallel": 0.6, "chain": 0.2}, (True, 0.6, "inference"), (False, 0.2, "inference"), id="not stated"
        ),
    ],
)
def test_the_number_and_order_of_expected_calls_decide(
    expected: Data, texts: dict[str, float], parallel: tuple[bool, float, str], chain: tuple[bool, float, str]
) -> None:
    item = replace(query("q"), expected=None if expected is None else {"expected_tools": expected})
    texts = {"parallel": 0.0, "chain": 0.0} | texts
    backend = ScriptedBackend({"q": called(0.9, {"add": 1.0}, **texts)})
    found = confidences(classify([item], SEARCHLESS, ORDERED, backend, silent))
    assert (found["parallel"], found["chain"]) == (parallel, chain)
    assert found["loop"] == (False, 1.0, "specification")


# Doubted expectations.


def test_what_rests_on_an_expectation_is_kept_with_what_makes_it_doubtful() -> None:
    requiring = declared("both", "contains(auth_modes, 'oauth')", requires="chain")
    tax = taxonomy(*ORDERED.capabilities, requiring, *AUTH, intent("call"))
    item = replace(query("q"), expected={"expected_tools": THEN_ADD})
    finding = called(0.15, {"add": 1.0}, parallel=0.1, chain=0.1, call=0.9)
    (found,) = classify([item], SEARCHLESS, tax, ScriptedBackend({"q": finding}), silent).classifications.values()
    resting = frozenset({"tool-call", "write", "parallel", "chain", "both"})
    assert found.stated is not None
    assert (found.stated.probability, found.stated.different) == (0.15, 2)
    assert resting <= found.stated.capabilities <= resting | {"oauth", "key"}
    assert found.stated.capabilities & {"oauth", "key"} == found.signature & {"oauth", "key"}


@pytest.mark.parametrize(
    ("probability", "below", "most", "is_doubted"),
    [
        (0.19, 0.2, 5, True),
        (0.2, 0.2, 5, False),
        (0.1 + 0.2, 0.3, 5, False),
        (0.0, None, 5, False),
        (None, 0.2, 5, False),
        (0.9, 0.2, 2, False),
        (0.9, 0.2, 1, True),
        (0.9, None, 1, True),
    ],
)
def test_an_expectation_is_doubted(probability: float | None, below: float | None, most: int, is_doubted: bool) -> None:
    stated = StatedCalls(probability=probability, different=2, capabilities=frozenset({"a"}))
    found = Classification(judgements={}, stated=stated)
    assert found.doubted(below, most) == (frozenset({"a"}) if is_doubted else frozenset())
    assert Classification(judgements={}).doubted(below, most) == frozenset()


def test_no_expected_call_is_not_doubted() -> None:
    result = classify([expecting()], specification([GET]), ON_TOOLS, ScriptedBackend({"q": called(0.0)}), silent)
    assert result.classifications["q"].stated is None
