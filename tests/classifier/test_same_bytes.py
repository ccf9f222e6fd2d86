"""The same bytes on every processor: kernels for other makes, one and two threads, alone or together, plain numpy.

Other makes are stood in for by OpenBLAS's kernels for them (where it has none for a name it takes the nearest), and by
numpy without what it finds here; real ones run this test in the CI of the repository.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from itertools import product

import pytest

from incumbent.classifier.embedded.backend import SHIPPED, EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.embedding import ARITHMETIC, E5Embedder
from incumbent.classifier.embedded.model import METHOD, model_digest, to_arrays
from incumbent.classifier.embedded.weights import SHIPPED_DIGEST, find_weights, required_weights
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.config import load_config
from incumbent.taxonomy.loading import load_taxonomy
from tests.factories import REPOSITORY
from tests.variants import exhaustive

pytestmark = pytest.mark.skipif(
    find_weights() is None and "CI" not in os.environ, reason="no package brings the weights here"
)

CORES = ("Haswell", "Zen", "Sandybridge", "Nehalem", "Prescott")
DIGESTS = {
    "vectors": "6da48c549b796a0781e774217c8baf59f8cce3ebfe533bd3c6539fe021b1d6de",
    "findings": "6b1682a769c50ec328af32a62d3e5be45acc3d32f3314ecedcffbb89c473c7c0",
    "model": "c5509b5df36648e9f2dc9164ef053ec48d47e5c3d5dca3417968fdfca9986a8a",
}
"""Of 60 texts, on every machine.  Other vectors need another ARITHMETIC, other findings or models another METHOD."""
OF = ("kernel-ridge-8", 1)
"""The METHOD and the ARITHMETIC that these are of."""

LONG = pytest.mark.skipif("INCUMBENT_LONG" not in os.environ, reason="INCUMBENT_LONG is not set: it takes long")


def digests(number: int, together: int, environment: Mapping[str, str], of: str = "all") -> dict[str, str]:
    command = [sys.executable, "-m", "tests.classifier.same_bytes", str(number), str(together), of]
    run = subprocess.run(
        command, cwd=REPOSITORY, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, str] = json.loads(run.stdout)
    return found


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
        *exhaustive(
            [
                ("Prescott", 1, 32, True),
                ("Haswell", 2, 1, False),
                ("Zen", 2, 32, True),
                ("Sandybridge", 1, 1, False),
                ("Nehalem", 2, 32, False),
                ("Prescott", 2, 1, False),
            ]
        ),
    ],
)
def test_vectors_findings_and_fitted_model_are_the_same_bytes(
    core: str, threads: int, together: int, plain: bool
) -> None:
    assert digests(60, together, environment(core, threads, plain)) == DIGESTS


def test_the_digests_are_those_of_this_method() -> None:
    assert (METHOD, ARITHMETIC) == OF


@LONG
def test_all_combinations_over_many_texts() -> None:
    found = {
        (core, threads, together, plain): digests(300, together, environment(core, threads, plain), "vectors")
        for core, threads, together, plain in product(CORES, (1, 2), (1, 32), (False, True))
    }
    assert len({json.dumps(each) for each in found.values()}) == 1, found


@LONG
def test_the_shipped_model_is_what_a_fit_of_the_shipped_taxonomy_gives() -> None:
    tree = WorkingTree(REPOSITORY)
    taxonomy = load_taxonomy(tree)
    settings = load_config(tree, frozenset(taxonomy.by_id)).classifier
    embedder = E5Embedder(required_weights(SHIPPED_DIGEST))
    backend = EmbeddedBackend(taxonomy, settings.embedded, settings.samples, ModelCache(None), embedder)
    shipped = SHIPPED.load(backend.key)
    assert shipped is not None
    assert model_digest(to_arrays(backend.fit_anew())) == model_digest(shipped)
