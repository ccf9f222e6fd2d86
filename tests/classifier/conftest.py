"""What several of the classifier's tests share: a fitted backend on a small taxonomy, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from incumbent.classifier.backends import make_backend
from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.model import Backend
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.loading import load_taxonomy
from incumbent.taxonomy.model import Taxonomy
from tests.classifier.exemplary import SAMPLES, SETTINGS, exemplary_taxonomy
from tests.factories import REPOSITORY, SHIPPED


@pytest.fixture(scope="session")
def shipped() -> Taxonomy:
    return load_taxonomy(WorkingTree(REPOSITORY))


@pytest.fixture(scope="session")
def shipped_backend(shipped: Taxonomy, tmp_path_factory: pytest.TempPathFactory) -> Backend:
    """The embedded backend as it is shipped: fitting it takes long enough to be done once."""
    return make_backend(SHIPPED.classifier, shipped, ModelCache(tmp_path_factory.mktemp("shipped")))


@pytest.fixture(scope="session")
def exemplary() -> Taxonomy:
    return exemplary_taxonomy()


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that holds the fitted model once ``fitted`` was asked anything."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def fitted(exemplary: Taxonomy, model_folder: Path) -> EmbeddedBackend:
    return EmbeddedBackend(exemplary, SETTINGS, SAMPLES, ModelCache(model_folder))
