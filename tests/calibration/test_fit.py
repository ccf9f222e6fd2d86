"""The fit: thin evidence moves nothing, clear evidence moves one knob to where people turn, and noise does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.calibration.evidence import Knob, KnobEvidence
from bot.calibration.fit import Estimate, KnobOutcome, calibrate, present_value, with_proposals
from bot.config import Curation
from tests.agreement.factories import response
from tests.factories import make_config

PRESENT = make_config()
MINIMUM = PRESENT.calibration.minimum


def evidence(at: float, met: bool, knob: Knob = Knob.COMPETENCE_BAR, weight: float = 1.0, **more: Any) -> KnobEvidence:
    item = response(**{"route": "review", "agrees": met} | more)
    return KnobEvidence(knob=knob, capability="a", at=at, met=met, weight=weight, response=item)


def turning(at: float, knob: Knob = Knob.COMPETENCE_BAR, step: float = 0.01, count: int = 20) -> list[KnobEvidence]:
    """People who find enough what reaches ``at``, and nothing below it."""
    enough = [evidence(round(at + step * place, 9), True, knob) for place in range(count)]
    return enough + [evidence(round(at - step * (place + 1), 9), False, knob) for place in range(count)]


def one(found: list[KnobEvidence], config: Curation = PRESENT) -> Estimate:
    (estimate,) = calibrate(found, config)
    return estimate


def test_no_floor_is_above_the_ceiling() -> None:
    found = [evidence(1e9, False, Knob.REDUNDANCY_FLOOR) for _ in range(MINIMUM)]
    likeliest = one(found, make_config(ceiling=6)).likeliest
    assert likeliest is not None
    assert likeliest <= 6


def test_no_evidence_is_no_estimate() -> None:
    assert calibrate([], PRESENT) == ()
    assert with_proposals(PRESENT, ()) == PRESENT


@pytest.mark.parametrize(
    ("knob", "at", "step", "proposed"),
    [
        (Knob.COMPETENCE_BAR, 0.62, 0.01, 0.62),
        (Knob.COMPETENCE_BAR, 0.35, 0.01, 0.35),
        (Knob.WINNING_MARGIN, 0.21, 0.01, 0.2),  # what leads by 0.21 wins, what leads by 0.20 does not
        (Knob.REDUNDANCY_FLOOR, 4, 1, 4),
    ],
)
def test_a_knob_moves_to_where_people_turn(knob: Knob, at: float, step: float, proposed: float) -> None:
    count = 4 if knob is Knob.REDUNDANCY_FLOOR else 20
    found = turning(at, knob, step, count) * (1 if count == 20 else 3)
    estimate = one(found)
    assert (estimate.outcome, estimate.proposed) == (KnobOutcome.PROPOSED, proposed)
    assert estimate.against == ()
    assert {item.met for item in estimate.raising} <= {False}
    assert {item.met for item in estimate.lowering} <= {True}
    assert estimate.raising or estimate.lowering
    assert (estimate.words, estimate.weight) == (len(found), len(found))
    changed = with_proposals(PRESENT, [estimate])
    assert present_value(knob, "a", changed) == proposed
    assert present_value(knob, "b", changed) == present_value(knob, "b", PRESENT)
    assert isinstance(getattr(changed.per_capability["a"], knob.value), int if knob is Knob.REDUNDANCY_FLOOR else float)


def test_too_few_words_move_nothing_and_silence_is_no_word() -> None:
    words = [evidence(0.7, False) for _ in range(MINIMUM - 1)]
    silent = [evidence(0.9, True, explicit=False) for _ in range(50)]
    estimate = one([*words, *silent])
    assert (estimate.outcome, estimate.likeliest, estimate.proposed) == (KnobOutcome.THIN, None, None)
    assert (estimate.words, estimate.silent) == (len(words), 50)
    assert len(estimate.against) == len(words)
    assert one([*words, evidence(0.7, False)]).outcome is not KnobOutcome.THIN


def test_what_is_close_or_unsure_is_not_proposed() -> None:
    assert one(turning(0.51)).outcome is KnobOutcome.CLOSE
    torn = [evidence(0.6, met) for met in (True, False) for _ in range(6)] + [evidence(0.6, False)]
    assert one(torn).outcome in (KnobOutcome.UNSURE, KnobOutcome.CLOSE)
    hesitant = make_config(calibration=PRESENT.calibration.model_copy(update={"least_gain": 1000.0}).model_dump())
    assert one(turning(0.62), hesitant).outcome is KnobOutcome.UNSURE


def test_overrides_are_counted_against_silence() -> None:
    """Twenty of twenty move the bar; twenty of two hundred that were read, spread alike, do not."""
    overrides = [evidence(0.41 + place / 250, True, route="direct") for place in range(20)]
    agreed = [evidence(0.41 + place / 2500, False, route="direct", explicit=False) for place in range(200)]
    above = [evidence(0.55 + place / 50, True, route="direct", explicit=False) for place in range(20)]
    refused = [evidence(0.6 + place / 50, False, route="direct") for place in range(3)]
    assert (one([*overrides, *above]).proposed or 1) < 0.45
    assert one([*overrides, *agreed, *above, *refused]).proposed is None


def test_a_value_that_people_set_is_what_is_compared_and_the_global_one_what_is_leaned_on() -> None:
    config = make_config(per_capability={"a": {"competence_bar": 0.9, "winning_margin": 0.2}})
    estimate = one(turning(0.62), config)
    assert (estimate.present, estimate.proposed) == (0.9, 0.62)
    changed = with_proposals(config, [estimate]).per_capability["a"]
    assert (changed.competence_bar, changed.winning_margin) == (0.62, 0.2)


scores = st.integers(0, 100).map(lambda number: number / 100)
some = st.lists(
    st.builds(evidence, scores, st.booleans(), weight=st.sampled_from([0.3, 1.0])), min_size=10, max_size=25
)
PLAIN = make_config(
    calibration=PRESENT.calibration.model_dump() | {"lapses": [0.2], "attentions": [1.0], "least_gain": 0.0}
)


@given(some)
def test_a_bar_lies_between_nothing_and_one_and_is_never_less_likely(found: list[KnobEvidence]) -> None:
    estimate = one(found)
    assert estimate.likeliest is not None
    assert 0 <= estimate.likeliest <= 1
    assert estimate.gain >= 0


@given(some, scores)
def test_one_more_answer_moves_a_bar_to_its_own_side_only(found: list[KnobEvidence], at: float) -> None:
    """With lapse and attention given; where they are found as well, another answer may change these instead."""
    before = one(found, PLAIN).likeliest
    enough = one([*found, evidence(at, True)], PLAIN).likeliest
    lacking = one([*found, evidence(at, False)], PLAIN).likeliest
    assert before is not None
    assert enough is not None
    assert lacking is not None
    assert enough <= before <= lacking


@given(some, st.randoms(use_true_random=False))
def test_order_and_people_do_not_matter(found: list[KnobEvidence], draw: Any) -> None:
    other = [replace(item, response=replace(item.response, by="zoe")) for item in found]
    draw.shuffle(other)
    here, there = one(found), one(other)
    assert (here.likeliest, here.gain, here.outcome) == (there.likeliest, there.gain, there.outcome)
