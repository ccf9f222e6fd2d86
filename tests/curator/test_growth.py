"""R over time: what each point says, and that it says what a set of that day would."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.curator.entry import Admitted, CorrectedCost, Entry, Evicted, Tombstone
from incumbent.curator.growth import POINTS, Growth, growth
from incumbent.curator.roles import derive_roles
from incumbent.curator.store import RegressionSet, entry_path
from incumbent.files.git.file_history import Change, FileCommit, FileHistory
from incumbent.intake.query import Setup
from incumbent.rater.pair_coverage import pair_coverage
from incumbent.text.compare import text_key
from tests.factories import make_config, make_entry, make_taxonomy

START = datetime(2026, 1, 1, 23, 59, 59, tzinfo=UTC)
TAXONOMY = make_taxonomy("a", "b", "c")
CONFIG = make_config(redundancy_floor=2)


def moment(day: int) -> str:
    return (START + timedelta(days=day)).isoformat()


def entry(id: str, day: int, scores: dict[str, float] | None = None) -> Entry:
    admitted = Admitted(at=moment(day), decision="INCLUDE", route="direct")
    return make_entry(id, {"a": 0.9} if scores is None else scores, admitted=admitted)


def buried(item: Entry, day: int | None) -> Tombstone:
    evicted = Evicted(at=None if day is None else moment(day), reason="x")
    return Tombstone(id=item.id, evicted=evicted, restore="x", entry=item)


def make_set(*admitted: int, left: tuple[tuple[int, int | None], ...] = ()) -> RegressionSet:
    """R of entries admitted on these days, and tombstones of others admitted on one day and evicted on another."""
    gone = [buried(entry(f"t{place}", day), out) for place, (day, out) in enumerate(left)]
    entries = [entry(f"e{place}", day) for place, day in enumerate(admitted)]
    return RegressionSet({item.id: item for item in entries}, {}, {item.id: item for item in gone})


def grown(known: RegressionSet, at: int | None = None, **more: Any) -> Growth:
    return growth(known, TAXONOMY, CONFIG, at=None if at is None else moment(at), **more)


@pytest.mark.parametrize(
    ("known", "at", "first", "step", "counts"),
    [
        (make_set(), 0, 0, 1, (0,)),
        (make_set(0, 0), 0, 0, 1, (2,)),
        (make_set(0, 0), None, 0, 1, (2,)),
        (make_set(0, 1, 1), 2, 0, 1, (1, 3, 3)),
        (make_set(0, 1, 1), None, 0, 1, (1, 3)),
        (make_set(0, 3), 3, 0, 1, (1, 1, 1, 2)),
        (make_set(0, left=((1, 3),)), 3, 0, 1, (1, 2, 2, 1)),
        (make_set(0, left=((1, 3),)), None, 0, 1, (1, 2, 2, 1)),
        (make_set(left=((0, 1),)), 2, 0, 1, (1, 0, 0)),
        (make_set(1, left=((0, 0),)), 1, 0, 1, (0, 1)),
        (make_set(1, left=((1, 0),)), 1, 0, 1, (0, 1)),
        (make_set(0, left=((0, None),)), 1, 0, 1, (2, 1)),
        (make_set(0, 5), 1, 0, 1, (1, 1, 1, 1, 1, 2)),
        (make_set(0), 29, 0, 1, (1,) * 30),
        (make_set(0), 30, 0, 2, (1,) * 16),
        (make_set(1), 30, 1, 1, (1,) * 30),
        (make_set(0), 31, -1, 2, (0, *(1,) * 16)),
        (make_set(0, 365), 365, -12, 13, (0, *(1,) * 28, 2)),
    ],
)
def test_each_point_is_the_size_at_the_end_of_its_day(
    known: RegressionSet, at: int | None, first: int, step: int, counts: tuple[int, ...]
) -> None:
    found = grown(known, at)
    assert found.step == step
    assert [point.entries for point in found.points] == list(counts)
    assert [point.cost for point in found.points] == list(map(float, counts))
    days = [(START + timedelta(days=first + step * place)).date().isoformat() for place in range(len(counts))]
    assert [point.day for point in found.points] == days


def test_it_begins_no_earlier_than_the_calendar() -> None:
    old = make_entry("e", {}, admitted=Admitted(at="0001-01-01T00:00:00Z", decision="INCLUDE", route="direct"))
    assert grown(RegressionSet({"e": old}, {}, {}), 0).points[0].day == date.min.isoformat()
    assert [point.day for point in grown(RegressionSet({}, {}, {})).points] == [date.min.isoformat()]


def test_a_moment_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="ISO 8601"):
        growth(make_set(0), TAXONOMY, CONFIG, at="yesterday")


def test_each_entry_costs_what_it_costs_now() -> None:
    known = make_set(0, 1, left=((0, 2),))
    dear = known.entries["e1"].model_copy(update={"setup": Setup(cost=2.5)})
    gone = known.tombstones["t0"]
    gone = gone.model_copy(update={"entry": gone.entry.model_copy(update={"setup": Setup(cost=4)})})
    # A curator's figure counts on every day.
    costs = {text_key(known.entries["e0"].turns): CorrectedCost(value=0.25, at=moment(2))}
    known = RegressionSet({**known.entries, "e1": dear}, {}, {"t0": gone}, costs)
    assert [point.cost for point in grown(known, 3).points] == [4.25, 6.75, 2.75, 2.75]


def test_agents_decide_which_pairs_are_possible() -> None:
    known = RegressionSet({"e": entry("e", 0, {"a": 0.9, "b": 0.9})}, {}, {})
    assert (grown(known).possible, grown(known).points[-1].pairs) == (3, 1)
    found = grown(known, agents={"acme/desk": ["a"]})
    assert (found.possible, found.points[-1].pairs) == (1, 0)
    whole = growth(known, TAXONOMY, make_config(novelty="signature"))
    assert (whole.possible, whole.points[-1].pairs) == (None, None)


def test_capabilities_on_trial_do_not_count() -> None:
    known = RegressionSet({"e": entry("e", 0, {"a": 0.9, "b": 0.9})}, {}, {})
    config = make_config(redundancy_floor=1).under(trial=frozenset({"a"}))
    found = growth(known, TAXONOMY, config)
    assert (found.capabilities, found.points[-1].at_floor) == (2, 1)


def history(changes: dict[str, str], *, is_whole: bool = True) -> FileHistory:
    """Of each entry the changes of its file, oldest first: ``A0 D2`` was added on day 0 and deleted on day 2."""
    found = {}
    for id, words in changes.items():
        commits = [
            FileCommit(change=cast(Change, word[0]), commit="c", at=moment(int(word[1:])), author="x", subject="x")
            for word in words.split()
        ]
        found[entry_path(id)] = tuple(reversed(commits))
    return FileHistory(changes=found, is_whole=is_whole)


@pytest.mark.parametrize(
    ("known", "changes", "counts"),
    [
        (make_set(0, 4), "A0 D1 A3", (1, 0, 0, 1, 2)),
        (make_set(0, 4), "A0 D1 A3 M3 D3 A4", (1, 0, 0, 0, 2)),
        (make_set(0, 4), "A0 M1 D2 A2", (1, 1, 1, 1, 2)),
        # Not committed yet: it was gone until now.
        (make_set(0, 4), "A0 D2", (1, 1, 0, 0, 2)),
        (make_set(0), "A0 D2", (1, 1, 1)),
        # The last change of all was that it came back.
        (make_set(0), "A0 D1 A2", (1, 0, 1)),
        # In a shallow clone its beginning is missing.
        (make_set(0, 4), "D1 A3", (1, 0, 0, 1, 2)),
        (make_set(0, 4), "A3", (1, 1, 1, 1, 2)),
        # It was there before, and admitted anew.
        (make_set(2, 4), "A0 D1 A2", (1, 1, 2)),
        (make_set(2, 4), "A0 D1 A3", (0, 1, 2)),
        # Clocks that run backwards.
        (make_set(0, 4), "A0 D3 A1", (1, 1, 1, 1, 2)),
        (make_set(0, 4), "A0 D2 A3 D1 A2", (1, 1, 0, 1, 2)),
    ],
)
def test_an_entry_that_came_back_does_not_count_while_it_was_gone(
    known: RegressionSet, changes: str, counts: tuple[int, ...]
) -> None:
    found = grown(known, history=history({"e0": changes}))
    assert [point.entries for point in found.points] == list(counts)


@pytest.mark.parametrize(
    ("left", "changes", "counts"),
    [
        ((0, 4), "A0 D1 A3 D4", (1, 0, 0, 1, 0)),
        ((0, None), "A0 D1 A3 D4", (1, 0, 0, 1, 0)),
        ((0, 2), "A0 D1 A3 D4", (1, 0, 0, 0, 0)),
        ((0, 1), "A0 D2 A4", (1, 0, 0, 0, 0)),
        ((0, 2), "A0 D2", (1, 1, 0)),
    ],
)
def test_an_entry_that_left_again_is_gone_from_its_tombstone_on(
    left: tuple[int, int | None], changes: str, counts: tuple[int, ...]
) -> None:
    found = grown(make_set(left=(left,)), history=history({"t0": changes}))
    assert [point.entries for point in found.points] == list(counts)


def test_it_says_which_history_it_rests_on() -> None:
    assert grown(make_set(0)).history is None
    assert grown(make_set(0), history=history({})).history == "whole"
    assert grown(make_set(0), history=history({}, is_whole=False)).history == "shallow"


@given(st.lists(st.integers(0, 12), max_size=8), st.integers(0, 12), st.none() | st.integers(0, 14))
def test_gaps_only_take_entries_out_and_never_count_one_twice(days: list[int], came: int, out: int | None) -> None:
    changes = " ".join(f"{'AD'[place % 2]}{day}" for place, day in enumerate(days))
    known = make_set(came) if out is None else make_set(left=((came, out),))
    told = history({"e0": changes, "t0": changes})
    without = {point.day: point.entries for point in grown(known, 14).points}
    points = grown(known, 14, history=told).points
    assert all(0 <= point.entries <= without.get(point.day, 0) for point in points)
    assert points[-1].entries == len(known.entries)
    for point in points:
        day = (datetime.fromisoformat(point.day).date() - START.date()).days
        before = [place for place, day_of in enumerate(days) if day_of <= day]
        if days == sorted(days) and day >= came and (out is None or day < out) and before:
            # Where the clock runs forward, the last change by then decides, unless nothing more is known of it.
            is_gone = before[-1] % 2 == 1 and (before[-1] + 1 < len(days) or (out is None and day < 14))
            assert point.entries == (0 if is_gone else 1)


SCORES = st.dictionaries(st.sampled_from("abc"), st.sampled_from([0.5, 0.9]), max_size=3)
STAYS = st.lists(st.tuples(st.integers(0, 40), st.none() | st.integers(0, 40), SCORES), max_size=12)


@given(STAYS, st.none() | st.integers(0, 60))
def test_each_point_is_what_a_set_of_that_day_would_say(
    stays: list[tuple[int, int | None, dict[str, float]]], at: int | None
) -> None:
    entries = {f"e{place}": entry(f"e{place}", came, scores) for place, (came, _, scores) in enumerate(stays)}
    gone = {f"e{place}": out for place, (_, out, _) in enumerate(stays) if out is not None}
    known = RegressionSet(
        {id: item for id, item in entries.items() if id not in gone},
        {},
        {id: buried(entries[id], day) for id, day in gone.items()},
    )
    found = grown(known, at)
    assert 1 <= len(found.points) <= POINTS
    for point in found.points:
        day = (datetime.fromisoformat(point.day).date() - START.date()).days
        there = [id for id, (came, _, _) in zip(entries, stays, strict=True) if came <= day < gone.get(id, day + 1)]
        residents, _ = RegressionSet({id: entries[id] for id in there}, {}, {}).residents(TAXONOMY)
        roles, pairs = derive_roles(residents, CONFIG), pair_coverage(residents, (), TAXONOMY, CONFIG)
        assert point.entries == len(there)
        assert point.at_floor == sum(len(roles.coverers.get(name, ())) >= 2 for name in "abc")
        assert pairs is not None
        assert (point.pairs, found.possible) == (pairs.carried, pairs.possible)
    assert found.points[-1].entries == len(known.entries)
