"""Corrections of curators over what the classifier says (semantics, section 2), case by case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.classifier.arbitration import PathFindings, arbitrate
from incumbent.classifier.corrections import Correction, contradictory, corrected, merged, obstacle, overlaid, unheeded
from incumbent.classifier.model import RULED, Classification, Consensus, Finding, Judgement, Path, StatedCalls
from tests.classifier.factories import counted, declared, intent, of_tools, taxonomy

RULE = "contains(auth_modes, 'oauth')"  # what rules say is written down in the judgements; nothing evaluates this one
TAXONOMY = taxonomy(
    intent("call"),
    declared("needy", RULE, requires="call"),
    declared("fact", RULE),
    counted("count", "user_turns > `1`"),
    intent("small", "one.size"),
    intent("normal", "one.size"),
    intent("large", "one.size"),
    declared("oauth", RULE, "one.auth"),
    declared("open", RULE, "one.auth"),
    intent("card", "one.auth"),
    of_tools("read", "read_only", "one.effect"),
    of_tools("write", "!read_only", "one.effect"),
)


def judged(value: bool, confidence: float, path: Path = "inference") -> Judgement:
    return Judgement(value, confidence, path)


DEFAULTS = {
    "call": judged(True, 0.8),
    "needy": judged(True, 0.8, "specification"),
    "fact": judged(True, 1.0, "specification"),
    "count": judged(False, 1.0, "structure"),
    "small": judged(False, 0.3),
    "normal": judged(True, 0.9),
    "large": judged(False, 0.7, "arbitration"),
    "oauth": judged(True, 1.0, "specification"),
    "open": judged(False, 1.0, "specification"),
    "card": judged(False, 0.6, "arbitration"),
    "read": judged(True, 0.8, "tool"),
    "write": judged(False, 0.6, "arbitration"),
}


def item(
    off_taxonomy: tuple[str, ...] = (), arbitrated: tuple[str, ...] = (), **judgements: Judgement
) -> Classification:
    return Classification(
        judgements={**DEFAULTS, **judgements},
        off_taxonomy=off_taxonomy,
        arbitrated=frozenset(arbitrated),
    )


def changes(before: Classification, values: Mapping[str, bool]) -> dict[str, tuple[bool, float, str]]:
    """The judgements that ``values`` change."""
    after = corrected(before, TAXONOMY, values)
    assert list(after.judgements) == list(before.judgements)
    return {
        name: (found.value, found.confidence, found.path)
        for name, found in after.judgements.items()
        if found != before.judgements[name]
    }


FALSE_CALL = item(call=judged(False, 0.2), needy=judged(False, 0.2, "specification"))
OPEN_AUTH: dict[str, Any] = {"oauth": judged(False, 1.0, "specification"), "open": judged(False, 1.0, "specification")}


@pytest.mark.parametrize(
    ("before", "values", "after"),
    [
        pytest.param(item(), {}, {}, id="nothing said"),
        pytest.param(item(), {"gone": True}, {}, id="no such capability"),
        pytest.param(FALSE_CALL, {"call": False}, {"call": (False, 1.0, "corrected")}, id="it is so already"),
        pytest.param(
            FALSE_CALL,
            {"call": True},
            {"call": (True, 1.0, "corrected"), "needy": (True, 1.0, "specification")},
            id="what requires it follows",
        ),
        pytest.param(
            item(),
            {"call": False},
            {"call": (False, 1.0, "corrected"), "needy": (False, 0.0, "specification")},
            id="what requires it fails",
        ),
        pytest.param(
            item(call=judged(False, 0.2), needy=judged(False, 1.0, "specification")),
            {"call": True},
            {"call": (True, 1.0, "corrected")},
            id="the rule of what requires it is false",
        ),
        pytest.param(
            item(needy=judged(True, 0.6)),
            {"call": False},
            {"call": (False, 1.0, "corrected"), "needy": (False, 0.0, "inference")},
            id="what requires it was inferred",
        ),
        pytest.param(
            item(needy=judged(True, 0.6)),
            {"call": False, "needy": True},
            {"call": (False, 1.0, "corrected"), "needy": (True, 1.0, "corrected")},
            id="what requires it is corrected as well",
        ),
        pytest.param(item(), {"fact": False, "count": True}, {}, id="rules state facts"),
        pytest.param(item(), {"card": True}, {}, id="a fact excludes it"),
        pytest.param(
            item(**OPEN_AUTH), {"card": True}, {"card": (True, 1.0, "corrected")}, id="no fact excludes it"
        ),
        pytest.param(
            item(),
            {"large": True},
            {"normal": (False, 0.9, "arbitration"), "large": (True, 1.0, "corrected")},
            id="the others of its group become FALSE",
        ),
        pytest.param(
            item(),
            {"normal": False},
            {"normal": (False, 1.0, "corrected"), "large": (True, 0.7, "arbitration")},
            id="the next likely of its group becomes TRUE",
        ),
        pytest.param(
            item(large=judged(False, 0.2)),
            {"normal": False},
            {"normal": (False, 1.0, "corrected"), "small": (True, 0.3, "arbitration")},
            id="the likeliest of its group becomes TRUE",
        ),
        pytest.param(
            item(large=judged(False, 0.0, "arbitration"), small=judged(False, 0.0, "undeclared")),
            {"normal": False},
            {"normal": (False, 1.0, "corrected")},
            id="none of its group is open",
        ),
        pytest.param(item(), {"small": False}, {"small": (False, 1.0, "corrected")}, id="another stays TRUE"),
        pytest.param(
            item(),
            {"small": True, "large": True},
            {"small": (True, 1.0, "corrected"), "normal": (False, 0.9, "arbitration")},
            id="of two of one group the first",
        ),
        pytest.param(
            item(),
            {"read": False},
            {"read": (False, 1.0, "corrected"), "write": (True, 0.6, "arbitration")},
            id="another tool is likely",
        ),
        pytest.param(
            item(write=judged(False, 0.4, "tool")), {"read": False}, {"read": (False, 1.0, "corrected")}, id="none is"
        ),
    ],
)  # fmt: skip
def test_what_a_correction_changes(
    before: Classification, values: dict[str, bool], after: dict[str, tuple[bool, float, str]]
) -> None:
    assert changes(before, values) == after


def test_a_member_whose_requirement_fails_is_not_open() -> None:
    known = taxonomy(
        intent("call"),
        intent("a", "one.size"),
        declared("b", RULE, "one.size", requires="call"),
        intent("c", "one.size"),
    )
    before = Classification(
        judgements={
            "call": judged(False, 0.1),
            "a": judged(True, 0.9),
            "b": judged(False, 0.1),
            "c": judged(False, 0.05),
        },
    )
    after = corrected(before, known, {"a": False})
    assert [name for name in "abc" if after.judgements[name].value] == ["c"]
    met = corrected(before, known, {"a": False, "call": True})
    assert [name for name in "abc" if met.judgements[name].value] == ["b"]


def test_what_a_person_corrected_rests_on_no_expectation() -> None:
    stated = StatedCalls(probability=0.1, different=1, capabilities=frozenset(TAXONOMY.by_id))
    after = corrected(replace(item(), stated=stated), TAXONOMY, {"call": True}).stated
    assert after is not None
    needing = {capability.id for capability in TAXONOMY.capabilities if capability.requires == "call"}
    assert needing
    assert stated.capabilities - after.capabilities == {"call"} | needing


def test_arbitrated_members_and_groups_off_the_taxonomy_follow() -> None:
    by_arbitration = item(normal=judged(True, 0.4, "arbitration"), large=judged(False, 0.2), arbitrated=("normal",))
    assert corrected(by_arbitration, TAXONOMY, {"normal": True}).arbitrated == frozenset()
    assert corrected(by_arbitration, TAXONOMY, {"small": True}).arbitrated == frozenset()
    assert corrected(by_arbitration, TAXONOMY, {"normal": False}).arbitrated == {"small"}
    assert corrected(by_arbitration, TAXONOMY, {"call": False}).arbitrated == {"normal"}
    nowhere = item(off_taxonomy=("one.effect", "one.auth"), read=judged(False, 0.2, "tool"), **OPEN_AUTH)
    assert corrected(nowhere, TAXONOMY, {"write": True}).off_taxonomy == ("one.auth",)
    none_fits = corrected(item(), TAXONOMY, {"small": False, "normal": False, "large": False})
    assert none_fits.off_taxonomy == ("one.size",)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("call", False, None),
        ("card", False, None),
        ("card", True, "oauth is TRUE by a rule, which no correction changes, and only one of its group can be"),
        ("fact", False, "fact is TRUE by the agent's specification, which no correction changes"),
        ("count", True, "count is FALSE by what is counted in the query, which no correction changes"),
        (
            "needy",
            False,
            (
                "needy is TRUE by the agent's specification, which no correction changes; it requires call, which may "
                "be corrected"
            ),
        ),
    ],
)
def test_why_a_correction_cannot_hold(name: str, value: bool, words: str | None) -> None:
    assert obstacle(item(), TAXONOMY, name, value) == words


def said(value: bool, at: str = "2026-11-21T10:00:00Z", by: str = "cora") -> Correction:
    return Correction(value=value, by=by, at=at)


def test_what_an_entry_does_not_say_of_its_text_is_unheeded_unless_it_was_retired() -> None:
    spoken = {
        "a": said(True),
        "b": said(False),
        "gone": said(True),
    }
    known = taxonomy(intent("a"), intent("b"))
    assert unheeded(spoken, {}, known) == ("a", "b")
    assert unheeded(spoken, {"a": True, "b": True}, known) == ("b",)
    assert unheeded(spoken, {"a": True, "b": False}, known) == ()


def test_the_latest_word_holds() -> None:
    early, late = said(True, "2026-11-21T09:00:00Z"), said(False, "2026-11-21T11:00:00Z")
    assert merged(TAXONOMY, [{"t": {"call": late}}, {"t": {"call": early}, "u": {"fact": early}}]) == {
        "t": {"call": late},
        "u": {"fact": early},
    }
    by_hand, in_a_comment = said(True, by="robin"), said(False)
    assert merged(TAXONOMY, [{"t": {"call": by_hand}}, {"t": {"call": in_a_comment}}]) == {"t": {"call": in_a_comment}}


def test_of_one_group_the_latest_that_was_made_true_is() -> None:
    early, middle, late = (said(True, f"2026-11-21T{hour}:00:00Z") for hour in ("09", "10", "11"))
    denied = said(False, "2026-11-21T09:30:00Z")
    found = merged(TAXONOMY, [{"t": {"small": early, "normal": denied, "large": late, "call": middle, "gone": middle}}])
    assert found == {"t": {"normal": denied, "large": late, "call": middle, "gone": middle}}
    assert overlaid(TAXONOMY, {"small": True, "normal": False, "call": True}, {"large": True, "call": False}) == {
        "normal": False,
        "call": False,
        "large": True,
    }
    assert contradictory(TAXONOMY, {"small": True, "large": True, "call": True}) == ("small", "large")
    assert contradictory(TAXONOMY, {"small": True, "large": False}) == ()


PROBABILITIES = st.sampled_from([0.0, 0.2, 0.4, 0.5, 0.7, 1.0])
CLASSIFICATIONS = st.builds(
    lambda rules, count, probabilities: arbitrate(
        TAXONOMY,
        PathFindings(
            declared=rules,
            counted={"count": count},
            found=Finding(consensus={name: Consensus(value >= 0.5, value) for name, value in probabilities.items()}),
            called={
                name: Judgement(probabilities[name] >= 0.5, probabilities[name], "tool") for name in ("read", "write")
            },
        ),
    ),
    st.fixed_dictionaries(dict.fromkeys(("needy", "fact", "oauth", "open"), st.sampled_from([True, False, None]))),
    st.booleans(),
    st.fixed_dictionaries(dict.fromkeys(DEFAULTS, PROBABILITIES)),
)


@given(CLASSIFICATIONS, st.dictionaries(st.sampled_from(list(DEFAULTS)), st.booleans()))
def test_corrections_are_stable_and_leave_facts_alone(before: Classification, values: dict[str, bool]) -> None:
    after = corrected(before, TAXONOMY, values)
    assert corrected(after, TAXONOMY, values) == after
    assert all(values[name] == value for name, value in after.corrected.items())
    for name, found in before.judgements.items():
        if found.path in RULED and TAXONOMY.by_id[name].requires is None:
            assert after.judgements[name] == found
    for members in TAXONOMY.exactly_one.values():
        assert sum(after.judgements[member.id].value for member in members) <= 1
