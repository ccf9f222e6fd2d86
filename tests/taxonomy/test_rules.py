from __future__ import annotations

import contextlib
import dataclasses
import re
import time
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.intake.query import AttachmentKind
from incumbent.intake.specification import (
    UNDECLARED,
    AuthDeclaration,
    AuthMode,
    Effect,
    Knowledge,
    Protocol,
    Specification,
    Tool,
)
from incumbent.taxonomy.model import Source
from incumbent.taxonomy.rules import (
    ATTACHMENT_KINDS,
    AUTH_MODES,
    EFFECTS,
    FACTS,
    PROTOCOLS,
    STRUCTURE_FACTS,
    SUBJECTS,
    TOOL_FACTS,
    RuleError,
    compile_rule,
    evaluate,
    probe,
)

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


WRITES_ONE = "effect == 'write' || (effect == 'unknown' && `null`)"


@pytest.mark.parametrize(
    ("rule", "facts", "value"),
    [
        (WRITES_ONE, TOOL.facts(), False),
        (WRITES_ONE, dataclasses.replace(TOOL, effect="write").facts(), True),
        (WRITES_ONE, dataclasses.replace(TOOL, effect="unknown").facts(), None),
        ("confirmation", TOOL.facts(), None),
        ("confirmation", dataclasses.replace(TOOL, confirmation=False).facts(), False),
        ("auth == 'oauth'", TOOL.facts(), True),
        ("`true`", TOOL.facts(), True),
    ],
)
def test_a_rule_over_one_tool(rule: str, facts: dict[str, object], value: bool | None) -> None:
    compiled = compile_rule(rule, "tool")
    probe(compiled, "tool")
    assert evaluate(compiled, facts) is value


@pytest.mark.parametrize(
    ("rule", "turns", "attachments", "value"),
    [
        ("user_turns > `1` || `null`", 1, None, None),
        ("user_turns > `1` || `null`", 2, None, True),
        ("user_turns == `1`", 2, None, False),
        ("contains(attachments, 'image')", 1, None, None),
        ("contains(attachments, 'image')", 1, [], False),
        ("contains(attachments, 'image')", 1, ["audio", "image"], True),
    ],
)
def test_a_rule_over_the_structure_of_a_query(
    rule: str, turns: int, attachments: list[str] | None, value: bool | None
) -> None:
    compiled = compile_rule(rule, "structure")
    probe(compiled, "structure")
    assert evaluate(compiled, {"user_turns": turns, "attachments": attachments}) is value


@pytest.mark.parametrize("source", ["spec", "intent"])
@pytest.mark.parametrize(
    "rule",
    [
        "length(tools[?effect == 'write' && card]) > `0`",
        "tools | [?card] | length(@) > `0`",
        "contains(tools[].[effect, auth][], 'write')",
        "tools[*].{kind: protocol, e: effect} | length([?kind == 'rest']) > `0`",
        "length(sort_by(tools, &protocol)) > `0`",
        "!(contains(map(&auth, tools), 'sso'))",
        "tools[0].card",
        "length(tools[0:1]) > `0`",
    ],
)
def test_fields_of_tools_may_be_asked_of_the_tools(source: Source, rule: str) -> None:
    probe(compile_rule(rule, source), source)


@pytest.mark.parametrize(
    ("source", "rule", "message", "fix"),
    [
        ("spec", "user_turns > `1`", r"of the structure of the query \(`source: structure`\)", "make it `source: st"),
        ("intent", "attachments", r"of the structure of the query \(`source: structure`\)", "make it `source: st"),
        ("spec", "effect == 'write'", "'effect' is a field of one tool, and not of the norm", "ask it of the tools"),
        ("spec", "platform == 'x' && card", "'card' is a field of one tool", "or make it `source: tool`"),
        ("spec", "[platform, card] | `true`", "'card' is a field of one tool", "ask it of the tools"),
        ("spec", "not_null(confirmation)", "'confirmation' is a field of one tool", "ask it of the tools"),
        ("intent", "auth.name == 'x'", "'auth' is a field of one tool", "ask it of the tools"),
        ("tool", "contains(auth_modes, 'x')", r"of the normalised specification \(`source: spec`\)", "use name, prot"),
        ("tool", "tools[0].card", "'tools' is a field of the normalised specification", "or make it `source: spec`"),
        ("tool", "user_turns == `1`", "'user_turns' is a field of the structure", "or make it `source: structure`"),
        ("tool", "efect == 'write'", "one tool has no field 'efect'; perhaps you meant 'effect'", "use name, protocol"),
        ("structure", "effect == 'write'", r"of one tool \(`source: tool`\)", "use user_turns, attachments; or make"),
        ("structure", "name == 'x'", r"of the normalised specification \(`source: spec`\)", "use user_turns"),
        ("structure", "turns > `1`", "the structure of the query has no field 'turns'", "use user_turns, attachments"),
        ("structure", "attachments == null", "has no field 'null'", "write `null` in backticks"),
        (None, "turns > `1`", "the normalised specification has no field 'turns'", "use platform"),
    ],
)
def test_a_rule_names_the_fields_of_its_own_source(source: Source | None, rule: str, message: str, fix: str) -> None:
    with pytest.raises(RuleError, match=message) as caught:
        compile_rule(rule, source)
    assert fix in caught.value.fix


@pytest.mark.parametrize(
    ("source", "rule", "message", "fix"),
    [
        # Fields of something else, inside filters and projections.
        (
            "spec",
            "length(tools[?auth_modes == 'x']) > `0`",
            "'auth_modes' is a field of the norm.*not of one tool",
            "us",
        ),
        (
            "spec",
            "contains(tools[].platform, 'x')",
            "'platform' is a field of the norm.*not of one tool",
            "use name, pro",
        ),
        (
            "spec",
            "contains(tools[*].starters, 'x')",
            "'starters' is a field of the norm.*not of one tool",
            "use name, pr",
        ),
        (
            "intent",
            "tools[0].knowledge == 'x'",
            "'knowledge' is a field of the norm.*not of one tool",
            "use name, protoc",
        ),
        (
            "spec",
            "length(tools[?efect == 'read']) > `0`",
            "one tool has no field 'efect'; perhaps you meant 'eff",
            "use",
        ),
        ("spec", "length(tools[?user_turns]) > `0`", "one tool has no field 'user_turns'", "use name, protocol"),
        ("spec", "length(tools[?card == true]) > `0`", "one tool has no field 'true'", "write `true` in backticks"),
        ("spec", "length(map(&platform, tools)) > `0`", "'platform' is a field of the norm.*not of one tool", "use na"),
        ("spec", "sort_by(tools, &knowledge)[0].card", "'knowledge' is a field of the norm.*not of one tool", "use na"),
        ("spec", "max_by(tools, &name).starters == 'x'", "'starters' is a field of the norm", "use name, protocol"),
        ("spec", "tools[?card] | [0].platform == 'x'", "'platform' is a field of the norm.*not of one tool", "use nam"),
        (
            "spec",
            "length(tools[*].{kind: protocol}[?knd == 'rest']) > `0`",
            "'knd'; perhaps you meant 'kind'",
            "use kind",
        ),
        ("spec", "merge(@, {a: name}).b == 'x'", "the normalised specification has no field 'b'", "use platform"),
        ("spec", "[name].platform == 'x'", "what the rule lists is a list, which has no field", "compare its items"),
        ("spec", "contains([tools, tools][].platform, 'x')", "'platform' is a field of the norm.*of one tool", "use"),
        # Fields and items of what has none.
        (
            "spec",
            "tools.effect == 'write'",
            "'tools' is a list, which has no field 'effect'",
            "tools[?effect == 'write']",
        ),
        ("spec", "tools.*.effect == 'write'", "'tools' is a list, which has no fields", "tools[?effect == 'write']"),
        ("spec", "auth_modes.name == 'x'", "'auth_modes' is a list, which has no field 'name'", "contains(auth_modes,"),
        ("spec", "name.effect == 'x'", "'name' is a text, which has no field 'effect'", "compare the text itself"),
        (
            "spec",
            "knowledge[?effect == 'x'] == `[]`",
            "an item of 'knowledge' is a text, which has no field 'eff",
            "co",
        ),
        ("spec", "name[0] == 'x'", "'name' is a text, which has no items", "compare the text itself"),
        (
            "spec",
            "[0].card",
            "the normalised specification is a mapping, which has no items",
            "compare one of its fields",
        ),
        ("tool", "name[0:2] == `[]`", "'name' is a text, which has no items", "compare the text itself"),
        ("tool", "effect[] == `[]`", "'effect' is a text, which has no items", "compare the text itself"),
        ("tool", "protocol.name == 'x'", "'protocol' is a text, which has no field 'name'", "compare the text itself"),
        ("tool", "auth.auth == 'x'", "'auth' is a text, which has no field 'auth'", "compare the text itself"),
        ("tool", "card.name == 'x'", "'card' is a boolean, which has no field 'name'", "as in card && !confirmation"),
        (
            "structure",
            "user_turns.name == 'x'",
            "'user_turns' is a number, which has no field 'name'",
            "user_turns > `1`",
        ),
        (
            "structure",
            "attachments[0].effect == 'read'",
            "an item of 'attachments' is a text, which has no fi",
            "compar",
        ),
        # Values that are never there.
        (
            "tool",
            "effect == 'wirte'",
            "'effect' is never 'wirte'; perhaps you meant 'write'",
            "one of: 'read', 'write', 'un",
        ),
        ("tool", "'wirte' != effect", "'effect' is never 'wirte'; perhaps you meant 'write'", "use one of: 'read'"),
        (
            "tool",
            "!(protocol == 'http')",
            "'protocol' is never 'http'",
            "use one of: 'rest', 'mcp', 'local', 'function'",
        ),
        (
            "tool",
            "auth == 'oauth2'",
            "'auth' is never 'oauth2'; perhaps you meant 'oauth'",
            "use one of: 'none', 'api-key'",
        ),
        ("tool", "auth == `1`", "'auth' is never `1`", "use one of: 'none'"),
        ("tool", 'contains(`["read", "wirte"]`, effect)', "'effect' is never 'wirte'; perhaps", "use one of: 'read'"),
        ("tool", "card == 'true'", "'card' is never 'true': it is a boolean", "use it unchanged, as in card"),
        ("tool", "card == `1`", "'card' is never `1`: it is a boolean", "use it unchanged, as in card"),
        ("tool", "(effect == 'read') == 'true'", "the condition is never 'true': it is a boolean", "use it unchanged"),
        (
            "spec",
            "contains(auth_modes, 'oath')",
            "an item of 'auth_modes' is never 'oath'; perhaps you m",
            "use one of: 'no",
        ),
        (
            "spec",
            "auth_modes == 'oauth'",
            "'auth_modes' is never 'oauth': it is a list",
            "contains(auth_modes, 'oauth')",
        ),
        (
            "spec",
            "contains(tools[].effect, 'wirte')",
            "'effect' is never 'wirte'; perhaps you meant 'write'",
            "use one",
        ),
        (
            "spec",
            "length(tools[?effect == 'wirte']) > `0`",
            "'effect' is never 'wirte'; perhaps you m",
            "use one of: 're",
        ),
        ("spec", "contains(map(&effect, tools), 'wirte')", "'effect' is never 'wirte'", "use one of: 'read'"),
        ("spec", "contains(sort(tools[].auth), 'oath')", "'auth' is never 'oath'", "use one of: 'none'"),
        (
            "spec",
            "contains(tools, 'search')",
            "one tool is never 'search': it is a mapping",
            "compare one of its fields",
        ),
        ("spec", "length(tools) == '1'", r"length\(\) is never '1': it is a number", "compare the number itself"),
        ("spec", "tools[0].[effect, effect][0] == 'wirte'", "'effect' is never 'wirte'", "use one of: 'read'"),
        (
            "structure",
            "contains(attachments, 'picture')",
            "'attachments' is never 'picture'",
            "use one of: 'image', 'aud",
        ),
        ("structure", "user_turns == '1'", "'user_turns' is never '1': it is a number", "as in user_turns > `1`"),
        (
            "structure",
            "user_turns > '1'",
            "'1' is a text, and only numbers are more or less",
            "write a number in backticks",
        ),
        ("tool", "effect >= `1`", "'effect' is a text, and only numbers are more or less", "compare with == or !="),
    ],
)
def test_what_can_never_be_true_is_refused(source: Source, rule: str, message: str, fix: str) -> None:
    with pytest.raises(RuleError, match=message) as caught:
        compile_rule(rule, source)
    assert fix in caught.value.fix


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("tool", "auth == `null`"),
        ("tool", "auth != 'none' && (effect || 'read') == 'other'"),
        ("tool", "name == 'anything at all'"),
        ("tool", "contains(name, 'anything')"),
        ("tool", "name == protocol"),
        ("tool", "card == `true` || card == confirmation"),
        ("tool", "values(@)[0] == 'x'"),
        ("tool", "*[0] == `[]`"),
        ("tool", "merge(@, `{}`).effect == 'x'"),
        ("tool", 'contains(`["read", "write"]`, effect)'),
        ("tool", "[effect, auth][0] == 'oauth'"),
        ("tool", "'a' == 'a'"),
        ("spec", "contains(knowledge, 'a-kind-of-its-own') && platform == 'x'"),
        ("spec", 'tools == `[]` || auth_modes == `["oauth"]`'),
        ("spec", "length([auth_modes, knowledge][]) > `0`"),
        ("spec", "contains(tools[].[effect][], 'write')"),
        ("spec", "not_null(tools)[0].effect == 'write'"),
        ("spec", "length(to_array(@)[0].tools) > `0`"),
        ("structure", "user_turns > `1` && `1.5` < user_turns"),
        ("structure", "length(attachments) > to_number('1')"),
    ],
)
def test_what_may_be_true_is_accepted(source: Source, rule: str) -> None:
    probe(compile_rule(rule, source), source)


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("tool", "contains('oauth sso', auth)"),
        ("tool", "contains(name, auth)"),
        ("spec", "contains('rest mcp', tools[0].protocol)"),
    ],
)
def test_a_null_in_a_text_makes_a_rule_null(source: Source, rule: str) -> None:
    compiled = compile_rule(rule, source)
    probe(compiled, source)
    assert evaluate(compiled, dict.fromkeys(SUBJECTS[source].fields)) is None


@pytest.mark.parametrize(
    "rule",
    [
        'merge(`{"k": "none"}`, @).k == \'none\'',
        '`[{"a": 1}]`[0].a == `1`',
        '`{"a": [{"b": {"c": 1}}]}`.a[0].b.c == `1`',
    ],
)
def test_keys_of_a_literal_are_names_that_a_rule_makes(rule: str) -> None:
    probe(compile_rule(rule, "spec"), "spec")


@pytest.mark.parametrize(
    ("steps", "is_refused"),
    [
        (" | {a:{x:a,y:b},b:{x:b,y:a}}" * 2, False),
        (" | {a:{x:a,y:b},b:{x:b,y:a}}" * 24, True),
        (" | {a:{x:a,y:b},b:{x:b,y:a}}" * 150, True),
        (" | [@, @]" * 10, False),
        (" | [@, @]" * 40, True),
        (" | map(&[@, @], [@, @])" * 20, True),
        (" | [`1`, `2`] | (length(@) > `1` && @[0] == @[1])" * 20, False),
    ],
)
def test_a_rule_that_puts_together_more_and_more_is_refused_at_once(steps: str, is_refused: bool) -> None:
    rule = f"{{a:{{q:name}},b:{{q:name}}}}{steps} | [@, @] | length(@) > `0`"
    begun = time.process_time()
    with pytest.raises(RuleError, match="more and more") if is_refused else contextlib.nullcontext():
        probe(compile_rule(rule, "tool"), "tool")
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    ("source", "rule", "example"),
    [
        ("spec", "card", "length(tools[?card]) > `0`"),
        ("spec", "confirmation", "length(tools[?confirmation]) > `0`"),
        ("spec", "effect == 'x'", "length(tools[?effect == 'read']) > `0`"),
        ("intent", "auth == 'x'", "length(tools[?auth == 'none']) > `0`"),
        ("intent", "protocol", "length(tools[?protocol == 'rest']) > `0`"),
        ("spec", "tools[0].card == 'x'", "length(tools[?card && !confirmation]) > `0`"),
        ("spec", "auth_modes == 'oauth'", "contains(auth_modes, 'oauth')"),
        ("spec", "auth_modes == 'oauth'", "length(tools[?effect == 'write']) > `0`"),
        ("spec", "name[0]", "platform == 'x'"),
        ("spec", "length(tools) == '1'", "length(tools) > `1`"),
        ("spec", "name > `1`", "length(tools) > `1`"),
        ("spec", "auth_modes", "contains(auth_modes, 'oauth')"),
        ("tool", "effect == 'read' == 'x'", "card && !confirmation"),
        ("tool", "[effect] == 'x'", "contains([effect, auth], 'none')"),
        ("tool", "name[0]", "effect == 'write'"),
        ("tool", "length(name) == 'x'", "length(name) > `1`"),
        ("tool", "name", "contains(name, 'x')"),
        ("structure", "attachments == 'image'", "contains(attachments, 'image')"),
        ("structure", "attachments[0].x", "contains(attachments, 'image')"),
        ("structure", "user_turns == '1'", "user_turns > `1`"),
        ("structure", "(user_turns > `1`) == 'x'", "!contains(attachments, 'image')"),
        ("structure", "attachments", "contains(attachments, 'image')"),
        ("structure", "user_turns", "user_turns > `1`"),
    ],
)
def test_the_example_of_a_fix_is_a_rule_of_that_source(source: Source, rule: str, example: str) -> None:
    with pytest.raises(RuleError) as caught:
        probe(compile_rule(rule, source), source)
    assert example in caught.value.fix
    probe(compile_rule(example, source), source)


@pytest.mark.parametrize(
    ("rule", "message", "fix"),
    [
        ("length(&name) == `0`", r"length\(\) takes no expression with `&`", "without the `&`"),
        ("not_null(name, &name) == 'x'", r"not_null\(\) takes no expression with `&`", "without the `&`"),
        ("sort_by(tools, name) == `[]`", r"sort_by\(\) takes an expression with `&`", "write `&` before"),
        ("&name", "`&` is where no function takes it", "without the `&`"),
        ("contains(name, tools[0].card)", "'name' is a text, and 'card' is a boolean", "look for a text"),
        ("contains(name, `1`)", "'name' is a text, and `1` is a number", "look for a text"),
    ],
)
def test_functions_take_what_they_can_use(rule: str, message: str, fix: str) -> None:
    with pytest.raises(RuleError, match=message) as caught:
        compile_rule(rule, "spec")
    assert fix in caught.value.fix


LONG = "x" * 5000


@pytest.mark.parametrize(
    "rule",
    [
        f"card == '{LONG}'",
        f"effect == '{LONG}'",
        f'card == `["{LONG}"]`',
        f'"{LONG}"',
        f"{LONG}(@)",
        f"name.{LONG}",
        f"{{a: name}}.{LONG}",
        f"name {LONG}",
        f"starts_with('{LONG}', length(name))",
        f"join('', `[1, \"{LONG}\"]`) == 'x'",
    ],
)
def test_messages_do_not_repeat_long_literals(rule: str) -> None:
    with pytest.raises(RuleError) as caught:
        probe(compile_rule(rule, "tool"), "tool")
    assert len(caught.value.message) < 400


@pytest.mark.parametrize("rule", ["name" + " || name" * 5000, "length(&name) == `0`", "&name", "&nam"])
def test_odd_rules_are_refused(rule: str) -> None:
    with pytest.raises(RuleError):
        probe(compile_rule(rule, "spec"), "spec")


def test_fields_have_the_values_that_specifications_and_queries_have() -> None:
    assert get_args(AuthMode) == AUTH_MODES
    assert get_args(Protocol) == PROTOCOLS
    assert get_args(Effect) == EFFECTS
    assert get_args(AttachmentKind) == ATTACHMENT_KINDS


@pytest.mark.parametrize("source", sorted(SUBJECTS))
def test_the_probes_have_the_values_of_their_fields(source: Source) -> None:
    for facts in SUBJECTS[source].probes:
        for name, value in facts.items():
            shape = SUBJECTS[source].shape.fields[name]
            assert shape is not None
            assert value is None or not shape.values or value in shape.values


@pytest.mark.parametrize("rule", ["effect == 'write'", "user_turns > `1`", "contains(auth_modes, 'x')"])
def test_without_a_source_every_field_may_be_named(rule: str) -> None:
    assert compile_rule(rule).text == rule


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
        ("contains(auth_modes, `oauth`)", "a text goes in backticks"),
        ("lenght(tools) > `0`", "no function 'lenght'; perhaps you meant 'length'"),
        ("platform == 'a' || lenght(tools) > `0`", "no function 'lenght'"),
        ("length(tools, name) > `0`", r"length\(\) takes 1 arguments, not 2"),
        ("not_null() == `1`", r"not_null\(\) takes at least 1 arguments, not 0"),
    ],
)
def test_rule_that_cannot_be_compiled_says_why(rule: str, message: str) -> None:
    with pytest.raises(RuleError, match=message) as caught:
        compile_rule(rule, "spec")
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
        probe(compile_rule(rule), "spec")
    assert caught.value.fix


@given(st.text(max_size=40), st.sampled_from(sorted(SUBJECTS)))
def test_any_text_is_a_rule_or_refused(text: str, source: Source) -> None:
    with contextlib.suppress(RuleError):
        probe(compile_rule(text, source), source)


def test_rules_know_the_fields_that_specifications_have() -> None:
    facts = Specification(
        platform="p", name="n", description="", instructions="", auth=(OAUTH,), tools=(TOOL,), knowledge=(), starters=()
    ).facts()
    tools = facts["tools"]
    assert isinstance(tools, list)
    assert tuple(facts) == FACTS
    assert tuple(tools[0]) == TOOL_FACTS
    for subject in SUBJECTS.values():
        assert all(tuple(probed) == subject.fields for probed in subject.probes)
    assert SUBJECTS["structure"].fields == STRUCTURE_FACTS


BATCH = {"engine": "batch", "sources": ("files", "api"), "lag": 5, "encrypted": True}


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("facts.engine == 'batch'", True),
        ("facts.engine == 'streaming'", False),
        ("contains(facts.sources, 'api')", True),
        ("facts.sources[0] == 'files'", True),
        ("facts.sources[5] == 'files'", False),
        ("length(facts.sources[?@ == 'files']) == `1`", True),
        ("facts.lag > `4`", True),
        ("facts.encrypted", True),
        ("facts.engine == 'batch' && platform == 'p'", True),
    ],
)
def test_rules_read_own_facts(rule: str, value: bool) -> None:
    facts = specification(platform="p", own_facts=BATCH)
    for compiled in (compile_rule(rule, "spec"), compile_rule(rule)):
        probe(compiled, "spec")
        assert evaluate(compiled, facts) is value


@pytest.mark.parametrize(
    "own", [{}, {"engine": 1, "sources": 2, "lag": "x", "encrypted": "yes"}], ids=["absent", "odd"]
)
@pytest.mark.parametrize("rule", ["contains(facts.sources, 'api')", "facts.lag > `4`", "facts.encrypted"])
def test_an_own_fact_that_is_absent_or_of_another_type_decides_nothing(rule: str, own: dict[str, Any]) -> None:
    assert evaluate(compile_rule(rule), specification(own_facts=own)) is None


def test_an_own_fact_that_is_absent_is_never_false() -> None:
    assert evaluate(compile_rule("facts.engine == 'batch'"), specification()) is None
    assert evaluate(compile_rule("!(facts.encrypted)"), specification()) is None
    assert evaluate(compile_rule("facts.engine == 'batch'"), {}) is None


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("facts", "'facts' is used as a whole"),
        ("facts.*", "'facts' is used as a whole"),
        ("facts | engine", "'facts' is used as a whole"),
        ("length(keys(facts)) > `0`", "'facts' is used as a whole"),
        ("facts.[engine]", "'facts' is used as a whole"),
        ("length(facts.engine)", "the rule gives a number"),
        ("facts.engine.maker == 'x'", "has no field 'maker'"),
        ("fact.engine == 'x'", "perhaps you meant 'facts'"),
        ("length(tools[?facts.engine == 'x']) > `0`", "'facts' is a field of the normalised specification"),
    ],
)
def test_rules_name_each_own_fact(rule: str, message: str) -> None:
    with pytest.raises(RuleError, match=re.escape(message)) as caught:
        compile_rule(rule, "spec")
    assert caught.value.fix


@given(
    st.dictionaries(
        st.sampled_from(["engine", "sources", "lag"]),
        st.one_of(st.text(), st.booleans(), st.integers(), st.lists(st.text()).map(tuple)),
    ),
    st.sampled_from(
        [
            "contains(facts.sources, 'a')",
            "facts.lag > `4`",
            "length(facts.engine) > `2`",
            "facts.lag",
            "sum(facts.lag) > `1`",
        ]
    ),
)
def test_no_fact_of_a_customer_makes_a_rule_fail(own: dict[str, Any], rule: str) -> None:
    assert evaluate(compile_rule(rule), specification(own_facts=own)) in (True, False, None)
