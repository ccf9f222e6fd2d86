"""What endpoints were found to be able to do, in the user's cache folder: one small file an endpoint and model."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Final

from bot.classifier.language_model.abilities import Abilities
from bot.classifier.language_model.endpoint import DEFAULT_ENDPOINT
from bot.config import OpenAISettings
from bot.whole_file import read_model, write_whole

_LARGEST: Final = 10_000


class RememberedAbilities:
    """A memory in ``folder``; without one nothing is remembered, and what cannot be read is as good as none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def load(self, settings: OpenAISettings, samples: int) -> Abilities | None:
        """What is known of the endpoint and model that ``settings`` name, asked for so many ``samples``."""
        path = self._file(settings, samples)
        return None if path is None else read_model(path, Abilities, _LARGEST)

    def store(self, settings: OpenAISettings, samples: int, abilities: Abilities) -> None:
        """Remember ``abilities``, if the folder can be written."""
        path = self._file(settings, samples)
        if path is not None:
            write_whole(path, abilities.model_dump_json().encode())

    def _file(self, settings: OpenAISettings, samples: int) -> Path | None:
        if self._folder is None:
            return None
        told = json.dumps([settings.endpoint or DEFAULT_ENDPOINT, settings.api_version, settings.model, samples])
        return self._folder / f"endpoint-{hashlib.sha256(told.encode()).hexdigest()[:24]}.json"
