"""JSON without duplicate keys, numbers that are none, or depths that break a parser, for :mod:`bot.documents`."""

from __future__ import annotations

import json
import math
import threading
from typing import Any, Final

from bot.errors import Problem
from bot.json_places import lines_of_repeated_keys, lines_of_words, signs_of, tokens
from bot.limits import MOST_FAULTS, ReadingLimits

# Of a number that cannot be read, a message shows this many characters.
_QUOTED: Final = 40


class JsonFaultsError(Exception):
    """What is wrong with a text as JSON, what Python's reader lets pass included.

    ``words`` are the numbers that are none or too large, ``repeated`` says whether a key is given twice, and ``broken``
    is the reader's own complaint where it could not go on.
    """

    def __init__(self, words: frozenset[str], repeated: bool, broken: json.JSONDecodeError | None) -> None:
        super().__init__(words)
        self.words, self.repeated, self.broken = words, repeated, broken

    def problems(self, file: str, text: str) -> list[Problem]:
        """The faults of ``text`` up to where the reader gave up, for people; of each kind the first so many."""
        found: list[Problem] = []
        if self.broken is not None:
            fix = "correct the JSON at this place"
            found.append(Problem(file, self.broken.lineno, f"not valid JSON: {self.broken.msg}", fix))
            text = text[: self.broken.pos]
        for line, word in lines_of_words(text, self.words)[:MOST_FAULTS]:
            message = f"{word[:_QUOTED]} is not a JSON value that can be read"
            found.append(Problem(file, line, message, "write a smaller number, a string or null"))
        if self.repeated or self.broken is not None:
            for line, name in lines_of_repeated_keys(text)[:MOST_FAULTS]:
                found.append(Problem(file, line, f"the key {name!r} is given twice", "keep one of the two"))
        return found


class _Decoder:
    """Python's reader with an eye on what it lets pass; made once, since a file may have many lines of JSON."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.repeated = False
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._unique_keys,
            parse_constant=self.words.add,
            parse_int=self._integer,
            parse_float=self._finite,
        )

    def load(self, text: str) -> Any:
        self.words.clear()
        self.repeated = False
        try:
            data = self._decoder.decode(text)
        except json.JSONDecodeError as error:
            raise JsonFaultsError(frozenset(self.words), self.repeated, error) from None
        if self.words or self.repeated:
            raise JsonFaultsError(frozenset(self.words), self.repeated, None)
        return data

    def _unique_keys(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        self.repeated = self.repeated or len(mapping) < len(pairs)
        return mapping

    def _integer(self, number: str) -> int:
        try:
            return int(number)
        except ValueError:
            # Python reads no numbers of thousands of digits.
            self.words.add(number)
            return 0

    def _finite(self, number: str) -> float:
        value = float(number)
        if not math.isfinite(value):
            self.words.add(number)
        return value


def load(text: str) -> Any:
    """``text`` as plain data; raises :class:`JsonFaultsError`.

    Only after :func:`check_shape`: the parser is recursive.
    """
    decoder = getattr(_decoders, "decoder", None)
    if decoder is None:
        decoder = _decoders.decoder = _Decoder()
    return decoder.load(text)


_decoders = threading.local()


def check_shape(text: str, file: str, limits: ReadingLimits) -> None:
    """Refuse deep nesting and too many values (keys are values, as in YAML) before the recursive parser runs."""
    signs = sum(map(text.count, "[{,:"))
    if text.count("[") + text.count("{") <= limits.nesting_depth and signs < limits.nodes:
        return
    # Of a list or an object that is not empty, one value has no comma or colon before it.
    values, openers, depth, is_open = 1, 0, 0, False
    for sign in signs_of(text):
        if sign in "]}":
            depth -= 1
            is_open = False
            continue
        if is_open:
            values += 1
        is_open = sign in "[{"
        if is_open:
            depth, openers = depth + 1, openers + 1
            if depth > limits.nesting_depth:
                raise limits.too_deep(file, _line_of_depth(text, limits.nesting_depth))
        elif sign in ",:":
            values += 1
        if max(values, openers) > limits.nodes:
            raise limits.too_many(file, None)


def _line_of_depth(text: str, deepest: int) -> int:
    """The line at which ``text`` is nested deeper than ``deepest``."""
    depth = 0
    for line, token in tokens(text):
        depth += 1 if token in "[{" else -1 if token in "]}" else 0
        if depth > deepest:
            return line
    return 1


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
