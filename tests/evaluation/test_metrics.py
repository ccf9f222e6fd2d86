"""Measures against independent implementations (scikit-learn, numpy) and against cases that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn import metrics as oracle

from bot.evaluation.measures import LabelArrays, brier, calibration_error, confusion, reliability
from tests.evaluation.factories import cells


def phi(labels: str, predicted: str) -> float:
    found = cells({"a": labels}, {"a": predicted})
    return float(confusion(found, np.ones((1, len(labels)))).phi[0, 0])


@pytest.mark.parametrize(
    ("labels", "predicted", "expected"),
    [
        ("TF", "TF", 1.0),
        ("TF", "FT", -1.0),
        ("TTFF", "TFTF", 0.0),
        ("TTFF", "TTTF", 1 / math.sqrt(3)),
        ("TFFF", "FFFF", 0.0),  # constant predictions: MCC's convention
        ("TTTF", "TTTT", 0.0),
        ("T?F", "TTF", 1.0),  # unknown is not FALSE
        ("T??", "TTF", math.nan),  # one class
        ("TTT", "TFT", math.nan),
        ("FFF", "TFT", math.nan),
        ("???", "TFT", math.nan),
    ],
)
def test_phi_of_known_cases(labels: str, predicted: str, expected: float) -> None:
    assert phi(labels, predicted) == pytest.approx(expected, nan_ok=True)


def test_a_perfect_phi_is_exactly_1_and_never_beyond() -> None:
    for size in (3, 7, 49, 1_000, 99_991):
        labels = "T" * (size // 3) + "F" * (size - size // 3)
        assert phi(labels, labels) == 1.0
        assert phi(labels, labels.translate(str.maketrans("TF", "FT"))) == -1.0


BOOLEANS = st.integers(2, 40).flatmap(
    lambda size: st.tuples(
        arrays.arrays(np.bool_, size),
        arrays.arrays(np.bool_, size),
        arrays.arrays(np.int64, size, elements=st.integers(0, 4)),
    )
)


@given(BOOLEANS)
def test_phi_is_mcc_and_pearson_over_repeated_queries(drawn: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    actual, predicted, weight = drawn
    y, p = np.repeat(actual, weight), np.repeat(predicted, weight)
    assume(y.any() and not y.all())
    found = LabelArrays(
        capabilities=("a",),
        labelled=np.ones((len(actual), 1), bool),
        actual=actual[:, None],
        predicted=predicted[:, None],
        probability=predicted[:, None].astype(float),
    )
    counts = confusion(found, weight[None, :].astype(float))
    assert counts.phi[0, 0] == pytest.approx(oracle.matthews_corrcoef(y, p), abs=1e-12)
    if p.any() and not p.all():
        assert counts.phi[0, 0] == pytest.approx(np.corrcoef(y, p)[0, 1], abs=1e-12)
    ((true_negative, false_positive), (false_negative, true_positive)) = oracle.confusion_matrix(y, p, labels=[0, 1])
    assert counts.true_positive[0, 0] == true_positive
    assert counts.true_negative[0, 0] == true_negative
    assert counts.false_positive[0, 0] == false_positive
    assert counts.false_negative[0, 0] == false_negative


PROBABILITIES = st.integers(1, 60).flatmap(
    lambda size: st.tuples(
        arrays.arrays(np.float64, size, elements=st.floats(0, 1)), arrays.arrays(np.bool_, size), st.integers(2, 20)
    )
)


@given(PROBABILITIES)
def test_calibration_is_what_its_definition_says(drawn: tuple[np.ndarray, np.ndarray, int]) -> None:
    probability, actual, bins = drawn
    assert brier(probability, actual) == pytest.approx(oracle.brier_score_loss(actual, probability, pos_label=True))
    found = reliability(probability, actual, bins)
    assert sum(item.count for item in found) == len(actual)
    expected = 0.0
    for number in range(bins):
        inside = [
            place for place, value in enumerate(probability) if min(int(round(value * bins, 9)), bins - 1) == number
        ]
        if inside:
            said = sum(probability[place] for place in inside) / len(inside)
            true = sum(bool(actual[place]) for place in inside) / len(inside)
            expected += len(inside) / len(actual) * abs(said - true)
    assert calibration_error(found) == pytest.approx(expected)
    assert 0 <= calibration_error(found) <= 1
    for item in found:
        assert item.low - 1e-12 <= item.probability <= item.high + 1e-12
        assert item.count >= 1


@pytest.mark.parametrize("value", [0.29, 0.57, 0.58])
def test_a_bin_begins_where_it_says(value: float) -> None:
    (found,) = reliability(np.array([value]), np.array([True]), 100)
    assert found.low == value


def test_what_is_known_for_sure_is_calibrated() -> None:
    probability, actual = np.array([1.0, 1.0, 0.0]), np.array([True, True, False])
    found = reliability(probability, actual, 10)
    assert [(item.low, item.high, item.count, item.true) for item in found] == [(0.0, 0.1, 1, 0.0), (0.9, 1.0, 2, 1.0)]
    assert calibration_error(found) == brier(probability, actual) == 0.0
