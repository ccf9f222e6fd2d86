"""Which inference backend the config names."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from bot.classifier.embedded.backend import EmbeddedBackend
from bot.classifier.embedded.cache import ModelCache
from bot.classifier.embedded.embedding import installed_embedder
from bot.classifier.finding_files import FindingFiles
from bot.classifier.findings import FindingsStore
from bot.classifier.model import Backend, Stages, silent
from bot.classifier.remembering import RememberingBackend
from bot.config import ClassifierSettings, OpenAISettings
from bot.errors import IncompleteError, UsageError
from bot.personal_data.detector import Detector
from bot.taxonomy.model import Taxonomy
from bot.user_cache import user_cache_folder

if TYPE_CHECKING:
    from bot.classifier.language_model.remembered import RememberedAbilities

Found = TypeVar("Found")


@runtime_checkable
class Batching(Protocol):
    """A backend that asks in batches."""

    remarks: Mapping[str, None]

    def settle(self, wait: bool, tell: Callable[[str], None]) -> bool:
        """Submit what was collected; ``True`` if all is to be asked again.

        Raises :class:`IncompleteError` while answers are missing.
        """
        ...


def make_backend(
    settings: ClassifierSettings,
    taxonomy: Taxonomy,
    cache: ModelCache | None = None,
    environment: Mapping[str, str] = os.environ,
    store: FindingsStore | None = None,
    stages: Stages = silent,
    *,
    names: bool = False,
    batch: bool = False,
) -> Backend:
    """The backend that ``settings`` name; nothing is fitted, read or connected before it is asked.

    ``cache`` keeps fitted models (default: the user's cache folder); ``environment`` holds keys; ``store`` keeps what
    a language model found (default: that folder too); ``stages`` shows the progress of fitting.  ``names``: names of
    people are masked too before a query is sent.  ``batch``: what has to be asked goes in batches (:func:`batched`).
    Raises :class:`UsageError` where ``settings`` name no endpoint, or nothing can be kept, and that is needed.
    """
    folder = user_cache_folder(environment) if cache is None else cache.folder
    if settings.backend == "openai":
        if settings.openai is None:
            raise UsageError("the config names the backend openai and has no `classifier.openai`; add it")
        from bot.classifier.language_model.backend import LanguageModelBackend
        from bot.classifier.language_model.remembered import RememberedAbilities

        memory, detector = RememberedAbilities(folder), Detector(names=names)
        model: Backend
        if batch:
            model = _batched(taxonomy, settings.openai, settings.samples, environment, memory, folder, detector)
        else:
            model = LanguageModelBackend(taxonomy, settings.openai, settings.samples, environment, memory, detector)
        return RememberingBackend(
            model, taxonomy, FindingFiles(folder) if store is None else store, settings.openai.conditions
        )
    if batch:
        raise UsageError("--batch: the config names the backend embedded, which asks no endpoint; leave --batch out")
    return EmbeddedBackend(
        taxonomy, settings.embedded, settings.samples, cache or ModelCache(folder), installed_embedder(), stages
    )


def _batched(
    taxonomy: Taxonomy,
    settings: OpenAISettings,
    samples: int,
    environment: Mapping[str, str],
    memory: RememberedAbilities,
    folder: Path | None,
    detector: Detector,
) -> Backend:
    from bot.classifier.language_model.batch_records import BatchRecords
    from bot.classifier.language_model.batched import BatchedBackend

    if folder is None:
        raise UsageError("--batch needs a folder that is there in the next run; name one as INCUMBENT_CACHE")
    records = BatchRecords(folder, settings.batch.keep_days)
    return BatchedBackend(taxonomy, settings, samples, environment, memory, records, detector)


def through_batches(
    backend: Backend, work: Callable[[], Found], wait: bool, tell: Callable[[str], None]
) -> tuple[Found, IncompleteError | None]:
    """What ``work`` finds by asking ``backend``, and why some of it is missing: it waits for batches.

    With ``wait`` it is done again until nothing is.  ``tell`` hears how batches stand, and what is wrong with them.
    A backend without batches works once.
    """
    inner = backend.inner if isinstance(backend, RememberingBackend) else backend
    if not isinstance(inner, Batching):
        return work(), None
    pending: IncompleteError | None = None
    again = True
    while again:
        found = work()
        try:
            again = inner.settle(wait, tell)
        except IncompleteError as error:
            pending, again = error, False
    for remark in inner.remarks:
        tell(remark)
    return found, pending
