"""JSON without duplicate keys, numbers that are none, or depths that break a parser, for :mod:`bot.documents`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from bot.json_places import line_of_repeated_key, line_of_word
from bot.limits import ReadingLimits

# Of a number that cannot be read, a message shows this many characters.
_QUOTED = 40


class JsonFaultError(Exception):
    """A fault that Python's reader lets pass; ``line`` finds its line in the text."""

    def __init__(self, message: str, fix: str, line: Callable[[str], int | None]) -> None:
        super().__init__(message)
        self.message, self.fix, self.line = message, fix, line


def load(text: str) -> Any:
    """``text`` as plain data; raises :class:`JsonFaultError` or :class:`json.JSONDecodeError`.

    Only after :func:`check_depth`: the parser is recursive.
    """
    return json.loads(
        text,
        object_pairs_hook=_unique_keys,
        parse_constant=_refuse_number,
        parse_int=_integer,
        parse_float=_finite,
    )


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                line = partial(line_of_repeated_key, name=name)
                raise JsonFaultError(f"the key {name!r} is given twice", "keep one of the two", line)
            seen.add(name)
    return mapping


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        # Python reads no numbers of thousands of digits.
        _refuse_number(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _refuse_number(text)
    return number


def _refuse_number(text: str) -> NoReturn:
    raise JsonFaultError(
        f"{text[:_QUOTED]} is not a JSON value that can be read",
        "write a smaller number, a string or null",
        partial(line_of_word, word=text),
    )


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


def check_size(data: Any, file: str, limits: ReadingLimits) -> None:
    """Refuse more values (keys are values, as in YAML) than the limits allow."""
    count, todo = 0, [data]
    while todo:
        value = todo.pop()
        count += 1
        if isinstance(value, dict):
            count += len(value)
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
    if count > limits.nodes:
        raise limits.too_many(file, None)
