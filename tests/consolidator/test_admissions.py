"""Admission under the ceiling, on sets that can be worked out by hand (semantics, section 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.consolidator import admissions
from incumbent.consolidator.admissions import (
    Answer,
    Derivation,
    by_expected_detection,
    derive,
    plan_admissions,
    slot_holders,
)
from incumbent.consolidator.cycle import run_cycle
from incumbent.consolidator.verdict import Reason, Route, Ruling
from incumbent.rater.model import RatedEntry, ScoredQuery
from tests.factories import make_config, query, resident
from tests.oracle.strategies import Case, cases


def test_direct_admissions_enter_in_order_until_the_ceiling() -> None:
    queries = [query(f"q{place}", {f"c{place}": 0.95 - place / 100}) for place in range(4)]
    verdicts = run_cycle(queries, [], make_config())
    plan = plan_admissions(verdicts, 3, 5)
    assert [verdict.id for verdict in plan.admitted] == ["q0", "q1"]
    assert [verdict.id for verdict in plan.waiting_for_slot] == ["q2", "q3"]


def test_a_set_above_its_ceiling_admits_nothing() -> None:
    verdicts = run_cycle([query("q", {"a": 0.9})], [], make_config())
    assert plan_admissions(verdicts, 7, 5).admitted == ()


def test_an_update_needs_no_slot() -> None:
    assert slot_holders(["new1", "own", "new2"], 1, {"own"}) == {"new1", "own"}
    assert slot_holders(["new", "own"], -2, {"own"}) == {"own"}


@given(cases(), st.integers(0, 8), st.integers(1, 8))
def test_a_plan_loses_nothing_and_never_exceeds_the_ceiling(case: Case, size: int, ceiling: int) -> None:
    queries = [ScoredQuery(id=item.id, turns=item.turns, scores=item.scores) for item in case.queries]
    verdicts = run_cycle(queries, [], make_config())
    plan = plan_admissions(verdicts, size, ceiling)
    parts = [*plan.admitted, *plan.waiting_for_slot, *plan.waiting_for_review, *plan.excluded]
    assert sorted(verdict.id for verdict in parts) == sorted(verdict.id for verdict in verdicts)
    assert not plan.admitted or size + len(plan.admitted) <= ceiling
    assert all(verdict.route is Route.REVIEW for verdict in plan.waiting_for_review)
    assert not any(verdict.decision.admits for verdict in plan.excluded)


CONFIG = make_config(novelty=2)
# The set covers a, b and c singly: a pair of them is novel, and nothing else.
RESIDENTS = [resident(f"r{name}", {name: 0.9}) for name in "abc"]


def accept(id: str, reason: str | None = None) -> Answer:
    return Answer(id=id, accepts=True, by="robin", reason=reason, insists=reason is not None)


def reject(id: str) -> Answer:
    return Answer(id=id, accepts=False, by="robin", reason="not for us")


def said(derivation: Derivation) -> dict[str, str]:
    return {
        item.id: " ".join([item.decision.value, item.route.value, *(reason.value for reason in item.reasons)])
        for item in derivation.verdicts
    }


PAIR = {"a": 0.8, "b": 0.8}
QUERIES = [query("first", PAIR), query("second", PAIR), query("plain", {"a": 0.7}), query("new", {"d": 0.9})]


def test_without_answers_it_is_the_cycle() -> None:
    assert said(derive(QUERIES, RESIDENTS, [], CONFIG)) == {
        "new": "INCLUDE direct NEW_COVERAGE",
        "first": "INCLUDE review NOVEL_COMBO",
        "second": "EXCLUDE direct REDUNDANT",
        "plain": "EXCLUDE direct REDUNDANT",
    }


def test_an_accepted_query_enters_and_its_alternate_stays_out() -> None:
    derivation = derive(QUERIES, RESIDENTS, [accept("first")], CONFIG)
    assert derivation.accepted == (accept("first"),)
    assert [item.id for item in derivation.verdicts] == ["new", "first", "second", "plain"]
    second = derivation.verdicts[2]
    assert (second.reasons, second.alternate_of) == ((Reason.REDUNDANT,), ())


def test_a_rejected_query_has_no_verdict_and_its_alternate_takes_its_place() -> None:
    derivation = derive(QUERIES, RESIDENTS, [reject("first")], CONFIG)
    assert derivation.rejected == (reject("first"),)
    assert said(derivation)["second"] == "INCLUDE review NOVEL_COMBO"
    assert "first" not in said(derivation)


def test_each_acceptance_is_derived_after_the_one_before_it() -> None:
    derivation = derive(QUERIES, RESIDENTS, [accept("first"), accept("second")], CONFIG)
    assert derivation.accepted == (accept("first"),)
    assert derivation.unheard == (accept("second"),)


def test_an_excluded_query_is_accepted_with_a_reason_only() -> None:
    assert derive(QUERIES, RESIDENTS, [accept("plain")], CONFIG).unheard == (accept("plain"),)
    derivation = derive(QUERIES, RESIDENTS, [accept("plain", "we sell it")], CONFIG)
    assert derivation.accepted == (accept("plain", "we sell it"),)


def test_a_reason_by_itself_overrides_nothing() -> None:
    mild = Answer(id="plain", accepts=True, by="robin", reason="we sell it")
    assert derive(QUERIES, RESIDENTS, [mild], CONFIG).unheard == (mild,)


def test_an_alternate_can_be_accepted_in_place_of_the_one_that_waits() -> None:
    derivation = derive(QUERIES, RESIDENTS, [accept("second")], CONFIG)
    assert derivation.accepted == (accept("second"),)
    assert said(derivation)["first"] == "EXCLUDE direct REDUNDANT"


def test_a_direct_admission_needs_no_answer() -> None:
    assert derive(QUERIES, RESIDENTS, [accept("new", "please")], CONFIG).unheard == (accept("new", "please"),)


def test_the_last_word_counts_and_words_on_nothing_are_none() -> None:
    answers = [accept("first"), reject("first"), accept("gone"), reject("gone")]
    derivation = derive(QUERIES, RESIDENTS, answers, CONFIG)
    assert (derivation.accepted, derivation.rejected, derivation.unheard) == ((), (reject("first"),), ())


def test_a_direct_admission_can_be_rejected() -> None:
    assert "new" not in said(derive(QUERIES, RESIDENTS, [reject("new")], CONFIG))


def test_who_is_accepted_is_later_than_the_set_each_later_than_the_one_before() -> None:
    brought = [query("one", {"d": 0.9}, customer="acme"), query("two", {"d": 0.97}), query("three", {"a": 0.6})]
    found = admissions.accept(brought, RESIDENTS, make_config(CONFIG, redundancy_floor=1), {"three"})
    assert [item for _, item in found] == [
        RatedEntry(id="one", turns=brought[0].turns, scores={"d": 0.9}, customer="acme", admitted_at="~000003"),
        RatedEntry(id="two", turns=brought[1].turns, scores={"d": 0.97}, admitted_at="~000004", displaces=("one",)),
        RatedEntry(id="three", turns=brought[2].turns, scores={"a": 0.6}, admitted_at="~000005"),
    ]
    assert [item.id for _, item in admissions.accept(brought, RESIDENTS, CONFIG)] == ["one", "two"]


def test_trust_holds_for_what_is_judged_and_not_for_what_a_person_accepted() -> None:
    def wary(item: Any, facts: Any, ruling: Ruling, admitted: Any) -> Ruling:
        if not ruling.decision.admits or ruling.route is Route.REVIEW:
            return ruling
        return Ruling(ruling.decision, Route.REVIEW, (*ruling.reasons, Reason.UNTRUSTED_AUTHOR))

    assert said(derive(QUERIES, RESIDENTS, [], CONFIG, wary))["new"] == ("INCLUDE review NEW_COVERAGE UNTRUSTED_AUTHOR")
    derivation = derive(QUERIES, RESIDENTS, [accept("new")], CONFIG, wary)
    assert said(derivation)["new"] == "INCLUDE direct NEW_COVERAGE"
    assert derivation.accepted == (accept("new"),)
    both = [query("one", {"d": 0.9}), query("two", {"e": 0.9})]
    assert said(derive(both, RESIDENTS, [accept("one")], CONFIG, wary)) == {
        "one": "INCLUDE direct NEW_COVERAGE",
        "two": "INCLUDE review NEW_COVERAGE UNTRUSTED_AUTHOR",
    }


scores = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0.4, 0.55, 0.7, 0.95]), min_size=1, max_size=4)


@given(
    queries=st.lists(scores, min_size=1, max_size=6),
    answers=st.lists(st.tuples(st.integers(0, 7), st.booleans(), st.sampled_from([None, "why"])), max_size=6),
)
def test_nothing_is_lost_and_nothing_is_said_twice(
    queries: list[Mapping[str, float]], answers: list[tuple[int, bool, str | None]]
) -> None:
    brought = [query(f"q{place}", item) for place, item in enumerate(queries)]
    words = [
        Answer(id=f"q{place}", accepts=yes, by="robin", reason=why, insists=why is not None)
        for place, yes, why in answers
    ]
    derivation = derive(brought, RESIDENTS, words, CONFIG)
    judged = [item.id for item in derivation.verdicts]
    rejected = [item.id for item in derivation.rejected]
    assert sorted([*judged, *rejected]) == sorted(item.id for item in brought)
    assert not {item.id for item in derivation.accepted} & set(rejected)
    assert derive(list(reversed(brought)), list(reversed(RESIDENTS)), words, CONFIG) == derivation


@pytest.mark.parametrize(
    ("waiting", "expected"),
    [
        ([query("q1", {"a": 0.6}), query("q2", {"a": 0.6, "b": 0.6})], ["q2", "q1"]),
        ([query("q1", {"a": 0.6}), query("q2", {"a": 0.8})], ["q2", "q1"]),
        # Below the bar too: the person decides whether it exercises them.
        ([query("q1", {"a": 0.6}), query("q2", {"a": 0.6, "b": 0.1})], ["q2", "q1"]),
        # The set shows most faults of k already.
        ([query("q1", {"k": 0.9}), query("q2", {"a": 0.5})], ["q2", "q1"]),
        ([query("q2", {"a": 0.6}), query("q1", {"a": 0.6})], ["q1", "q2"]),
        ([], []),
    ],
    ids=["more capabilities", "a surer one", "weak ones count", "what is shown already", "smaller id", "nobody"],
)
def test_the_order_of_questions(waiting: list[ScoredQuery], expected: list[str]) -> None:
    known = [resident(f"k{number}", {"k": 0.9}) for number in range(9)]
    config = make_config()
    assert list(by_expected_detection(waiting, known, config)) == expected
    assert list(by_expected_detection(waiting[::-1], known[::-1], config)) == expected
