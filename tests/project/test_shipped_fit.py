"""The fit that ships is that of the shipped taxonomy."""

from __future__ import annotations

from pathlib import Path

from incumbent.classifier.embedded.backend import SHIPPED, EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.embedding import E5Embedder
from incumbent.classifier.embedded.weights import find_weights
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.config import load_config
from incumbent.taxonomy.loading import load_taxonomy
from tests.factories import REPOSITORY

AGAIN = "python -m dev.fit"


MOST_BYTES = 750
"""For each exemplar."""


def test_nothing_is_fitted_at_first_use() -> None:
    tree = WorkingTree(REPOSITORY)
    taxonomy = load_taxonomy(tree)
    settings = load_config(tree, frozenset(taxonomy.by_id)).classifier
    embedder = E5Embedder(find_weights() or Path())
    backend = EmbeddedBackend(taxonomy, settings.embedded, settings.samples, ModelCache(None), embedder)
    assert SHIPPED.load(backend.key) is not None, f"the shipped fit is of another taxonomy or method: {AGAIN}"
    assert backend.fit().capabilities
    assert backend.handed_over() is None
    assert SHIPPED.file(backend.key).stat().st_size <= MOST_BYTES * len(backend.fit().rows)


def test_no_other_fit_ships() -> None:
    assert SHIPPED.folder is not None
    assert len(list(SHIPPED.folder.glob("*.npz"))) == 1, AGAIN
