"""What would turn the verdict on a query that beats somebody, compared with judging again at every value there is."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.consolidator.counterfactuals import STEP, Turn
from incumbent.consolidator.explanation import explain
from incumbent.consolidator.verdict import Decision, Reason, Route, Ruling, VerdictOutcome
from incumbent.rater.model import RatedEntry, ScoredQuery
from incumbent.taxonomy.config import Curation
from tests.consolidator.test_explanation import COUNTS, explained, ruled, turned
from tests.factories import make_config, query, resident

GRID = (0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8)


def challenge(rng: random.Random) -> tuple[list[RatedEntry], ScoredQuery, Curation]:
    """Entries that are like each other, on a coarse grid so that many tie, and a query that is better than one."""
    names = "abcdef"[: rng.randint(2, 6)]
    residents: list[RatedEntry] = []
    for place in range(rng.randint(1, 7)):
        scores = {name: rng.choice(GRID) for name in names if rng.random() < 0.6} or {names[0]: rng.choice(GRID)}
        if residents and rng.random() < 0.5:
            like = rng.choice(residents).scores
            scores = {name: rng.choice(GRID) if rng.random() < 0.3 else score for name, score in like.items()}
        day = rng.randint(1, 4)
        residents.append(resident(f"e{place}", scores, admitted_at=f"2026-01-0{day}T00:00:00Z"))
    beaten = rng.choice(residents).scores
    better = {name: min(1.0, round(score + rng.choice((0, 0.05, 0.1, 0.2)), 9)) for name, score in beaten.items()}
    better |= {name: rng.choice(GRID) for name in names if rng.random() < 0.2}
    config = make_config(
        competence_bar=rng.choice((0.5, 0.6, 0.65)),
        winning_margin=rng.choice((0.0, 0.05)),
        honesty_floor=rng.choice((0.0, 0.5, 0.8)),
        redundancy_floor=rng.choice((0, 1, 1, 2)),
        concentration_cap=rng.choice((0, 1, 2)),
        novelty=rng.choice((1, 2)),
    )
    return residents, query("q", better), config


@given(st.integers(0, 2**32).map(random.Random).map(challenge))
def test_nothing_smaller_turns_it(case: tuple[list[RatedEntry], ScoredQuery, Curation]) -> None:
    residents, item, config = case
    found = explain(Turn(query=item, residents=tuple(residents)), config, item.scores)

    def turns(without: RatedEntry | None = None, other: Curation = config) -> bool:
        return ruled(item, [each for each in residents if each is not without], other).outcome is not found.outcome

    assert [absence.id for absence in found.absences] == sorted(each.id for each in residents if turns(each))
    distances = {(knob.knob, knob.capability): knob.distance for knob in found.knobs}
    everybody: list[ScoredQuery | RatedEntry] = [item, *residents]
    scores = {score for each in everybody for score in each.scores.values()}
    passed = sorted({value for score in scores for value in (score, score + 2 * STEP) if value <= 1.0})
    for knob in ("competence_bar", "redundancy_floor"):
        values = range(9) if knob in COUNTS else passed
        for name in (None, *sorted(item.scores)):
            now = getattr(config.knobs, knob) if name is None else getattr(config, knob)(name)
            enough = [abs(to - now) for to in values if turns(other=turned(config, knob, name, to))]
            assert bool(enough) == ((knob, name) in distances)
            assert not enough or abs(min(enough) - distances[knob, name]) <= 2 * STEP


def test_a_bar_that_lets_another_of_equals_be_champion_may_turn_it() -> None:
    config = make_config(competence_bar=0.5, honesty_floor=0.5, redundancy_floor=0, concentration_cap=0)
    old = resident("old", {"a": 0.6, "b": 0.7}, admitted_at="2026-01-01T00:00:00Z")
    equal = resident("equal", {"b": 0.7, "c": 0.55, "d": 0.8}, admitted_at="2026-01-02T00:00:00Z")
    found = explained(query("q", {"a": 0.9, "b": 0.6}), old, equal, config=config)
    assert (found.ruling.decision, found.outcome) == (Decision.REPLACE, VerdictOutcome.WAITS)
    bar = next(item for item in found.knobs if (item.knob, item.capability) == ("competence_bar", None))
    # Without c, the other covers no more than the one that is to yield, which is then the champion of b: it came first.
    assert (bar.to, bar.ruling.decision) == (0.55 + STEP, Decision.KEEP_BOTH)


def test_the_last_of_a_floor_and_the_last_beside_the_query_matter() -> None:
    config = make_config(competence_bar=0.5, honesty_floor=0.5, redundancy_floor=2, concentration_cap=0)
    old = resident("old", {"a": 0.6})
    found = explained(query("q", {"a": 0.9}), old, resident("other", {"a": 0.55}), config=config)
    assert (found.ruling.decision, found.outcome) == (Decision.REPLACE, VerdictOutcome.ENTERS)
    assert found.absences == ()
    lower = make_config(config, redundancy_floor=1)
    found = explained(query("q", {"a": 0.9}), old, resident("other", {"a": 0.55}), config=lower)
    # Without the one that it beats, it beats the other, and would hold the capability alone just as well.
    without = [(item.id, item.ruling.outcome) for item in found.absences]
    assert without == [("old", VerdictOutcome.WAITS), ("other", VerdictOutcome.WAITS)]


@pytest.mark.parametrize(
    ("decision", "route", "outcome"),
    [
        (Decision.INCLUDE, Route.DIRECT, VerdictOutcome.ENTERS),
        (Decision.KEEP_BOTH, Route.REVIEW, VerdictOutcome.WAITS),
        (Decision.EXCLUDE, Route.REVIEW, VerdictOutcome.WAITS),
        (Decision.EXCLUDE, Route.DIRECT, VerdictOutcome.STAYS_OUT),
    ],
)
def test_whatever_people_are_asked_about_waits(decision: Decision, route: Route, outcome: VerdictOutcome) -> None:
    assert Ruling(decision, route, (Reason.UNFAMILIAR,)).outcome is outcome
