from __future__ import annotations

from dataclasses import replace

import pytest

from tests.intake.agents.builders import Folder, notes_of, tools_of

FULL = """\
agent: 1
name: Parcel desk
platform: acme-assistants
description: Answers where parcels are.
instructions: Be brief.
auth_modes: [api-key, none]
tools:
  - {name: track_parcel, description: Where a parcel is, protocol: rest, effect: read, auth: api-key, card: true}
  - {name: redirect_parcel, protocol: mcp, effect: write, confirmation: true}
  - name: opening_hours
knowledge: [web-search, depot-maps]
starters: ["Where is parcel 12?"]
"""


def test_a_full_agent_is_read_as_declared(folder: Folder) -> None:
    specification = folder.write("agent.yaml", FULL).read()
    assert (specification.platform, specification.name) == ("acme-assistants", "Parcel desk")
    assert (specification.description, specification.instructions) == ("Answers where parcels are.", "Be brief.")
    assert [(item.mode, item.declared_in) for item in specification.auth or ()] == [
        ("api-key", "agent.yaml: auth_modes[0]"),
        ("none", "agent.yaml: auth_modes[1]"),
    ]
    assert [
        (tool.name, tool.protocol, tool.effect, tool.effect_from, tool.auth, tool.confirmation, tool.card)
        for tool in specification.tools or ()
    ] == [
        ("track_parcel", "rest", "read", "declared", "api-key", None, True),
        ("redirect_parcel", "mcp", "write", "declared", None, True, None),
        ("opening_hours", "function", "unknown", "not declared", None, None, None),
    ]
    assert tools_of(specification)["redirect_parcel"].declared_in == "agent.yaml: tools[1]"
    assert [item.kind for item in specification.knowledge or ()] == ["web-search", "depot-maps"]
    assert specification.starters == ("Where is parcel 12?",)
    assert specification.notes == ()


def test_what_is_absent_is_not_declared(folder: Folder) -> None:
    specification = folder.write("agent.yml", "agent: 1\nname: Parcel desk\nplatform: acme\n").read()
    assert specification.auth is None
    assert specification.tools is None
    assert specification.knowledge is None
    assert specification.starters == ()


def test_empty_lists_declare_none(folder: Folder) -> None:
    specification = folder.write("agent.yaml", "agent: 1\nname: N\nplatform: p\ntools: []\nknowledge: []\n").read()
    assert specification.tools == ()
    assert specification.knowledge == ()


def test_without_auth_modes_the_tools_declare_them(folder: Folder) -> None:
    text = "agent: 1\nname: N\nplatform: p\ntools: [{name: a}, {name: b, auth: sso}]\n"
    specification = folder.write("agent.yaml", text).read()
    assert [(item.mode, item.declared_in) for item in specification.auth or ()] == [
        ("sso", "agent.yaml: tools[1].auth")
    ]


def test_another_platforms_agent_yaml_is_not_ours(folder: Folder) -> None:
    folder.agent().write("agent.yaml", "kind: prompt\nmodel: x\n")
    assert folder.read().name == "Harbour desk"


def test_a_kind_that_looks_like_a_slip_is_said(folder: Folder) -> None:
    text = "agent: 1\nname: N\nplatform: p\nknowledge: [web-serch]\n"
    specification = folder.write("agent.yaml", text).read()
    assert [item.kind for item in specification.knowledge or ()] == ["web-serch"]
    assert notes_of(specification) == [
        "agent.yaml:4: knowledge[0]: 'web-serch' is not a kind of declarative agents; perhaps you meant 'web-search'"
    ]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("agent: 2\nname: N\nplatform: p\n", 1, "agent: 2 was written by a later version, nothing was changed"),
        ("agent: 1\nplatform: p\n", 1, "name: the key is missing"),
        ("agent: 1\nname: N\nplatform: p\nauth_mode: [none]\n", 4, "unknown key; perhaps you meant 'auth_modes'"),
        ("agent: 1\nname: N\nplatform: p\nauth_modes: []\n", 4, "auth_modes: names no mode"),
        ("agent: 1\nname: N\nplatform: p\nauth_modes: [oauth2]\n", 4, "auth_modes.0: must be 'none'"),
        ("agent: 1\nname: N\nplatform: p\ntools: [{name: a, effect: reads}]\n", 4, "tools.0.effect: must be 'read'"),
        ("agent: 1\nname: N\nplatform: p\nknowledge: [Web Search]\n", 4, "knowledge.0: must match"),
        ("agent: 1\nname: N\nplatform: p\nstarters: ['']\n", 4, "starters.0: must "),
        ("agent: 1\nname: 12\nplatform: p\n", 2, "name: must be a "),
        (
            "agent: 1\nname: N\nplatform: p\nauth_modes: [none]\ntools:\n  - name: a\n    auth: oauth\n",
            7,
            "tools[0].auth: 'oauth' is not among auth_modes",
        ),
        (
            "agent: 1\nname: N\nplatform: p\ntools:\n  - name: a\n  - name: b\n  - name: a\n",
            7,
            "tools[2].name: 'a' is the name of an earlier tool",
        ),
    ],
)
def test_a_fault_is_an_error_with_line_and_fix(folder: Folder, text: str, line: int, message: str) -> None:
    (problem,) = folder.write("agent.yaml", text).problems()
    assert (problem.file, problem.line) == ("agent.yaml", line)
    assert message in problem.message
    assert problem.fix


def test_all_faults_are_said_at_once(folder: Folder) -> None:
    text = "agent: 1\nplatfrom: p\nauth_modes: [x]\ntools: [{name: a, autth: none}]\n"
    assert [problem.line for problem in folder.write("agent.yaml", text).problems()] == [1, 1, 2, 3, 4]


def test_too_many_tools_are_an_error_that_names_the_limit(folder: Folder) -> None:
    tools = "".join(f"  - name: t{number}\n" for number in range(11))
    folder.write("agent.yaml", f"agent: 1\nname: N\nplatform: p\ntools:\n{tools}")
    (problem,) = folder.problems(tools=10)
    assert problem.message == "tools: 11 tools, more than the limit of 10"
    assert "limits.tools" in problem.fix


FACTS = """\
agent: 1
name: Till receipts
platform: pipelines
facts:
  engine: streaming
  sources: [events, 3, true]
  lag_minutes: 1.5
  encrypted: false
  sinks: []
"""


def test_own_facts_are_kept_as_written(folder: Folder) -> None:
    facts = folder.write("agent.yaml", FACTS).read().facts()["facts"]
    expected = {
        "engine": "streaming",
        "sources": ["events", 3, True],
        "lag_minutes": 1.5,
        "encrypted": False,
        "sinks": [],
    }
    assert facts == expected


def test_own_facts_are_part_of_the_digest_and_none_leave_it_as_it_was(folder: Folder) -> None:
    with_facts = folder.write("agent.yaml", FACTS).read()
    without = replace(with_facts, own_facts={})
    assert with_facts.digest != without.digest
    assert with_facts.digest != replace(with_facts, own_facts={"engine": "batch"}).digest
    assert without.digest == "acba78baff42dafa"


def test_own_facts_are_those_of_agent_yaml_where_it_extends_others(folder: Folder) -> None:
    folder.write("api.yaml", "openapi: 3.0.0\ninfo: {title: T, version: '1'}\npaths: {}\n")
    folder.write("agent.yaml", "agent: 1\nextends: api.yaml\nplatform: p\nfacts: {engine: batch}\n")
    assert folder.read().own_facts == {"engine": "batch"}


@pytest.mark.parametrize(
    ("facts", "line", "message"),
    [
        ("[a]", 4, "facts: must be a mapping"),
        ("{Engine: x}", 4, "facts.Engine: must match the pattern"),
        ("{a-b: x}", 4, "must match the pattern"),
        ("{a: null}", 4, "facts.a: must be a text, a number up to 2^53, true or false, or a list of these"),
        ("{a: {b: c}}", 4, "facts.a: must be a text"),
        ("{a: [[b]]}", 4, "facts.a: must be a text"),
        ("{a: [null]}", 4, "facts.a: must be a text"),
        ("{a: .inf}", 4, "'.inf' is not a finite number"),
        ("{a: 9007199254740993}", 4, "facts.a: must be a text"),
        (f"{{{'a' * 101}: x}}", 4, "at most 100 characters"),
    ],
)
def test_a_fact_that_no_rule_could_read_is_an_error(folder: Folder, facts: str, line: int, message: str) -> None:
    (problem,) = folder.write("agent.yaml", f"agent: 1\nname: N\nplatform: p\nfacts: {facts}\n").problems()
    assert (problem.file, problem.line) == ("agent.yaml", line)
    assert message in problem.message
    assert problem.fix


def test_every_fact_at_fault_is_named_at_once(folder: Folder) -> None:
    text = "agent: 1\nname: N\nplatform: p\nfacts:\n  a: null\n  b: x\n  c: {d: e}\n  E: f\n"
    assert [problem.line for problem in folder.write("agent.yaml", text).problems()] == [5, 7, 8]


@pytest.mark.parametrize(
    "facts",
    [
        "{" + ", ".join(f"a{number}: x" for number in range(11)) + "}",
        "{a: [1, 2, 3, 4, 5, 6], b: [1, 2, 3, 4, 5]}",
        "{a: " + "x" * 500 + ", b: [" + "x" * 500 + "]}",
    ],
)
def test_too_many_facts_or_too_long_ones_are_an_error_that_names_the_limits(folder: Folder, facts: str) -> None:
    folder.write("agent.yaml", f"agent: 1\nname: N\nplatform: p\nfacts: {facts}\n")
    (problem,) = folder.problems(tools=10, turn_characters=1_000)
    assert problem.line == 4
    assert problem.message.startswith("facts: more than the limit of 10 values")
