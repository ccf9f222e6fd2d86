"""How surprising a count is."""

from __future__ import annotations

from math import log10

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.extension.reference import lift, surprise


@pytest.mark.parametrize(
    ("observed", "size", "share", "reference"),
    [
        (3, 10, 0.1, 20),
        (8, 100, 0.0, 600),
        (25, 100, 0.01, 1200),
        (1, 1, 0.0, 1),
        (0, 5, 0.5, 10),
        (300, 600, 0.2, 900),
    ],
)
def test_it_is_the_tail_of_the_hypergeometric_distribution(
    observed: int, size: int, share: float, reference: int
) -> None:
    from scipy.stats import hypergeom

    marked = observed + round(share * reference)
    expected = -log10(hypergeom.sf(observed - 1, size + reference, marked, size))
    assert surprise(observed, size, share, reference) == pytest.approx(max(0.0, expected), abs=1e-6)


@given(st.integers(1, 200), st.integers(1, 200), st.floats(0, 1), st.integers(1, 500))
def test_more_of_it_is_no_less_surprising(observed: int, more: int, share: float, reference: int) -> None:
    size = observed + more
    assert 0 <= surprise(observed, size, share, reference) <= surprise(observed + 1, size, share, reference) + 1e-6


def test_lift_is_how_many_times_as_frequent() -> None:
    assert lift(10, 100, 0.05, 10_000) == pytest.approx(2, abs=0.01)
    assert lift(1, 10, 0.0, 9) == pytest.approx(2)
