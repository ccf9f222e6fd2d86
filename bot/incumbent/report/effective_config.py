"""The config in effect, value by value, and the file and line that each comes from; also as a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from incumbent.files.documents import Document, Path, parse_yaml
from incumbent.files.snapshot import Snapshot
from incumbent.report.console import Printer
from incumbent.report.escaping import visible
from incumbent.taxonomy.config import DEFAULTS, REVIEWED_FILES, YOUNGER, Curation
from incumbent.text.masking import masked, masked_data

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
        key = ".".join(path)
        # A config of an earlier format has the former value of an option that it lacks.
        former = ((DEFAULTS, ("younger", key, "former")),) if key in YOUNGER else ()
        for source, place in ((document, path), (DEFAULTS, path), *former):
            if _at(source.data, place) is not _NOTHING:
                yield EffectiveValue(
                    key=key,
                    path=path,
                    value=value,
                    is_default=source is DEFAULTS,
                    file=source.file,
                    line=source.line(place),
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


def print_config(output: EffectiveConfig, out: Printer) -> None:
    """One row a key: in a pipe with its whole name, on a terminal under its section, as in the file."""
    if not out.is_terminal:
        rows = [(_shown(value.key), _text(value.value), _place(value.file, value)) for value in output.values]
        out.table("", ("key", "value", "from"), rows)
        return
    out.line(f"{output.file}; what it leaves out: {output.defaults}")
    out.line()
    out.table("", ("key", "value", "from"), [*_by_section(output.values)], whole=True)


def _by_section(values: Iterable[EffectiveValue]) -> Iterator[tuple[str, str, str]]:
    """A row for each key, indented under a row for each of its sections; places with the name of the file alone."""
    above: list[str] = []
    for value in values:
        *sections, name = value.path
        for depth, section in enumerate(sections):
            if above[: depth + 1] != sections[: depth + 1]:
                yield f"{'  ' * depth}{_shown(section)}", "", ""
        above = sections
        place = _place(PurePosixPath(value.file).name, value)
        yield f"{'  ' * len(sections)}{_shown(name)}", _text(value.value), place


def _place(file: str, value: EffectiveValue) -> str:
    return file if value.line is None else f"{file}:{value.line}"


def _text(value: JsonValue) -> str:
    safe = masked_data(value)
    return visible(safe if isinstance(safe, str) else json.dumps(safe, ensure_ascii=False))


def _shown(key: str) -> str:
    return visible(masked(key))
