"""JSON without duplicate keys, ``NaN`` or depths that break a parser, for :mod:`bot.documents`."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from bot.limits import ReadingLimits


class JsonFaultError(Exception):
    """A fault that JSON itself allows; ``seen`` finds its line."""

    def __init__(self, needle: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.needle, self.message, self.fix = needle, message, fix
        self._count = 0

    def seen(self, row: str) -> bool:
        """True at the row where the needle stands for the second time (for a constant: the first)."""
        self._count += row.count(self.needle)
        return self._count > 1 or not self.needle.startswith('"')


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping of ``pairs``, whose keys must differ."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise JsonFaultError(json.dumps(twice), f"the key {twice!r} is given twice", "keep one of the two")
    return mapping


def refuse_constant(name: str) -> NoReturn:
    """``NaN`` and ``Infinity`` are no JSON."""
    raise JsonFaultError(name, f"{name} is not a JSON value", "write a number or null")


def check_depth(text: str, file: str, limits: ReadingLimits) -> None:
    """Refuse deep nesting before the recursive parser runs."""
    if text.count("[") + text.count("{") <= limits.nesting_depth:
        return
    depth = line = 0
    inside = False
    for match in re.finditer(r'\\.|["\[\]{}\n]', text):
        token = match.group()
        if token == '"':
            inside = not inside
        elif token == "\n":
            line += 1
        elif not inside and token in "[{":
            depth += 1
            if depth > limits.nesting_depth:
                raise limits.too_deep(file, line + 1)
        elif not inside and token in "]}":
            depth -= 1
