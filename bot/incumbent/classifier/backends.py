"""Makes the inference backend that the config names, with its stores in the user's cache folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from incumbent.classifier.caching_backend import FindingsInMemory, FindingsStore, HaltedBackend, RememberingBackend
from incumbent.classifier.embedded.backend import EmbeddedBackend, embedded_identity
from incumbent.classifier.embedded.cache import ModelCache
from incumbent.classifier.embedded.embedding import E5Embedder
from incumbent.classifier.embedded.weights import name_of, required_weights, verify
from incumbent.classifier.model import Backend, Findings, Identity, Stages, silent
from incumbent.errors import IncumbentError, UsageError
from incumbent.files.user_cache import read_model, user_cache_folder, write_whole
from incumbent.taxonomy.config import ClassifierSettings, EmbeddedSettings, OpenAISettings
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.personal_data.detector import Detector

if TYPE_CHECKING:
    from incumbent.classifier.embedded.recorded import RecordedModels
    from incumbent.classifier.language_model.abilities import RememberedAbilities


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
    preview: bool = False,
    recorded: RecordedModels | None = None,
) -> Backend:
    """The backend in ``settings``; nothing is fitted, read or connected before it is asked.

    ``cache`` is the folder for fitted models (default: the user's cache folder); ``environment`` contains keys;
    ``store`` keeps a language model's findings (default: that folder, too); ``stages`` shows the progress of fitting.
    ``names``: people's names are masked, too, before a query is sent.  ``batch``: queries are asked in batches
    (``_batched``).  ``preview``: a quick model will do where the exemplars differ little from those of a fitted one.
    ``recorded``: of the platform's own fitted models only these count.

    Raises :class:`UsageError` if ``settings`` name no endpoint, or if batches are asked for and nothing can be stored,
    and :class:`WeightsError` if the weights that they name are not installed.
    """
    folder = user_cache_folder(environment) if cache is None else cache.folder
    if settings.backend == "openai":
        if settings.openai is None:
            raise UsageError("the config names the backend openai and has no `classifier.openai`; add it")
        from incumbent.classifier.language_model.abilities import RememberedAbilities
        from incumbent.classifier.language_model.backend import LanguageModelBackend

        memory, detector = RememberedAbilities(folder), Detector(names=names)
        model: Backend
        if batch:
            model = _batched(taxonomy, settings.openai, settings.samples, environment, memory, folder, detector)
        else:
            model = LanguageModelBackend(taxonomy, settings.openai, settings.samples, environment, memory, detector)
        return RememberingBackend(
            model, taxonomy, FindingFiles(folder) if store is None else store, settings.openai.conditions, memory
        )
    if batch:
        raise UsageError("--batch: the config names the backend embedded, which asks no endpoint; leave --batch out")
    embedder = named_embedder(settings.embedded)
    kept = cache or ModelCache(folder)
    return EmbeddedBackend(
        taxonomy, settings.embedded, settings.samples, kept, embedder, stages, preview=preview, recorded=recorded
    )


def named_embedder(settings: EmbeddedSettings) -> E5Embedder | None:
    """The embedder by the weights that ``settings`` name; ``None`` if they name none, and then nothing is looked for.

    Raises :class:`WeightsError` if the weights are not installed.
    """
    return None if settings.weights is None else E5Embedder(required_weights(settings.weights))


def verify_weights(settings: ClassifierSettings) -> None:
    """Raise :class:`WeightsError` unless the weights that ``settings`` name, if any, are installed and whole.

    This reads the whole file, so that long work does not begin in vain.
    """
    digest = settings.embedded.weights
    if settings.backend == "embedded" and digest is not None:
        verify(required_weights(digest), digest)


def halted_backend(settings: ClassifierSettings, error: IncumbentError) -> HaltedBackend:
    """In place of the embedded backend that ``settings`` name, where ``error`` keeps it from judging anything."""
    digest = settings.embedded.weights
    name = None if digest is None else name_of(digest)
    return HaltedBackend(embedded_identity(settings.embedded, settings.samples, name), None, error)


def unasked_backend(
    settings: ClassifierSettings, taxonomy: Taxonomy, stopped: IncumbentError, *, names: bool = False
) -> Backend:
    """The backend that ``settings`` name, for a job that asks nothing: what is not known already is ``stopped``.

    It has the identity and the conditions of the one that :func:`make_backend` makes; ``names`` is as there.
    """
    if settings.backend != "openai" or settings.openai is None:
        return halted_backend(settings, stopped)
    from incumbent.classifier.language_model.prompt import Prompts

    version = Prompts(taxonomy, settings.openai, Detector(names=names)).version
    identity = Identity(backend="openai", model=settings.openai.model, prompt=version, samples=settings.samples)
    inner = HaltedBackend(identity, None, stopped)
    return RememberingBackend(inner, taxonomy, FindingsInMemory({}), settings.openai.conditions)


def _batched(
    taxonomy: Taxonomy,
    settings: OpenAISettings,
    samples: int,
    environment: Mapping[str, str],
    memory: RememberedAbilities,
    folder: Path | None,
    detector: Detector,
) -> Backend:
    from incumbent.classifier.language_model.batch_endpoint import BatchRecords
    from incumbent.classifier.language_model.batched import BatchedBackend

    if folder is None:
        raise UsageError("--batch needs a folder that is there in the next run; name one as INCUMBENT_CACHE")
    records = BatchRecords(folder, settings.batch.keep_days)
    return BatchedBackend(taxonomy, settings, samples, environment, memory, records, detector)


_LARGEST: Final = 5_000_000


class FindingFiles:
    """A store in ``folder``; without one, or if it cannot be written, findings last as long as the run.

    An invalid file counts as missing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._own: dict[str, Findings] = {}

    def get(self, key: str) -> Findings:
        """The findings of this run or an earlier one; empty if there are none."""
        if key in self._own or self._folder is None:
            return self._own.get(key) or Findings()
        return read_model(self._file(self._folder, key), Findings, _LARGEST) or Findings()

    def put(self, key: str, findings: Findings) -> None:
        """Save ``findings`` for this and later runs."""
        self._own[key] = findings
        if self._folder is not None:
            write_whole(self._file(self._folder, key), findings.model_dump_json().encode())

    @staticmethod
    def _file(folder: Path, key: str) -> Path:
        return folder / "findings" / key[:2] / f"{key}.json"
