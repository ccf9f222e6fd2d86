"""Wilson's interval and Krippendorff's alpha, against published tables and against other people's programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from incumbent.ledger.agreement.statistics import LEVEL, alpha, wilson


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [
        # R. G. Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine 17 (1998),
        # table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (8, 10, 0.4902, 0.9433),
        # By hand: z² / (n + z²) = 3.8415 / 4.8415.
        (0, 1, 0.0, 0.7935),
        (1, 1, 0.2065, 1.0),
    ],
)
def test_the_interval_is_the_published_one(count: int, total: int, low: float, high: float) -> None:
    found = wilson(count, total)
    assert found is not None
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(st.integers(1, 5000).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_the_interval_is_scipys_and_holds_the_share(counts: tuple[int, int]) -> None:
    count, total = counts
    found = wilson(count, total)
    assert found is not None
    theirs = binomtest(count, total).proportion_ci(LEVEL, method="wilson")
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert 0 <= found.low <= count / total <= found.high <= 1
    opposite = wilson(total - count, total)
    assert opposite is not None
    assert (1 - opposite.high, 1 - opposite.low) == pytest.approx((found.low, found.high), abs=1e-12)


def test_of_nothing_there_is_no_interval() -> None:
    assert wilson(0, 0) is None


def units(*rows: str) -> list[tuple[Counter[Hashable], int]]:
    """Each row is what one person said of the units in their order; ``.`` where nothing."""
    return [(Counter(said for said in column if said != "."), 1) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize(
    ("rows", "published"),
    [
        # K. Krippendorff, Computing Krippendorff's alpha-reliability (University of Pennsylvania, 2011), A to C.
        (["0100000010", "1110010000"], 0.095),
        (["aabbdcccedda", "babbbccceddd"], 0.692),
        (["123321412...", "1233224125.3", ".3332342251.", "12332441251."], 0.743),
    ],
)
def test_alpha_is_the_published_one(rows: list[str], published: float) -> None:
    found = alpha(units(*rows))
    assert found is not None
    assert round(found, 3) == published


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["0011", "0011"], 1.0),
        (["0011", "1100"], 1 - 7 * 8 / 32),  # n = 8, all 8 ordered pairs differ, 4 of each value: 64 − 32
        (["01", "11"], 1 - 3 * 2 / 6),  # one unit of two disagrees, three of four said 1: 16 − 10
        (["0101", "...."], None),  # nobody judged what another did
        (["1111", "1111"], None),  # nothing varies
        (["1110", "111."], None),  # what varies was judged once
        ([], None),
    ],
)
def test_alpha_by_hand_and_where_there_is_none(rows: list[str], expected: float | None) -> None:
    assert alpha(units(*rows)) == expected


tables = st.integers(1, 6).flatmap(
    lambda size: st.lists(st.text("abc..", min_size=size, max_size=size), min_size=1, max_size=5)
)


@given(tables)
def test_alpha_is_that_of_the_package(rows: list[str]) -> None:
    found = alpha(units(*rows))
    counts = np.array([[column.count(value) for value in "abc"] for column in zip(*rows, strict=True)])
    pairable = counts[counts.sum(axis=1) > 1].sum(axis=0)
    if (pairable > 0).sum() < 2:
        assert found is None
    else:
        theirs = krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")
        assert found is not None
        assert found <= 1
        assert found == pytest.approx(float(theirs), abs=1e-12)


@given(tables)
def test_alpha_knows_no_names_of_values_and_no_order(rows: list[str]) -> None:
    found = units(*rows)
    renamed = [({ord(str(said)): count for said, count in unit.items()}, 1) for unit, _ in reversed(found)]
    assert alpha(renamed) == alpha(found)


@given(tables, st.integers(1, 4))
def test_many_units_of_a_kind_count_as_many_times(rows: list[str], number: int) -> None:
    found = units(*rows)
    assert alpha((unit, number) for unit, _ in found) == alpha(found * number)


def test_alpha_takes_no_longer_of_more_units() -> None:
    assert alpha([({True: 10**8, False: 10**8}, 10**8), ({True: 2}, 10**8)]) == pytest.approx(0, abs=1e-6)
