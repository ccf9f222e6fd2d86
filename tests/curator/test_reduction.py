"""What an imported set is reduced to: a table of cases, and that nothing is lost."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.curator.losses import losses
from bot.curator.prune import prune
from bot.curator.reduction import dispensable
from bot.rater.model import RatedEntry
from tests.consolidator.test_against_reference import config_of, residents_of
from tests.factories import make_config, resident
from tests.oracle.strategies import Case, cases

BEST = resident("best", {"a": 0.9})
SECOND = resident("second", {"a": 0.8})
WEAK = resident("weak", {"a": 0.6})


@pytest.mark.parametrize(
    ("residents", "newcomers", "more", "gone"),
    [
        ([BEST, SECOND, WEAK], {"best", "second", "weak"}, {}, ("weak",)),
        ([BEST, SECOND, WEAK], {"second"}, {}, ("second",)),
        ([BEST, SECOND, WEAK], {"best"}, {}, ()),
        ([BEST, SECOND, WEAK], set(), {}, ()),
        ([BEST, SECOND, resident("weak", {"a": 0.6}, pin="audit")], {"best", "weak"}, {}, ()),
        ([BEST, SECOND, WEAK], {"best", "second", "weak"}, {"stale": {"weak"}}, ("second",)),
        ([BEST, SECOND, resident("pair", {"a": 0.6, "b": 0.4})], {"pair"}, {}, ("pair",)),
        ([BEST, SECOND, resident("pair", {"a": 0.6, "b": 0.6})], {"pair"}, {}, ()),
    ],
    ids=[
        "down to the floor",
        "others are not touched",
        "a champion stays",
        "no newcomer",
        "a pinned newcomer stays",
        "a stale newcomer stays",
        "a tag below the bar is no coverage",
        "the only coverer stays",
    ],
)
def test_what_the_set_can_do_without(
    residents: list[RatedEntry], newcomers: set[str], more: Mapping[str, Collection[str]], gone: tuple[str, ...]
) -> None:
    assert dispensable(residents, newcomers, make_config(redundancy_floor=2), 1, **more) == gone


def test_what_becomes_free_with_others_goes_too() -> None:
    """`first` needs `second` while `third` leaves on its account."""
    third = resident("third", {"a": 0.6, "b": 0.6})
    first = resident("first", {"a": 0.7, "b": 0.7}, displaces=("third",), admitted_at="2026-01-02T00:00:00Z")
    covering = [resident(f"{name}{place}", {name: 0.9}) for name in "ab" for place in range(2)]
    everyone = [*covering, resident("twin", {"a": 0.65, "b": 0.65}, pin="audit"), third, first]
    assert set(dispensable(everyone, {"first", "third"}, make_config(redundancy_floor=2), 1)) == {"first", "third"}


@settings(max_examples=settings().max_examples * 2)
@given(cases(most=9), st.data())
def test_nothing_is_lost_and_nothing_is_left_to_suggest(case: Case, data: st.DataObject) -> None:
    config, residents = config_of(case), residents_of(case)
    residents = [item for item in residents if not item.displaces]
    newcomers = {item.id for item in residents if data.draw(st.booleans())}
    gone = dispensable(residents, newcomers, config, 1)
    left = [item for item in residents if item.id not in gone]
    assert set(gone) <= newcomers
    assert not any(item.pin for item in residents if item.id in gone)
    lost = losses(gone, residents, config)
    # A capability that had fewer coverers than its floor has all of them still.
    assert not lost.shortages
    assert not lost.combinations
    assert not lost.best_of
    assert dispensable(left, newcomers, config, 1) == ()


@given(cases(most=9))
def test_a_whole_set_is_reduced_until_prune_suggests_nothing(case: Case) -> None:
    config, residents = config_of(case), residents_of(case)
    gone = dispensable(residents, {item.id for item in residents}, config, 1)
    left = [item for item in residents if item.id not in gone]
    assert not prune(left, config, 1).suggestions


@given(cases(most=9))
def test_a_second_import_of_what_went_finds_the_same(case: Case) -> None:
    """Imported again, the archived queries are judged against the set that is left: they go again."""
    config, residents = config_of(case), [item for item in residents_of(case) if not item.displaces]
    gone = dispensable(residents, {item.id for item in residents}, config, 1)
    assert set(dispensable(residents, set(gone), config, 1)) == set(gone)
