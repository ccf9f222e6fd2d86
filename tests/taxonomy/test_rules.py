from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.intake.specification import UNDECLARED, AuthDeclaration, Knowledge, Specification, Tool
from bot.taxonomy.rules import FACTS, PROBES, TOOL_FACTS, RuleError, compile_rule, evaluate, probe

TOOL = Tool(
    name="find",
    description="Finds.",
    protocol="rest",
    effect="read",
    effect_from="GET",
    confirmation=None,
    card=False,
    auth="oauth",
    declared_in="ai-plugin.json",
)
OAUTH = AuthDeclaration(mode="oauth", declared_in="ai-plugin.json")


def specification(**declared: Any) -> dict[str, object]:
    return dataclasses.replace(UNDECLARED, **declared).facts()


WRITES = "contains(tools[].effect, 'write') || (contains(tools[].effect, 'unknown') && `null`)"


@pytest.mark.parametrize(
    ("rule", "facts", "value"),
    [
        ("contains(auth_modes, 'oauth')", specification(auth=(OAUTH,)), True),
        ("contains(auth_modes, 'sso')", specification(auth=(OAUTH,)), False),
        ("contains(auth_modes, 'oauth')", specification(), None),
        ("contains(knowledge, 'files')", specification(knowledge=()), False),
        (
            "contains(knowledge, 'files')",
            specification(knowledge=(Knowledge(kind="files", declared_in="manifest.json"),)),
            True,
        ),
        ("length(tools) > `0`", specification(tools=()), False),
        ("length(tools) > `0`", specification(), None),
        ("length(tools[?protocol == 'mcp']) > `0`", specification(tools=(TOOL,)), False),
        ("length(tools[?protocol == 'rest']) > `0`", specification(tools=(TOOL,)), True),
        ("tools[0].confirmation", specification(tools=(TOOL,)), None),
        ("platform == 'declarative-agent'", specification(platform="declarative-agent"), True),
        (WRITES, specification(tools=(TOOL,)), False),
        (WRITES, specification(tools=(TOOL, dataclasses.replace(TOOL, effect="write"))), True),
        (WRITES, specification(tools=(TOOL, dataclasses.replace(TOOL, effect="unknown"))), None),
        (WRITES, specification(tools=()), False),
        (WRITES, specification(), None),
        ("tools[*].{kind: protocol} | length([?kind == 'rest']) > `0`", specification(tools=(TOOL,)), True),
    ],
)
def test_rule_is_true_false_or_null_where_nothing_is_declared(
    rule: str, facts: dict[str, object], value: bool | None
) -> None:
    assert evaluate(compile_rule(rule), facts) is value


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("", "not valid JMESPath"),
        ("auth_modes[", "not valid JMESPath"),
        ("contains(auth_modes, 'oauth'", "not valid JMESPath"),
        ("(" * 2000 + "name" + ")" * 2000, "nested too deeply"),
        ("contains(auth_mode, 'oauth')", "no field 'auth_mode'; perhaps you meant 'auth_modes'"),
        ('contains(auth_modes, "oauth")', "no field 'oauth'"),
        ("knowledge == null", "no field 'null'"),
        ("contains(auth_modes, `oauth`)", "a text stands in backticks"),
        ("lenght(tools) > `0`", "no function 'lenght'; perhaps you meant 'length'"),
        ("platform == 'a' || lenght(tools) > `0`", "no function 'lenght'"),
        ("length(tools, name) > `0`", r"length\(\) takes 1 arguments, not 2"),
        ("not_null() == `1`", r"not_null\(\) takes at least 1 arguments, not 0"),
    ],
)
def test_rule_that_cannot_be_compiled_says_why(rule: str, message: str) -> None:
    with pytest.raises(RuleError, match=message) as caught:
        compile_rule(rule)
    assert caught.value.fix


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("tools[?card]", "gives a list"),
        ("name", "gives a text"),
        ("length(name)", "gives a number"),
        ("@", "gives a mapping"),
        ("max(tools[].card)", "the rule fails"),
        ("contains(`5`, 'x')", "the rule fails"),
        ("ceil(to_number('inf')) > `0`", "the rule fails"),
    ],
)
def test_probing_refuses_rules_that_are_not_boolean(rule: str, message: str) -> None:
    with pytest.raises(RuleError, match=message) as caught:
        probe(compile_rule(rule))
    assert caught.value.fix


@given(st.text(max_size=40))
def test_any_text_is_a_rule_or_refused(text: str) -> None:
    with contextlib.suppress(RuleError):
        probe(compile_rule(text))


def test_rules_know_the_fields_that_specifications_have() -> None:
    facts = Specification(
        platform="p", name="n", description="", instructions="", auth=(OAUTH,), tools=(TOOL,), knowledge=(), starters=()
    ).facts()
    tools = facts["tools"]
    assert isinstance(tools, list)
    assert tuple(facts) == FACTS
    assert tuple(tools[0]) == TOOL_FACTS
    assert all(tuple(probed) == FACTS for probed in PROBES)
