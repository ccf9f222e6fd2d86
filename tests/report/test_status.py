"""What a set holds and what could go, on a console: what asks people first, and on what view."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from incumbent.curator.entry import StaleEntry
from incumbent.curator.growth import Growth, GrowthPoint
from incumbent.curator.losses import Loss
from incumbent.curator.prune import Suggestion
from incumbent.curator.roles import EvictionKind, Grounds
from incumbent.curator.suggestions import Swap
from incumbent.rater.pair_coverage import MissingPair, PairCoverage
from incumbent.report.console import Printer
from incumbent.report.detection import Detection
from incumbent.report.output import (
    CapabilityStatus,
    PruneOutput,
    StatusOutput,
)
from incumbent.report.status import growth_charts, history_words, print_growth, print_prune, print_status, view


def capability(id: str, *coverers: str) -> CapabilityStatus:
    champion = coverers[0] if coverers else None
    score = 0.876543 if coverers else None
    return CapabilityStatus(
        id=id,
        champion=champion,
        champion_score=score,
        coverers=list(coverers),
        floor=2,
        floor_met=len(coverers) >= 2,
        on_trial=False,
    )


STATUS = StatusOutput(
    detection=Detection(single=0.5, pairs=0.25, on_record=3),
    size=3,
    ceiling=10,
    cost=4.50,
    taxonomy="1.0.0",
    capabilities=[capability("a"), capability("b", "e1", "e2"), capability("c", "e1")],
    combinations=4,
    pairs=None,
    missing_pairs=None,
    growth=None,
    unexpected_pairs=None,
    pinned={"e1": ["champion:b"]},
    quarantined=[],
    waiting=["w1"],
    evicted=[],
    stale=[StaleEntry(id="e3", capabilities=("a",), reason="classified under taxonomy 0.9.0")],
)


PAIRS = PairCoverage(
    strength=2,
    agents=6,
    possible=3,
    carried=1,
    missing=(
        MissingPair(capabilities=("a", "b"), agents=6, first_agents=("acme/\x1bdesk", "x/y"), waiting=("w1", "w2")),
        MissingPair(capabilities=("a", "c"), agents=0, first_agents=(), waiting=()),
    ),
    unexpected=(("b", "d"),),
)
WITH_PAIRS = STATUS.model_copy(
    update={"pairs": PAIRS, "missing_pairs": list(PAIRS.missing), "unexpected_pairs": list(PAIRS.unexpected)}
)


def suggestion(id: str, kind: EvictionKind, *yields_to: str, **remaining: int) -> Suggestion:
    return Suggestion(
        id=id, grounds=Grounds(kind=kind, yields_to=yields_to, content="0", taxonomy_major=1), remaining=remaining
    )


PRUNE = PruneOutput(
    pinned={},
    suggestions=[
        suggestion("e1", EvictionKind.REDUNDANT, b=4, c=2),
        suggestion("e2", EvictionKind.DISPLACED, "e9"),
    ],
    swaps=[Swap(admit="w1", remove=("e4", "e5"))],
    least_loss=[Loss(admit="w2", id="e6", capabilities=("a",), combinations=(("b", "c"),))],
    over_ceiling=0,
    refused=0,
    only_failing={},
)


def printer(stream: io.StringIO, terminal: bool) -> Printer:
    return Printer(console=Console(file=stream, force_terminal=terminal, width=100, color_system=None))


def status(terminal: bool, output: StatusOutput = STATUS, *, with_pairs: bool = False) -> str:
    stream = io.StringIO()
    print_status(output, printer(stream, terminal), with_pairs=with_pairs)
    return stream.getvalue()


def prune(terminal: bool, output: PruneOutput = PRUNE) -> str:
    stream = io.StringIO()
    print_prune(output, view(2, 3, 3), printer(stream, terminal))
    return stream.getvalue()


def test_a_terminal_shows_what_waits_then_what_is_short() -> None:
    out = status(terminal=True)
    order = [
        "Waiting for a slot",
        "w1",
        "Stale",
        "e3",
        "Short of their floor",
        "Covered (1)",
        "Covered by no entry",
    ]
    places = [out.index(words) for words in order]
    assert places == sorted(places)
    assert "0.88" in out


def test_the_total_cost_is_beside_the_size() -> None:
    for terminal in (True, False):
        assert status(terminal).splitlines()[1].startswith("total cost: 4.5; pinned: 1; ")


def test_a_pipe_gets_the_capabilities_in_the_taxonomys_order() -> None:
    lines = status(terminal=False).splitlines()
    rows = [line.split("\t") for line in lines if "\t" in line]
    assert rows[0] == ["capability", "coverers", "floor", "best", "champion"]
    assert rows[1:] == [
        ["a", "0", "short of 2", "–", "–"],
        ["b", "2", "met", "0.88", "e1"],
        ["c", "1", "short of 2", "0.88", "e1"],
    ]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (STATUS, "1.0.0: 2 of 3 capabilities covered, 4 combinations carried"),
        (WITH_PAIRS, "covered, 1 of 3 possible pairs carried"),
        (
            WITH_PAIRS.model_copy(update={"pairs": replace(PAIRS, agents=0, strength=3)}),
            "covered, 1 of 3 triples carried",
        ),
    ],
)
def test_the_first_line_says_how_many_of_the_possible_pairs_are_carried(output: StatusOutput, words: str) -> None:
    assert words in status(False, output).splitlines()[0]


def test_missing_pairs_take_the_place_of_the_capabilities() -> None:
    lines = status(False, WITH_PAIRS, with_pairs=True).splitlines()
    assert lines[-9:] == [
        "Possible by the taxonomy and the specifications of 6 agents.",
        "",
        "Missing (2)",
        "missing\tagents\tsuch as\twaiting",
        "a + b\t6\tacme/\ufffddesk\tw1, w2",
        "a + c\t0\t–\t–",
        "",
        "Carried, though counted as impossible (1)",
        "  b + d",
    ]
    assert "capability\t" not in "\n".join(lines)
    assert "a + b" in status(True, WITH_PAIRS, with_pairs=True)


def test_a_whole_signature_has_no_pairs_to_list() -> None:
    assert status(False, STATUS, with_pairs=True).endswith("a combination is a whole signature.\n")


def test_what_could_go_says_on_what_view() -> None:
    text = "The taxonomy sees 2 of its 3 capabilities in 3 entries. It does not know what else they test"
    for terminal in (False, True):
        assert text in prune(terminal).replace("\n", " ")
    assert text not in prune(False, PRUNE.model_copy(update={"suggestions": []}))


def test_suggestions_swaps_and_losses_are_a_line_each() -> None:
    lines = prune(terminal=False).splitlines()
    assert lines[0] == "2 suggestions, 1 swap, 0 pinned, 0 over the ceiling"
    assert "e1\tredundant\tb 4, c 2" in lines
    assert "e2\tdisplaced by e9\tit covers nothing competently" in lines
    assert "w1\te4, e5\t–" in lines
    assert "w2\te6\ta, b + c" in lines
    assert "c 2 and 1 more" in prune(terminal=True)


CHART = re.compile(
    r"```mermaid\nxychart-beta\n"
    r'  title "(?P<title>[^"\n]+)"\n'
    r'  x-axis "Days since (?P<first>\d{4}-\d\d-\d\d)" 0 --> (?P<days>\d+)\n'
    r'  y-axis "(?P<axis>\w+)" 0 --> (?P<top>[\d.]+)\n'
    r"(?P<lines>(?:  line \[[\d.]+(?:, [\d.]+)+\]\n)+)```"
)


def make_growth(
    *entries: int,
    costs: tuple[float, ...] = (),
    step: int = 1,
    possible: int | None = 3,
    history: Literal["whole", "shallow"] | None = "whole",
) -> Growth:
    return Growth(
        step=step,
        capabilities=4,
        possible=possible,
        history=history,
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


def test_curves_of_a_shallow_clone_say_so() -> None:
    shallow = make_growth(1, 2, history="shallow")
    assert (growth_charts(shallow, 5) or "").endswith(f"</details>\n\n{history_words(shallow)}")
    assert history_words(shallow).startswith("The clone is shallow: entries that were evicted and restored")
    assert history_words(make_growth(1, 2, history=None)).startswith("There is no history of git here: ")
    assert history_words(make_growth(1, 2)) == ""


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
    assert "git" not in stream.getvalue()
    print_growth(make_growth(2, history=None), out)
    assert "There is no history of git here" in stream.getvalue()
    rows = [line.split() for line in stream.getvalue().splitlines() if line.startswith("2026")]
    assert rows == [
        ["2026-01-01", "1", "1", "1", "of", "4", "1", "of", "3"],
        ["2026-01-02", "3", "2.5", "3", "of", "4", "3", "of", "3"],
        ["2026-01-01", "2", "2", "2", "of", "4", "–"],
        ["2026-01-01", "2", "2", "2", "of", "4", "2", "of", "3"],
    ]
