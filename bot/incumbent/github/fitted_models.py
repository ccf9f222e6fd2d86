"""Which fitted model a run uses (pure): where the platform's taxonomy is its own, the one that the ledger records.

The model of the shipped taxonomy comes with the product, and needs none of this.
"""

from __future__ import annotations

from typing import Final, Literal, Protocol, TypeAlias

from incumbent.classifier.embedded.weights import WAYS_OUT as WEIGHTS_WAYS_OUT
from incumbent.classifier.exemplars import FittedBackend
from incumbent.classifier.model import Backend
from incumbent.ledger.model import MODELS, ModelRecord
from incumbent.pipeline.review import Platform

ModelUse: TypeAlias = Literal["review", "default-branch", "preview"]
"""What a model is for: verdicts on a pull request, which rest on a recorded one alone; the default branch, whose
reviewed files may be fitted before that is recorded; or a look at files that no one has reviewed, kept nowhere."""

RECORD: Final = f"`{MODELS}` of the ledger"
WAY_OUT: Final = (
    "The job `fit` of the workflow Incumbent makes it on the default branch; start it by hand (Actions → Incumbent → "
    "Run workflow)"
)
WAYS_OUT: Final = {"weights": WEIGHTS_WAYS_OUT, "model": WAY_OUT}
"""What the platform has to do, by what its classifier lacks."""


class OpenBackend(Protocol):
    """Opens the backend of a platform for a use; ``record`` has the models that count."""

    def __call__(self, platform: Platform, record: ModelRecord, use: ModelUse, /) -> Backend:
        """The backend; nothing is fitted yet."""
        ...


def model_to_restore(key: str, record: ModelRecord) -> str | None:
    """The recorded model under ``key``, or else the latest of its kind, whose rows spare a fit most of its work."""
    kind = key.partition("-")[0]
    known = [item.key for item in record.models if item.key.partition("-")[0] == kind]
    return key if key in known else next(iter(known), None)


def is_preview(backend: Backend, record: ModelRecord) -> bool:
    """Whether what ``backend`` says rests on a model that is not on record."""
    return isinstance(backend, FittedBackend) and backend.is_own and backend.key not in record.digests
