"""Requirements and exactly-one groups (semantics, sections 2.1 and 2.3), bullet by bullet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.classifier.arbitration import PathFindings, arbitrate
from incumbent.classifier.model import CalledTools, Classification, Consensus, Contradiction, Finding, Judgement, Path
from incumbent.taxonomy.model import Capability
from tests.classifier.factories import counted, declared, intent, of_tools, taxonomy

RULE = "contains(auth_modes, 'oauth')"  # what rules say is written down as evidence; nothing evaluates this one
CALL = intent("call")
OAUTH, KEY, SSO = (declared(name, RULE, "one.auth", requires="call") for name in ("oauth", "key", "sso"))
NO_AUTH = declared("open", RULE, "one.auth")
SMALL, NORMAL, LARGE = (intent(name, "one.size") for name in ("small", "normal", "large"))
YES, NO = Consensus(True, 0.8), Consensus(False, 0.1)
TOOL = CalledTools(1.0, ({"get_parts": 0.7, "get_fares": 0.3},))


def decide(
    capabilities: Sequence[Capability],
    rules: Mapping[str, bool | None] | None = None,
    inferred: Mapping[str, Consensus] | None = None,
    calls: CalledTools | None = None,
    implied: Sequence[str] = (),
    **more: Any,
) -> Classification:
    evidence = PathFindings(
        declared=rules or {},
        found=Finding(consensus=inferred or {}, calls=calls),
        implied=frozenset(implied),
        **more,
    )
    return arbitrate(taxonomy(*capabilities), evidence)


def outcome(classification: Classification) -> dict[str, tuple[bool, float, str]]:
    return {name: (item.value, item.confidence, item.path) for name, item in classification.judgements.items()}


# What a path says of a capability on its own.


@pytest.mark.parametrize(
    ("rules", "inferred", "judgement"),
    [
        pytest.param({"a": True}, {}, Judgement(True, 1.0, "specification"), id="rule true"),
        pytest.param({"a": False}, {}, Judgement(False, 1.0, "specification"), id="rule false"),
        pytest.param({"a": None}, {"a": YES}, Judgement(True, 0.8, "inference"), id="silent, inferred true"),
        pytest.param({"a": None}, {"a": NO}, Judgement(False, 0.1, "inference"), id="silent, inferred false"),
        pytest.param({"a": None}, {}, Judgement(False, 0.0, "undeclared"), id="silent, nothing to infer from"),
        pytest.param(
            {"a": False}, {"a": YES}, Judgement(False, 1.0, "specification"), id="inference does not override"
        ),
    ],
)
def test_each_capability_is_decided_by_its_path(
    rules: dict[str, bool | None], inferred: dict[str, Consensus], judgement: Judgement
) -> None:
    assert decide([declared("a", RULE)], rules, inferred).judgements == {"a": judgement}


def test_judgements_keep_the_taxonomys_order() -> None:
    assert list(decide([LARGE, CALL, OAUTH, SMALL]).judgements) == ["large", "call", "oauth", "small"]


# Requirements.

NEEDY = declared("needy", RULE, requires="call")


@pytest.mark.parametrize(
    ("rule", "own", "call", "expected"),
    [
        pytest.param(True, None, YES, (True, 0.8, "specification"), id="met: TRUE with the confidence of the required"),
        pytest.param(True, None, NO, (False, 0.1, "specification"), id="unmet: FALSE"),
        pytest.param(False, None, YES, (False, 1.0, "specification"), id="rule false stays FALSE"),
        pytest.param(None, None, YES, (False, 0.0, "undeclared"), id="undeclared stays FALSE"),
        pytest.param(None, Consensus(True, 0.6), YES, (True, 0.6, "inference"), id="inferred keeps its own confidence"),
        pytest.param(None, Consensus(True, 0.6), NO, (False, 0.1, "inference"), id="inferred and unmet"),
        pytest.param(None, Consensus(False, 0.3), NO, (False, 0.3, "inference"), id="inferred FALSE needs nothing"),
    ],
)
def test_a_capability_is_true_only_if_what_it_requires_is(
    rule: bool | None, own: Consensus | None, call: Consensus, expected: tuple[bool, float, str]
) -> None:
    inferred = {"call": call} if own is None else {"call": call, "needy": own}
    assert outcome(decide([NEEDY, CALL], {"needy": rule}, inferred))["needy"] == expected


def test_a_requirement_asks_for_what_arbitration_left_of_it() -> None:
    group = [intent("quick", "one.mode"), intent("deep", "one.mode")]
    rested = declared("rested", RULE, requires="quick")
    inferred = {"quick": Consensus(True, 0.6), "deep": Consensus(True, 0.9)}
    assert outcome(decide([rested, *group], {"rested": True}, inferred))["rested"] == (False, 0.6, "specification")


# Exactly-one groups.


def test_one_declared_member_makes_the_others_false() -> None:
    silent = declared("silent", RULE, "one.auth")
    rules = {"oauth": True, "key": False, "silent": None}
    result = decide([OAUTH, KEY, silent, CALL], rules, {"call": YES, "silent": Consensus(True, 0.95)})
    assert outcome(result) == {
        "oauth": (True, 0.8, "specification"),
        "key": (False, 1.0, "specification"),
        "silent": (False, 0.95, "arbitration"),
        "call": (True, 0.8, "inference"),
    }
    assert result.off_taxonomy == ()
    assert result.arbitrated == frozenset()


def test_the_declared_member_failing_its_requirement_leaves_the_group_unexercised() -> None:
    silent = declared("silent", RULE, "one.auth")
    result = decide([OAUTH, silent, CALL], {"oauth": True, "silent": None}, {"call": NO, "silent": YES})
    assert outcome(result)["oauth"] == (False, 0.1, "specification")
    assert outcome(result)["silent"] == (False, 0.8, "arbitration")
    assert result.signature == frozenset()
    assert result.off_taxonomy == ()


BOTH: Mapping[str, bool | None] = {"oauth": True, "key": True, "sso": False, "open": False}
AUTH = [NO_AUTH, KEY, OAUTH, SSO, CALL]


@pytest.mark.parametrize(
    ("call", "chosen", "implied", "true", "off"),
    [
        pytest.param(YES, TOOL, ["oauth"], {"oauth": 0.7}, (), id="the tool's declaration decides"),
        pytest.param(YES, TOOL, ["key"], {"key": 0.7}, (), id="the other tool's declaration decides"),
        pytest.param(YES, TOOL, ["key", "oauth"], {"key": 0.7}, (), id="ties go by the taxonomy's order"),
        pytest.param(YES, TOOL, [], {}, ("one.auth",), id="a tool call that fits none is off the taxonomy"),
        pytest.param(YES, TOOL, ["sso"], {}, ("one.auth",), id="what the specification made FALSE stays FALSE"),
        pytest.param(YES, None, [], {}, ("one.auth",), id="a tool is called and none of the declared fits"),
        pytest.param(NO, TOOL, ["oauth"], {}, (), id="the requirement comes first"),
        pytest.param(NO, TOOL, [], {}, (), id="the requirement comes first, and it is no off-taxonomy mark"),
    ],
)
def test_of_several_declared_members_the_tool_exercises_one(
    call: Consensus, chosen: CalledTools | None, implied: list[str], true: dict[str, float], off: tuple[str, ...]
) -> None:
    result = decide(AUTH, BOTH, {"call": call}, chosen, implied)
    members = {name: item for name, item in result.judgements.items() if name != "call"}
    assert {name: item.confidence for name, item in members.items() if item.value} == true
    assert {item.path for item in members.values() if item.value} <= {"arbitration"}
    assert result.off_taxonomy == off
    assert result.arbitrated == frozenset()


def test_the_most_likely_tool_of_all_steps_decides() -> None:
    calls = CalledTools(0.2, ({"get_news": 0.6, "get_parts": 0.4}, {"get_parts": 0.8}))
    result = decide(AUTH, BOTH, {"call": YES}, calls, ["oauth"])
    assert outcome(result)["oauth"] == (True, 0.8, "arbitration")


def test_no_expected_call_is_no_mark_against_the_taxonomy() -> None:
    result = decide(AUTH, BOTH, {"call": YES}, CalledTools(0.0), expected=True)
    assert result.signature == {"call"}
    assert result.off_taxonomy == ()


def test_of_several_declared_members_only_one_meeting_its_requirement_stays_without_a_tool() -> None:
    rules = {"open": True, "oauth": True, "key": True, "sso": False}
    result = decide(AUTH, rules, {"call": NO}, TOOL, ["oauth"])
    assert result.signature == {"open"}
    assert outcome(result)["open"] == (True, 1.0, "specification")


def test_a_tool_whose_member_fails_its_own_requirement_leaves_the_group_unexercised() -> None:
    rules: Mapping[str, bool | None] = {"open": True, "other": True, "oauth": True}
    capabilities = [NO_AUTH, declared("other", RULE, "one.auth"), OAUTH, CALL]
    result = decide(capabilities, rules, {"call": NO}, TOOL, ["oauth"])
    assert result.signature == frozenset()
    assert result.off_taxonomy == ()


# Capabilities of called tools.

T_OAUTH, T_KEY = (of_tools(name, "auth == 'x'", "one.called") for name in ("t-oauth", "t-key"))
CALLED = [T_OAUTH, T_KEY, CALL]


def by_tools(path: Path = "tool", **probabilities: float) -> dict[str, Judgement]:
    return {f"t-{name}": Judgement(value >= 0.5, value, path) for name, value in probabilities.items()}


@pytest.mark.parametrize(
    ("called", "misfits", "expected", "off"),
    [
        pytest.param(
            by_tools(oauth=0.9, key=0.1),
            (),
            {"t-oauth": (True, 0.9, "tool"), "t-key": (False, 0.1, "tool")},
            (),
            id="one reaches 0.5",
        ),
        pytest.param(
            by_tools(oauth=0.6, key=0.9),
            (),
            {"t-oauth": (False, 0.6, "arbitration"), "t-key": (True, 0.9, "tool")},
            (),
            id="the greater one stays",
        ),
        pytest.param(
            by_tools(oauth=0.35 + 0.15, key=0.5),
            (),
            {"t-oauth": (True, 0.5, "tool"), "t-key": (False, 0.5, "arbitration")},
            (),
            id="ties by the taxonomy's order",
        ),
        pytest.param(
            by_tools("expected", oauth=1.0, key=1.0),
            (),
            {"t-oauth": (True, 1.0, "expected"), "t-key": (False, 1.0, "arbitration")},
            (),
            id="two expected calls",
        ),
        pytest.param(
            by_tools(oauth=0.4, key=0.3),
            (),
            {"t-oauth": (False, 0.4, "tool"), "t-key": (False, 0.3, "tool")},
            (),
            id="none reaches 0.5: not exercised",
        ),
        pytest.param(
            by_tools(oauth=0.0, key=0.0),
            ("one.called",),
            {"t-oauth": (False, 0.0, "tool"), "t-key": (False, 0.0, "tool")},
            ("one.called",),
            id="a call that fits none",
        ),
        pytest.param(
            by_tools(oauth=0.6, key=0.0),
            ("one.called",),
            {"t-oauth": (True, 0.6, "tool"), "t-key": (False, 0.0, "tool")},
            (),
            id="a call that fits one, and another that fits none",
        ),
    ],
)
def test_a_group_of_tools_takes_the_likeliest_member(
    called: dict[str, Judgement],
    misfits: Sequence[str],
    expected: dict[str, tuple[bool, float, str]],
    off: tuple[str, ...],
) -> None:
    result = decide(CALLED, {}, {"call": YES}, called=called, misfits=frozenset(misfits))
    found = outcome(result)
    assert {name: found[name] for name in expected} == expected
    assert result.off_taxonomy == off
    assert result.arbitrated == frozenset()


def test_a_group_of_tools_is_not_filled_by_inference() -> None:
    inferred = {"t-oauth": Consensus(False, 0.4), "t-key": Consensus(False, 0.3), "call": YES}
    assert decide(CALLED, {}, inferred).signature == {"call"}
    several = {"t-oauth": Consensus(True, 0.6), "t-key": Consensus(True, 0.7), "call": YES}
    assert decide(CALLED, {}, several).signature == {"call", "t-key"}


def test_the_called_tools_come_before_what_the_text_says() -> None:
    result = decide([T_OAUTH, CALL], {}, {"t-oauth": YES, "call": NO}, called=by_tools(oauth=0.2))
    assert outcome(result)["t-oauth"] == (False, 0.2, "tool")
    assert outcome(result)["call"] == (False, 0.1, "inference")


def test_in_a_group_of_several_sources_a_tool_is_not_filled_in() -> None:
    mixed = [of_tools("t-oauth", "card", "one.kind"), intent("guessed", "one.kind")]
    result = decide(mixed, {}, {"guessed": NO}, called=by_tools(oauth=0.4))
    assert result.arbitrated == {"guessed"}
    won = decide(mixed, {}, {"guessed": NO}, called=by_tools(oauth=0.6))
    assert won.signature == {"t-oauth"}
    ruled = [declared("ruled", RULE, "one.kind"), of_tools("t-oauth", "card", "one.kind")]
    lost = decide(ruled, {"ruled": True}, {}, called=by_tools("expected", oauth=1.0))
    assert outcome(lost) == {"ruled": (True, 1.0, "specification"), "t-oauth": (False, 1.0, "arbitration")}


# What is counted in the query, and gates.

ONE_TURN, TURNS = counted("one-turn", "`null`", "one.turns"), counted("turns", "`null`", "one.turns")


@pytest.mark.parametrize(
    ("count", "inferred", "expected", "off"),
    [
        pytest.param(
            {"one-turn": False, "turns": True},
            {},
            {"one-turn": (False, 1.0, "structure"), "turns": (True, 1.0, "structure")},
            (),
            id="counted",
        ),
        pytest.param(
            {"one-turn": None, "turns": True},
            {"one-turn": YES},
            {"one-turn": (False, 0.8, "arbitration"), "turns": (True, 1.0, "structure")},
            (),
            id="inference does not override it",
        ),
        pytest.param(
            {"one-turn": None, "turns": None},
            {"one-turn": NO, "turns": Consensus(False, 0.3)},
            {"one-turn": (False, 0.1, "inference"), "turns": (True, 0.3, "arbitration")},
            (),
            id="nothing to count",
        ),
        pytest.param(
            {"one-turn": True, "turns": True},
            {},
            {"one-turn": (True, 1.0, "structure"), "turns": (False, 0.0, "arbitration")},
            (),
            id="rules that overlap: the first in the taxonomy",
        ),
        pytest.param(
            {"one-turn": False, "turns": False},
            {},
            {"one-turn": (False, 1.0, "structure"), "turns": (False, 1.0, "structure")},
            ("one.turns",),
            id="nothing fits",
        ),
    ],
)
def test_what_is_counted_is_certain(
    count: dict[str, bool | None],
    inferred: dict[str, Consensus],
    expected: dict[str, tuple[bool, float, str]],
    off: tuple[str, ...],
) -> None:
    result = decide([ONE_TURN, TURNS], {}, inferred, counted=count)
    assert outcome(result) == expected
    assert result.off_taxonomy == off


def test_a_closed_gate_is_a_fact_of_the_specification() -> None:
    web = intent("web", when="contains(knowledge, 'web-search')")
    assert outcome(decide([web], {"web": False}, {"web": YES})) == {"web": (False, 1.0, "specification")}
    assert outcome(decide([web], {"web": None}, {"web": YES})) == {"web": (True, 0.8, "inference")}


@pytest.mark.parametrize(
    ("rule", "own", "expected"),
    [
        pytest.param(True, None, (False, 1.0, "specification"), id="declared"),
        pytest.param(None, Consensus(True, 0.6), (False, 0.0, "inference"), id="inferred"),
    ],
)
def test_what_requires_something_behind_a_closed_gate_is_certainly_false(
    rule: bool | None, own: Consensus | None, expected: tuple[bool, float, str]
) -> None:
    result = decide([NEEDY, CALL], {"needy": rule, "call": False}, {} if own is None else {"needy": own})
    assert outcome(result)["needy"] == expected
    assert result.judgements["needy"].probability == 0.0


def test_what_the_classifier_says_of_the_query_as_a_whole_is_kept() -> None:
    found = Contradiction(expected=("a",), likeliest=("b",), probability=0.9)
    said = Finding(consensus={"call": YES}, calls=TOOL, unfamiliar="code", attempt=True)
    result = arbitrate(taxonomy(CALL), PathFindings(declared={}, found=said, contradiction=found))
    assert (result.unfamiliar, result.attempt, result.calls, result.contradiction) == ("code", True, TOOL, found)
    plain = decide([CALL], {}, {"call": YES})
    assert (plain.unfamiliar, plain.attempt, plain.calls, plain.contradiction) == (None, False, None, None)


# Groups of which inference decides.

SIZES = [SMALL, NORMAL, LARGE]


@pytest.mark.parametrize(
    ("inferred", "winner", "path"),
    [
        pytest.param([(True, 0.8), (False, 0.2), (False, 0.1)], "small", "inference", id="one TRUE"),
        pytest.param(
            [(True, 0.6), (True, 0.9), (False, 0.1)], "normal", "inference", id="the highest confidence stays"
        ),
        pytest.param([(True, 0.6), (True, 0.6), (True, 0.5)], "small", "inference", id="ties by the taxonomy's order"),
        pytest.param(
            [(True, 0.35 + 0.05), (True, 0.40), (False, 0.9)], "small", "inference", id="ties as rounded to 9 decimals"
        ),
        pytest.param(
            [(False, 0.2), (False, 0.45), (False, 0.1)], "normal", "arbitration", id="none TRUE: the likeliest"
        ),
        pytest.param([(False, 0.3), (False, 0.3), (False, 0.3)], "small", "arbitration", id="none TRUE: ties by order"),
    ],
)
def test_inference_alone_leaves_exactly_one_member_true(
    inferred: list[tuple[bool, float]], winner: str, path: str
) -> None:
    result = decide(SIZES, {}, dict(zip(["small", "normal", "large"], [Consensus(*x) for x in inferred], strict=True)))
    assert result.signature == {winner}
    assert result.judgements[winner].path == path
    assert result.arbitrated == (frozenset({winner}) if path == "arbitration" else frozenset())


def test_a_member_that_lost_keeps_its_probability() -> None:
    result = decide(SIZES, {}, {"small": Consensus(True, 0.6), "normal": Consensus(True, 0.9), "large": NO})
    assert outcome(result)["small"] == (False, 0.6, "arbitration")
    assert outcome(result)["large"] == (False, 0.1, "inference")


MIXED = [declared("named", RULE, "one.kind"), intent("guessed", "one.kind"), intent("other", "one.kind")]


def test_none_true_never_falls_to_a_member_that_the_specification_made_false() -> None:
    result = decide(MIXED, {"named": False}, {"named": YES, "guessed": Consensus(False, 0.2), "other": NO})
    assert result.signature == {"guessed"}


def test_none_true_never_falls_to_a_member_that_nothing_speaks_of() -> None:
    result = decide(MIXED, {"named": None}, {"guessed": NO, "other": Consensus(False, 0.05)})
    assert result.signature == {"guessed"}
    assert outcome(result)["named"] == (False, 0.0, "undeclared")


def test_none_true_never_falls_to_a_member_whose_requirement_fails() -> None:
    silent = [declared(name, RULE, "one.auth", requires="call") for name in ("a", "b")]
    rules: Mapping[str, bool | None] = {"a": None, "b": None}
    result = decide([*silent, CALL], rules, {"call": NO, "a": YES, "b": Consensus(False, 0.4)})
    assert result.signature == frozenset()
    assert result.off_taxonomy == ()
    assert result.arbitrated == frozenset()


def test_every_member_false_by_the_specification_is_off_the_taxonomy() -> None:
    result = decide(AUTH, dict.fromkeys(BOTH, False), {"call": YES})
    assert result.off_taxonomy == ("one.auth",)
    assert result.signature == {"call"}


@pytest.mark.parametrize("rules", [dict.fromkeys(BOTH), dict.fromkeys(BOTH, False) | {"oauth": None}])
def test_members_that_nothing_speaks_of_are_no_evidence_against_the_taxonomy(rules: dict[str, bool | None]) -> None:
    result = decide(AUTH, rules, {"call": YES})
    assert result.off_taxonomy == ()
    assert result.signature == {"call"}


def test_other_groups_may_have_any_number_of_true_members() -> None:
    capabilities = [declared("a", RULE), declared("b", RULE), intent("c"), intent("d")]
    result = decide(capabilities, {"a": True, "b": True}, {"c": YES, "d": NO})
    assert result.signature == {"a", "b", "c"}


# Invariants.


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Capability], PathFindings]:
    consensus = st.builds(Consensus, st.booleans(), st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0]))
    capabilities = [CALL]
    rules: dict[str, bool | None] = {}
    inferred = {"call": draw(consensus)}
    for number in range(draw(st.integers(1, 7))):
        id, group = f"c{number}", draw(st.sampled_from(["one.a", "one.b", "any"]))
        kind = draw(st.sampled_from(["intent", "true", "false", "silent", "undeclared"]))
        if kind == "intent":
            capabilities.append(intent(id, group))
        else:
            capabilities.append(declared(id, RULE, group, requires=draw(st.sampled_from([None, "call"]))))
            rules[id] = {"true": True, "false": False}.get(kind)
        if kind in ("intent", "silent"):
            inferred[id] = draw(consensus)
    chosen = draw(st.none() | st.just(TOOL))
    implied = frozenset(draw(st.sets(st.sampled_from(sorted(rules))))) if chosen and rules else frozenset()
    order = draw(st.permutations(capabilities))
    return order, PathFindings(declared=rules, found=Finding(consensus=inferred, calls=chosen), implied=implied)


@given(cases())
def test_an_exactly_one_group_has_one_true_member_unless_it_is_unexercised_or_off_the_taxonomy(
    case: tuple[list[Capability], PathFindings],
) -> None:
    capabilities, evidence = case
    everything = taxonomy(*capabilities)
    result = arbitrate(everything, evidence)
    for group, members in everything.exactly_one.items():
        true = [member for member in members if result.judgements[member.id].value]
        rules = [evidence.declared.get(member.id) for member in members]
        unmet = [member for member in members if member.requires and not result.judgements["call"].value]
        if group in result.off_taxonomy:
            assert not true
            assert rules.count(True) > 1 or set(rules) == {False}
        elif not true:
            unspoken = all(evidence.declared.get(item.id) in (None, False) for item in members) and not any(
                item.id in evidence.found.consensus for item in members
            )
            assert unmet or unspoken
        assert len(true) <= 1


@given(cases())
def test_inference_never_overrides_a_value_of_the_specification(case: tuple[list[Capability], PathFindings]) -> None:
    capabilities, evidence = case
    everything = taxonomy(*capabilities)
    result = arbitrate(everything, evidence)
    for capability in capabilities:
        judgement = result.judgements[capability.id]
        rule = evidence.declared.get(capability.id)
        if rule is False:
            assert judgement == Judgement(False, 1.0, "specification")
        elif rule is True and not judgement.value:
            declared_members = [
                member
                for member in everything.exactly_one.get(capability.group, ())
                if evidence.declared.get(member.id) is True
            ]
            assert len(declared_members) > 1 or (capability.requires and not result.judgements["call"].value)
        if judgement.value and capability.requires:
            assert result.judgements[capability.requires].value


@given(cases())
def test_what_arbitration_alone_made_true_is_marked_and_was_inferred(
    case: tuple[list[Capability], PathFindings],
) -> None:
    capabilities, evidence = case
    result = arbitrate(taxonomy(*capabilities), evidence)
    assert list(result.judgements) == [capability.id for capability in capabilities]
    for name in result.arbitrated:
        assert result.judgements[name] == Judgement(True, evidence.found.consensus[name].confidence, "arbitration")
        assert not evidence.found.consensus[name].value
    for name, judgement in result.judgements.items():
        chosen: Any = evidence.found.calls and evidence.declared.get(name) and name in evidence.implied
        if judgement.value and judgement.path == "arbitration":
            assert name in result.arbitrated or chosen


@st.composite
def cases_of_all_sources(draw: st.DrawFn) -> tuple[list[Capability], PathFindings]:
    capabilities, evidence = draw(cases())
    counts: dict[str, bool | None] = {}
    called: dict[str, Judgement] = {}
    for number in range(draw(st.integers(1, 4))):
        group = draw(st.sampled_from(["one.a", "one.tools", "any"]))
        if draw(st.booleans()):
            capabilities = [*capabilities, of_tools(f"t{number}", "card", group)]
            share = draw(st.sampled_from([0.0, 0.4, 0.5, 0.9, 1.0]))
            called[f"t{number}"] = Judgement(share >= 0.5, share, "tool")
        else:
            capabilities = [*capabilities, counted(f"n{number}", "`null`", group)]
            counts[f"n{number}"] = draw(st.sampled_from([True, False, None]))
    misfits = frozenset(draw(st.sets(st.just("one.tools"))))
    order = draw(st.permutations(capabilities))
    return order, replace(evidence, counted=counts, called=called, misfits=misfits)


@given(cases_of_all_sources())
def test_neither_a_count_nor_a_called_tool_is_overridden_by_inference(
    case: tuple[list[Capability], PathFindings],
) -> None:
    capabilities, evidence = case
    everything = taxonomy(*capabilities)
    result = arbitrate(everything, evidence)
    for group, members in everything.exactly_one.items():
        true = [member.id for member in members if result.judgements[member.id].value]
        assert len(true) <= 1
        assert not (true and group in result.off_taxonomy)
    for name, value in evidence.counted.items():
        judgement = result.judgements[name]
        if value is False:
            assert judgement == Judgement(False, 1.0, "structure")
        if value is None:
            assert judgement == Judgement(False, 0.0, "undeclared")
    for name, judgement in evidence.called.items():
        found = result.judgements[name]
        assert found == judgement or found == Judgement(False, judgement.confidence, "arbitration")
        assert name not in result.arbitrated


def test_requirements_are_followed_whatever_the_order() -> None:
    chain = [intent("a"), intent("b", requires="a"), intent("c", requires="b")]
    inferred = {name: Consensus(name != "a", 0.8) for name in "abc"}
    for order in permutations(chain):
        found = arbitrate(taxonomy(*order), PathFindings(declared={}, found=Finding(consensus=inferred)))
        assert found.signature == frozenset()


def test_what_requires_itself_in_a_circle_comes_to_an_end() -> None:
    circle = [intent("a", requires="b"), intent("b", requires="a")]
    found = arbitrate(
        taxonomy(*circle),
        PathFindings(declared={}, found=Finding(consensus={name: Consensus(True, 0.8) for name in "ab"})),
    )
    assert found.signature == frozenset("ab")


def test_a_member_on_trial_takes_no_tag_from_those_that_count() -> None:
    tiny = intent("tiny", "one.size").model_copy(update={"trial": True})
    found = decide([SMALL, NORMAL, tiny], inferred={"small": YES, "normal": NO, "tiny": Consensus(True, 0.9)})
    assert {name: item.value for name, item in found.judgements.items()} == {
        "small": True,
        "normal": False,
        "tiny": True,
    }
