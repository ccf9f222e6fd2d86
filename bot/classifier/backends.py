"""Which inference backend the config names."""

from __future__ import annotations

import os
from collections.abc import Mapping

from bot.classifier.embedded.backend import EmbeddedBackend
from bot.classifier.embedded.cache import ModelCache, user_cache_folder
from bot.classifier.model import Backend
from bot.classifier.openai import OpenAIBackend
from bot.config import ClassifierSettings
from bot.errors import UsageError
from bot.taxonomy.model import Taxonomy


def make_backend(
    settings: ClassifierSettings,
    taxonomy: Taxonomy,
    cache: ModelCache | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Backend:
    """The backend that ``settings`` name; nothing is fitted, read or connected before it is asked.

    ``cache`` keeps fitted models (default: the user's cache folder); ``environment`` holds keys.
    """
    if settings.backend == "openai":
        if settings.openai is None:
            raise UsageError("the config names the backend openai and has no `classifier.openai`; add it")
        return OpenAIBackend(taxonomy, settings.openai, settings.samples, environment)
    if cache is None:
        cache = ModelCache(user_cache_folder(environment))
    return EmbeddedBackend(taxonomy, settings.embedded, settings.samples, cache)
