"""What is carried, as rests and ends, against plain sets of masks on thousands of random cases."""

from __future__ import annotations

import random

import pytest
from hypothesis import settings

from incumbent.curator.roles import derive_roles
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import Similarity
from incumbent.rater.profile import (
    Capabilities,
    CarriedCombinations,
    Novelty,
    Profile,
    ages,
    counted,
    spelled_out,
    weights,
)
from tests.factories import make_config, query, resident

CASES = settings().max_examples * 10
NAMES = [f"c{number}" for number in range(7)]


def drawn(draw: random.Random, capabilities: Capabilities) -> Profile:
    held = draw.sample(NAMES, draw.randint(0, len(NAMES)))
    return capabilities.profile("x", (), {name: draw.choice((0.2, 0.5, 0.9)) for name in held})


@pytest.mark.untraced
@pytest.mark.parametrize("novelty", ["signature", 1, 2, 3])
def test_it_is_what_sets_of_all_combinations_say(novelty: Novelty) -> None:
    draw = random.Random(7)
    for _ in range(CASES):
        uncombinable = frozenset(draw.sample(NAMES, draw.randint(0, 2)))
        capabilities = Capabilities(NAMES, make_config(novelty=novelty).under(uncombinable))
        carried, plain = CarriedCombinations(novelty), set[int]()
        for _ in range(draw.randint(0, 6)):
            asked, member, first = (drawn(draw, capabilities) for _ in range(3))
            missing = asked.combinations - plain
            lacking = carried.lacking(asked.combined)
            assert (spelled_out(lacking), counted(lacking)) == (missing, len(missing))
            carried.add(member.combined)
            plain |= capabilities.carried(member)
            before = carried.lacking(first.combined)
            grown = carried.copy()
            grown.add(first.combined)
            assert carried.lacking(first.combined) == before
            assert grown.lacking(first.combined) == []


OLD, NEW = "2026-01-01T00:00:00Z", "2026-01-11T00:00:00Z"
COMING = "~000001"


@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        ([], []),
        ([OLD], [0.0]),
        ([OLD, NEW], [10.0, 0.0]),
        (["2026-01-01T12:00:00Z", "2026-01-01T18:00:00+00:00", "2026-01-02"], [0.5, 0.25, 0.0]),
        ([OLD, NEW, COMING], [10.0, 0.0, 0.0]),
        ([COMING], [0.0]),
    ],
)
def test_the_age_is_that_at_the_newest_admission(moments: list[str], expected: list[float]) -> None:
    assert ages([resident(f"r{place}", {}, admitted_at=moment) for place, moment in enumerate(moments)]) == expected


def test_a_score_halves_in_each_half_life() -> None:
    residents = [resident("old", {}, admitted_at=OLD), resident("new", {}, admitted_at=NEW)]
    assert list(weights(residents, 10.0)) == [0.5, 1.0]
    assert list(weights(residents, 5.0)) == [0.25, 1.0]
    assert list(weights(residents, None)) == [1.0, 1.0]


def champions(config_recency: float | None, by_rule: frozenset[str] = frozenset()) -> dict[str, str]:
    old = resident("old", {"a": 0.9, "b": 0.9}, admitted_at=OLD, by_rule=by_rule)
    new = resident("new", {"a": 0.8, "c": 0.9}, admitted_at=NEW)
    config = make_config(recency=config_recency, rule_values="scored")
    return dict(derive_roles([old, new], config).champions)


def test_an_old_champion_yields_to_a_newer_entry_by_inferred_scores_alone() -> None:
    assert champions(None) == {"a": "old", "b": "old", "c": "new"}
    assert champions(10.0) == {"a": "new", "b": "old", "c": "new"}
    assert champions(10.0, frozenset("a")) == champions(None)
    assert champions(1000.0) == champions(None)


def test_a_faded_champion_still_covers_and_is_pinned_by_its_whole_score() -> None:
    old = resident("old", {"a": 0.8}, admitted_at=OLD)
    new = resident("new", {"c": 0.9}, admitted_at=NEW)
    roles = derive_roles([old, new], make_config(recency=10.0, competence_bar=0.75))
    assert roles.coverers["a"] == ("old",)
    assert roles.pinned["old"] == ("champion:a",)


def test_a_win_is_over_what_the_champion_counts_and_the_facts_say_both() -> None:
    residents = [
        resident("old", {"a": 0.8}, admitted_at=OLD),
        resident("new", {"c": 0.9}, admitted_at=NEW),
    ]
    newcomer = query("q", {"a": 0.6, "c": 0.96})
    for recency, wins, counts, faded in (
        (None, {"c": "new"}, {"c": 0.9}, {}),
        (10.0, {"a": "old", "c": "new"}, {"a": 0.4, "c": 0.9}, {"a": 0.8}),
    ):
        live = LiveSet(residents, [newcomer], make_config(recency=recency))
        facts = live.facts(newcomer, live.profile(newcomer), Similarity(0.0, None))
        assert (facts.wins, facts.champion_scores, facts.faded) == (wins, counts, faded)
        assert facts.scores == newcomer.scores
