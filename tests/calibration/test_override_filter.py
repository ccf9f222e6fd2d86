"""Each clause of the rule of validated overrides, and the weight of people who stand alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.ledger.agreement.responses import Response
from incumbent.ledger.calibration.override_filter import (
    Clause,
    Drops,
    Validated,
    question_of,
    validate_responses,
    wants_change,
)
from tests.agreement.factories import day, name_of, shown
from tests.agreement.factories import response as any_response
from tests.factories import SHIPPED

SETTINGS = SHIPPED.calibration


def override(**more: Any) -> Response:
    """Ann turns an admission of Author's down, and says why."""
    return response(**{"agrees": False, "said": "too narrow", "author": "author"} | more)


def response(**more: Any) -> Response:
    return any_response(**{"author": "author"} | more)


def validate(responses: Sequence[Response], curators: Sequence[str] = ()) -> Validated:
    return validate_responses(responses, curators, SETTINGS)


def test_an_override_that_passes_every_clause_is_kept_and_weighs_one() -> None:
    found = validate([override()])
    assert [(item.response, item.weight) for item in found.kept] == [(override(), 1.0)]
    assert found.silent == ()
    assert set(found.overrides.values()) == set(found.agreements.values()) == {Drops(0, 0)}
    assert found.weights == {"ann": 1.0}


@pytest.mark.parametrize(
    ("clause", "others"),
    [
        (Clause.EXPLICIT, {"explicit": False}),
        (Clause.REASON, {"said": None}),
        (Clause.REASON, {"said": "  "}),
        (Clause.CURATOR, {"by": "zoe"}),
        (Clause.NOT_AUTHOR, {"author": "Ann"}),
        (Clause.NOT_AUTHOR, {"author": None}),
        (Clause.LASTING, {"reversed": True}),
    ],
)
def test_each_clause_drops_what_fails_it(clause: Clause, others: dict[str, Any]) -> None:
    found = validate([override(**others)], ["Ann", "bob"])
    assert found.kept == ()
    assert {name: drops for name, drops in found.overrides.items() if drops.all} == {clause: Drops(1, 1)}


def test_what_fails_several_clauses_is_dropped_by_the_first_and_counted_by_each() -> None:
    found = validate([override(said=None, author="ann", reversed=True)])
    assert {name: drops for name, drops in found.overrides.items() if drops.all} == {
        Clause.REASON: Drops(1, 1),
        Clause.NOT_AUTHOR: Drops(0, 1),
        Clause.LASTING: Drops(0, 1),
    }


def test_clauses_stand_in_the_order_in_which_they_are_asked() -> None:
    assert list(validate([]).overrides) == list(Clause)


def test_agreement_needs_no_reason_and_neither_does_an_answer_to_a_suggestion() -> None:
    refused = override(decision="EVICT", content="", subject="incumbent/evict/e1", said=None, author=None)
    found = validate([response(), refused])
    assert [item.response for item in found.kept] == [response(), refused]


def test_with_no_curators_named_whoever_decided_was_looked_up_then() -> None:
    assert len(validate([override(by="zoe")]).kept) == 1


def test_a_merge_without_a_word_is_kept_apart() -> None:
    found = validate([response(explicit=False)])
    assert found.kept == ()
    assert [item.response.explicit for item in found.silent] == [False]
    assert found.agreements[Clause.EXPLICIT] == Drops(1, 1)


@pytest.mark.parametrize(
    ("other", "contradicts"),
    [
        ({"agrees": True}, True),
        ({"agrees": True, "said": None, "subject": "s2", "decision": "KEEP-BOTH"}, True),
        ({"agrees": False, "decision": "EXCLUDE", "said": None}, True),  # it shall enter: no reason is needed for that
        ({"agrees": True, "decision": "EXCLUDE"}, False),
        ({"agrees": True, "content": name_of("q2")}, False),
        ({"agrees": True, "by": "ANN"}, False),
        ({"agrees": True, "by": "author"}, False),
        ({"agrees": True, "reversed": True}, False),
        ({"agrees": True, "explicit": False}, False),
    ],
)
def test_a_contradiction_is_another_curators_word_on_the_same_content(other: dict[str, Any], contradicts: bool) -> None:
    found = validate([override(), override(**{"by": "bob"} | other)])
    assert (found.overrides[Clause.UNCONTRADICTED].all > 0) == contradicts
    assert any(item.response == override() for item in found.kept) != contradicts


def test_silence_is_contradicted_and_contradicts_nobody() -> None:
    found = validate([override(), response(by="max", explicit=False)])
    assert [item.response for item in found.kept] == [override()]
    assert found.silent == ()


def test_suggestions_are_told_apart_by_their_branch() -> None:
    suggestion = response(decision="SWAP", subject="incumbent/swap/1", content="")
    assert question_of(suggestion) == ("suggestion", "incumbent/swap/1")
    assert wants_change(suggestion)
    assert not wants_change(replace(suggestion, agrees=False))


def quarrel(times: int) -> list[Response]:
    """Bob and Cid judge so many things alike, and Ann the opposite; then Ann judges one alone."""
    shared = [
        override(by=by, content=name_of(str(number)), subject=str(number), agrees=by != "ann")
        for number in range(times)
        for by in ("ann", "bob", "cid")
    ]
    return [*shared, override()]


def test_who_stands_alone_again_and_again_weighs_less() -> None:
    weights = [validate(quarrel(times)).weights["ann"] for times in range(8)]
    assert weights[0] == 1.0
    assert weights == sorted(set(weights), reverse=True)
    prior = SETTINGS.alone + SETTINGS.together
    assert weights[7] == pytest.approx(SETTINGS.together / (7 + prior) * prior / SETTINGS.together)


def test_who_has_somebody_beside_them_does_not_stand_alone() -> None:
    responses = [override(by=by, agrees=by in ("bob", "cid")) for by in ("ann", "bob", "cid", "dan")]
    assert validate([*responses, override(content=name_of("x"))]).weights == {"ann": 1.0}


PEOPLE = ("ann", "bob", "cid", "author")
answers = st.lists(
    st.builds(
        override,
        by=st.sampled_from(PEOPLE),
        content=st.sampled_from(["c1", "c2", "c3"]),
        agrees=st.booleans(),
        explicit=st.booleans(),
        reversed=st.booleans(),
        decision=st.sampled_from(["INCLUDE", "EXCLUDE"]),
        said=st.sampled_from([None, "why"]),
        at=st.sampled_from([day(1), day(2)]),
    ),
    max_size=12,
)


@given(answers)
def test_weights_lie_above_nothing_and_at_most_at_one(responses: list[Response]) -> None:
    found = validate(responses)
    assert all(0 < item.weight <= 1 for item in (*found.kept, *found.silent))
    assert all(item.response.explicit for item in found.kept)
    dropped = sum(drops.first for each in (found.overrides, found.agreements) for drops in each.values())
    assert len(found.kept) + dropped == len(responses)


@given(answers, st.permutations(PEOPLE))
def test_names_do_not_matter(responses: list[Response], names: Sequence[str]) -> None:
    renamed = dict(zip(PEOPLE, names, strict=True))
    seen = [shown(author=renamed["author"]) for _ in responses]
    other = [replace(item, by=renamed[item.by], seen=event) for item, event in zip(responses, seen, strict=True)]
    here, there = validate(responses), validate(other)
    assert [item.weight for item in here.kept] == [item.weight for item in there.kept]
    assert here.overrides == there.overrides


@given(answers, st.randoms(use_true_random=False))
def test_the_order_of_events_does_not_matter(responses: list[Response], draw: Any) -> None:
    shuffled = list(responses)
    draw.shuffle(shuffled)
    here, there = validate(responses), validate(shuffled)
    assert here.overrides == there.overrides
    assert here.weights == there.weights
