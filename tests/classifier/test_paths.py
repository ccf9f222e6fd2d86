"""The specification path (semantics, section 2.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nextafter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.classifier.model import CalledTools, Consensus, Contradiction, Judgement
from incumbent.classifier.paths import (
    call_capability,
    called_values,
    contradiction,
    counted_values,
    declared_values,
    expectation,
    expected_calls,
    fits_none,
    inferred_capabilities,
    probability,
    silent_capabilities,
    structure_facts,
    structure_rules,
    tool_decides,
    tool_values,
    unlisted_values,
)
from incumbent.files.documents import Data
from incumbent.intake.query import Query, Setup
from incumbent.intake.specification import AuthMode, Knowledge, Specification, Tool
from incumbent.taxonomy.model import Capability, Exemplars
from tests.classifier.factories import (
    NOTHING,
    counted,
    declared,
    intent,
    of_tools,
    query,
    specification,
    taxonomy,
    tool,
)

OAUTH = declared("oauth", "contains(auth_modes, 'oauth')", "one.auth")
KEY = declared("api-key", "contains(auth_modes, 'api-key')", "one.auth")


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        pytest.param(specification(auth=["oauth"]), True, id="declared"),
        pytest.param(specification(auth=["none"]), False, id="declared to be otherwise"),
        pytest.param(NOTHING, None, id="not declared"),
    ],
)
def test_a_rule_is_true_false_or_silent(spec: Specification, value: bool | None) -> None:
    assert declared_values(taxonomy(OAUTH), spec) == {"oauth": value}


def test_only_spec_capabilities_are_read_from_the_specification() -> None:
    assert declared_values(taxonomy(intent("table"), OAUTH), specification(auth=[])) == {"oauth": False}


def test_a_spec_capability_without_a_rule_is_silent() -> None:
    bare = Capability(id="bare", name="bare", group="any", description="d", source="spec")
    assert declared_values(taxonomy(bare), specification(auth=[])) == {"bare": None}


def test_intent_capabilities_and_silent_ones_with_exemplars_are_inferred_in_the_taxonomys_order() -> None:
    guessed = declared("guessed", "contains(knowledge, 'files')", exemplars=Exemplars(positive=("in the file",)))
    warned = declared("warned", "contains(knowledge, 'email')", exemplars=Exemplars(negative=("by mail",)))
    everything = taxonomy(guessed, OAUTH, warned, intent("table"))
    assert inferred_capabilities(everything, declared_values(everything, NOTHING)) == ("guessed", "table")


def test_what_the_specification_decides_is_not_inferred_although_it_has_exemplars() -> None:
    both = OAUTH.model_copy(update={"exemplars": Exemplars(positive=("log in",))})
    everything = taxonomy(both)
    for spec in (specification(auth=["oauth"]), specification(auth=["none"])):
        assert inferred_capabilities(everything, declared_values(everything, spec)) == ()


@pytest.mark.parametrize(
    ("modes", "group", "decides"),
    [
        (["oauth", "api-key"], "one.auth", True),
        (["oauth"], "one.auth", False),
        (["none"], "one.auth", False),
        (["oauth", "api-key"], "any", False),
    ],
)
def test_the_tool_decides_only_between_several_declared_members_of_an_exactly_one_group(
    modes: list[AuthMode], group: str, decides: bool
) -> None:
    everything = taxonomy(OAUTH.model_copy(update={"group": group}), KEY.model_copy(update={"group": group}))
    spec = specification([tool("a")], auth=modes)
    assert tool_decides(everything, declared_values(everything, spec)) is decides


def test_a_silent_specification_leaves_no_tool_to_decide() -> None:
    everything = taxonomy(OAUTH, KEY)
    assert not tool_decides(everything, declared_values(everything, NOTHING))


# Gates of intent capabilities.

WEB = intent("web", when="contains(knowledge, 'web-search')")


@pytest.mark.parametrize(
    ("spec", "value", "asked"),
    [
        pytest.param(replace(specification(), knowledge=()), False, (), id="declared to be absent"),
        pytest.param(
            replace(specification(), knowledge=(Knowledge(kind="web-search", declared_in="t"),)),
            None,
            ("web",),
            id="declared: the text decides",
        ),
        pytest.param(NOTHING, None, ("web",), id="not declared: the text decides"),
    ],
)
def test_a_gate_closes_and_decides_nothing_else(
    spec: Specification, value: bool | None, asked: tuple[str, ...]
) -> None:
    everything = taxonomy(WEB)
    assert declared_values(everything, spec) == {"web": value}
    assert inferred_capabilities(everything, declared_values(everything, spec)) == asked


# Capabilities of called tools, and of the structure of a query.

SHOWN = Exemplars(positive=("do it",))


@pytest.mark.parametrize(
    ("silent", "inferred"),
    [
        pytest.param(None, ("shown",), id="it is not declared whether there are tools"),
        pytest.param((), (), id="every tool says"),
        pytest.param(("bare",), ("bare",), id="some tool is silent"),
    ],
)
def test_a_tool_capability_is_inferred_where_tools_are_silent(
    silent: tuple[str, ...] | None, inferred: tuple[str, ...]
) -> None:
    everything = taxonomy(of_tools("shown", "card", exemplars=SHOWN), of_tools("bare", "card"))
    assert inferred_capabilities(everything, {}, silent) == inferred


@pytest.mark.parametrize(("value", "inferred"), [(True, ()), (False, ()), (None, ("shown",))])
def test_a_structure_capability_is_inferred_where_nothing_can_be_counted(
    value: bool | None, inferred: tuple[str, ...]
) -> None:
    everything = taxonomy(counted("shown", "`null`", exemplars=SHOWN), counted("bare", "`null`"))
    assert inferred_capabilities(everything, {"shown": value, "bare": value}) == inferred


SEVERAL = counted("several", "(user_turns > `1`) || `null`")
IMAGE = counted("image", "contains(attachments, 'image')")
ONE, TWO = query("q", "Show my bills"), query("q", "Show my bills", "And the old ones")


def attaching(*names: str) -> Query:
    return replace(ONE, setup=Setup(attachments=names))


@pytest.mark.parametrize(
    ("item", "facts"),
    [
        (ONE, {"user_turns": 1, "attachments": None}),
        (TWO, {"user_turns": 2, "attachments": None}),
        (attaching("a.png", "b.JPG"), {"user_turns": 1, "attachments": ["image"]}),
        (attaching("a.png", "b.txt"), {"user_turns": 1, "attachments": ["file", "image"]}),
    ],
)
def test_turns_and_attachments_are_counted(item: Query, facts: dict[str, object]) -> None:
    assert structure_facts(item) == facts


@pytest.mark.parametrize(
    ("item", "values"),
    [
        (ONE, {"several": None, "image": None}),
        (TWO, {"several": True, "image": None}),
        (attaching("a.png"), {"several": None, "image": True}),
        (attaching("a.txt"), {"several": None, "image": False}),
    ],
)
def test_a_count_is_true_false_or_silent(item: Query, values: dict[str, bool | None]) -> None:
    assert counted_values(structure_rules(taxonomy(SEVERAL, IMAGE)), item) == values


def test_only_structure_capabilities_are_counted_and_one_without_a_rule_is_silent() -> None:
    bare = Capability(id="bare", name="bare", group="any", description="d", source="structure")
    everything = taxonomy(
        intent("table"), of_tools("call", "`true`"), bare, declared("oauth", "contains(auth_modes, 'oauth')"), SEVERAL
    )
    rules = structure_rules(everything)
    assert list(rules) == ["bare", "several"]
    assert counted_values(rules, TWO) == {"bare": None, "several": True}


WRITE = of_tools("write", "effect == 'write' || (effect == 'unknown' && `null`)")
CONFIRM = of_tools("confirm", "confirmation")
CALL = of_tools("call", "`true`", exemplars=SHOWN)
GET, ADD, ANY = tool("get"), tool("add", effect="write", confirmation=True), tool("any", effect="unknown")
REST = tool("*", effect="unknown")


# What rules say of each tool.


def test_the_rules_of_tools_are_evaluated_over_each_tool_in_the_taxonomys_order() -> None:
    everything = taxonomy(CALL, intent("table"), WRITE, declared("oauth", "contains(auth_modes, 'oauth')"), CONFIRM)
    found = tool_values(everything, [GET, ADD, ANY])
    assert found == {
        "call": {"get": True, "add": True, "any": True},
        "write": {"get": False, "add": True, "any": None},
        "confirm": {"get": None, "add": True, "any": None},
    }
    assert list(found) == ["call", "write", "confirm"]
    assert tool_values(everything, []) == {"call": {}, "write": {}, "confirm": {}}


def test_of_a_tool_of_which_nothing_is_declared_rules_say_what_they_say_of_every_tool() -> None:
    never = of_tools("never", "`false`")
    ruleless = Capability.model_validate({**CALL.model_dump(exclude_none=True), "id": "ruleless", "when": None})
    everything = taxonomy(CALL, intent("table"), WRITE, CONFIRM, never, ruleless)
    said = {"call": True, "write": None, "confirm": None, "never": False, "ruleless": None}
    assert unlisted_values(everything) == {name: {"*": value} for name, value in said.items()}
    assert call_capability(everything, unlisted_values(everything)) == "call"


def test_a_capability_without_a_rule_knows_of_no_tool() -> None:
    bare = CALL.model_copy(update={"when": None})
    assert tool_values(taxonomy(bare), [GET]) == {"call": {"get": None}}
    assert call_capability(taxonomy(bare), {"call": {"get": None}}) is None


@pytest.mark.parametrize(
    ("tools", "silent"),
    [
        ([GET, ADD], ("shown-confirm",)),
        ([ADD], ()),
        ([ANY], ("shown", "shown-confirm")),
        ([], ()),
    ],
)
def test_the_text_is_asked_only_where_a_tool_is_silent_and_exemplars_show_the_capability(
    tools: list[Tool], silent: tuple[str, ...]
) -> None:
    everything = taxonomy(
        WRITE,
        WRITE.model_copy(update={"id": "shown", "exemplars": SHOWN}),
        CONFIRM.model_copy(update={"id": "shown-confirm", "exemplars": SHOWN}),
    )
    assert silent_capabilities(everything, tool_values(everything, tools)) == silent


@pytest.mark.parametrize(
    ("capabilities", "name"),
    [
        ([CALL], "call"),
        ([WRITE, CALL, CALL.model_copy(update={"id": "later"})], "call"),
        ([CALL.model_copy(update={"exemplars": Exemplars(negative=("no",))})], None),
        ([WRITE.model_copy(update={"exemplars": SHOWN})], None),
        ([of_tools("named", "name != 'x'", exemplars=SHOWN)], "named"),
        ([of_tools("reading", "effect == 'read'", exemplars=SHOWN)], None),
        ([counted("turns", "`true`", exemplars=SHOWN), intent("table")], None),
    ],
)
def test_the_call_as_such_is_true_of_every_tool_that_there_may_be(
    capabilities: list[Capability], name: str | None
) -> None:
    everything = taxonomy(*capabilities)
    assert call_capability(everything, tool_values(everything, [GET])) == name


def test_what_is_false_of_a_declared_tool_is_no_call_as_such() -> None:
    named = taxonomy(of_tools("named", "name != 'get'", exemplars=SHOWN))
    assert call_capability(named, tool_values(named, [ADD])) == "named"
    assert call_capability(named, tool_values(named, [ADD, GET])) is None


# The formula.


@pytest.mark.parametrize(
    ("calls", "facts", "expected"),
    [
        pytest.param(CalledTools(0.9, ({"a": 1.0},)), {"a": 1.0}, 0.9, id="the one tool has it"),
        pytest.param(CalledTools(0.9, ({"a": 1.0},)), {"a": 0.0}, 0.0, id="the one tool has it not"),
        pytest.param(CalledTools(0.9, ({"a": 1.0},)), {}, 0.0, id="a tool that is not there"),
        pytest.param(CalledTools(0.8, ({"a": 0.5, "b": 0.5},)), {"a": 1.0}, 0.4, id="one of two tools"),
        pytest.param(CalledTools(0.8, ({"a": 0.5, "b": 0.25},)), {"a": 1.0, "b": 1.0}, 0.6, id="less than 1 in all"),
        pytest.param(CalledTools(1.0, ({"a": 1.0},)), {"a": 0.3}, 0.3, id="what the text says"),
        pytest.param(CalledTools(1.0, ({"a": 0.5, "b": 0.5}, {"a": 0.5, "b": 0.5})), {"a": 1.0}, 0.75, id="two steps"),
        pytest.param(CalledTools(0.5, ({"a": 1.0}, {"b": 1.0})), {"b": 1.0}, 0.5, id="the other step has it"),
        pytest.param(CalledTools(0.9), {"a": 1.0}, 0.0, id="no step"),
        pytest.param(CalledTools(0.0, ({"a": 1.0},)), {"a": 1.0}, 0.0, id="no call"),
        pytest.param(CalledTools(0.9, ({},)), {"a": 1.0}, 0.0, id="a step without a tool"),
    ],
)
def test_the_formula(calls: CalledTools, facts: Mapping[str, float], expected: float) -> None:
    assert probability(calls, facts) == pytest.approx(expected, abs=1e-12)


NAMES = "abcd"
FACTS = st.dictionaries(st.sampled_from(NAMES), st.floats(0, 1))


@st.composite
def distributions(draw: st.DrawFn) -> dict[str, float]:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True))
    weights = [draw(st.floats(0, 1)) for _ in names]
    whole = max(1.0, sum(weights))
    return {name: weight / whole for name, weight in zip(names, weights, strict=True)}


STEPS = st.lists(distributions(), max_size=4).map(tuple)


@given(st.floats(0, 1), STEPS, FACTS)
def test_it_is_a_probability_and_no_greater_than_that_of_a_call(
    p: float, steps: tuple[dict[str, float], ...], facts: dict[str, float]
) -> None:
    assert 0 <= probability(CalledTools(p, steps), facts) <= p


@given(st.floats(0, 1), st.floats(0, 1), STEPS, FACTS)
def test_it_rises_with_the_probability_of_a_call(
    p: float, q: float, steps: tuple[dict[str, float], ...], facts: dict[str, float]
) -> None:
    low, high = sorted((p, q))
    assert probability(CalledTools(low, steps), facts) <= probability(CalledTools(high, steps), facts)


@given(st.floats(0, 1), STEPS, FACTS, st.floats(0, 1), st.integers(0, 3))
def test_a_tool_that_has_it_never_lowers_it(
    p: float, steps: tuple[dict[str, float], ...], facts: dict[str, float], share: float, place: int
) -> None:
    before = probability(CalledTools(p, steps), facts)
    rest = [1 - sum(step.values()) for step in steps]
    more = [
        {**step, "new": share * max(0.0, rest[number])} if number == place else step
        for number, step in enumerate(steps)
    ]
    assert probability(CalledTools(p, tuple(more)), {**facts, "new": 1.0}) >= before - 1e-12
    another = CalledTools(p, (*steps, {"new": share}))
    assert probability(another, {**facts, "new": 1.0}) >= before - 1e-12


@given(st.floats(0, 1), STEPS, FACTS, st.randoms())
def test_the_order_of_tools_does_not_matter(
    p: float, steps: tuple[dict[str, float], ...], facts: dict[str, float], random: Random
) -> None:
    def shuffled(step: dict[str, float]) -> dict[str, float]:
        items = list(step.items())
        random.shuffle(items)
        return dict(items)

    again = tuple(map(shuffled, steps))
    assert probability(CalledTools(p, again), facts) == probability(CalledTools(p, steps), facts)


def test_what_floating_point_adds_to_a_distribution_does_no_harm() -> None:
    step = dict.fromkeys("abcdefghij", 0.1 + 1e-12)
    calls = CalledTools(1.0, (step, {"a": 0.5}))
    assert probability(calls, dict.fromkeys(step, 1.0)) == 1.0


# Values.

VALUES = {"write": {"get": False, "add": True, "any": None}}


@pytest.mark.parametrize(
    ("calls", "text", "judgement"),
    [
        pytest.param(CalledTools(0.9, ({"add": 1.0},)), None, Judgement(True, 0.9, "tool"), id="TRUE"),
        pytest.param(CalledTools(0.9, ({"get": 1.0},)), None, Judgement(False, 0.0, "tool"), id="FALSE"),
        pytest.param(CalledTools(0.5, ({"add": 1.0},)), None, Judgement(True, 0.5, "tool"), id="even is TRUE"),
        pytest.param(
            CalledTools(nextafter(0.5, 0), ({"add": 1.0},)),
            None,
            Judgement(True, nextafter(0.5, 0), "tool"),
            id="even as rounded to 9 decimals",
        ),
        pytest.param(CalledTools(0.4999, ({"add": 1.0},)), None, Judgement(False, 0.4999, "tool"), id="less"),
        pytest.param(CalledTools(1.0, ({"any": 1.0},)), 0.7, Judgement(True, 0.7, "tool"), id="the text says so"),
        pytest.param(CalledTools(0.5, ({"any": 1.0},)), 0.7, Judgement(False, 0.35, "tool"), id="perhaps a call"),
        pytest.param(CalledTools(1.0, ({"any": 1.0},)), None, Judgement(False, 0.0, "tool"), id="nothing says so"),
        pytest.param(CalledTools(0.0), 0.9, Judgement(False, 0.0, "tool"), id="no call"),
    ],
)
def test_a_value_is_that_of_the_called_tools(calls: CalledTools, text: float | None, judgement: Judgement) -> None:
    inferred = {} if text is None else {"write": Consensus(text > 0.5, text)}
    assert called_values(calls, VALUES, inferred, expected=False) == {"write": judgement}


@pytest.mark.parametrize(
    ("names", "text", "judgement"),
    [
        pytest.param(["add"], None, Judgement(True, 1.0, "expected"), id="its facts say so"),
        pytest.param(["get"], None, Judgement(False, 1.0, "expected"), id="its facts rule it out"),
        pytest.param([], 0.9, Judgement(False, 1.0, "expected"), id="no call is expected"),
        pytest.param(["any"], 0.7, Judgement(True, 0.7, "expected"), id="the tool is silent: the text says so"),
        pytest.param(["any"], 0.2, Judgement(False, 0.2, "expected"), id="the tool is silent: the text says no"),
        pytest.param(["any"], None, Judgement(False, 0.0, "expected"), id="nothing says so"),
        pytest.param(["get", "add"], None, Judgement(True, 1.0, "expected"), id="one of two calls"),
        pytest.param(["add", "any"], 0.2, Judgement(True, 1.0, "expected"), id="one is enough"),
        pytest.param(["add", "add"], None, Judgement(True, 1.0, "expected"), id="twice the same"),
    ],
)
def test_an_expected_call_decides(names: list[str], text: float | None, judgement: Judgement) -> None:
    inferred = {} if text is None else {"write": Consensus(text > 0.5, text)}
    calls = expected_calls([[name] for name in names], {name: [name] for name in ("get", "add", "any")})
    found = called_values(calls, VALUES, inferred, expected=True)["write"]
    assert (found.value, found.path) == (judgement.value, judgement.path)
    assert found.confidence == pytest.approx(judgement.confidence)


def test_an_expected_call_may_be_of_each_tool_of_its_name() -> None:
    calls = expected_calls([["get"]], {"get": ["get", "get 2"], "add": ["add"]})
    assert calls == CalledTools(1.0, ({"get": 0.5, "get 2": 0.5},))
    values = {"write": {"get": True, "get 2": False}}
    assert called_values(calls, values, {}, expected=True) == {"write": Judgement(True, 0.5, "expected")}


@pytest.mark.parametrize(
    ("judgement", "expected"),
    [
        (Judgement(True, 1.0, "expected"), 1.0),
        (Judgement(False, 1.0, "expected"), 0.0),
        (Judgement(False, 0.2, "expected"), 0.2),
        (Judgement(True, 0.7, "tool"), 0.7),
        (Judgement(False, 1.0, "structure"), 0.0),
        (Judgement(True, 0.8, "specification"), 1.0),
        (Judgement(False, 0.3, "inference"), 0.3),
        (Judgement(False, 0.0, "undeclared"), 0.0),
    ],
)
def test_the_probability_of_true_is_known_of_every_judgement(judgement: Judgement, expected: float) -> None:
    assert judgement.probability == expected


# A call that fits no member of a group.

AUTH: dict[str, dict[str, bool | None]] = {
    "oauth": {"a": True, "b": False, "other": False, "silent": None},
    "key": {"a": False, "b": True, "other": False, "silent": False},
}


@pytest.mark.parametrize(
    ("calls", "misfit"),
    [
        pytest.param(CalledTools(0.9, ({"other": 1.0},)), True, id="the tool fits none"),
        pytest.param(CalledTools(0.5, ({"other": 0.6, "a": 0.4},)), True, id="an even chance of a call, likely of it"),
        pytest.param(CalledTools(0.4, ({"other": 1.0},)), False, id="no call"),
        pytest.param(CalledTools(0.9, ({"a": 0.5, "b": 0.5},)), False, id="two tools that fit: unsure, and no mark"),
        pytest.param(CalledTools(0.9, ({"silent": 1.0},)), False, id="a tool that does not say fits perhaps"),
        pytest.param(CalledTools(0.9, ({"other": 0.4, "a": 0.6},)), False, id="most likely a tool that fits"),
        pytest.param(CalledTools(0.9, ({"a": 1.0}, {"other": 1.0})), True, id="one of two steps fits none"),
        pytest.param(CalledTools(0.9, ({"forged": 1.0},)), False, id="a tool that is not declared"),
        pytest.param(CalledTools(0.9), False, id="no step"),
    ],
)
def test_a_call_fits_no_member_where_its_facts_make_all_false(calls: CalledTools, misfit: bool) -> None:
    assert fits_none(calls, AUTH, ["oauth", "key"]) is misfit


# Expectations.


@pytest.mark.parametrize(
    ("spec", "expected", "names"),
    [
        (specification([GET, ADD]), {"expected_tools": ["add"]}, ("add",)),
        (specification([GET, ADD]), {"expected_tools": ["get", "add"]}, ("get", "add")),
        (specification([GET, ADD]), {"expected_tools": ["elsewhere"]}, None),
        (specification([GET, ADD]), "An answer.", None),
        (specification([GET, ADD]), None, None),
        (specification([GET, REST]), {"expected_tools": ["elsewhere", "get"]}, ("*", "get")),
        (specification([GET, REST]), {"expected_tools": []}, ()),
        (specification([]), {"expected_tools": ["add"]}, None),
        (specification([]), {"expected_tools": []}, None),
        (NOTHING, {"expected_tools": ["add"]}, ("*",)),
        (NOTHING, {"expected_tools": []}, ()),
        (NOTHING, "An answer.", None),
    ],
)
def test_calls_of_tools_may_be_expected(spec: Specification, expected: Data, names: tuple[str, ...] | None) -> None:
    item = replace(query("q"), expected=expected)
    found = expectation(item, spec)
    assert (None if found is None else found.names) == names


OWN = {name: [name] for name in "abc"}


@pytest.mark.parametrize(
    ("expected", "said", "likeliest"),
    [
        pytest.param(["a"], CalledTools(0.9, ({"a": 0.6, "b": 0.4},)), None, id="the same tool"),
        pytest.param(["a"], CalledTools(0.9, ({"a": 0.5, "b": 0.5},)), None, id="as likely as another"),
        pytest.param(["a"], CalledTools(0.9, ({"b": 1.0}, {"a": 1.0})), None, id="in one of the steps"),
        pytest.param(["a", "b"], CalledTools(0.9, ({"b": 1.0},)), None, id="one of the expected"),
        pytest.param(["a"], CalledTools(0.5, ({"a": 1.0},)), None, id="an even chance is a call"),
        pytest.param([], CalledTools(0.4, ({"a": 1.0},)), None, id="none is expected and none is called"),
        pytest.param(["a"], CalledTools(0.9, ({"b": 0.7, "a": 0.3},)), ["b"], id="another tool"),
        pytest.param(["a"], CalledTools(0.9, ({"b": 1.0}, {"c": 1.0})), ["b", "c"], id="other tools"),
        pytest.param(["a"], CalledTools(0.9, ({"b": 1.0}, {"c": 0.1})), ["b"], id="another tool, and hardly a second"),
        pytest.param(["a"], CalledTools(0.4, ({"a": 1.0},)), [], id="expected, and no call"),
        pytest.param(["a"], CalledTools(0.0), [], id="expected, and nothing said"),
        pytest.param(["a"], CalledTools(0.9), [], id="a call of nothing"),
        pytest.param(["a"], CalledTools(0.9, ({"a": 0.0},)), [], id="a step of nothing"),
        pytest.param([], CalledTools(0.6, ({"b": 1.0},)), ["b"], id="none is expected, and one is called"),
    ],
)
def test_a_contradiction_is_about_whether_or_about_which(
    expected: list[str], said: CalledTools, likeliest: list[str] | None
) -> None:
    found = contradiction(expected, OWN, said)
    if likeliest is None:
        assert found is None
    else:
        wanted = Contradiction(expected=tuple(expected), likeliest=tuple(likeliest), probability=said.probability)
        assert found == wanted


def test_any_tool_of_the_expected_name_is_the_expected_one() -> None:
    said = CalledTools(0.9, ({"get 2": 1.0},))
    assert contradiction(["get"], {"get": ["get", "get 2"]}, said) is None


@pytest.mark.parametrize(
    ("steps", "likeliest"),
    [
        ([{"a": 0.4, "b": 0.6}], [("b", 0.6)]),
        ([{"b": 0.5, "a": 0.5}], [("b", 0.5)]),
        ([{"a": 0.0}, {}, {"c": 0.2}], [("c", 0.2)]),
        ([], []),
    ],
)
def test_each_step_has_a_most_likely_tool(
    steps: Sequence[dict[str, float]], likeliest: Sequence[tuple[str, float]]
) -> None:
    assert CalledTools(1.0, tuple(steps)).likeliest == tuple(likeliest)


@pytest.mark.parametrize(
    ("steps", "likely"),
    [
        ([{"a": 0.4, "b": 0.2}, {"c": 0.4}], [("a", 0.4)]),
        ([{"a": 0.5}, {"c": 0.25, "b": 0.25}], [("a", 0.5), ("c", 0.25)]),
        ([{"a": 0.1}, {"b": 0.2}], [("b", 0.2)]),
        ([{"a": 0.0}, {}], []),
        ([], []),
    ],
)
def test_a_step_that_hardly_calls_a_tool_is_left_out(
    steps: Sequence[dict[str, float]], likely: Sequence[tuple[str, float]]
) -> None:
    assert CalledTools(1.0, tuple(steps)).likely == tuple(likely)
