"""Which inference backend the config names."""

from __future__ import annotations

import os
from collections.abc import Mapping

from bot.classifier.embedded.backend import EmbeddedBackend
from bot.classifier.embedded.cache import ModelCache
from bot.classifier.embedded.embedding import installed_embedder
from bot.classifier.finding_files import FindingFiles
from bot.classifier.findings import FindingsStore
from bot.classifier.model import Backend, Stages, silent
from bot.classifier.remembering import RememberingBackend
from bot.config import ClassifierSettings
from bot.errors import UsageError
from bot.personal_data.detector import Detector
from bot.taxonomy.model import Taxonomy
from bot.user_cache import user_cache_folder


def make_backend(
    settings: ClassifierSettings,
    taxonomy: Taxonomy,
    cache: ModelCache | None = None,
    environment: Mapping[str, str] = os.environ,
    store: FindingsStore | None = None,
    stages: Stages = silent,
    *,
    names: bool = False,
) -> Backend:
    """The backend that ``settings`` name; nothing is fitted, read or connected before it is asked.

    ``cache`` keeps fitted models (default: the user's cache folder); ``environment`` holds keys; ``store`` keeps what
    a language model found (default: that folder too); ``stages`` shows the progress of fitting.  ``names``: names of
    people are masked too before a query is sent.
    """
    folder = user_cache_folder(environment) if cache is None else cache.folder
    if settings.backend == "openai":
        if settings.openai is None:
            raise UsageError("the config names the backend openai and has no `classifier.openai`; add it")
        from bot.classifier.language_model.backend import LanguageModelBackend
        from bot.classifier.language_model.remembered import RememberedAbilities

        model = LanguageModelBackend(
            taxonomy,
            settings.openai,
            settings.samples,
            environment,
            RememberedAbilities(folder),
            Detector(names=names),
        )
        return RememberingBackend(
            model, taxonomy, FindingFiles(folder) if store is None else store, settings.openai.conditions
        )
    return EmbeddedBackend(
        taxonomy, settings.embedded, settings.samples, cache or ModelCache(folder), installed_embedder(), stages
    )
