"""The cascade as a truth table: each row is the facts, the knobs and options that differ, and the ruling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.consolidator.verdict import Decision, Reason, Route, Ruling
from incumbent.consolidator.verdict_engine import TrustGate, decide, doubt_text
from tests.factories import PAPER, make_config, make_facts, query

SURE = {"scores": {"a": 1.0}}
NEW = {"new_capabilities": ("a",), "competent": ("a",), **SURE}
FILLS = {"fills": {"a": 1}, "competent": ("a",), **SURE}
WINS = {"wins": {"a": "r1"}, "displaced": ("r1",), **SURE}
NOVEL = {"new_combinations": (("a", "b"),)}


def ruling(decision: str, route: str, *reasons: str) -> Ruling:
    return Ruling(Decision(decision), Route(route), tuple(Reason(reason) for reason in reasons))


@pytest.mark.parametrize(
    ("facts", "config", "expected"),
    [
        # Gate 0
        ({"exercised": False, **NEW}, {}, ruling("EXCLUDE", "direct", "OFF_TAXONOMY")),
        ({"exercised": False, "max_similarity": 1.0}, {}, ruling("EXCLUDE", "direct", "OFF_TAXONOMY")),
        # Gate 1: at σ it is a clone, just below it is not
        ({"max_similarity": 0.9}, {"clone_cutoff": 0.9}, ruling("EXCLUDE", "direct", "CLONE")),
        ({"max_similarity": 0.9 - 1e-6, **NEW}, {"clone_cutoff": 0.9}, ruling("INCLUDE", "direct", "NEW_COVERAGE")),
        ({"max_similarity": 0.9 - 1e-12, **NOVEL}, {"clone_cutoff": 0.9}, ruling("EXCLUDE", "direct", "CLONE")),
        ({"max_similarity": 1.0, **NEW}, {}, ruling("INCLUDE", "review", "CLONE", "NEW_COVERAGE")),
        ({"max_similarity": 1.0, **NEW}, {"clone_rescue": False}, ruling("EXCLUDE", "direct", "CLONE")),
        ({"max_similarity": 1.0, **WINS}, {}, ruling("EXCLUDE", "direct", "CLONE")),
        ({"max_similarity": 1.0, **NOVEL}, {}, ruling("EXCLUDE", "direct", "CLONE")),
        # Gate 2
        ({}, {}, ruling("EXCLUDE", "direct", "REDUNDANT")),
        ({"competent": ("a",)}, {}, ruling("EXCLUDE", "direct", "REDUNDANT")),
        # Gate 3 comes before gates 4 and 5
        ({**NEW, **WINS, **NOVEL}, {}, ruling("INCLUDE", "direct", "NEW_COVERAGE")),
        # Gate 3b comes after gate 3 and before gate 4
        (FILLS, {}, ruling("INCLUDE", "direct", "FILLS_FLOOR")),
        ({**FILLS, **WINS, **NOVEL}, {}, ruling("INCLUDE", "direct", "FILLS_FLOOR")),
        ({**NEW, **FILLS}, {}, ruling("INCLUDE", "direct", "NEW_COVERAGE")),
        # Gate 4
        (WINS, {}, ruling("REPLACE", "direct", "DOMINATES")),
        ({**WINS, **NOVEL}, {}, ruling("REPLACE", "direct", "DOMINATES")),
        ({**WINS, "undominated": ("r1",)}, {}, ruling("KEEP-BOTH", "direct", "SPLIT_OR_FLOOR")),
        ({**WINS, "protected": ("r1",)}, {}, ruling("KEEP-BOTH", "direct", "SPLIT_OR_FLOOR")),
        ({**WINS, "short_floors": ("a",)}, {}, ruling("KEEP-BOTH", "direct", "SPLIT_OR_FLOOR")),
        (
            {**WINS, "short_floors": ("a",), "sole": ("a", "b")},
            {"concentration_cap": 1},
            ruling("KEEP-BOTH", "direct", "SPLIT_OR_FLOOR"),
        ),
        ({**WINS, "sole": ("a",)}, {"concentration_cap": 1}, ruling("REPLACE", "direct", "DOMINATES")),
        ({**WINS, "sole": ("a", "b")}, {"concentration_cap": 1}, ruling("REPLACE", "review", "CONCENTRATION")),
        ({**WINS, "sole": ("a",)}, {"concentration_cap": 0}, ruling("REPLACE", "review", "CONCENTRATION")),
        # Gate 5
        (NOVEL, {}, ruling("INCLUDE", "review", "NOVEL_COMBO")),
        # Gate 6: at the honesty floor it passes, below it goes to review
        ({**FILLS, "scores": {"a": 0.6}}, {"honesty_floor": 0.6}, ruling("INCLUDE", "direct", "FILLS_FLOOR")),
        (
            {**FILLS, "scores": {"a": 0.59}},
            {"honesty_floor": 0.6},
            ruling("INCLUDE", "review", "FILLS_FLOOR", "LOW_CONFIDENCE"),
        ),
        (
            {**FILLS, "scores": {"a": 0.6 - 1e-12}},
            {"honesty_floor": 0.6},
            ruling("INCLUDE", "direct", "FILLS_FLOOR"),
        ),
        # The weakest piece of its own gate decides: a sure one carries no doubtful one, nor does that of a later gate
        (
            {"new_capabilities": ("a", "b"), "scores": {"a": 0.9, "b": 0.59}},
            {"honesty_floor": 0.6},
            ruling("INCLUDE", "review", "NEW_COVERAGE", "LOW_CONFIDENCE"),
        ),
        (
            {**NEW, "fills": {"f": 1}, "wins": {"w": "r1"}, "scores": {"a": 0.59, "f": 0.9, "w": 0.9}},
            {"honesty_floor": 0.6},
            ruling("INCLUDE", "review", "NEW_COVERAGE", "LOW_CONFIDENCE"),
        ),
        (
            {**NEW, "fills": {"f": 1}, "wins": {"w": "r1"}, "scores": {"a": 0.6, "f": 0.1, "w": 0.1}},
            {"honesty_floor": 0.6},
            ruling("INCLUDE", "direct", "NEW_COVERAGE"),
        ),
        (
            {**FILLS, "wins": {"w": "r1"}, "scores": {"a": 0.59, "w": 0.9}},
            {"honesty_floor": 0.6},
            ruling("INCLUDE", "review", "FILLS_FLOOR", "LOW_CONFIDENCE"),
        ),
        (
            {**NEW, "scores": {"a": 0.59}},
            {"honesty_floor": 0.6, "honesty_scope": "all"},
            ruling("INCLUDE", "direct", "NEW_COVERAGE"),
        ),
        (
            {**NEW, "scores": {"a": 0.59}, "top_score": 0.59},
            {"honesty_floor": 0.6, "honesty_scope": "all"},
            ruling("INCLUDE", "review", "NEW_COVERAGE", "LOW_CONFIDENCE"),
        ),
        ({**WINS, "scores": {"a": 0.1}}, {}, ruling("REPLACE", "review", "DOMINATES", "LOW_CONFIDENCE")),
        # Invariant I5 holds for KEEP-BOTH too, where the paper's pseudocode returns early
        (
            {**WINS, "undominated": ("r1",), "scores": {"a": 0.1}},
            {},
            ruling("KEEP-BOTH", "review", "SPLIT_OR_FLOOR", "LOW_CONFIDENCE"),
        ),
        # What is on the review route already, or excluded, gets no second reason
        (NOVEL, {"honesty_floor": 1.0}, ruling("INCLUDE", "review", "NOVEL_COMBO")),
        (
            {**WINS, "sole": ("a",), "scores": {"a": 0.0}},
            {"concentration_cap": 0},
            ruling("REPLACE", "review", "CONCENTRATION"),
        ),
        ({"top_score": 0.0}, {}, ruling("EXCLUDE", "direct", "REDUNDANT")),
        # A text that the classifier cannot judge goes to people, whatever the decision
        ({**NEW, "familiar": False}, {}, ruling("INCLUDE", "review", "NEW_COVERAGE", "UNFAMILIAR")),
        (
            {**NEW, "familiar": False, "scores": {"a": 0.1}},
            {},
            ruling("INCLUDE", "review", "NEW_COVERAGE", "LOW_CONFIDENCE", "UNFAMILIAR"),
        ),
        ({**NOVEL, "familiar": False}, {}, ruling("INCLUDE", "review", "NOVEL_COMBO", "UNFAMILIAR")),
        ({"familiar": False}, {}, ruling("EXCLUDE", "review", "REDUNDANT", "UNFAMILIAR")),
        ({"familiar": False, "max_similarity": 1.0}, {}, ruling("EXCLUDE", "direct", "CLONE")),
        (
            {"familiar": False, "max_similarity": 1.0, **NEW},
            {},
            ruling("INCLUDE", "review", "CLONE", "NEW_COVERAGE", "UNFAMILIAR"),
        ),
        ({"familiar": False, "exercised": False}, {}, ruling("EXCLUDE", "review", "OFF_TAXONOMY", "UNFAMILIAR")),
    ],
)
def test_each_gate_rules_as_the_semantics_say(facts: dict[str, Any], config: dict[str, Any], expected: Ruling) -> None:
    chosen = make_config(**config)
    assert decide(make_facts(**facts), chosen.knobs, chosen.options) == expected


def test_the_worked_example_as_the_paper_tabulates_it() -> None:
    """Table 2's facts, which disagree with the paper's own definitions, still give the paper's verdict."""
    facts = make_facts(
        competent=("oauth", "has-read-tools", "single-turn"),
        new_capabilities=("structured-output",),
        max_similarity=0.42,
        most_similar="r1",
        top_score=1.0,
        scores={"structured-output": 0.45},
    )
    assert decide(facts, PAPER.knobs, PAPER.options) == ruling("INCLUDE", "direct", "NEW_COVERAGE")


names = st.lists(st.sampled_from(["a", "b", "c"]), unique=True, max_size=3).map(tuple)
shares = st.floats(0, 1)
facts_of_any_kind = st.builds(
    make_facts,
    exercised=st.booleans(),
    new_capabilities=names,
    new_combinations=st.lists(names, max_size=2).map(tuple),
    wins=st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["r1", "r2"])),
    max_similarity=shares,
    top_score=shares,
    scores=st.fixed_dictionaries({"a": shares, "b": shares, "c": shares}),
    undominated=names,
    protected=names,
    short_floors=names,
    sole=names,
)


@given(facts_of_any_kind, shares, shares, st.integers(0, 3), st.booleans(), st.sampled_from(["all", "evidence"]))
def test_honesty_never_admits_and_never_leaves_a_doubtful_direct_admission(
    facts: Any, cutoff: float, floor: float, cap: int, rescue: bool, scope: str
) -> None:
    config = make_config(
        clone_cutoff=cutoff, honesty_floor=floor, concentration_cap=cap, clone_rescue=rescue, honesty_scope=scope
    )
    verdict = decide(facts, config.knobs, config.options)
    trusting = make_config(config, honesty_floor=0.0)
    before = decide(facts, trusting.knobs, trusting.options)
    assert verdict.decision is before.decision
    if before.decision is Decision.EXCLUDE:
        assert verdict == before
    evidence = facts.new_capabilities or facts.wins
    scores = [facts.top_score] if scope == "all" else [facts.scores[name] for name in evidence]
    if verdict.decision.admits and verdict.route is Route.DIRECT:
        assert all(round(score, 9) >= round(floor, 9) for score in scores)


DIRECT = Ruling(Decision.INCLUDE, Route.DIRECT, (Reason.NEW_COVERAGE,))


def gate(**overrides: Any) -> TrustGate:
    defaults: dict[str, Any] = {
        "author_trusted": True,
        "declared": {"q": frozenset({"auth"})},
        "customers": {"q": "mine", "p": "mine", "o": "other"},
        "held": {},
        "share": 0.5,
        "ceiling": 10,
    }
    return TrustGate(**defaults | overrides)


@pytest.mark.parametrize(
    ("trusted", "facts", "reasons"),
    [
        (True, {"new_capabilities": ("tone",)}, ["NEW_COVERAGE"]),
        (False, {"new_capabilities": ("tone",)}, ["NEW_COVERAGE", "UNTRUSTED_AUTHOR"]),
        (False, {"new_capabilities": ("auth", "tone")}, ["NEW_COVERAGE"]),
        (False, {"new_capabilities": ("tone",), "wins": {"auth": "r1"}}, ["NEW_COVERAGE", "UNTRUSTED_AUTHOR"]),
        (False, {"wins": {"auth": "r1"}}, ["NEW_COVERAGE"]),
        (False, {"fills": {"auth": 1}}, ["NEW_COVERAGE"]),
        (False, {"fills": {"tone": 1}}, ["NEW_COVERAGE", "UNTRUSTED_AUTHOR"]),
        (False, {"wins": {"tone": "r1"}}, ["NEW_COVERAGE", "UNTRUSTED_AUTHOR"]),
    ],
)
def test_an_untrusted_authors_admission_needs_a_declared_tag(
    trusted: bool, facts: dict[str, Any], reasons: list[str]
) -> None:
    ruling = gate(author_trusted=trusted)(query("q", {}), make_facts(**facts), DIRECT, [])
    assert [reason.value for reason in ruling.reasons] == reasons
    assert (ruling.route is Route.REVIEW) == (len(reasons) > 1)


@pytest.mark.parametrize(
    ("held", "admitted", "updates", "reviewed"),
    [
        ({}, [], (), False),
        ({"mine": 4}, [], (), False),
        ({"mine": 5}, [], (), True),
        ({"mine": 3}, ["p", "o"], (), False),
        ({"mine": 4}, ["p"], (), True),
        ({"mine": 4}, ["p"], ("p",), False),
        ({"mine": 9}, [], ("q",), False),
        ({"other": 9}, ["o"], (), False),
    ],
)
def test_a_customer_holds_no_more_than_its_share_without_a_person(
    held: dict[str, int], admitted: list[str], updates: tuple[str, ...], reviewed: bool
) -> None:
    facts = make_facts(new_capabilities=("tone",))
    ruling = gate(held=held, updates=frozenset(updates))(query("q", {}), facts, DIRECT, admitted)
    assert (Reason.CUSTOMER_SHARE in ruling.reasons) == reviewed
    assert (ruling.route is Route.REVIEW) == reviewed


def test_what_admits_nothing_stays_as_it_is_and_what_waits_anyway_gets_the_codes() -> None:
    strict = gate(author_trusted=False, held={"mine": 99})
    excluded = ruling("EXCLUDE", "direct", "REDUNDANT")
    assert strict(query("q", {}), make_facts(), excluded, []) == excluded
    asked = ruling("INCLUDE", "review", "NOVEL_COMBO")
    for combination, codes in (
        (("a", "b"), ["UNTRUSTED_AUTHOR", "CUSTOMER_SHARE"]),
        (("a", "auth"), ["CUSTOMER_SHARE"]),
    ):
        found = strict(query("q", {}), make_facts(new_combinations=(combination,)), asked, [])
        assert found == ruling("INCLUDE", "review", "NOVEL_COMBO", *codes)


@pytest.mark.parametrize(
    ("facts", "contradicted"),
    [
        ({**NEW, "fills": {"b": 1}}, False),
        ({"fills": {"b": 1}}, True),
        ({"wins": {"a": "r1", "b": "r2"}}, True),
        ({"new_combinations": (("a", "c"), ("b", "c"))}, True),
        ({**NEW, "new_combinations": (("b", "c"),)}, False),
    ],
)
def test_an_admission_whose_evidence_rests_on_a_doubted_expectation_is_contradicted(
    facts: dict[str, Any], contradicted: bool
) -> None:
    asked = query("q", {}, doubted=frozenset("b"))
    found = doubt_text(asked, make_facts(**facts), DIRECT, [])
    assert found == (ruling("INCLUDE", "review", "NEW_COVERAGE", "CONTRADICTED") if contradicted else DIRECT)


def test_all_reasons_are_said() -> None:
    facts = make_facts(new_capabilities=("tone",))
    strict = gate(author_trusted=False, held={"mine": 99}, unseen=frozenset({"q"}), contested=frozenset({"q"}))
    ruling = strict(query("q", {}), facts, DIRECT, [])
    assert ruling.reasons == (
        Reason.NEW_COVERAGE,
        Reason.UNTRUSTED_AUTHOR,
        Reason.CUSTOMER_SHARE,
        Reason.UNSEEN,
        Reason.CONTESTED,
    )


@pytest.mark.parametrize(("unseen", "route"), [({"q"}, Route.REVIEW), ({"other"}, Route.DIRECT)])
def test_what_nobody_saw_admitted_goes_to_review(unseen: set[str], route: Route) -> None:
    ruling = gate(unseen=frozenset(unseen))(query("q", {}), make_facts(new_capabilities=("tone",)), DIRECT, [])
    assert ruling.route is route


EXCLUDED = Ruling(Decision.EXCLUDE, Route.DIRECT, (Reason.REDUNDANT,))
UNSURE = Ruling(Decision.INCLUDE, Route.REVIEW, (Reason.NOVEL_COMBO,))


@pytest.mark.parametrize(
    ("attempt", "personal", "ruling", "codes"),
    [
        (False, {}, DIRECT, "NEW_COVERAGE"),
        (True, {}, DIRECT, "NEW_COVERAGE ATTEMPT"),
        (False, {"e-mail": 1}, DIRECT, "NEW_COVERAGE PERSONAL_DATA"),
        (True, {"card": 2, "iban": 1}, DIRECT, "NEW_COVERAGE ATTEMPT PERSONAL_DATA"),
        (False, {"e-mail": 1}, EXCLUDED, "REDUNDANT"),
        (False, {"e-mail": 1}, UNSURE, "NOVEL_COMBO PERSONAL_DATA"),
    ],
)
def test_a_text_that_a_person_should_see_is_reviewed_and_nothing_else_changes(
    attempt: bool, personal: dict[str, int], ruling: Ruling, codes: str
) -> None:
    asked = replace(query("q", {}), attempt=attempt, personal=personal)
    facts = make_facts(new_capabilities=("auth",))
    for trust in (doubt_text, gate()):
        found = trust(asked, facts, ruling, [])
        assert " ".join(found.reasons) == codes
        assert found.decision is ruling.decision
        assert found.admitted == (codes == "NEW_COVERAGE")


def test_personal_data_is_named_before_who_brought_the_query() -> None:
    asked = replace(query("q", {}), attempt=True, personal={"phone": 1})
    ruling = gate(author_trusted=False, held={"mine": 9})(asked, make_facts(new_capabilities=("tone",)), DIRECT, [])
    assert " ".join(ruling.reasons) == "NEW_COVERAGE ATTEMPT PERSONAL_DATA UNTRUSTED_AUTHOR CUSTOMER_SHARE"
