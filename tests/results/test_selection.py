"""The part of the set to run: the most coverage, and the most that ever failed, for a budget."""

from __future__ import annotations

from itertools import chain, combinations
from math import fsum
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.ledger.releases.history import histories
from incumbent.ledger.releases.selection import RunnableEntry, RunPart, RunTotal, choose_part, run_prices, run_totals
from tests.results.test_history import SETTINGS, entry, releases, result


def runnable(
    id: str, capabilities: str, price: float = 1.0, *, failed: bool = False, rate: float = 0.1
) -> RunnableEntry:
    """An entry that covers ``capabilities``, a letter each, and carries their pairs."""
    return RunnableEntry(
        id=id,
        capabilities=frozenset(capabilities),
        combinations=frozenset(combinations(sorted(set(capabilities)), 2)),
        price=price,
        failed=failed,
        failure_rate=rate,
    )


def kept(part: RunPart) -> dict[str, tuple[int, int]]:
    return {item.kind: (item.kept, item.total) for item in part.goals}


@pytest.mark.parametrize(
    ("budget", "chosen"),
    [
        # The pair a-b is worth most for its price; then what failed; then the rest by expected failures.
        (0, ""),
        (1, "p"),
        (2, "pq"),
        (3, "pqr"),
        (9, "pqrs"),
    ],
)
def test_a_budget_buys_coverage_first_and_what_ever_failed(budget: float, chosen: str) -> None:
    entries = [
        runnable("p", "ab"),
        runnable("q", "a", failed=True),
        runnable("r", "b", rate=0.4),
        runnable("s", "a", rate=0.2),
    ]
    part = choose_part(entries, budget)
    assert "".join(part.ids) == chosen
    assert part.price == len(chosen)
    assert part.whole == 4


def test_one_dear_entry_is_taken_where_it_is_worth_more_than_many_cheap_ones() -> None:
    part = choose_part([runnable("cheap", "a", 0.1), runnable("dear", "abcde", 10)], 10)
    assert part.ids == ("dear",)


def test_a_budget_that_fits_exactly_is_used() -> None:
    entries = [runnable(id, id, 0.1) for id in "abc"]
    assert choose_part(entries, 0.3).ids == ("a", "b", "c")


def test_what_costs_nothing_is_always_in() -> None:
    assert choose_part([runnable("free", "a", 0), runnable("dear", "b", 5)], 0).ids == ("free",)


def test_a_change_takes_the_fewest_entries_that_touch_it() -> None:
    entries = [
        runnable("p", "ab"),
        runnable("q", "a"),
        runnable("r", "cd"),
        runnable("s", "bc", failed=True),
        runnable("t", "a", failed=True),
        runnable("u", "cd", failed=True),
    ]
    part = choose_part(entries, changed=("a",))
    assert part.ids == ("p", "t")
    assert kept(part) == {"capability": (1, 1), "combination": (1, 1), "failure": (1, 1)}
    assert choose_part(entries, 1, changed=("a",)).ids == ("p",)
    assert choose_part(entries, changed=("z",)).ids == ()


def test_an_empty_set_has_an_empty_part() -> None:
    assert choose_part([], 5) == RunPart(ids=(), price=0, whole=0, goals=choose_part([], 5).goals)


ROWS = st.tuples(
    st.text("abcd", max_size=3), st.sampled_from([0.0, 0.5, 1.0, 2.0, 5.0]), st.booleans(), st.floats(0, 1)
)
ENTRIES = st.lists(ROWS, max_size=7).map(
    lambda rows: [
        runnable(f"e{place}", text, price, failed=failed, rate=rate)
        for place, (text, price, failed, rate) in enumerate(rows)
    ]
)


def worth(entries: list[RunnableEntry], ids: tuple[str, ...]) -> float:
    whole = [goal for item in entries for goal in item.goals(None)]
    totals = {kind: len({goal for goal in whole if goal[0] == kind}) for kind, _ in whole}
    found = {goal for item in entries if item.id in ids for goal in item.goals(None)}
    return fsum(1 / totals[kind] for kind, _ in found)


@given(ENTRIES, st.sampled_from([0.0, 1.0, 2.5, 6.0]), st.randoms(use_true_random=False))
def test_a_part_fits_is_near_the_best_and_does_not_depend_on_the_order(
    entries: list[RunnableEntry], budget: float, draw: Random
) -> None:
    part = choose_part(entries, budget)
    prices = {item.id: item.price for item in entries}
    assert fsum(prices[id] for id in part.ids) <= budget
    assert part == choose_part(draw.sample(entries, len(entries)), budget)
    parts = chain.from_iterable(combinations(sorted(prices), size) for size in range(len(prices) + 1))
    best = max(worth(entries, ids) for ids in parts if fsum(prices[id] for id in ids) <= budget)
    assert worth(entries, part.ids) >= 0.316 * best


@given(ENTRIES, st.sampled_from(["a", "ab", "bd"]))
def test_without_a_budget_a_change_is_covered_in_full(entries: list[RunnableEntry], changed: str) -> None:
    for have, total in kept(choose_part(entries, changed=changed)).values():
        assert have == total


def test_an_entry_that_no_run_measured_counts_as_the_mean_of_the_others() -> None:
    entries = {id: entry(id) for id in "pqr"}
    (record,) = releases(
        {
            "p": result(entries["p"], passed=2, seconds=8.0, timed=2),
            "q": result(entries["q"], passed=1, seconds=2.0, timed=1),
        }
    )
    found = histories(entries, [record], SETTINGS)
    assert run_prices(found, "seconds") == ({"p": 4.0, "q": 2.0, "r": 3.0}, ("r",))
    assert run_prices(found, "cost") == ({}, ("p", "q", "r"))
    assert run_totals(found) == (RunTotal(measure="seconds", total=9.0, estimated=1),)
