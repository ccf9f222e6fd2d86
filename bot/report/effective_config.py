"""The config in effect as a table of keys, values and their places."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from pydantic import JsonValue

from bot.pipeline.effective_config import EffectiveConfig, EffectiveValue
from bot.report.console import Printer
from bot.report.escaping import visible
from bot.text.masking import masked, masked_data


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
