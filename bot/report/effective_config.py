"""The config in effect: as JSON, and as a table of keys, values and their places."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from pydantic import BaseModel, Field, JsonValue

from bot.config import DEFAULTS
from bot.pipeline.effective_config import EffectiveConfig, EffectiveValue
from bot.report.console import Printer
from bot.report.escaping import visible
from bot.text.masking import masked, masked_data


class ConfigValueOutput(BaseModel):
    """The value of one key, and where it is written."""

    key: str = Field(description="the keys that lead to it, joined by dots, as in messages")
    path: list[str] = Field(description="the same as a list, since the id of a capability contains dots")
    value: JsonValue = Field(description="the value in effect; an empty section is a value")
    is_default: bool = Field(description="whether the platform's file leaves the key out")
    file: str = Field(description="the platform's config, or the shipped defaults")
    line: int | None = Field(description="counts from 1; null where the value has no line")


class ConfigOutput(BaseModel):
    """The config in effect, in the order of the config's schema."""

    file: str = Field(description="the platform's config")
    defaults: str = Field(description="the defaults that ship with the product")
    values: list[ConfigValueOutput]

    @staticmethod
    def of(config: EffectiveConfig) -> ConfigOutput:
        """``config`` for output."""
        return ConfigOutput(file=config.file, defaults=DEFAULTS.file, values=[*map(_value, config.values)])


def print_config(output: ConfigOutput, out: Printer) -> None:
    """One row a key: in a pipe with its whole name, on a terminal under its section, as in the file."""
    if not out.is_terminal:
        rows = [(_shown(value.key), _text(value.value), _place(value.file, value)) for value in output.values]
        out.table("", ("key", "value", "from"), rows)
        return
    out.line(f"{output.file}; what it leaves out: {output.defaults}")
    out.line()
    out.table("", ("key", "value", "from"), [*_by_section(output.values)], whole=True)


def _value(value: EffectiveValue) -> ConfigValueOutput:
    return ConfigValueOutput(
        key=".".join(value.path),
        path=list(value.path),
        value=value.value,
        is_default=value.is_default,
        file=value.file,
        line=value.line,
    )


def _by_section(values: Iterable[ConfigValueOutput]) -> Iterator[tuple[str, str, str]]:
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


def _place(file: str, value: ConfigValueOutput) -> str:
    return file if value.line is None else f"{file}:{value.line}"


def _text(value: JsonValue) -> str:
    safe = masked_data(value)
    return visible(safe if isinstance(safe, str) else json.dumps(safe, ensure_ascii=False))


def _shown(key: str) -> str:
    return visible(masked(key))
