"""The specification path (semantics, section 2.1)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.classifier.specification_path import declared_values, inferred_capabilities, tool_decides
from bot.intake.specification import AuthMode, Knowledge, Specification
from bot.taxonomy.model import Capability, Exemplars
from tests.classifier.factories import NOTHING, counted, declared, intent, of_tools, specification, taxonomy, tool

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
