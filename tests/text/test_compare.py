"""Rounding many values at once is rounding each."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incumbent.text.compare import DECIMALS, all_rounded, rounded, seconds, utc

few_decimals = st.integers(0, 10**DECIMALS).map(lambda number: number / 10**DECIMALS)
near_a_tie = st.integers(0, 10**DECIMALS).map(lambda number: (number + 0.5) / 10**DECIMALS)


@given(st.lists(st.one_of(st.floats(-1, 1_000), few_decimals, near_a_tie)))
@example([0.35 + 0.05, 0.1 + 0.2, 1.0, 0.0, 0.123456789, 0.1234567885])
def test_values_are_rounded_together_as_each_alone(values: list[float]) -> None:
    assert all_rounded(values) == tuple(rounded(value) for value in values)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-21T10:00:00Z", "2026-11-21T10:00:00Z"),
        ("2026-11-21T10:00:00", "2026-11-21T10:00:00Z"),
        ("2026-11-21T10:00:00+02:00", "2026-11-21T08:00:00Z"),
        ("2026-11-21T23:30:00-05:30", "2026-11-22T05:00:00Z"),
        ("2026-11-21 10:00:00.999999Z", "2026-11-21T10:00:00Z"),
        ("2026-11-21", "2026-11-21T00:00:00Z"),
        ("20261121T100000Z", "2026-11-21T10:00:00Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    ],
)
def test_moments_are_utc_to_the_second(text: str, moment: str) -> None:
    assert utc(text) == moment
    assert utc(moment) == moment


NO_MOMENTS = ["", "now", "12:30", "2026-13-01", "2026-02-30", "2026-11-21T10:00:00X", "1732183200"]
NO_MOMENTS += ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"]


@pytest.mark.parametrize("text", NO_MOMENTS)
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="an ISO 8601 time such as"):
        utc(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:10Z", 10.0),
        ("1970-01-01T00:00:10", 10.0),
        ("1970-01-01T02:00:10+02:00", 10.0),
        ("1970-01-02", 86400.0),
        ("0001-01-01T00:00:00Z", -62135596800.0),
    ],
)
def test_moments_are_seconds(text: str, expected: float) -> None:
    assert seconds(text) == expected
