"""Which model a run restores, what counts as a preview, and which models the ledger keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from incumbent.classifier.model import Finding, Identity, InferenceRequest
from incumbent.errors import IncompleteError, UnreadyError
from incumbent.github.facts import StoppedFacts
from incumbent.github.fitted_models import is_preview, model_to_restore
from incumbent.ledger.model import MOST_MODELS, NO_MODELS, ModelRecord, StoredModel

NEW, OLD, OTHER = "aaaaaaaa-1", "aaaaaaaa-0", "bbbbbbbb-0"


def stored(key: str, digest: str = "0") -> StoredModel:
    return StoredModel(key=key, digest=digest * 64, commit="c" * 40, at="2026-01-01T00:00:00Z")


def recorded(*keys: str) -> ModelRecord:
    return ModelRecord(models=tuple(map(stored, keys)))


@dataclass(frozen=True)
class Fitted:
    """A backend with a model of this key, of the platform's ``own`` taxonomy or shipped."""

    key: str
    is_own: bool = True
    usage: None = None

    @property
    def identity(self) -> Identity:
        return Identity(backend="embedded", model="m", prompt="p", samples=1)

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("record", "restored"),
    [
        (NO_MODELS, None),
        (recorded(NEW), NEW),
        (recorded(OLD, NEW), NEW),
        (recorded(OTHER, OLD), OLD),
        (recorded(OTHER), None),
    ],
    ids=["nothing", "the one", "the one, not the latest", "the latest of its kind, for its rows", "none of its kind"],
)
def test_a_run_restores_the_recorded_model_that_helps_most(record: ModelRecord, restored: str | None) -> None:
    assert model_to_restore(NEW, record) == restored


@pytest.mark.parametrize(
    ("backend", "preview"), [(Fitted(NEW), True), (Fitted(OLD), False), (Fitted(NEW, is_own=False), False)]
)
def test_what_nobody_has_recorded_is_a_preview(backend: Fitted, preview: bool) -> None:
    assert is_preview(backend, recorded(OLD)) == preview


def test_the_ledger_keeps_the_latest_models_each_once() -> None:
    record = NO_MODELS
    for number in range(MOST_MODELS + 2):
        record = record.after(stored(f"aaaaaaaa-{number}"))
    assert list(record.digests) == [f"aaaaaaaa-{number}" for number in range(MOST_MODELS + 1, 1, -1)]
    assert record.after(stored("aaaaaaaa-3")) is record, "nothing is written where nothing changes"
    again = record.after(stored("aaaaaaaa-3", "1"))
    assert next(iter(again.digests.items())) == ("aaaaaaaa-3", "1" * 64)
    assert len(again.models) == MOST_MODELS


@pytest.mark.parametrize(("error", "lacks"), [(UnreadyError("model", "x", "y"), "model"), (IncompleteError("x"), None)])
def test_the_document_says_who_has_to_act(error: IncompleteError, lacks: str | None) -> None:
    stopped = StoppedFacts.of(error)
    assert stopped is not None
    assert (stopped.lacks, stopped.exit_code) == (lacks, 3)
