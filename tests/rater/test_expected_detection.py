"""Expected detection against the definitions, transcribed: every product and every sum is taken again in full."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.rater.expected_detection import ExpectedDetection
from incumbent.rater.profile import Capabilities, Novelty, Profile
from tests.factories import make_config

NAMES = tuple("abcde")
BAR = 0.5

Scores = Mapping[str, float]
Rated = Mapping[str, Scores]
"""Id → scores."""


class Case(NamedTuple):
    """R and other queries; ``apart`` are the capabilities that do not combine."""

    residents: Rated
    others: Rated
    apart: frozenset[str]
    novelty: Novelty
    flakiness: float

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(NAMES, make_config(competence_bar=BAR, novelty=self.novelty).under(self.apart, frozenset()))

    def profiles(self, rated: Rated) -> dict[str, Profile]:
        capabilities = self.capabilities
        return {id: capabilities.profile(id, (), scores) for id, scores in rated.items()}

    @property
    def detection(self) -> ExpectedDetection:
        return ExpectedDetection(self.profiles(self.residents).values(), self.capabilities, self.flakiness)

    @property
    def most(self) -> int:
        """t: the most members of a set."""
        return 2 if self.novelty == "signature" else self.novelty

    def sets(self, names: Iterable[str]) -> set[tuple[str, ...]]:
        """The non-empty sets of combinable capabilities among ``names``, of at most t members."""
        apart = self.apart if self.most > 1 else frozenset[str]()
        return {chosen for size in range(1, self.most + 1) for chosen in combinations(sorted({*names} - apart), size)}

    def f(self, chosen: Sequence[str], residents: Rated) -> float:
        """f(S)."""
        exercised = [prod(scores.get(name, 0.0) for name in chosen) for _, scores in sorted(residents.items())]
        return 1 - prod(1 - self.flakiness * chance for chance in exercised)

    def change(self, sets: Collection[tuple[str, ...]], after: Rated, before: Rated) -> float:
        """The sum of f ``after`` minus f ``before``."""
        return sum(self.f(chosen, after) - self.f(chosen, before) for chosen in sets)


def competent(scores: Scores) -> list[str]:
    return [name for name, score in scores.items() if score >= BAR]


def close(expected: float) -> Any:
    """Equal to 9 decimals, whichever way the last one is rounded."""
    return pytest.approx(expected, rel=0, abs=1.000001e-9)


SCORES = st.dictionaries(st.sampled_from(NAMES), st.sampled_from((0.0, 0.2, 0.5, 0.77, 0.9, 1.0)), max_size=5)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    drawn = draw(st.lists(SCORES, max_size=9))
    count = draw(st.integers(0, len(drawn)))
    ids = draw(st.permutations([f"q{number}" for number in range(len(drawn))]))
    rated = dict(zip(ids, drawn, strict=True))
    return Case(
        residents={id: rated[id] for id in ids[:count]},
        others={id: rated[id] for id in ids[count:]},
        apart=draw(st.frozensets(st.sampled_from(NAMES), max_size=2)),
        novelty=draw(st.sampled_from(("signature", 1, 2, 3))),
        flakiness=draw(st.sampled_from((0.0, 0.3, 1.0))),
    )


@given(cases())
def test_it_is_what_the_definitions_say(case: Case) -> None:
    detection, residents, others = case.detection, case.profiles(case.residents), case.profiles(case.others)
    for id, scores in case.others.items():
        after = {**case.residents, id: scores}
        for within, mask in ((competent(scores), None), (scores, others[id].signature)):
            assert detection.gain(others[id], mask) == close(case.change(case.sets(within), after, case.residents))
    for id, scores in case.residents.items():
        without = {other: case.residents[other] for other in case.residents if other != id}
        taken = case.change(case.sets(competent(scores)), case.residents, without)
        assert detection.loss(residents[id]) == close(taken)
        assert case._replace(residents=without).detection.gain(residents[id]) == close(taken)
    on_record = {**case.residents, **case.others}
    within_caps = set[tuple[str, ...]]().union(*(case.sets(competent(scores)) for scores in on_record.values()))
    for size in range(1, case.most + 1):
        shown = [case.f(chosen, case.residents) for chosen in within_caps if len(chosen) == size]
        share = detection.share(size, [*residents.values(), *others.values()])
        assert share == close(sum(shown) / len(shown) if shown else 1.0)


@given(cases(), st.data())
def test_an_exchange_is_the_sum_of_its_steps(case: Case, data: st.DataObject) -> None:
    """Each step counts the sets of the whole exchange, also those that it alone would not count."""
    entering = {id: case.others[id] for id in case.others if data.draw(st.booleans())}
    leaving = {id: case.residents[id] for id in case.residents if data.draw(st.booleans())}
    sets = set[tuple[str, ...]]().union(
        *(case.sets(competent(scores)) for scores in (*entering.values(), *leaving.values()))
    )
    now, steps = dict(case.residents), 0.0
    for id in data.draw(st.permutations([*entering, *leaving])):
        before = dict(now)
        if id in entering:
            now[id] = entering[id]
        else:
            del now[id]
        steps += case.change(sets, now, before)
    found = case.detection.exchange(case.profiles(entering).values(), case.profiles(leaving).values())
    assert found == close(steps)


@given(cases(), st.randoms())
def test_the_order_of_the_input_changes_no_bit(case: Case, random: Any) -> None:
    def shuffled(values: Iterable[Any]) -> list[Any]:
        found = list(values)
        random.shuffle(found)
        return found

    other = case._replace(
        residents={id: dict(shuffled(scores.items())) for id, scores in shuffled(case.residents.items())},
        others={id: dict(shuffled(scores.items())) for id, scores in shuffled(case.others.items())},
    )

    def figures(one: Case) -> Any:
        residents, others = one.profiles(one.residents), one.profiles(one.others)
        return (
            {id: one.detection.gain(profile) for id, profile in others.items()},
            {id: one.detection.loss(profile) for id, profile in residents.items()},
            one.detection.exchange(others.values(), residents.values()),
            one.detection.share(2, [*residents.values(), *others.values()]),
        )

    assert figures(case) == figures(other)


@pytest.mark.parametrize(
    ("twins", "score", "flakiness", "loss"),
    [
        # The only test of its faults; one of two; and tests that show the fault whenever it is there, or for certain.
        (0, 0.9, 0.3, 0.9 * 0.3),
        (1, 0.9, 0.3, 0.9 * 0.3 * (1 - 0.9 * 0.3)),
        (1, 0.9, 1.0, 0.9 * (1 - 0.9)),
        (0, 1.0, 1.0, 1.0),
        (1, 1.0, 1.0, 0.0),
    ],
)
def test_what_a_resident_takes_away(twins: int, score: float, flakiness: float, loss: float) -> None:
    case = Case({f"r{number}": {"a": score} for number in range(twins + 1)}, {}, frozenset(), 2, flakiness)
    assert {case.detection.loss(profile) for profile in case.profiles(case.residents).values()} == {round(loss, 9)}


def test_entries_with_equal_scores_take_away_the_same() -> None:
    """To the bit, wherever the order of ids puts them."""
    scores = [{"a": 0.77, "b": 0.9}, {"a": 0.1 + 0.2}, {"a": 1 / 3, "b": 0.6}] * 3
    case = Case({f"r{number}": each for number, each in enumerate(scores)}, {}, frozenset(), 2, 0.3)
    losses = [case.detection.loss(profile) for profile in case.profiles(case.residents).values()]
    assert losses == losses[:3] * 3


def test_a_set_that_everyone_shows_leaves_nothing_to_add() -> None:
    """Also where the chance that all miss it is smaller than any number."""
    case = Case({f"r{number}": {"a": 0.999} for number in range(200)}, {"q": {"a": 1.0}}, frozenset(), 1, 1.0)
    assert case.detection.gain(case.profiles(case.others)["q"]) == 0.0
    assert {case.detection.loss(profile) for profile in case.profiles(case.residents).values()} == {0.0}
    assert case.detection.share(1, case.profiles(case.residents).values()) == 1.0
