"""Which knob a response speaks of, what it says of it, and how its weight is shared."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.consolidator.verdict import Decision, Route, Ruling
from incumbent.ledger.agreement.responses import Response
from incumbent.ledger.calibration.evidence import Knob, evidence_of, judged_of
from incumbent.ledger.calibration.override_filter import Weighted
from incumbent.ledger.calibration.replay import Replayed, judged
from tests.agreement.factories import COMMIT, facts, response, shown

NEW = facts(new=("a", "b"))
WON = facts(won={"a": 0.5})


def speaking(**more: Any) -> Response:
    return response(**{"base": COMMIT, "facts": NEW} | more)


def said(item: Response, weight: float = 1.0, situation: Replayed | None = None) -> list[tuple[Any, ...]]:
    situations = {} if situation is None else {judged(situation.shown): situation}
    found = evidence_of([Weighted(item, weight)], situations)
    return [(each.knob, each.capability, each.at, each.met, each.weight) for each in found]


def short_of(**more: Any) -> Replayed:
    defaults: dict[str, Any] = {"uncovered": {}, "behind": {}}
    ruling = Ruling(Decision.EXCLUDE, Route.DIRECT, ())
    return Replayed(shown=shown(), ruling=ruling, **defaults | more)


@pytest.mark.parametrize("agrees", [True, False])
def test_new_coverage_speaks_of_bars_and_shares_its_weight(agrees: bool) -> None:
    item = speaking(agrees=agrees, reasons=("NEW_COVERAGE", "LOW_CONFIDENCE"))
    assert said(item, 0.5) == [
        (Knob.COMPETENCE_BAR, "a", 0.9, agrees, 0.25),
        (Knob.COMPETENCE_BAR, "b", 0.6, agrees, 0.25),
    ]


@pytest.mark.parametrize("agrees", [True, False])
def test_a_filled_floor_speaks_of_how_many_are_enough(agrees: bool) -> None:
    item = speaking(agrees=agrees, reasons=("FILLS_FLOOR",), facts=facts(fills={"a": 1}))
    assert said(item) == [(Knob.REDUNDANCY_FLOOR, "a", 1.0, not agrees, 1.0)]


@pytest.mark.parametrize(("decision", "reason"), [("REPLACE", "DOMINATES"), ("KEEP-BOTH", "SPLIT_OR_FLOOR")])
def test_a_win_speaks_of_margins(decision: str, reason: str) -> None:
    item = speaking(decision=decision, reasons=(reason,), facts=WON, agrees=False)
    assert said(item) == [(Knob.WINNING_MARGIN, "a", 0.4, False, 1.0)]


@pytest.mark.parametrize(
    "more",
    [
        {"reasons": ("CLONE", "NEW_COVERAGE")},
        {"reasons": ("NEW_COVERAGE", "UNTRUSTED_AUTHOR")},
        {"reasons": ("NOVEL_COMBO",)},
        {"facts": facts(new=("a",), corrected=("a",))},
        {"reasons": ("CONCENTRATION",), "decision": "REPLACE", "facts": WON},
        {"facts": None},
        {"decision": "EXCLUDE", "reasons": ("CLONE",)},
        {"decision": "EXCLUDE", "reasons": ("REDUNDANT",)},  # it could not be replayed
        {"decision": "EXCLUDE", "reasons": ("REDUNDANT",), "base": None},
        {"decision": "EVICT", "reasons": ("displaced",), "remaining": {"a": 2}},
        {"decision": "EVICT", "reasons": ("redundant",)},
        {"decision": "SWAP", "reasons": ("swap",), "facts": None, "remaining": {"a": 2}},
    ],
)
def test_what_may_be_about_something_else_is_about_no_knob(more: dict[str, Any]) -> None:
    assert said(speaking(**more)) == []


@pytest.mark.parametrize("agrees", [True, False])
def test_an_exclusion_speaks_of_what_it_fell_short_of(agrees: bool) -> None:
    item = speaking(decision="EXCLUDE", reasons=("REDUNDANT",), agrees=agrees)
    situation = short_of(uncovered={"b": 0.6}, behind={"a": 0.03})
    assert judged_of(item) == judged(situation.shown)
    assert said(item, 1.0, situation) == [
        (Knob.COMPETENCE_BAR, "b", 0.6, not agrees, 0.5),
        (Knob.WINNING_MARGIN, "a", 0.03, not agrees, 0.5),
    ]
    # What was shown once more with other scores is one verdict: that which was judged again.
    again = short_of(uncovered={"elsewhere": 0.4})
    assert said(item, 1.0, again) == [(Knob.COMPETENCE_BAR, "elsewhere", 0.4, not agrees, 1.0)]


def test_a_suggested_eviction_speaks_of_the_scarcest_capabilities() -> None:
    item = response(
        decision="EVICT", route="review", reasons=("redundant",), agrees=False, remaining={"a": 3, "b": 2, "c": 2}
    )
    assert said(item) == [
        (Knob.REDUNDANCY_FLOOR, "b", 2.0, False, 0.5),
        (Knob.REDUNDANCY_FLOOR, "c", 2.0, False, 0.5),
    ]
    assert evidence_of([Weighted(item, 1.0)], {})[0].asked


def test_silence_and_being_asked_are_told() -> None:
    (first, _) = evidence_of([Weighted(speaking(explicit=False), 1.0)], {})
    assert first.silent
    assert not first.asked


@pytest.mark.parametrize(
    ("more", "corrected", "wrong"),
    [
        ({}, {}, False),
        ({}, {"a": False}, True),
        ({}, {"a": True}, False),
        ({"facts": facts(new=("b",))}, {"a": False}, False),
        ({"facts": WON, "decision": "REPLACE"}, {"a": False}, True),
        ({}, {"c": True}, False),
        ({"decision": "EXCLUDE"}, {"c": True}, True),
        ({"decision": "EXCLUDE"}, {"c": False}, False),
        ({"facts": None}, {"a": False}, False),
    ],
)
def test_a_verdict_may_have_rested_on_a_wrong_tag(
    more: dict[str, Any], corrected: dict[str, bool], wrong: bool
) -> None:
    assert speaking(**{"corrected": corrected} | more).rests_on_wrong_tag is wrong
