"""The chart of the set's size: what each point says, and that Mermaid can read it."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.curator.costs import CorrectedCost
from bot.curator.entry import Admitted, Entry, Evicted, Tombstone
from bot.curator.store import RegressionSet
from bot.intake.query import Setup
from bot.report.dashboard import CHART_POINTS, Growth, growth, growth_chart
from bot.text.compare import text_key
from tests.factories import make_entry

START = datetime(2026, 1, 1, 23, 59, 59, tzinfo=UTC)
CHART = re.compile(
    r"""```mermaid
xychart-beta
  title "Entries, under the ceiling of \d+"
  x-axis "Days since (?P<first>\d{4}-\d\d-\d\d)" 0 --> (?P<days>\d+)
  y-axis "Entries" 0 --> (?P<top>\d+)
  line \[(?P<sizes>\d+(?:, \d+)+)\]
  line \[(?P<ceilings>\d+(?:, \d+)+)\]
```"""
)


def moment(day: int) -> str:
    return (START + timedelta(days=day)).isoformat()


def entry(id: str, day: int) -> Entry:
    return make_entry(id, {"a": 0.9}, admitted=Admitted(at=moment(day), decision="INCLUDE", route="direct"))


def make_set(*admitted: int, left: tuple[tuple[int, int], ...] = ()) -> RegressionSet:
    """R of entries admitted on these days, and tombstones of others admitted on one day and evicted on another."""
    gone = [
        Tombstone(
            id=f"t{place}", evicted=Evicted(at=moment(out), reason="x"), restore="x", entry=entry(f"t{place}", day)
        )
        for place, (day, out) in enumerate(left)
    ]
    entries = [entry(f"e{place}", day) for place, day in enumerate(admitted)]
    return RegressionSet({item.id: item for item in entries}, {}, {item.id: item for item in gone})


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(", ")]


@pytest.mark.parametrize(
    ("known", "at", "first", "step", "counts"),
    [
        (make_set(), 0, 0, 1, (0,)),
        (make_set(0, 0), 0, 0, 1, (2,)),
        (make_set(0, 1, 1), 2, 0, 1, (1, 3, 3)),
        (make_set(0, 3), 3, 0, 1, (1, 1, 1, 2)),
        (make_set(0, left=((1, 3),)), 3, 0, 1, (1, 2, 2, 1)),
        (make_set(left=((0, 1),)), 2, 0, 1, (1, 0, 0)),
        (make_set(1, left=((0, 0),)), 1, 0, 1, (0, 1)),
        (make_set(1, left=((1, 0),)), 1, 0, 1, (0, 1)),
        (make_set(0, 5), 1, 0, 1, (1, 1, 1, 1, 1, 2)),
        (make_set(0), 29, 0, 1, (1,) * 30),
        (make_set(0), 30, 0, 2, (1,) * 16),
        (make_set(1), 30, 1, 1, (1,) * 30),
        (make_set(0), 31, -1, 2, (0, *(1,) * 16)),
        (make_set(0, 365), 365, -12, 13, (0, *(1,) * 28, 2)),
    ],
)
def test_each_point_is_the_size_at_the_end_of_its_day(
    known: RegressionSet, at: int, first: int, step: int, counts: tuple[int, ...]
) -> None:
    costs = tuple(map(float, counts))
    assert growth(known, moment(at)) == Growth((START + timedelta(days=first)).date(), step, counts, costs)


def test_the_chart_begins_no_earlier_than_the_calendar() -> None:
    known = RegressionSet({}, {}, {})
    old = make_entry("e", {}, admitted=Admitted(at="0001-01-01T00:00:00Z", decision="INCLUDE", route="direct"))
    known = RegressionSet({"e": old}, {}, {})
    assert growth(known, moment(0)).first == date.min


def test_a_moment_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="ISO 8601"):
        growth(make_set(0), "yesterday")


def test_the_cost_over_time_is_a_chart_of_its_own_unless_each_entry_costs_1() -> None:
    known = make_set(0, 1, left=((0, 2),))
    one = growth_chart(known, 5, moment(3))
    assert one is not None
    assert one.count("```mermaid") == 1
    dear = known.entries["e1"].model_copy(update={"setup": Setup(cost=2.5)})
    gone = known.tombstones["t0"]
    gone = gone.model_copy(update={"entry": gone.entry.model_copy(update={"setup": Setup(cost=4)})})
    # A curator's figure counts on every day.
    costs = {text_key(known.entries["e0"].turns): CorrectedCost(value=0.25, at=moment(2))}
    known = RegressionSet({**known.entries, "e1": dear}, {}, {"t0": gone}, costs)
    assert growth(known, moment(3)).costs == (4.25, 6.75, 2.75, 2.75)
    chart = growth_chart(known, 5, moment(3))
    assert chart is not None
    assert chart.split("\n\n") == [
        one,
        """```mermaid
xychart-beta
  title "Total cost of the entries"
  x-axis "Days since 2026-01-01" 0 --> 3
  y-axis "Cost" 0 --> 6.75
  line [4.25, 6.75, 2.75, 2.75]
```""",
    ]


def test_a_set_that_costs_nothing_has_an_axis() -> None:
    free = {id: item.model_copy(update={"setup": Setup(cost=0)}) for id, item in make_set(0, 1).entries.items()}
    assert '"Cost" 0 --> 1\n' in (growth_chart(RegressionSet(free, {}, {}), 5, moment(1)) or "")


def test_there_is_no_chart_of_one_day() -> None:
    assert growth_chart(make_set(), 5, moment(0)) is None
    assert growth_chart(make_set(3, 3), 5, moment(3)) is None


@given(
    st.lists(st.integers(0, 900), max_size=12),
    st.lists(st.tuples(st.integers(0, 900), st.integers(0, 900)), max_size=6),
    st.integers(0, 900),
    st.integers(1, 20),
)
def test_mermaid_can_read_the_chart(admitted: list[int], left: list[tuple[int, int]], at: int, ceiling: int) -> None:
    known = make_set(*admitted, left=tuple(left))
    chart = growth_chart(known, ceiling, moment(at))
    if chart is None:
        days = [*admitted, *(day for stay in left for day in stay)]
        assert not days or max(at, *days) == min(days)
        return
    found = CHART.fullmatch(chart)
    assert found is not None
    counts = numbers(found["sizes"])
    assert 2 <= len(counts) <= CHART_POINTS
    assert numbers(found["ceilings"]) == [ceiling] * len(counts)
    # Mermaid spreads the points evenly between the ends: in whole days it meets the last one.
    assert int(found["days"]) % (len(counts) - 1) == 0
    assert int(found["top"]) == max(ceiling, *counts)
    assert counts[-1] == len(known.entries)
