"""Arithmetic that is the same everywhere: against whole numbers, against decimals, and in processes that differ."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from incumbent.classifier.embedded.exact import SPAN, Floats, exp, log, log_of, product, short, sigmoid, total
from incumbent.classifier.embedded.kernel import TILE
from incumbent.taxonomy.model import Exemplar, Taxonomy
from tests.classifier.exemplary import TOPICS
from tests.classifier.factories import intent, taxonomy
from tests.variants import exhaustive

numbers = st.floats(-1e3, 1e3) | st.floats(-1e-3, 1e-3) | st.just(0.0)


def ulps(found: float, wanted: Decimal) -> float:
    """How far ``found`` is from ``wanted``, in units of its last place."""
    return float(abs(Decimal(found) - wanted) / Decimal(float(np.spacing(abs(found)))))


@given(st.floats(-700, 700) | st.floats(-1, 1))
def test_the_exponential_is_that_of_decimals_to_two_units(value: float) -> None:
    with localcontext(prec=40):
        assert ulps(float(exp(np.array([value]))[0]), Decimal(value).exp()) < 2


def test_the_exponential_ends_where_floats_do() -> None:
    assert exp(np.array([0.0, -0.0])).tolist() == [1.0, 1.0]
    assert exp(np.array([[-1e9], [1e9]])).tolist() == exp(np.array([[-700.0], [700.0]])).tolist()
    assert exp(np.zeros((0, 3))).shape == (0, 3)
    many = np.linspace(-50, 50, 50_000)
    assert exp(many).tolist() == [float(exp(many[place : place + 1])[0]) for place in range(len(many))]


@given(st.floats(1e-300, 1e300) | st.integers(1, 100_000).map(float) | st.floats(0.5, 2))
def test_the_logarithm_is_that_of_decimals_to_three_units(value: float) -> None:
    with localcontext(prec=40):
        found = log_of(value)
        assert found == float(log(np.array([value]))[0])
        assert found == 0 if value == 1 else ulps(found, Decimal(value).ln()) < 3


def test_the_sigmoid_is_one_half_at_zero_and_does_not_overflow() -> None:
    assert sigmoid(np.array([0.0, -0.0])).tolist() == [0.5, 0.5]
    assert sigmoid(np.array([-1e9, 1e9])) == pytest.approx([0.0, 1.0])


@given(st.lists(st.lists(numbers, min_size=3, max_size=3), max_size=20))
def test_a_sum_is_made_row_by_row(rows: list[list[float]]) -> None:
    wanted = [0.0] * 3
    for row in rows:
        wanted = [one + other for one, other in zip(wanted, row, strict=True)]
    assert total(np.array(rows).reshape(-1, 3)).tolist() == wanted


def exactly(one: Floats, other: Floats) -> list[list[Fraction]]:
    """The product of fractions."""
    columns = [list(map(Fraction, column)) for column in other.T.tolist()]
    return [
        [
            sum((one * other for one, other in zip(map(Fraction, row), column, strict=True)), Fraction())
            for column in columns
        ]
        for row in one.tolist()
    ]


@given(st.integers(0, 2**32), st.sampled_from([1, 7, 40]), st.sampled_from([1e-200, 1e-3, 1.0, 1e30]))
def test_products_of_short_numbers_are_exact_in_any_order(seed: int, width: int, scale: float) -> None:
    generator = np.random.default_rng(seed)
    one = short(generator.normal(size=(3, width)) * scale)
    other = short(generator.uniform(-1, 1, (2, width)) ** 9)
    found = one @ other.T
    assert [list(map(Fraction, row)) for row in found.tolist()] == exactly(one, other.T)
    order = generator.permutation(width)
    assert found.tobytes() == (one[:, order] @ other[:, order].T).tobytes()


def test_the_longest_sums_of_the_largest_short_numbers_are_exact() -> None:
    widest = np.full((1, SPAN), 1.0 - 2.0**-22)
    assert short(widest).tolist() == widest.tolist()
    assert Fraction(float((widest @ widest.T)[0, 0])) == SPAN * Fraction(1.0 - 2.0**-22) ** 2


def test_the_rows_of_a_tile_are_short_enough_to_add_up_in_any_order() -> None:
    assert TILE <= SPAN


@given(st.integers(0, 2**32))
def test_a_short_number_is_near_and_so_is_a_product(seed: int) -> None:
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(4, 1_200)) * 10.0 ** generator.integers(-9, 9, (4, 1))
    assert (np.abs(short(values) - values).max(axis=1) <= np.abs(values).max(axis=1) * 2.0**-22).all()
    other = generator.normal(size=(1_200, 2))
    sizes = np.abs(values) @ np.abs(other)
    assert (np.abs(product(values, other) - values @ other) <= 1e-5 * sizes).all()
    assert short(np.zeros((2, 3))).tolist() == [[0.0] * 3] * 2


FIT = """
import json, sys
import numpy as np
from incumbent.classifier.embedded.fitting import fit_model
from incumbent.classifier.embedded.model import model_digest, to_arrays
from tests.classifier.test_exact import Marks, realistic
from tests.classifier.exemplary import SAMPLES, SETTINGS
taxonomy, texts = realistic()
model = fit_model(taxonomy, SETTINGS, SAMPLES, Marks())
answers = model.probabilities([[text] for text in texts[::40]])
print(json.dumps([model_digest(to_arrays(model)), answers.tolist(), len(model.rows)]))
"""


class Marks:
    """An embedder of tests: vectors that follow from the text."""

    name = "marks-1"

    def embed(self, texts: Sequence[str]) -> NDArray[np.int8]:
        rows = [np.random.default_rng(list(text.encode()) or [0]).normal(0, 25, 384) for text in texts]
        return np.clip(np.rint(np.array(rows).reshape(-1, 384)), -127, 127).astype(np.int8)


def realistic() -> tuple[Taxonomy, list[str]]:
    """More exemplars than one tile has, by several hands, with what nobody can tell; and their texts."""
    texts = [f"{verb} {thing} {number}" for number in range(12) for verb in VERBS for thing in TOPICS]
    rows = tuple(
        Exemplar(
            id=f"e-{number // 2}",
            hand=f"hand-{number % 5}",
            language="de" if number % 2 else None,
            turns=(text,),
            exercises=("table",) if "table" in text else ("plain",),
            unknown=("rare",) if number % 7 == 0 else (),
        )
        for number, text in enumerate(texts)
    )
    rare = Exemplar(id="rare", hand="hand-1", turns=("Draw the harbour",), exercises=("rare",))
    patterns = {"table": (r"\btable\b",)}
    known = taxonomy(*(intent(name, patterns=patterns.get(name, ())) for name in ("table", "plain", "rare")))
    return known.with_exemplars((*rows, rare)), texts


VERBS = ("Show", "Put in a table", "Count and add to a table")


def in_a_process(**environment: str) -> object:
    done = subprocess.run(
        [sys.executable, "-c", FIT],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env=os.environ | environment,
    )
    assert "RuntimeWarning" not in done.stderr, done.stderr  # of names of features that numpy does not know
    return json.loads(done.stdout)


def available() -> list[str]:
    """The features of this processor that this numpy can be told to leave alone."""
    numpy = import_module("numpy._core._multiarray_umath")
    return [name for name in numpy.__cpu_dispatch__ if numpy.__cpu_features__.get(name)]


@pytest.fixture(scope="module")
def here() -> object:
    """What a process of this processor finds."""
    return in_a_process(OPENBLAS_NUM_THREADS="1")


@pytest.mark.parametrize(
    ("kernel", "threads", "less"),
    [
        ("Prescott", "1", " ".join(available())),
        ("Haswell", "2", ""),
        *exhaustive([("Zen", "2", ""), ("Sandybridge", "1", ""), ("Nehalem", "2", ""), ("Prescott", "1", "")]),
    ],
)
def test_a_model_has_the_same_bits_on_other_processors(kernel: str, threads: str, less: str, here: object) -> None:
    """As libraries take them for others: kernels of OpenBLAS, numbers of threads, numpy's own code for vectors."""
    environment = {"OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": threads, "NPY_DISABLE_CPU_FEATURES": less}
    assert in_a_process(**environment) == here
