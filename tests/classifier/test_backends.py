"""Which backend the config names."""

from __future__ import annotations

from pathlib import Path

import pytest

from incumbent.classifier.backends import make_backend
from incumbent.classifier.caching_backend import RememberingBackend
from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.errors import UsageError
from incumbent.taxonomy.config import ClassifierSettings
from incumbent.taxonomy.model import Taxonomy
from tests.classifier.factories import answers, openai_settings, request
from tests.factories import SHIPPED

OPENAI = openai_settings(key_variable="NO_SUCH_KEY")


def settings(**overrides: object) -> ClassifierSettings:
    return SHIPPED.classifier.model_copy(update=overrides)


def test_the_shipped_config_names_the_embedded_backend(exemplary: Taxonomy) -> None:
    backend = make_backend(SHIPPED.classifier, exemplary, ModelCache(None))
    assert isinstance(backend, EmbeddedBackend)
    assert backend.identity.samples == SHIPPED.classifier.samples


def test_models_are_kept_in_the_users_cache_folder_unless_another_is_given(exemplary: Taxonomy, tmp_path: Path) -> None:
    plain = settings(samples=1, embedded=SHIPPED.classifier.embedded.model_copy(update={"embedding": "none"}))
    for cache, folder in ((None, tmp_path / "user"), (ModelCache(tmp_path / "given"), tmp_path / "given")):
        backend = make_backend(plain, exemplary, cache, {"INCUMBENT_CACHE": str(tmp_path / "user")})
        answers(backend, request("q", capabilities=tuple(exemplary.by_id)))
        kept = {path for path in folder.glob("*.npz") if not path.name.startswith("embedded-texts-")}
        assert len(kept) == 1


def test_the_openai_backend_is_made_without_a_key_and_wants_one_when_asked(exemplary: Taxonomy) -> None:
    backend = make_backend(settings(backend="openai", openai=OPENAI), exemplary, None, {})
    assert isinstance(backend, RememberingBackend)
    with pytest.raises(UsageError, match="NO_SUCH_KEY"):
        answers(backend, request("q", capabilities=tuple(exemplary.by_id)))


def test_the_openai_backend_wants_its_settings(exemplary: Taxonomy) -> None:
    with pytest.raises(UsageError, match=r"classifier\.openai"):
        make_backend(settings(backend="openai", openai=None), exemplary)
