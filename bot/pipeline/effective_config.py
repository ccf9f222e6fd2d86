"""The config in effect, value by value, and the file and line that each comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from bot.config import DEFAULTS, REVIEWED_FILES, Curation
from bot.files.documents import Document, Path, parse_yaml
from bot.files.snapshot import Snapshot

_NOTHING: Final = object()


class EffectiveValue(BaseModel):
    """The value of one key, and where it comes from."""

    model_config = ConfigDict(frozen=True)

    key: str = Field(description="the keys that lead to it, joined by dots, as in messages")
    path: tuple[str, ...] = Field(description="the same as a list, since the id of a capability contains dots")
    value: JsonValue = Field(description="the value in effect; an empty section is a value")
    is_default: bool = Field(description="whether the platform's file leaves the key out")
    file: str = Field(description="the platform's config, or the shipped defaults")
    line: int | None = Field(description="counts from 1; null where the value has no line")


class EffectiveConfig(BaseModel):
    """The config in effect, in the order of the config's schema."""

    model_config = ConfigDict(frozen=True)

    file: str = Field(description="the platform's config")
    defaults: str = Field(description="the defaults that ship with the product")
    values: tuple[EffectiveValue, ...]


def effective_config(config: Curation, snapshot: Snapshot, path: str) -> EffectiveConfig:
    """The values of ``config``, which was read from ``path`` of ``snapshot``."""
    document = parse_yaml(snapshot.read(path, REVIEWED_FILES), snapshot.name(path), REVIEWED_FILES)
    return EffectiveConfig(file=document.file, defaults=DEFAULTS.file, values=tuple(_values(config, document)))


def _values(config: Curation, document: Document) -> Iterator[EffectiveValue]:
    """The values of ``config``, which was read from ``document``.

    A key that is neither in the file nor in the defaults is left out: it has no effect, like a knob that a
    per-capability override does not name.
    """
    for path, value in _leaves((), config.model_dump(mode="json")):
        for source in (document, DEFAULTS):
            if _at(source.data, path) is not _NOTHING:
                yield EffectiveValue(
                    key=".".join(path),
                    path=path,
                    value=value,
                    is_default=source is DEFAULTS,
                    file=source.file,
                    line=source.line(path),
                )
                break


def _leaves(path: tuple[str, ...], value: JsonValue) -> Iterator[tuple[tuple[str, ...], JsonValue]]:
    """The values that are not sections; an empty section is a value."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _leaves((*path, name), item)
    else:
        yield path, value


def _at(data: object, path: Path) -> object:
    """The value of ``data`` at ``path``; ``_NOTHING`` if it has no such key."""
    for step in path:
        if not isinstance(data, Mapping) or step not in data:
            return _NOTHING
        data = data[step]
    return data
