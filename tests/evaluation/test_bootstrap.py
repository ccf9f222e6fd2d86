"""The bootstrap: seeded, paired, over queries."""

from __future__ import annotations

import numpy as np
import pytest

from bot.evaluation import measures as bootstrap
from bot.evaluation.measures import Sampling, interval, macro, phis, weights
from tests.evaluation.factories import cells

SAMPLING = Sampling(400, 7)


def test_each_resample_has_as_many_queries_and_equal_seeds_give_equal_draws() -> None:
    drawn = np.concatenate(list(weights(13, SAMPLING)))
    assert drawn.shape == (400, 13)
    assert (drawn.sum(axis=1) == 13).all()
    assert (drawn == np.concatenate(list(weights(13, SAMPLING)))).all()
    assert (drawn != np.concatenate(list(weights(13, Sampling(400, 8))))).any()
    assert drawn.mean() == 1.0
    # Each query is left out of about 1/e of the resamples.
    assert (drawn == 0).mean() == pytest.approx((12 / 13) ** 13, abs=0.03)


def test_many_queries_are_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_BLOCK", 100)
    blocks = list(weights(30, Sampling(10, 1)))
    assert [len(block) for block in blocks] == [3, 3, 3, 1]
    assert all((block.sum(axis=1) == 30).all() for block in blocks)


def test_classifiers_see_the_same_resamples() -> None:
    found = cells({"a": "TTFFTFTF"}, {"a": "TFFFTFTT"})
    ours, theirs = phis([found, found], SAMPLING)
    assert np.array_equal(ours, theirs, equal_nan=True)


def test_a_resample_of_one_class_has_no_phi() -> None:
    drawn = phis([cells({"a": "TFFFFF", "b": "TTTFFF"}, {"a": "TFFFFF", "b": "TTTFFF"})], SAMPLING)[0]
    lost = np.isnan(drawn[:, 0])
    assert lost.mean() == pytest.approx((5 / 6) ** 6, abs=0.1)
    assert (drawn[~lost, 0] == 1.0).all()


@pytest.mark.parametrize(
    ("values", "expected"),
    [([0.2, 0.4], 0.3), ([0.2, np.nan], 0.2), ([np.nan, np.nan], np.nan)],
)
def test_the_macro_mean_is_over_what_is_defined(values: list[float], expected: float) -> None:
    assert float(macro(np.array(values))) == pytest.approx(expected, nan_ok=True)


def test_the_interval_is_that_of_the_percentiles() -> None:
    values = np.append(np.linspace(0, 1, 1001), np.nan)
    found = interval(values)
    assert found is not None
    assert [found.low, found.high] == pytest.approx([0.025, 0.975])
    assert interval(np.array([np.nan])) is None


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    """200 samples of 120 queries from a world whose phi is known."""
    random = np.random.default_rng(5)
    share, hit, miss = 0.4, 0.8, 0.1
    said = share * hit + (1 - share) * miss
    truth = (share * hit - share * said) / np.sqrt(share * (1 - share) * said * (1 - said))
    inside = 0
    for _ in range(200):
        actual = random.random(120) < share
        predicted = random.random(120) < np.where(actual, hit, miss)
        letters = ["".join("T" if value else "F" for value in column) for column in (actual, predicted)]
        found = interval(phis([cells({"a": letters[0]}, {"a": letters[1]})], Sampling(200, 3))[0][:, 0])
        assert found is not None
        inside += found.low <= truth <= found.high
    assert 0.88 <= inside / 200 <= 0.99
