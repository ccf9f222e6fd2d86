"""JSON without duplicate keys, numbers that are none, or depths that break a parser, for :mod:`bot.documents`."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from bot.errors import Problem
from bot.json_places import lines_of_repeated_keys, lines_of_words
from bot.limits import ReadingLimits

# Of a number that cannot be read, a message shows this many characters.
_QUOTED = 40


class JsonFaultsError(Exception):
    """What is wrong with a text as JSON, what Python's reader lets pass included.

    ``words`` are the numbers that are none or too large, ``repeated`` says whether a key is given twice, and ``broken``
    is the reader's own complaint where it could not go on.
    """

    def __init__(self, words: frozenset[str], repeated: bool, broken: json.JSONDecodeError | None) -> None:
        super().__init__(words)
        self.words, self.repeated, self.broken = words, repeated, broken

    def problems(self, file: str, text: str) -> list[Problem]:
        """All faults of ``text`` up to where the reader gave up, for people."""
        found: list[Problem] = []
        if self.broken is not None:
            fix = "mend the JSON at this place"
            found.append(Problem(file, self.broken.lineno, f"not valid JSON: {self.broken.msg}", fix))
            text = text[: self.broken.pos]
        for line, word in lines_of_words(text, self.words):
            message = f"{word[:_QUOTED]} is not a JSON value that can be read"
            found.append(Problem(file, line, message, "write a smaller number, a string or null"))
        if self.repeated or self.broken is not None:
            for line, name in lines_of_repeated_keys(text):
                found.append(Problem(file, line, f"the key {name!r} is given twice", "keep one of the two"))
        return found


def load(text: str) -> Any:
    """``text`` as plain data; raises :class:`JsonFaultsError`.

    Only after :func:`check_depth`: the parser is recursive.
    """
    words: set[str] = set()
    repeated = False

    def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        mapping = dict(pairs)
        repeated = repeated or len(mapping) < len(pairs)
        return mapping

    def integer(number: str) -> int:
        try:
            return int(number)
        except ValueError:
            # Python reads no numbers of thousands of digits.
            words.add(number)
            return 0

    def finite(number: str) -> float:
        value = float(number)
        if not math.isfinite(value):
            words.add(number)
        return value

    try:
        data = json.loads(
            text, object_pairs_hook=unique_keys, parse_constant=words.add, parse_int=integer, parse_float=finite
        )
    except json.JSONDecodeError as error:
        raise JsonFaultsError(frozenset(words), repeated, error) from None
    if words or repeated:
        raise JsonFaultsError(frozenset(words), repeated, None)
    return data


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
    if size(data) > limits.nodes:
        raise limits.too_many(file, None)


def size(data: Any) -> int:
    """How many values ``data`` holds, itself and keys included."""
    count, todo = 0, [data]
    while todo:
        value = todo.pop()
        count += 1
        if isinstance(value, dict):
            count += len(value)
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
    return count
