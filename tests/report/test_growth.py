"""The charts of the set over time: that Mermaid can read them, and the table on a console."""

from __future__ import annotations

import io
import re

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from bot.curator.growth import Growth, GrowthPoint
from bot.report.console import Printer
from bot.report.status import growth_charts, print_growth

CHART = re.compile(
    r"```mermaid\nxychart-beta\n"
    r'  title "(?P<title>[^"\n]+)"\n'
    r'  x-axis "Days since (?P<first>\d{4}-\d\d-\d\d)" 0 --> (?P<days>\d+)\n'
    r'  y-axis "(?P<axis>\w+)" 0 --> (?P<top>[\d.]+)\n'
    r"(?P<lines>(?:  line \[[\d.]+(?:, [\d.]+)+\]\n)+)```"
)


def make_growth(*entries: int, costs: tuple[float, ...] = (), step: int = 1, possible: int | None = 3) -> Growth:
    return Growth(
        step=step,
        capabilities=4,
        possible=possible,
        points=tuple(
            GrowthPoint(
                day=f"2026-01-{place + 1:02}",
                entries=count,
                cost=(costs or tuple(map(float, entries)))[place],
                at_floor=min(count, 4),
                pairs=None if possible is None else min(count, possible),
            )
            for place, count in enumerate(entries)
        ),
    )


def charts(growth: Growth, ceiling: int = 5) -> dict[str, re.Match[str]]:
    text = growth_charts(growth, ceiling) or ""
    return {found["title"]: found for found in CHART.finditer(text)}


def test_the_size_is_seen_first_and_the_rest_is_folded() -> None:
    assert (
        growth_charts(make_growth(1, 3, 2), 5)
        == """```mermaid
xychart-beta
  title "Entries, under the ceiling of 5"
  x-axis "Days since 2026-01-01" 0 --> 2
  y-axis "Entries" 0 --> 5
  line [1, 3, 2]
  line [5, 5, 5]
```

<details><summary>Floors and pairs over time</summary>

```mermaid
xychart-beta
  title "Capabilities at their floor, of 4"
  x-axis "Days since 2026-01-01" 0 --> 2
  y-axis "Capabilities" 0 --> 4
  line [1, 3, 2]
```

```mermaid
xychart-beta
  title "Possible pairs carried, of 3"
  x-axis "Days since 2026-01-01" 0 --> 2
  y-axis "Pairs" 0 --> 3
  line [1, 3, 2]
```

</details>"""
    )


def test_the_cost_is_a_chart_unless_each_entry_costs_1_and_so_are_pairs_where_there_are_some() -> None:
    assert list(charts(make_growth(1, 2, costs=(1.5, 4.25), possible=None))) == [
        "Entries, under the ceiling of 5",
        "Capabilities at their floor, of 4",
        "Total cost of the entries",
    ]
    assert charts(make_growth(1, 2, costs=(1.5, 4.25)))["Total cost of the entries"]["top"] == "4.25"
    assert charts(make_growth(1, 2, costs=(0, 0)))["Total cost of the entries"]["top"] == "1"


def test_there_is_no_chart_of_one_day() -> None:
    assert growth_charts(make_growth(3), 5) is None


@given(st.lists(st.integers(0, 40), min_size=2, max_size=30), st.integers(1, 20), st.integers(1, 40))
def test_mermaid_can_read_the_charts(entries: list[int], ceiling: int, step: int) -> None:
    found = charts(make_growth(*entries, step=step), ceiling)
    assert len(found) == 3
    for chart in found.values():
        lines = [line.split(", ") for line in re.findall(r"\[(.*)\]", chart["lines"])]
        assert {len(line) for line in lines} == {len(entries)}
        # Mermaid spreads the points evenly between the ends: in whole days it meets the last one.
        assert int(chart["days"]) == step * (len(entries) - 1)
        assert float(chart["top"]) >= max(float(value) for line in lines for value in line)


def test_the_table_has_a_row_for_each_day() -> None:
    stream = io.StringIO()
    out = Printer(console=Console(file=stream, force_terminal=False, width=100, color_system=None))
    print_growth(make_growth(1, 3, costs=(1, 2.5)), out)
    print_growth(make_growth(2, possible=None), out)
    rows = [line.split() for line in stream.getvalue().splitlines() if line.startswith("2026")]
    assert rows == [
        ["2026-01-01", "1", "1", "1", "of", "4", "1", "of", "3"],
        ["2026-01-02", "3", "2.5", "3", "of", "4", "3", "of", "3"],
        ["2026-01-01", "2", "2", "2", "of", "4", "–"],
    ]
