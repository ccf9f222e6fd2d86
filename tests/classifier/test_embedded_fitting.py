"""Fitting and calibration: what the exemplars teach, and that the same input gives the same bits."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.classifier.embedded.calibration import Calibration, average, best_threshold, calibrate, sigmoid
from bot.classifier.embedded.fitting import fit_model
from bot.classifier.embedded.stored import to_arrays
from bot.classifier.exemplars import Label, training_data
from bot.taxonomy.model import Exemplars, Taxonomy
from tests.classifier.exemplary import SAMPLES, SETTINGS
from tests.classifier.factories import intent, taxonomy

# Training data.


def test_an_exemplar_is_positive_where_it_is_listed_and_unlisted_elsewhere() -> None:
    data = training_data(
        taxonomy(
            intent("a", exemplars=Exemplars(positive=("both", "only a"), negative=("not a",))),
            intent("b", exemplars=Exemplars(positive=("both",))),
            intent("c", exemplars=Exemplars()),
        )
    )
    assert data.capabilities == ("a", "b")
    labels = dict(zip(data.exemplars, data.labels, strict=True))
    assert labels[("both",)] == (Label.POSITIVE, Label.POSITIVE)
    assert labels[("only a",)] == (Label.POSITIVE, Label.UNLISTED)
    assert labels[("not a",)] == (Label.NEGATIVE, Label.UNLISTED)


def test_equal_texts_are_one_exemplar_and_conversations_are_not_their_words() -> None:
    exemplars = Exemplars(positive=("Show  MY bills", "show my bills", ("show my", "bills")))
    assert training_data(taxonomy(intent("a", exemplars=exemplars))).exemplars == (
        ("Show  MY bills",),
        ("show my", "bills"),
    )


def test_a_positive_of_one_member_of_an_exactly_one_group_is_a_hard_negative_of_the_others() -> None:
    data = training_data(
        taxonomy(
            intent("small", "one.size", exemplars=Exemplars(positive=("tiny",))),
            intent("large", "one.size", exemplars=Exemplars(positive=("huge",))),
            intent("free", exemplars=Exemplars(positive=("other",))),
        )
    )
    assert dict(zip(data.exemplars, data.labels, strict=True)) == {
        ("tiny",): (Label.POSITIVE, Label.NEGATIVE, Label.UNLISTED),
        ("huge",): (Label.NEGATIVE, Label.POSITIVE, Label.UNLISTED),
        ("other",): (Label.UNLISTED, Label.UNLISTED, Label.POSITIVE),
    }


# Calibration.


def test_the_threshold_separates_what_can_be_separated_in_the_middle_of_the_gap() -> None:
    scores = np.array([-3.0, -2.0, 1.0, 2.0])
    assert best_threshold(scores, np.array([False, False, True, True]), np.ones(4)) == -0.5


def test_calibrations_are_averaged_part_by_part() -> None:
    assert average([Calibration(1.0, 2.0, 4.0), Calibration(3.0, 6.0, 8.0)]) == Calibration(2.0, 4.0, 6.0)
    assert average([Calibration(1.0, 2.0, 4.0)]) == Calibration(1.0, 2.0, 4.0)


def test_the_threshold_has_the_best_phi() -> None:
    scores = np.arange(10.0)
    truth = np.array([False] * 6 + [True, False, True, True])
    threshold = best_threshold(scores, truth, np.ones(10))

    def phi(cut: float) -> float:
        return float(np.corrcoef(scores >= cut, truth)[0, 1])

    assert phi(threshold) == pytest.approx(max(phi(cut + 0.5) for cut in range(9)))


@given(
    st.lists(st.tuples(st.floats(-20, 20), st.booleans()), min_size=2, max_size=30).filter(
        lambda items: len({truth for _, truth in items}) == 2
    )
)
def test_a_calibration_is_one_half_at_its_threshold_and_never_falls(items: list[tuple[float, bool]]) -> None:
    scores, truth = np.array([score for score, _ in items]), np.array([truth for _, truth in items])
    calibration = calibrate(scores, truth, np.ones(len(items)))
    assert np.isfinite([calibration.threshold, calibration.below, calibration.above]).all()
    assert calibration.below > 0
    assert calibration.above > 0


def test_probabilities_follow_the_frequencies_of_the_scores() -> None:
    generator = np.random.default_rng(1)
    scores = generator.normal(0, 3, 4000)
    truth = generator.random(4000) < sigmoid(2 * (scores - 1))
    calibration = calibrate(scores, truth, np.ones(4000))
    assert calibration.threshold == pytest.approx(1.0, abs=0.25)
    assert calibration.below == pytest.approx(2.0, rel=0.25)
    assert calibration.above == pytest.approx(2.0, rel=0.25)


def test_the_sigmoid_is_one_half_at_zero_and_does_not_overflow() -> None:
    assert sigmoid(np.array([0.0, -0.0])).tolist() == [0.5, 0.5]
    assert sigmoid(np.array([-1e9, 1e9])) == pytest.approx([0.0, 1.0])


# Fitting.


def bits(tax: Taxonomy, samples: int = SAMPLES, **overrides: object) -> dict[str, bytes]:
    model = fit_model(tax, SETTINGS.model_copy(update=overrides), samples)
    return {name: array.tobytes() for name, array in to_arrays(model).items()}


def test_the_same_exemplars_and_seed_give_the_same_bits(exemplary: Taxonomy) -> None:
    assert bits(exemplary) == bits(exemplary)


def test_another_seed_draws_other_subsamples(exemplary: Taxonomy) -> None:
    assert bits(exemplary)["weights"] != bits(exemplary, seed=1)["weights"]


def test_a_seed_may_be_of_any_size(exemplary: Taxonomy) -> None:
    assert bits(exemplary, samples=1, seed=2**70)


def test_the_names_of_the_capabilities_do_not_matter(exemplary: Taxonomy) -> None:
    renamed = taxonomy(*(item.model_copy(update={"id": f"x{item.id}"}) for item in exemplary.capabilities))
    assert bits(renamed) == bits(exemplary)


def test_members_are_fitted_on_different_subsamples(exemplary: Taxonomy) -> None:
    model = fit_model(exemplary, SETTINGS, 3)
    columns = model.weights.T.reshape(len(model.capabilities), 3, -1)
    assert all(len(np.unique(members, axis=0)) == 3 for members in columns)


def test_members_on_all_exemplars_are_alike(exemplary: Taxonomy) -> None:
    model = fit_model(exemplary, SETTINGS.model_copy(update={"subsample": 1.0}), 2)
    columns = model.weights.T.reshape(len(model.capabilities), 2, -1)
    assert all(len(np.unique(members, axis=0)) == 1 for members in columns)


@pytest.mark.parametrize(
    "exemplars",
    [
        pytest.param(Exemplars(positive=("only one",)), id="one positive and nothing else"),
        pytest.param(Exemplars(positive=("one", "two", "three")), id="no negatives"),
        pytest.param(Exemplars(positive=("one",), negative=("two",)), id="one of each"),
        pytest.param(Exemplars(positive=("one", "two"), negative=("three", "four")), id="two of each"),
        pytest.param(Exemplars(positive=("?", "!"), negative=("…", ".")), id="no words"),
    ],
)
def test_few_exemplars_still_give_probabilities(exemplars: Exemplars) -> None:
    model = fit_model(taxonomy(intent("a", exemplars=exemplars)), SETTINGS, SAMPLES)
    probabilities = model.probabilities(["one"])
    assert probabilities.shape == (1, SAMPLES)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()


def test_without_anything_to_tell_positives_from_nothing_is_true() -> None:
    model = fit_model(taxonomy(intent("a", exemplars=Exemplars(positive=("one", "two")))), SETTINGS, SAMPLES)
    assert (model.probabilities(["one"]) < 0.5).all()


def test_a_taxonomy_without_exemplars_gives_an_empty_model() -> None:
    model = fit_model(taxonomy(intent("a", exemplars=Exemplars())), SETTINGS, SAMPLES)
    assert model.capabilities == ()
    assert model.probabilities(["one"]).shape == (0, 0)


def realistic(capabilities: int, positives: int, negatives: int) -> Taxonomy:
    """Sentences of some ten made-up words; those of a capability share a few of them."""
    draw = random.Random(5)
    words = ["".join(draw.choices("aeioubdfgklmnprst", k=draw.randint(2, 9))) for _ in range(1500)]

    def sentence(topic: list[str]) -> str:
        return " ".join(draw.choices(words, k=8) + draw.choices(topic, k=3))

    def capability(number: int) -> Exemplars:
        topic = draw.choices(words, k=12)
        return Exemplars(
            positive=tuple(sentence(topic) for _ in range(positives)),
            negative=tuple(sentence(words) for _ in range(negatives)),
        )

    return taxonomy(*(intent(f"c{number}", exemplars=capability(number)) for number in range(capabilities)))


def test_fitting_a_taxonomy_of_realistic_size_takes_seconds() -> None:
    large = realistic(25, 30, 10)
    started = time.process_time()
    fit_model(large, SETTINGS, SAMPLES)
    assert time.process_time() - started < 12.0  # about 4 s on the machine it was written on
