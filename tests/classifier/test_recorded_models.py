"""A restored model counts by its recorded digest: whatever else lies in its place is refused before any use."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from incumbent.classifier.embedded import backend as backends
from incumbent.classifier.embedded import cache as caches
from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.embedded.cache import Arrays, ModelCache
from incumbent.classifier.embedded.model import model_digest
from incumbent.classifier.embedded.recorded import RecordedModels
from incumbent.errors import UnreadyError
from incumbent.taxonomy.model import Taxonomy
from tests.classifier.exemplary import SAMPLES, SETTINGS
from tests.classifier.test_embedded_backend import refused


@pytest.fixture
def model(fitted: EmbeddedBackend) -> Arrays:
    return fitted.handed_over() or {}


def opened(
    taxonomy: Taxonomy,
    digests: dict[str, str],
    restored: Path,
    said: list[str],
    own: Path | None = None,
) -> EmbeddedBackend:
    """The backend of a run with these records; it may not fit anything."""
    recorded = RecordedModels(
        digests=digests,
        restored=ModelCache(restored),
        record="the record",
        way_out="make it again",
        refused=said.append,
    )
    return EmbeddedBackend(taxonomy, SETTINGS, SAMPLES, ModelCache(own), stages=refused, recorded=recorded)


def altered(file: Path, key: str, model: Arrays) -> None:
    ModelCache(file.parent).store(key, {**model, "weights": model["weights"] + np.float32(1e-6)})


def of_another_key(file: Path, key: str, model: Arrays) -> None:
    ModelCache(file.parent).store(f"{key[:-1]}_", model)
    ModelCache(file.parent).file(f"{key[:-1]}_").rename(file)


def oversized(file: Path, key: str, model: Arrays) -> None:
    os.truncate(file, caches.LARGEST_FILE + 1)


def of_others(file: Path, key: str, model: Arrays) -> None:
    file.chmod(0o666)


def cut(file: Path, key: str, model: Arrays) -> None:
    os.truncate(file, file.stat().st_size // 2)


def a_link(file: Path, key: str, model: Arrays) -> None:
    file.rename(file.with_suffix(".there"))
    file.symlink_to(file.with_suffix(".there"))


def test_the_recorded_model_is_used_and_not_fitted_again(
    fitted: EmbeddedBackend, exemplary: Taxonomy, model: Arrays, tmp_path: Path
) -> None:
    ModelCache(tmp_path).store(fitted.key, model)
    said: list[str] = []
    backend = opened(exemplary, {fitted.key: model_digest(model)}, tmp_path, said)
    assert backend.fit().digests == fitted.fit().digests
    assert said == []


@pytest.mark.parametrize("attack", [altered, of_another_key, oversized, of_others, cut, a_link])
def test_any_other_file_is_refused_before_any_use(
    fitted: EmbeddedBackend,
    exemplary: Taxonomy,
    model: Arrays,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    attack: Callable[[Path, str, Arrays], None],
) -> None:
    cache = ModelCache(tmp_path)
    cache.store(fitted.key, model)
    attack(cache.file(fitted.key), fitted.key, model)
    used: list[Arrays] = []

    def heard(arrays: Arrays, *_: object) -> None:
        used.append(arrays)

    monkeypatch.setattr(backends, "from_arrays", heard)
    said: list[str] = []
    with pytest.raises(AssertionError, match="it is fitted again"):
        opened(exemplary, {fitted.key: model_digest(model)}, tmp_path, said).fit()
    assert used == []
    assert said
    assert set(said) == {said[0]}
    assert said[0].startswith(f"embedded-{fitted.key}.npz in the Action's cache is not used: ")


def test_this_machines_own_cache_counts_by_the_record_too(
    fitted: EmbeddedBackend, exemplary: Taxonomy, model: Arrays, tmp_path: Path
) -> None:
    here = tmp_path / "user"
    altered(ModelCache(here).file(fitted.key), fitted.key, model)
    with pytest.raises(AssertionError, match="it is fitted again"):
        opened(exemplary, {fitted.key: model_digest(model)}, tmp_path, [], own=here).fit()


def test_a_restored_model_without_a_record_is_not_used(
    fitted: EmbeddedBackend, exemplary: Taxonomy, model: Arrays, tmp_path: Path
) -> None:
    ModelCache(tmp_path).store(fitted.key, model)
    with pytest.raises(AssertionError, match="it is fitted again"):
        opened(exemplary, {"of another taxonomy": "0" * 64}, tmp_path, []).fit()


def test_a_fit_that_differs_from_the_record_is_refused_and_not_kept(
    fitted: EmbeddedBackend, exemplary: Taxonomy, tmp_path: Path
) -> None:
    recorded = RecordedModels(
        digests={fitted.key: "f" * 64},
        restored=ModelCache(None),
        record="the record",
        way_out="make it again",
        refused=lambda _: None,
    )
    own = ModelCache(tmp_path)
    with pytest.raises(
        UnreadyError, match=r"has the digest [0-9a-f]{12} here, and f{12} in the record.*\. make it again"
    ):
        EmbeddedBackend(exemplary, SETTINGS, SAMPLES, own, recorded=recorded).fit()
    assert not own.holds(fitted.key)
