"""Attacks that any format can meet: each makes a hostile file of a template, or says that it does not apply."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from tests.hostile.templates import Path, Template, written

T = TypeVar("T")
ALL: Final = os.environ.get("INCUMBENT_HOSTILE") == "all"
"""Whether every attack is tried on every reader, for most of an hour, as each night."""


def sampled(large: Sequence[T]) -> Sequence[T]:
    """One of three attacks with files as large as there may be, which take long to read; or all of them."""
    return large if ALL else large[::3]


FULL = 3_999_000
"""Just below the limit of a file in bytes."""
TABLES = ("csv", "tsv")
TEXTS = ("json", "jsonl", "yaml")
_MARK = "PLACEOFTHEITEMS"


@dataclass(frozen=True, kw_only=True)
class Attack:
    """``make`` gives the file, or ``None``.

    ``says`` is what a problem must say where the template's reader is there; empty if the file may as well be read.
    ``says_of_agents`` is that for specifications, ``None`` the same.  ``has_line`` is whether that problem has a line.
    """

    name: str
    make: Callable[[Template], bytes | None]
    says: str = ""
    says_of_agents: str | None = None
    has_line: bool = True

    def expects(self, template: Template) -> str:
        """What must be said of the file that is made of ``template``."""
        return self.says if self.says_of_agents is None or not template.is_agent else self.says_of_agents


def whole(content: bytes, *kinds: str) -> Callable[[Template], bytes | None]:
    """Whatever the template, the same file."""
    return lambda template: content if not kinds or template.kind in kinds else None


def any_of(*values: Any) -> tuple[Any, ...]:
    """``values``, which have nothing in common."""
    return values


def full(part: bytes) -> Callable[[Template], bytes | None]:
    """As many of ``part`` as a file may hold, and nothing else."""
    return lambda template: part * (FULL // len(part))


def filled(part: bytes) -> Callable[[Template], bytes | None]:
    """The file, and behind it as many of ``part`` as a file may hold."""
    return changed(lambda content: content + part * ((FULL - len(content)) // len(part)))


def changed(change: Callable[[bytes], bytes], *kinds: str) -> Callable[[Template], bytes | None]:
    """The template's file with its bytes changed."""
    return lambda template: change(written(template)) if not kinds or template.kind in kinds else None


def with_text(value: Any) -> Callable[[Template], bytes | None]:
    """The file whose first query or tool says ``value``."""
    return lambda template: _with(template, template.text, value)


def with_name(value: Any) -> Callable[[Template], bytes | None]:
    """The file whose first query or tool has the id ``value``."""
    return lambda template: _with(template, template.name, value)


def _with(template: Template, at: Path | None, value: Any) -> bytes | None:
    if at is None or template.items is None:
        return None
    if template.kind in TABLES and not isinstance(value, str):
        value = json.dumps(value)
    return written(template.first(at, value))


def with_items(value: Any, count: int, *kinds: str) -> Callable[[Template], bytes | None]:
    """So many of ``value`` instead of the queries or tools, or as many as a file may hold."""

    def make(template: Template) -> bytes | None:
        if template.items is None or template.kind in TABLES or (kinds and template.kind not in kinds):
            return None
        around = written(template.with_items([_MARK])).decode()
        text = json.dumps(value)
        before, after = around.split(_MARK if template.kind == "yaml" else f'"{_MARK}"', 1)
        separator = {"json": ",\n", "jsonl": "\n", "yaml": _yaml_separator(before)}[template.kind]
        many = min(count, (FULL - len(around)) // (len(text) + len(separator)))
        return (before + separator.join([text] * many) + after).encode()

    return make


def _yaml_separator(before: str) -> str:
    return "\n" + before.rsplit("\n", 1)[-1]


def copies(change: Callable[[Any, int], Any], count: int) -> Callable[[Template], bytes | None]:
    """So many copies of the first query or tool, each changed."""

    def make(template: Template) -> bytes | None:
        if template.items is None:
            return None
        size = len(json.dumps(template.item)) + 20
        many = min(count, FULL // (size * 2))
        return written(template.with_items([change(template.item, place) for place in range(many)]))

    return make


def many_queries(count: int, name: str = "n{}") -> Callable[[Template], bytes | None]:
    """The file with so many queries or tools, each with an id of its own."""

    def make(template: Template) -> bytes | None:
        if template.name is None or template.items is None:
            return None
        made = []
        for place in range(count):
            item = template.item
            _set(item, template.name, name.format(place))
            made.append(item)
        return written(template.with_items(made))

    return make


def much_beside(count: int, many: int) -> Callable[[Template], bytes | None]:
    """The file with so many keys beside ``many`` queries or tools."""

    def make(template: Template) -> bytes | None:
        if template.items is None or not isinstance(template.data, dict) or not template.items:
            return None
        changed = template.with_items([template.item for _ in range(many)])
        return written(changed.with_data({**changed.data, **{f"k{place}": "x" * 20 for place in range(count)}}))

    return make


def same_name(value: str) -> Callable[[Template], bytes | None]:
    """The file with two queries or tools that have the same id."""

    def make(template: Template) -> bytes | None:
        if template.name is None:
            return None
        found = with_name(value)(template)
        item = template.item
        _set(item, template.name, value)
        return None if found is None else written(template.with_items([item, item]))

    return make


def _set(item: Any, at: Path, value: Any) -> None:
    for step in at[:-1]:
        item = item[step]
    item[at[-1]] = value


def deep(value: Any, levels: int) -> Any:
    """``value`` inside so many lists and mappings."""
    for level in range(levels):
        value = [value] if level % 2 else {"inner": value}
    return value


def extra(key: str, raw: str, *kinds: str) -> Callable[[Template], bytes | None]:
    """The file with one more key in its outermost mapping or first line, whose value is ``raw``."""

    def make(template: Template) -> bytes | None:
        data = deepcopy(template.data)
        holder = data[0] if template.kind == "jsonl" or (template.kind == "json" and isinstance(data, list)) else data
        if template.kind in TABLES or not isinstance(holder, dict) or (kinds and template.kind not in kinds):
            return None
        if template.kind == "yaml":
            return written(template) + f"{key}: {raw}\n".encode()
        holder[key] = "\x01"
        return written(template.with_data(data)).replace(b'"\\u0001"', raw.encode())

    return make


def twice(template: Template) -> bytes | None:
    """The first mapping with its first key given twice."""
    text = written(template).decode()
    if template.kind == "yaml":
        first = text.split("\n", 1)[0]
        key = first.partition(":")[0]
        return f"{key}: again\n{text}".encode()
    if template.kind not in TEXTS or "{" not in text:
        return None
    before, after = text.split("{", 1)
    key = after.split('"')[1]
    return f'{before}{{"{key}": "again",{after}'.encode()


def rows(row: str, *, header: bool = True) -> Callable[[Template], bytes | None]:
    """A table full of ``row`` below the header."""

    def make(template: Template) -> bytes | None:
        if template.kind not in TABLES:
            return None
        text = row if template.kind == "csv" else row.replace(",", "\t")
        top = written(template.with_items([])).decode() if header else ""
        return (top + text * ((FULL - len(top)) // len(text))).encode()

    return make


def table(change: Callable[[list[list[str]]], list[list[str]]]) -> Callable[[Template], bytes | None]:
    """The table with its rows changed."""
    return lambda template: (
        written(template.with_data(change(deepcopy(template.data)))) if template.kind in TABLES else None
    )
