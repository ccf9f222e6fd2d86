"""Gate 7: who brings a query, and how much of the set is theirs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.consolidator.trust import TrustGate, doubt_text
from bot.consolidator.verdict import Decision, Reason, Route, Ruling
from tests.factories import make_facts, query

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


@pytest.mark.parametrize(
    "ruling",
    [
        Ruling(Decision.EXCLUDE, Route.DIRECT, (Reason.REDUNDANT,)),
        Ruling(Decision.INCLUDE, Route.REVIEW, (Reason.NOVEL_COMBO,)),
    ],
)
def test_what_admits_nothing_or_waits_anyway_stays_as_it_is(ruling: Ruling) -> None:
    strict = gate(author_trusted=False, held={"mine": 99})
    assert strict(query("q", {}), make_facts(), ruling, []) == ruling


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
        (False, {"e-mail": 1}, UNSURE, "NOVEL_COMBO"),
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
