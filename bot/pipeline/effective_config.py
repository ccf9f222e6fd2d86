"""The config in effect, value by value, and the file and line that each comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from bot.config import DEFAULTS, REVIEWED_FILES, Curation, load_config
from bot.files.documents import Data, Document, Path, parse_yaml
from bot.files.snapshot import Snapshot

_NOTHING: Final = object()


@dataclass(frozen=True, slots=True)
class EffectiveValue:
    """The value of one key.

    ``path`` are the keys that lead to it.  ``file`` and ``line`` say where it is written: in the platform's file or,
    if ``is_default``, in the defaults that ship with the product.
    """

    path: tuple[str, ...]
    value: Data
    is_default: bool
    file: str
    line: int | None


@dataclass(frozen=True, slots=True)
class EffectiveConfig:
    """The config in effect, and its values in the order of the schema."""

    config: Curation
    file: str
    values: tuple[EffectiveValue, ...]


def read_effective_config(snapshot: Snapshot, path: str) -> EffectiveConfig:
    """The config at ``path`` with the origin of each value; raises :class:`InputError` with every fault.

    Capabilities of overrides are not looked up, so that a fault of the taxonomy does not hide the config.
    """
    config = load_config(snapshot, None, path)
    document = parse_yaml(snapshot.read(path, REVIEWED_FILES), snapshot.name(path), REVIEWED_FILES)
    return EffectiveConfig(config, document.file, tuple(effective_values(config, document)))


def effective_values(config: Curation, document: Document) -> Iterator[EffectiveValue]:
    """The values of ``config``, which was read from ``document``.

    A key that neither the file nor the defaults have is left out: it says nothing, as a knob that a per-capability
    override does not name.
    """
    for path, value in _leaves((), config.model_dump(mode="json")):
        for source in (document, DEFAULTS):
            if _at(source.data, path) is not _NOTHING:
                yield EffectiveValue(path, value, source is DEFAULTS, source.file, source.line(path))
                break


def _leaves(path: tuple[str, ...], value: Data) -> Iterator[tuple[tuple[str, ...], Data]]:
    """The values that are no sections; an empty section is a value."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _leaves((*path, name), item)
    else:
        yield path, value


def _at(data: Data, path: Path) -> object:
    """What ``data`` has at ``path``; ``_NOTHING`` where it has no such key."""
    found: object = data
    for step in path:
        if not isinstance(found, Mapping) or step not in found:
            return _NOTHING
        found = found[step]
    return found
