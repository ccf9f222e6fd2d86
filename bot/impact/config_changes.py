"""What differs between two configs, key by key (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from bot.config import Curation
from bot.impact.model import ConfigChange


def config_changes(old: Curation, new: Curation) -> tuple[ConfigChange, ...]:
    """The keys whose value differs, as paths such as ``knobs.competence_bar``; sorted."""
    before, after = dict(_leaves(old.model_dump(mode="json"), ())), dict(_leaves(new.model_dump(mode="json"), ()))
    keys = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    return tuple(
        ConfigChange(key=".".join(key), before=_told(before.get(key)), after=_told(after.get(key))) for key in keys
    )


def _leaves(value: JsonValue, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], JsonValue]]:
    """The values that are no mappings, by their paths; what is null is as good as absent."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif value is not None:
        yield path, value


def _told(value: JsonValue) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)
