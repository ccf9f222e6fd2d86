"""The same bytes on every processor: kernels for five makes, one and two threads, any company, any dispatch of numpy's.

The other makes are stood in for by OpenBLAS's kernels for them and by numpy without what it finds here; real ones run
this test in the CI of the repository.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from itertools import product

import pytest

from bot.classifier.embedded.weights import find_weights
from tests.factories import REPOSITORY

pytestmark = pytest.mark.skipif(find_weights() is None, reason="no package brings the weights here")

CORES = ("Haswell", "Zen", "Sandybridge", "Nehalem", "Prescott")
DIGEST = "bc1385c4d54b17ab2dc1c9849f1b3e69a051dd47112255a742943ed927576114"
"""Of 60 texts, on every machine."""


def digest(number: int, together: int, environment: Mapping[str, str]) -> str:
    command = [sys.executable, "-m", "tests.classifier.same_bytes", str(number), str(together)]
    run = subprocess.run(
        command, cwd=REPOSITORY, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def environment(core: str, threads: int, plain: bool) -> dict[str, str]:
    found = {"OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": str(threads)}
    return found | {"NPY_DISABLE_CPU_FEATURES": " ".join(dispatched())} if plain else found


def dispatched() -> Iterable[str]:
    """What numpy found beyond its baseline, and uses if it may."""
    import numpy._core as core

    parts = core._multiarray_umath  # type: ignore[attr-defined]
    return [name for name in parts.__cpu_dispatch__ if parts.__cpu_features__[name]]


@pytest.mark.parametrize(
    ("core", "threads", "together", "plain"),
    [
        ("Haswell", 1, 32, False),
        ("Haswell", 2, 1, False),
        ("Zen", 2, 32, True),
        ("Sandybridge", 1, 1, False),
        ("Nehalem", 2, 32, False),
        ("Prescott", 1, 32, True),
        ("Prescott", 2, 1, False),
    ],
)
def test_vectors_and_fitted_model_are_the_same_bytes(core: str, threads: int, together: int, plain: bool) -> None:
    assert digest(60, together, environment(core, threads, plain)) == DIGEST


@pytest.mark.skipif(
    "INCUMBENT_LONG" not in os.environ, reason="INCUMBENT_LONG is not set: this takes a quarter of an hour"
)
def test_all_combinations_over_many_texts() -> None:
    found = {
        (core, threads, together, plain): digest(300, together, environment(core, threads, plain))
        for core, threads, together, plain in product(CORES, (1, 2), (1, 32), (False, True))
    }
    assert len(set(found.values())) == 1, found
