"""Whether an entry can be run as it is, whatever the runner."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from bot.export.item import Item, Writer
from bot.files.documents import Data

_TICKS: Final = re.compile("`+")
_NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")
_PLACEHOLDER: Final = re.compile(r"\$\{\{\s*[\w.]+\s*\}\}|\{\{\s*[A-Za-z_][\w.-]*\s*\}\}")


def obstacle(item: Item, writer: Writer, *, keep_placeholders: bool = False) -> str | None:
    """Why ``item`` is not ready to run on the runner of ``writer``; ``None`` if it is.

    A text such as ``{{name}}`` is a placeholder that nobody filled, unless ``keep_placeholders`` says that it is meant.
    """
    setup = item.entry.setup
    if not setup.ready:
        return "its set-up does not stand yet (`setup.ready` is false)"
    if setup.attachments and not writer.attaches:
        return f"the content of what it attaches is not at hand ({', '.join(setup.attachments)})"
    filler = None if keep_placeholders else placeholder(item)
    if filler is not None:
        return f"{filler} is a placeholder that is not filled; --keep-placeholders if it is meant as it stands"
    if not _can_be_written([*item.turns, item.record(said=False)]):
        return "it holds what files cannot: a NUL character, half of a surrogate pair, or a number that is none"
    return writer.obstacle(item)


def placeholder(item: Item) -> str | None:
    """The first placeholder that nobody filled, outside of code."""
    found = (_PLACEHOLDER.search(_without_code(turn)) for turn in item.turns)
    return next((match[0] for match in found if match), None)


def _without_code(text: str) -> str:
    """``text`` without code of Markdown, which is what the user asks about: what stands between equal runs of ticks."""
    runs = [match.span() for match in _TICKS.finditer(text)]
    ends: dict[tuple[int, int], int] = {}
    later: dict[int, int] = {}
    for start, end in reversed(runs):
        if end - start in later:
            ends[start, end] = later[end - start]
        later[end - start] = end
    kept, place = [], 0
    for start, end in runs:
        if start >= place and (start, end) in ends:
            kept.append(text[place:start])
            place = ends[start, end]
    return "".join([*kept, text[place:]])


def _can_be_written(data: Data) -> bool:
    return all(
        math.isfinite(value) if isinstance(value, float) else not _NO_TEXT.search(value) for value in _leaves(data)
    )


def _leaves(data: Data) -> Iterator[float | str]:
    """The texts, keys included, and numbers with a fraction in ``data``."""
    todo = [data]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo.extend(value)
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
        elif isinstance(value, str | float):
            yield value
