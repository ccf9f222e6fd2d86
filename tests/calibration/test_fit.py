"""The fit: thin evidence moves nothing, clear evidence moves one knob to where people turn, and noise does not."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import exp, log, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.ledger.calibration.evidence import Knob, KnobEvidence
from incumbent.ledger.calibration.fit import Estimate, KnobOutcome, calibrate, present_value, with_proposals
from incumbent.taxonomy.config import Curation
from tests.agreement.factories import response
from tests.factories import make_config

PRESENT = make_config()
MINIMUM = PRESENT.calibration.minimum
GROUPS = {"a": "g", "b": "g", "c": "h"}


def evidence(at: float, met: bool, knob: Knob = Knob.COMPETENCE_BAR, weight: float = 1.0, **more: Any) -> KnobEvidence:
    item = response(**{"route": "review", "agrees": met} | more)
    return KnobEvidence(knob=knob, capability="a", at=at, met=met, weight=weight, response=item)


def turning(at: float, knob: Knob = Knob.COMPETENCE_BAR, step: float = 0.01, count: int = 20) -> list[KnobEvidence]:
    """People who find enough what reaches ``at``, and nothing below it."""
    enough = [evidence(round(at + step * place, 9), True, knob) for place in range(count)]
    return enough + [evidence(round(at - step * (place + 1), 9), False, knob) for place in range(count)]


def one(found: list[KnobEvidence], config: Curation = PRESENT) -> Estimate:
    (estimate,) = calibrate(found, config, GROUPS)
    return estimate


def test_no_floor_is_above_the_ceiling() -> None:
    found = [evidence(1e9, False, Knob.REDUNDANCY_FLOOR) for _ in range(MINIMUM)]
    likeliest = one(found, make_config(ceiling=6)).likeliest
    assert likeliest is not None
    assert likeliest <= 6


def test_no_evidence_is_no_estimate() -> None:
    assert calibrate([], PRESENT, GROUPS) == ()
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


def test_answers_far_from_every_expectation_count_however_many_they_are() -> None:
    """Where the chances of the prior are too small for numbers, the answers alone decide."""
    found = [evidence(at, at >= 30, Knob.REDUNDANCY_FLOOR) for at in (1, 10, 20, 29, 30, 31, 40) for _ in range(200)]
    estimate = one(found, make_config(ceiling=1000))
    assert (estimate.outcome, estimate.likeliest) == (KnobOutcome.PROPOSED, 30)
    assert estimate.low <= 30 <= estimate.high


def of(name: str, found: list[KnobEvidence]) -> list[KnobEvidence]:
    return [replace(item, capability=name) for item in found]


def by_name(found: list[KnobEvidence], config: Curation = PRESENT) -> dict[str, Estimate]:
    return {item.capability: item for item in calibrate(found, config, GROUPS)}


def test_answers_on_others_say_something_most_of_all_in_their_own_group() -> None:
    """On b and c there is the same single answer; a is of the group of b."""
    one_each = [*of("b", [evidence(0.75, True)]), *of("c", [evidence(0.75, True)])]
    alone, beside = by_name(one_each), by_name([*turning(0.7), *one_each])
    assert [item.outcome for item in alone.values()] == [KnobOutcome.THIN] * 2
    assert beside["a"].proposed == 0.7
    own, other = beside["b"], beside["c"]
    assert own.likeliest is not None
    assert other.likeliest is not None
    assert own.present == other.present == 0.5
    assert 0.5 <= other.likeliest < own.likeliest <= 0.7
    assert own.high - own.low < other.high - other.low < alone["c"].high - alone["c"].low
    assert own.gain > other.gain


def test_where_all_say_the_same_few_answers_on_each_are_enough() -> None:
    """Fifty answers, one or two on each of forty capabilities; ten on one would not have been reached by any."""
    groups = {f"c{number}": f"g{number % 8}" for number in range(40)}
    found = [
        replace(evidence(0.4 + place % 25 / 50, 0.4 + place % 25 / 50 >= 0.7), capability=f"c{place % 40}")
        for place in range(50)
    ]
    proposed = [item.proposed for item in calibrate(found, PRESENT, groups) if item.proposed is not None]
    assert len(proposed) >= 30
    assert all(0.65 <= value <= 0.75 for value in proposed)


@pytest.mark.parametrize(
    ("words", "own", "missing"),
    [(1, 1, MINIMUM - 1), (MINIMUM - 1, 3, 1), (MINIMUM, 0, 1), (MINIMUM + 5, 0, 1)],
)
def test_too_few_answers_are_told_as_those_that_are_missing(words: int, own: int, missing: int) -> None:
    said = [*of("a", [evidence(0.7, False)] * own), *of("b", [evidence(0.7, False)] * (words - own))]
    silent = of("a", [evidence(0.9, True, explicit=False)])
    estimate = by_name([*said, *silent])["a"]
    assert (estimate.outcome, estimate.missing, estimate.likeliest) == (KnobOutcome.THIN, missing, None)
    assert estimate.low < estimate.high


def test_of_an_unsure_value_about_as_many_are_missing_as_make_it_sure() -> None:
    said = ((0.6, False), (0.65, False), (0.55, True), (0.7, True), (0.8, True), (0.2, False))
    found = [evidence(at, met) for at, met in said] * 2
    estimate = one(found)
    assert (estimate.outcome, estimate.words) == (KnobOutcome.UNSURE, 12)
    assert estimate.missing is not None
    assert 0 < estimate.missing < 50
    sure = one(found * (1 + estimate.missing // 12 + 1))
    assert (sure.outcome, sure.missing) == (KnobOutcome.PROPOSED, None)


def test_the_number_of_those_who_agree_unasked_says_nothing_of_how_many_read() -> None:
    """Objections to one in four of what passes in silence: who else agreed aloud does not change what they mean."""
    objections = [evidence(0.52 + place / 100, False, route="direct") for place in range(10)]
    silent = [evidence(0.52 + place / 300, True, route="direct", explicit=False) for place in range(30)]
    agreed = [evidence(0.9, True, route="direct") for _ in range(30)]
    given_lapse = make_config(calibration=PRESENT.calibration.model_dump() | {"lapses": [0.2]})
    first, second = (one(found, given_lapse) for found in ([*objections, *silent], [*objections, *silent, *agreed]))
    assert first.likeliest == second.likeliest != 0.5
    assert first.gain == pytest.approx(second.gain, abs=1e-3)


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
    assert 0 <= estimate.low <= estimate.likeliest <= estimate.high <= 1
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


@given(some, some, some)
def test_what_is_pooled_by_messages_is_what_the_sum_over_everything_says(
    first: list[KnobEvidence], second: list[KnobEvidence], third: list[KnobEvidence]
) -> None:
    """On a coarse grid every combination of values of three capabilities, two groups and all is summed up."""
    settings = PLAIN.calibration
    fit = settings.knobs.competence_bar.model_copy(update={"step": 0.25, "spread": 0.1})
    settings = settings.model_copy(update={"knobs": settings.knobs.model_copy(update={"competence_bar": fit})})
    config = PLAIN.model_copy(update={"calibration": settings})
    found = {"a": first, "b": second, "c": third}
    estimates = by_name([item for name, items in found.items() for item in of(name, items)], config)
    values = [0.0, 0.25, 0.5, 0.75, 1.0]
    likely = {name: [likelihood(items, value, fit.spread) for value in values] for name, items in found.items()}
    totals = {name: [0.0] * len(values) for name in "abc"}
    for split in settings.splits:
        own, group, whole = (normal(values, fit.leeway * sqrt(part)) for part in (split.own, split.group, split.all))
        prior = whole[values.index(0.5)]
        for at in product(range(len(values)), repeat=6):
            chance = prior[at[0]] * group[at[0]][at[1]] * group[at[0]][at[2]]
            for name, place, above in zip("abc", at[3:], (at[1], at[1], at[2]), strict=True):
                chance *= own[above][place] * likely[name][place]
            for name, place in zip("abc", at[3:], strict=True):
                totals[name][place] += chance
    for name, row in totals.items():
        best = max(row)
        gain = log(best / row[values.index(0.5)])
        assert estimates[name].gain == pytest.approx(gain, abs=1e-6)
        likeliest = estimates[name].likeliest
        assert likeliest is not None
        assert row[values.index(likeliest)] == pytest.approx(best, rel=1e-6)


def likelihood(found: list[KnobEvidence], value: float, spread: float) -> float:
    """Of a bar of this ``value``, with a lapse of 0.2 and all verdicts asked about."""
    total = 1.0
    for item in found:
        above = 1 / (1 + exp(-(item.at + 0.125 - value) / spread))
        total *= (0.2 + 0.6 * (above if item.met else 1 - above)) ** item.weight
    return total


def normal(values: list[float], deviation: float) -> list[list[float]]:
    rows = [[exp(-((one - other) ** 2) / (2 * deviation**2)) for other in values] for one in values]
    return [[each / sum(row) for each in row] for row in rows]
