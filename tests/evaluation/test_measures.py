"""All measures together, and the comparison of two classifiers."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn import metrics as oracle

from incumbent.classifier.evaluation import measures
from incumbent.classifier.evaluation.measures import (
    Difference,
    LabelArrays,
    PercentileInterval,
    Predictions,
    Sampling,
    brier,
    calibration_error,
    compare,
    confusion,
    evaluate,
    interval,
    lay_out,
    macro,
    phis,
    predict,
    reliability,
    unpredicted,
    weights,
)
from incumbent.classifier.model import Classification, Judgement
from incumbent.errors import UsageError
from incumbent.files.documents import parse_json
from incumbent.files.validation import validate
from incumbent.taxonomy.config import REVIEWED_FILES
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


DRAWS = Sampling(400, 7)


def test_each_resample_has_as_many_queries_and_equal_seeds_give_equal_draws() -> None:
    drawn = np.concatenate(list(weights(13, DRAWS)))
    assert drawn.shape == (400, 13)
    assert (drawn.sum(axis=1) == 13).all()
    assert (drawn == np.concatenate(list(weights(13, DRAWS)))).all()
    assert (drawn != np.concatenate(list(weights(13, Sampling(400, 8))))).any()
    assert drawn.mean() == 1.0
    # Each query is left out of about 1/e of the resamples.
    assert (drawn == 0).mean() == pytest.approx((12 / 13) ** 13, abs=0.03)


def test_many_queries_are_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "_BLOCK", 100)
    blocks = list(weights(30, Sampling(10, 1)))
    assert [len(block) for block in blocks] == [3, 3, 3, 1]
    assert all((block.sum(axis=1) == 30).all() for block in blocks)


def test_classifiers_see_the_same_resamples() -> None:
    found = cells({"a": "TTFFTFTF"}, {"a": "TFFFTFTT"})
    ours, theirs = phis([found, found], DRAWS)
    assert np.array_equal(ours, theirs, equal_nan=True)


def test_a_resample_of_one_class_has_no_phi() -> None:
    drawn = phis([cells({"a": "TFFFFF", "b": "TTTFFF"}, {"a": "TFFFFF", "b": "TTTFFF"})], DRAWS)[0]
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


@pytest.mark.parametrize(
    ("judgement", "expected"),
    [
        (Judgement(True, 0.8, "inference"), 0.8),
        (Judgement(False, 0.3, "inference"), 0.3),  # κ is the mean probability of TRUE, whatever the value
        (Judgement(False, 0.6, "arbitration"), 0.6),
        (Judgement(True, 0.2, "arbitration"), 0.2),
        (Judgement(True, 0.7, "specification"), 1.0),
        (Judgement(False, 1.0, "specification"), 0.0),
        (Judgement(False, 0.0, "undeclared"), 0.0),
        (Judgement(True, 0.7, "tool"), 0.7),
        (Judgement(False, 0.2, "tool"), 0.2),
        (Judgement(True, 1.0, "structure"), 1.0),
        (Judgement(False, 1.0, "structure"), 0.0),
        (Judgement(True, 1.0, "expected"), 1.0),
        (Judgement(False, 1.0, "expected"), 0.0),
        (Judgement(False, 0.2, "expected"), 0.2),
    ],
)
def test_the_probability_of_true_by_path(judgement: Judgement, expected: float) -> None:
    assert judgement.probability == expected


def test_what_is_saved_is_what_is_read() -> None:
    queries = [labelled("one"), labelled("two")]
    made = predictions(queries, a=[0.1 + 0.2, 1.0], b=[0.0, 1 / 3])
    again = validate(Predictions, parse_json(made.text.encode(), "p.json", REVIEWED_FILES))
    assert again == made
    assert again.text == made.text
    assert "one" not in json.loads(made.text)["queries"]


def test_only_what_can_be_labelled_is_kept() -> None:
    item = Classification(
        judgements={"a": Judgement(True, 0.9, "inference"), "s": Judgement(True, 1.0, "specification")},
    )
    found = predict(item, ["a"])
    assert (found.true, found.probabilities) == (("a",), {"a": 0.9})


def test_queries_without_a_prediction_are_found() -> None:
    one, two = labelled("one"), labelled("two")
    assert unpredicted([one, two], predictions([one], a=[0.5])) == (two,)
