"""Fitting and calibration: what the exemplars teach, and that the same input gives the same bits."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from incumbent.classifier.embedded import kernel
from incumbent.classifier.embedded.exact import Floats, sigmoid
from incumbent.classifier.embedded.fitting import Regression, fit_model, folds_of
from incumbent.classifier.embedded.inverse import Inverse
from incumbent.classifier.embedded.model import best_threshold, calibrate, rows_by_text, to_arrays
from incumbent.classifier.exemplars import ExemplarLabel, training_data
from incumbent.classifier.model import Progress
from incumbent.taxonomy.model import Exemplar, Exemplars, Taxonomy
from tests.classifier.exemplary import SAMPLES, SETTINGS, TOPICS
from tests.classifier.factories import intent, taxonomy
from tests.variants import exhaustive

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
    assert labels[("both",)] == (ExemplarLabel.POSITIVE, ExemplarLabel.POSITIVE)
    assert labels[("only a",)] == (ExemplarLabel.POSITIVE, ExemplarLabel.UNLISTED)
    assert labels[("not a",)] == (ExemplarLabel.NEGATIVE, ExemplarLabel.UNLISTED)


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
        ("tiny",): (ExemplarLabel.POSITIVE, ExemplarLabel.NEGATIVE, ExemplarLabel.UNLISTED),
        ("huge",): (ExemplarLabel.NEGATIVE, ExemplarLabel.POSITIVE, ExemplarLabel.UNLISTED),
        ("other",): (ExemplarLabel.UNLISTED, ExemplarLabel.UNLISTED, ExemplarLabel.POSITIVE),
    }


def test_what_nobody_can_tell_is_neither_positive_nor_negative() -> None:
    rows = (
        Exemplar(id="1", hand="h", turns=("tiny",), exercises=("small",), unknown=("free", "large")),
        Exemplar(id="2", hand="h", turns=("other",), exercises=("free",), unknown=("small",)),
        Exemplar(id="3", hand="h", turns=("Other",), exercises=("small",)),
    )
    data = training_data(
        taxonomy(
            *(intent(id, group) for id, group in (("small", "one.size"), ("large", "one.size"), ("free", "any"))),
            exemplars=rows,
        )
    )
    assert dict(zip(data.exemplars, data.labels, strict=True)) == {
        ("tiny",): (ExemplarLabel.POSITIVE, ExemplarLabel.NEGATIVE, ExemplarLabel.UNKNOWN),
        ("other",): (ExemplarLabel.POSITIVE, ExemplarLabel.NEGATIVE, ExemplarLabel.POSITIVE),
    }


# Calibration.


def test_the_threshold_separates_what_can_be_separated_in_the_middle_of_the_gap() -> None:
    scores = np.array([-3.0, -2.0, 1.0, 2.0])
    assert best_threshold(scores, np.array([False, False, True, True])) == -0.5


def test_the_threshold_has_the_best_phi() -> None:
    scores = np.arange(10.0)
    truth = np.array([False] * 6 + [True, False, True, True])
    threshold = best_threshold(scores, truth)

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
    calibration = calibrate(scores, truth)
    assert np.isfinite([calibration.threshold, calibration.below, calibration.above]).all()
    assert calibration.below > 0
    assert calibration.above > 0


def test_probabilities_follow_the_frequencies_of_the_scores() -> None:
    generator = np.random.default_rng(1)
    scores = generator.normal(0, 3, 4000)
    truth = generator.random(4000) < sigmoid(2 * (scores - 1))
    calibration = calibrate(scores, truth)
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


def test_another_seed_draws_other_folds(exemplary: Taxonomy) -> None:
    assert bits(exemplary)["weights"] != bits(exemplary, seed=1)["weights"]


def test_a_seed_may_be_of_any_size(exemplary: Taxonomy) -> None:
    assert bits(exemplary, samples=1, seed=2**70)


def test_the_names_of_the_capabilities_do_not_matter(exemplary: Taxonomy) -> None:
    renamed = taxonomy(*(item.model_copy(update={"id": f"x{item.id}"}) for item in exemplary.capabilities))
    assert bits(renamed) == bits(exemplary)


@pytest.fixture
def tabled() -> Taxonomy:
    """A taxonomy whose exemplars are a table, with translations."""
    rows = [
        Exemplar(
            id=f"e-{number}",
            hand="hand-1",
            language=language,
            turns=(f"{language} {topic}",),
            exercises=("a",) if number % 2 else (),
            resembles=() if number % 2 else ("a",),
        )
        for language in (None, "de")
        for number, topic in enumerate(TOPICS)
    ]
    return taxonomy(intent("a", exemplars=Exemplars(positive=("any",))), exemplars=tuple(rows))


def test_members_are_fitted_on_different_exemplars(exemplary: Taxonomy) -> None:
    model = fit_model(exemplary, SETTINGS, 3)
    columns = model.weights.T.reshape(len(model.capabilities), 3, -1)
    assert all(len(np.unique(members, axis=0)) == 3 for members in columns)


def test_a_single_member_is_fitted_on_all_exemplars(exemplary: Taxonomy) -> None:
    model = fit_model(exemplary, SETTINGS, 1)
    assert (model.weights != 0).any(axis=1).all()


def test_a_member_gives_no_weight_to_what_it_left_out(exemplary: Taxonomy) -> None:
    model = fit_model(exemplary, SETTINGS, 3)
    members = model.weights.reshape(len(model.rows), -1, 3)
    silent = (members == 0).all(axis=1)
    assert (silent.sum(axis=1) == 1).all()
    assert silent.any(axis=0).all()


def positive(size: int) -> Floats:
    """A symmetric positive matrix."""
    points = np.random.default_rng(5).normal(size=(size, 4))
    squares = (points * points).sum(axis=1)
    found: Floats = np.exp(points @ points.T - squares[:, None] / 2 - squares / 2)
    return found.astype(np.float32).astype(np.float64)


def in_tiles(matrix: Floats) -> Iterator[list[NDArray[np.float32]]]:
    cuts = kernel.spans(len(matrix))
    for number, one in enumerate(cuts):
        yield [matrix[one, other].astype(np.float32) for other in cuts[: number + 1]]


@pytest.mark.parametrize("size", [1, 31, 385, *exhaustive([384, 900])])
def test_an_inverse_is_that_of_a_library_and_so_are_its_parts(size: int) -> None:
    wanted = np.linalg.inv(positive(size) + 0.5 * np.eye(size))
    inverse = Inverse.of(in_tiles(positive(size)), 0.5)
    assert inverse.times(np.eye(size)) == pytest.approx(wanted, abs=1e-4)
    values = np.random.default_rng(6).normal(size=(size, 2))
    for places in (np.arange(size), np.arange(0, size, 3), np.arange(size // 2, size)):
        solved = np.linalg.solve(wanted[np.ix_(places, places)], values[places])
        assert inverse.solve_block(places, values[places]) == pytest.approx(solved, abs=1e-3)


@pytest.mark.parametrize("groups", [[[3, 4, 17]], [[5], [0, 29], [7, 8]], [list(range(100, 500)), [3], [599]]])
def test_leaving_exemplars_out_is_fitting_without_them(groups: list[list[int]]) -> None:
    size = max(map(max, groups)) + 10
    similar = positive(size)
    targets = np.random.default_rng(3).choice(np.array([-1.0, 1.0]), (size, 2))
    inverse = Inverse.of(in_tiles(similar), 0.5)
    regression = Regression(inverse, inverse.times(targets), targets, np.zeros(2))
    scores = regression.left_out([np.array(group) for group in groups])
    for out in map(np.array, groups):
        left = np.setdiff1d(np.arange(size), out)
        fewer = np.linalg.solve(similar[np.ix_(left, left)] + 0.5 * np.eye(len(left)), targets[left])
        (member,) = regression.without([out])
        assert member[left] == pytest.approx(fewer, abs=1e-3)
        assert (member[out] == 0).all()
        assert scores[out] == pytest.approx(similar[np.ix_(out, left)] @ fewer, abs=1e-3)


def test_the_number_of_cores_does_not_move_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(kernel, "cpu_count", lambda cores=cores: cores)
        inverse = Inverse.of(in_tiles(positive(900)), 0.5)
        found.append(inverse.times(np.eye(900)).tobytes() + inverse.block(np.arange(0, 900, 2))[1][0].tobytes())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("doubtful", "low", "high"), [("none", 0.0, 0.6), ("unknown", 0.9, 1.0), ("left out", 0.9, 1.0)]
)
def test_an_unknown_label_teaches_nothing(doubtful: str, low: float, high: float) -> None:
    """Half of what is drawn is b for certain; of the other half nobody knows, or it is said not to be."""
    things = ["fish", "bird", "tree", "house", "river", "boat", "cloud", "stone", "lamp", "chair", "flower", "horse"]
    rows = [
        Exemplar(id=f"{thing}-{number}", hand="h", turns=(f"draw a {size} {thing}",), exercises=("a", "b"))
        for thing in things
        for number, size in enumerate(("small", "big"))
    ]
    if doubtful != "left out":
        unknown = ("b",) if doubtful == "unknown" else ()
        rows += [
            Exemplar(
                id=f"?{thing}-{number}", hand="h", turns=(f"draw a {size} {thing}",), exercises=("a",), unknown=unknown
            )
            for thing in things
            for number, size in enumerate(("red", "green"))
        ]
    rows += [
        Exemplar(id=f"n-{number}", hand="h", turns=(f"tell me about {thing}s, please",), exercises=("c",))
        for number, thing in enumerate(things)
    ]
    model = fit_model(taxonomy(intent("a"), intent("b"), intent("c"), exemplars=tuple(rows)), SETTINGS, 1)
    found = dict(zip(model.capabilities, model.probabilities([["draw a fish"]])[0, :, 0].tolist(), strict=True))
    assert low <= found["b"] <= high


def test_an_exemplar_and_its_translations_are_left_out_together(tabled: Taxonomy) -> None:
    data = training_data(tabled)
    folds = folds_of(data, SETTINGS, 3)
    assert sorted(np.concatenate(folds).tolist()) == list(range(len(data.exemplars)))
    for fold in folds:
        ids = {data.ids[place] for place in fold}
        assert {place for place, id in enumerate(data.ids) if id in ids} == set(fold.tolist())


def test_rows_that_are_known_are_not_made_again(exemplary: Taxonomy) -> None:
    progress: list[tuple[str, int, int]] = []

    def stages(name: str) -> Progress:
        return lambda done, total: progress.append((name, done, total))

    model = fit_model(exemplary, SETTINGS, SAMPLES, stages=stages)
    # A step for the only row of tiles, one for each member, one for what is held out.
    fitting = [("fitting", step, SAMPLES + 2) for step in range(SAMPLES + 3)]
    assert {name for name, *_ in progress} == {"reading exemplars", "fitting"}
    assert progress[-len(fitting) :] == fitting
    known = rows_by_text(to_arrays(model), None)
    progress.clear()
    again = fit_model(exemplary, SETTINGS, SAMPLES, None, known, stages)
    assert progress == fitting
    assert {name: array.tobytes() for name, array in to_arrays(again).items()} == {
        name: array.tobytes() for name, array in to_arrays(model).items()
    }


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
    probabilities = model.probabilities([["one"]])
    assert probabilities.shape == (1, 1, SAMPLES)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()


def test_without_anything_to_tell_positives_from_nothing_is_true() -> None:
    model = fit_model(taxonomy(intent("a", exemplars=Exemplars(positive=("one", "two")))), SETTINGS, SAMPLES)
    assert (model.probabilities([["one"]]) < 0.5).all()


def test_a_taxonomy_without_exemplars_gives_an_empty_model() -> None:
    model = fit_model(taxonomy(intent("a", exemplars=Exemplars())), SETTINGS, SAMPLES)
    assert model.capabilities == ()
    assert model.probabilities([["one"]]).shape == (1, 0, 0)


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
