"""A cache of endpoints' abilities between runs: one small file per endpoint and model.

It is in the user's cache folder; on GitHub it is on the ledger branch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from bot.classifier.language_model.endpoint_features import DEFAULT_ENDPOINT, PROBING, Abilities
from bot.config import OpenAISettings
from bot.files.atomic_write import read_model, remove_whole, write_whole
from bot.files.validation import FileModel
from bot.text.digests import digest

_LARGEST: Final = 10_000
_DAY: Final = 86_400


class KeptAbilities(FileModel):
    """What an endpoint was found to be able to do, and when."""

    abilities: Abilities
    found: Annotated[int, Field(ge=0, description="when, in seconds since 1970 (UTC)")]


class RememberedAbilities:
    """A memory in ``folder``, and of abilities ``known`` from elsewhere; without either nothing is remembered.

    Unreadable entries count as missing, and so do those that are older than the config allows.  ``learnt`` are this
    run's findings, by key: ``None`` for known abilities that turned out to be wrong.
    """

    def __init__(
        self,
        folder: Path | None,
        known: Mapping[str, KeptAbilities] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._known = dict(known or {})
        self._clock = clock
        self.learnt: dict[str, KeptAbilities | None] = {}

    def recall(self, known: Mapping[str, KeptAbilities]) -> None:
        """Use abilities ``known`` from elsewhere before those in the folder."""
        self._known.update(known)

    def load(self, settings: OpenAISettings, samples: int) -> Abilities | None:
        """The known abilities of the endpoint and model in ``settings``, for this number of ``samples``."""
        key = _key(settings, samples)
        kept = self._known.get(key)
        if kept is None and self._folder is not None:
            kept = read_model(_file(self._folder, key), KeptAbilities, _LARGEST)
        # The age of a future entry is undefined.
        fresh = kept is not None and 0 <= self._clock() - kept.found <= settings.abilities_days * _DAY
        return kept.abilities if kept is not None and fresh else None

    def store(self, settings: OpenAISettings, samples: int, abilities: Abilities) -> None:
        """Save ``abilities``, if the folder can be written."""
        key = _key(settings, samples)
        kept = KeptAbilities(abilities=abilities, found=int(self._clock()))
        self._known[key] = self.learnt[key] = kept
        if self._folder is not None:
            write_whole(_file(self._folder, key), kept.model_dump_json().encode())

    def forget(self, settings: OpenAISettings, samples: int) -> None:
        """Delete the abilities of that endpoint and model: they refuse one of them."""
        key = _key(settings, samples)
        self._known.pop(key, None)
        self.learnt[key] = None
        if self._folder is not None:
            remove_whole(_file(self._folder, key))


def _key(settings: OpenAISettings, samples: int) -> str:
    parts = [settings.endpoint or DEFAULT_ENDPOINT, settings.api_version, settings.model, samples, PROBING]
    return digest(parts)


def _file(folder: Path, key: str) -> Path:
    return folder / f"endpoint-{key}.json"
