"""Twice the queries take about twice the work, also where many wait for a person."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from itertools import combinations
from types import FrameType
from typing import Any

import pytest

from incumbent.consolidator.cycle import run_cycle
from incumbent.rater.model import RatedEntry, ScoredQuery
from tests.factories import make_config, query, resident

CONFIG = make_config(novelty=3)
NAMES = [f"c{number:02}" for number in range(24)]
BEATEN = 0.76


def held(score: float) -> list[RatedEntry]:
    """A champion of each capability, with this ``score``."""
    return [resident(f"of-{name}", {name: score}) for name in NAMES]


def drawn(size: int, waiting: bool) -> list[ScoredQuery]:
    """Queries that beat no champion; ``waiting``: every other is alone in combining three capabilities."""
    draw, found = random.Random(size), []
    trios = list(combinations(NAMES, 3))
    draw.shuffle(trios)
    for number in range(size):
        waits = waiting and number % 2 == 0
        names = trios[number] if waits else draw.sample(NAMES, 2 if waiting else 1)
        found.append(query(f"q{number:04}", {name: round(draw.uniform(0.5, BEATEN), 4) for name in names}))
    return found


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of Python ``work`` executes; one of a loop counts each time."""
    count = 0

    def traced(_: FrameType, event: str, __: Any) -> Any:
        nonlocal count
        count += event == "line"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.untraced
@pytest.mark.parametrize("waiting", [False, True])
def test_the_work_of_a_cycle_grows_with_the_queries_and_no_faster(waiting: bool) -> None:
    residents = held(BEATEN)
    small, large = drawn(400, waiting), drawn(1_600, waiting)
    verdicts = run_cycle(large, residents, CONFIG)
    assert not any(verdict.admitted for verdict in verdicts)  # each that enters is compared with all that are left
    if waiting:
        assert sum(verdict.asks for verdict in verdicts) >= 800
        assert sum(bool(verdict.alternate_of) for verdict in verdicts) >= 400
    assert lines_run(lambda: run_cycle(large, residents, CONFIG)) < 4.4 * lines_run(
        lambda: run_cycle(small, residents, CONFIG)
    )
