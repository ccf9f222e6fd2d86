"""The specification path (semantics, section 2.1)."""

from __future__ import annotations

import pytest

from bot.classifier.specification_path import declared_values, inferred_capabilities, tool_decides
from bot.intake.specification import AuthMode, Specification
from bot.taxonomy.model import Capability, Exemplars
from tests.classifier.factories import NOTHING, declared, intent, specification, taxonomy, tool

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
