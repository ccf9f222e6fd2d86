"""Rounding many values at once is rounding each."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from bot.text.compare import DECIMALS, all_rounded, rounded

few_decimals = st.integers(0, 10**DECIMALS).map(lambda number: number / 10**DECIMALS)
near_a_tie = st.integers(0, 10**DECIMALS).map(lambda number: (number + 0.5) / 10**DECIMALS)


@given(st.lists(st.one_of(st.floats(-1, 1_000), few_decimals, near_a_tie)))
@example([0.35 + 0.05, 0.1 + 0.2, 1.0, 0.0, 0.123456789, 0.1234567885])
def test_values_are_rounded_together_as_each_alone(values: list[float]) -> None:
    assert all_rounded(values) == tuple(rounded(value) for value in values)
