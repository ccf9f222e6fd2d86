"""All measures together, and the comparison of two classifiers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as oracle

from bot.errors import UsageError
from bot.evaluation.measures import Difference, LabelArrays, PercentileInterval, Sampling, compare, evaluate, lay_out
from tests.evaluation.factories import cells, labelled, predictions

SAMPLING = Sampling(200, 1)


def test_every_measure_of_a_small_table() -> None:
    found = evaluate(
        cells(
            {"a": "TTFFF?", "b": "FFFFFF"},
            {"a": "TFTFFT", "b": "FFFFFT"},
            {"a": [0.9, 0.4, 0.6, 0.1, 0.1, 0.9], "b": [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]},
        ),
        SAMPLING,
        bins=10,
    )
    assert (found.queries, found.labels) == (6, 11)
    a, b = found.capabilities
    assert found.undefined == (b,)
    assert (a.capability, a.labelled, a.support) == ("a", 5, 2)
    assert a.phi == pytest.approx(1 / 6)
    assert a.interval is not None
    assert a.interval.low <= 1 / 6 <= a.interval.high
    assert 100 < a.resamples < 200
    assert (a.accuracy, a.always_false, a.precision, a.recall) == (0.6, 0.6, 0.5, 0.5)
    assert a.brier == pytest.approx((0.01 + 0.36 + 0.36 + 0.01 + 0.01) / 5)
    assert a.calibration_error == pytest.approx((0.1 + 0.6 + 0.6 + 0.2) / 5)
    assert (b.capability, b.labelled, b.support, b.phi, b.interval, b.resamples) == ("b", 6, 0, None, None, 0)
    assert b.accuracy == pytest.approx(5 / 6)
    assert (b.always_false, b.precision, b.recall) == (1.0, 0.0, None)
    assert found.macro_phi == a.phi
    assert found.brier == pytest.approx((5 * a.brier + 6 * b.brier) / 11)


def test_precision_is_unknown_where_nothing_is_predicted() -> None:
    (found,) = evaluate(cells({"a": "TF"}, {"a": "FF"}), SAMPLING, 10).capabilities
    assert (found.phi, found.precision, found.recall) == (0.0, None, 0.0)
    assert found.interval == PercentileInterval(0.0, 0.0)


def test_without_any_phi_there_is_no_macro_phi() -> None:
    only_true = cells({"a": "TTT"}, {"a": "TFT"})
    found, comparison = compare(only_true, only_true, SAMPLING, 10)
    assert (found.macro_phi, found.interval, found.undefined) == (None, None, found.capabilities)
    assert (comparison.macro_phi, comparison.capabilities) == (None, {})


@st.composite
def tables(draw: st.DrawFn) -> tuple[LabelArrays, LabelArrays]:
    """Two classifiers on the same labels of two capabilities, each of which is labelled at least once."""
    size = draw(st.integers(2, 25))
    column = st.text("TF?", min_size=size, max_size=size).filter(lambda text: set(text) != {"?"})
    predicted = st.text("TF", min_size=size, max_size=size)
    labels = {"a": draw(column), "b": draw(column)}
    first, second = ({"a": draw(predicted), "b": draw(predicted)} for _ in range(2))
    return cells(labels, first), cells(labels, second)


@settings(max_examples=settings().max_examples * 3 // 5)
@given(tables())
def test_measures_agree_with_scikit_learn(drawn: tuple[LabelArrays, LabelArrays]) -> None:
    found = drawn[0]
    for place, item in enumerate(evaluate(found, Sampling(100, 1), 10).capabilities):
        rows = found.labelled[:, place]
        y, p = found.actual[rows, place], found.predicted[rows, place]
        assert item.accuracy == pytest.approx(oracle.accuracy_score(y, p))
        assert item.always_false == pytest.approx(oracle.accuracy_score(y, np.zeros_like(y)))
        assert (item.precision or 0.0) == pytest.approx(oracle.precision_score(y, p, zero_division=0))
        assert (item.recall or 0.0) == pytest.approx(oracle.recall_score(y, p, zero_division=0))
        assert (item.phi is None) == (len(set(y)) == 1)
        if item.phi is not None:
            assert item.phi == pytest.approx(oracle.matthews_corrcoef(y, p), abs=1e-12)


@settings(max_examples=settings().max_examples * 3 // 5)
@given(tables())
def test_a_comparison_is_antisymmetric_and_with_itself_exactly_nothing(drawn: tuple[LabelArrays, LabelArrays]) -> None:
    ours, theirs = drawn
    sampling = Sampling(100, 3)
    evaluation, there = compare(ours, theirs, sampling, 10)
    other, back = compare(theirs, ours, sampling, 10)
    assert evaluation == evaluate(ours, sampling, 10) == back.other
    assert there.other == other
    for name, item in there.capabilities.items():
        assert item.value == -back.capabilities[name].value
        if item.interval is not None:
            reverse = back.capabilities[name].interval
            assert reverse is not None
            assert (item.interval.low, item.interval.high) == pytest.approx((-reverse.high, -reverse.low))
    same = compare(ours, ours, sampling, 10)[1]
    for difference in [*same.capabilities.values(), *([same.macro_phi] if same.macro_phi else [])]:
        assert difference.value == 0.0
        assert difference.interval in (None, PercentileInterval(0.0, 0.0))
        assert not difference.is_distinct


@pytest.mark.parametrize(
    ("interval", "is_distinct"),
    [
        (PercentileInterval(0.1, 0.3), True),
        (PercentileInterval(-0.3, -0.1), True),
        (PercentileInterval(0.0, 0.3), False),
        (PercentileInterval(-0.1, 0.1), False),
        (None, False),
    ],
)
def test_two_classifiers_are_told_apart_where_the_interval_leaves_out_0(
    interval: PercentileInterval | None, is_distinct: bool
) -> None:
    assert Difference(0.2, interval).is_distinct is is_distinct


def test_pairing_tells_apart_what_single_intervals_cannot() -> None:
    """A classifier that is right on ten more of the same queries: its own interval overlaps with the other's."""
    labels = "TF" * 50
    worse = "".join({"T": "F", "F": "T"}[letter] if place < 30 else letter for place, letter in enumerate(labels))
    better = "".join({"T": "F", "F": "T"}[letter] if place < 20 else letter for place, letter in enumerate(labels))
    found, comparison = compare(cells({"a": labels}, {"a": better}), cells({"a": labels}, {"a": worse}), SAMPLING, 10)
    assert found.interval is not None
    assert comparison.other.interval is not None
    assert found.interval.low < comparison.other.interval.high
    assert comparison.macro_phi is not None
    assert comparison.macro_phi.is_distinct


def test_labels_and_predictions_are_laid_out_in_the_taxonomys_order() -> None:
    queries = [labelled("one", b=True), labelled("two", a=False, b=False)]
    found = lay_out(queries, predictions(queries, a=[0.9, 0.2], b=[0.4, 0.6], c=[1.0, 1.0]), ("a", "b", "c"))
    assert found.capabilities == ("a", "b")
    assert found.labelled.tolist() == [[False, True], [True, True]]
    assert found.actual.tolist() == [[False, True], [False, False]]
    assert found.predicted.tolist() == [[True, False], [False, True]]
    assert found.probability.tolist() == [[0.9, 0.4], [0.2, 0.6]]


def test_predictions_of_another_taxonomy_may_lack_a_capability() -> None:
    queries = [labelled("one", a=True, b=True)]
    with pytest.raises(UsageError, match="say nothing of b"):
        lay_out(queries, predictions(queries, a=[0.9]), ("a", "b"))
    assert lay_out([labelled("one", a=True)], predictions(queries, a=[0.9]), ("a", "b")).capabilities == ("a",)
