"""Reads JSON: refuses duplicate keys and too deep nesting, and knows the line of every value."""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final

from incumbent.errors import InputError, Problem
from incumbent.files.snapshot import MOST_FAULTS, ReadingLimits

# A message quotes at most so many characters of an invalid number.
_QUOTED: Final = 40


class _Decoder:
    """Python's reader with checks for what it accepts.  Created once, since a file may have many lines of JSON."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.repeated = False
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._unique_keys,
            parse_constant=self.words.add,
            parse_int=self._integer,
            parse_float=self._finite,
        )

    def load(self, text: str, file: str) -> Any:
        self.words.clear()
        self.repeated = False
        data: Any = None
        broken: json.JSONDecodeError | None = None
        try:
            data = self._decoder.decode(text)
        except json.JSONDecodeError as error:
            broken = error
        if broken is not None or self.words or self.repeated:
            raise InputError(self._problems(text, file, broken))
        return data

    def _problems(self, text: str, file: str, broken: json.JSONDecodeError | None) -> list[Problem]:
        """The faults of ``text`` up to the place where the reader stopped, at most :data:`MOST_FAULTS` of each kind."""
        found: list[Problem] = []
        if broken is not None:
            message = f"not valid JSON: {broken.msg}"
            found.append(Problem(file, broken.lineno, message, "correct the JSON at this place"))
            text = text[: broken.pos]
        for line, word in lines_of_words(text, self.words)[:MOST_FAULTS]:
            message = f"{word[:_QUOTED]} is not a JSON value that can be read"
            found.append(Problem(file, line, message, "write a smaller number, a string or null"))
        if self.repeated or broken is not None:
            for line, name in lines_of_repeated_keys(text)[:MOST_FAULTS]:
                found.append(Problem(file, line, f"the key {name!r} is given twice", "keep one of the two"))
        return found

    def _unique_keys(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        self.repeated = self.repeated or len(mapping) < len(pairs)
        return mapping

    def _integer(self, number: str) -> int:
        try:
            return int(number)
        except ValueError:
            # Python refuses numbers of thousands of digits.
            self.words.add(number)
            return 0

    def _finite(self, number: str) -> float:
        value = float(number)
        if not math.isfinite(value):
            self.words.add(number)
        return value


def load(text: str, file: str) -> Any:
    """``text`` of ``file`` as plain data; raises :class:`InputError` with its faults, also those that Python accepts.

    Call :func:`check_shape` first: the parser is recursive.
    """
    decoder = getattr(_decoders, "decoder", None)
    if decoder is None:
        decoder = _decoders.decoder = _Decoder()
    return decoder.load(text, file)


_decoders = threading.local()


def check_shape(text: str, file: str, limits: ReadingLimits) -> None:
    """Refuse deep nesting and too many values (keys are values, as in YAML) before the recursive parser runs."""
    signs = sum(map(text.count, "[{,:"))
    if signs < limits.nodes and _is_shallow(text, limits.nesting_depth):
        return
    # The first value of a list or an object has no comma or colon before it.
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


def _is_shallow(text: str, deepest: int) -> bool:
    """Whether ``text`` is certainly not nested deeper than ``deepest``: it has few brackets, or few levels of pairs."""
    if text.count("[") + text.count("{") <= deepest:
        return True
    brackets = _NO_BRACKETS.sub("", text)
    for _ in range(min(deepest, _FEW_LEVELS)):
        brackets = _INNERMOST.sub("", brackets)
    return not brackets


def _line_of_depth(text: str, deepest: int) -> int:
    """The first line at which ``text`` is nested deeper than ``deepest``."""
    depth = 0
    for line, token in tokens(text):
        depth += 1 if token in "[{" else -1 if token in "]}" else 0
        if depth > deepest:
            return line
    return 1


def size(data: Any) -> int:
    """The number of values in ``data``, including itself and keys."""
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


# Possessive, and accepts a string that is never closed: no file makes it backtrack or scan a text twice.
_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)'
_FEW_LEVELS: Final = 10
"""Most files have no more levels; taking them away one by one is quicker than walking over all tokens."""
_NO_BRACKETS: Final = re.compile(_STRING + r'|[^\[\]{}"]++', re.DOTALL)
_INNERMOST: Final = re.compile(r"\[\]|\{\}")
_TOKEN: Final = re.compile(_STRING + r'|[\[\]{}:,]|[^\s\[\]{}:,"]++', re.DOTALL)


@dataclass(slots=True)
class JsonPlace:
    """A value's place: its line (from 1), and the places of its members by key, or of its items in order.

    A member's line is that of its key, an item's that of its first character.
    """

    line: int
    # None in place of an empty container: a file may have so many values that these would fill the memory.
    members: dict[str, JsonPlace] | None = None
    items: list[JsonPlace] | None = None

    def child(self, step: str | int) -> JsonPlace | None:
        """The place of the member or item ``step``, if it exists."""
        if isinstance(step, int) and self.items is not None:
            return self.items[step] if 0 <= step < len(self.items) else None
        return None if self.members is None else self.members.get(str(step))

    def add_item(self, place: JsonPlace) -> None:
        """Add an item to this list."""
        if self.items is None:
            self.items = []
        self.items.append(place)

    def add_member(self, name: str, place: JsonPlace) -> None:
        """Add a member to this mapping; the first of two equal keys counts."""
        if self.members is None:
            self.members = {}
        self.members.setdefault(name, place)


def find_places(text: str) -> JsonPlace:
    """The places of the values of ``text``, which is valid JSON.

    A scanner of its own, since a YAML parser refuses escapes such as ``\\ud83d\\ude00`` and long keys.
    """
    root = JsonPlace(1)
    # The open objects and lists, and whether each is an object.
    path: list[tuple[JsonPlace, bool]] = [(root, False)]
    key: JsonPlace | None = None
    for line, token in tokens(text):
        if token in ("]", "}"):
            path.pop()
        elif token == ":" or token == ",":
            continue
        elif path[-1][1] and key is None:
            name: str = json.loads(token) if "\\" in token else token[1:-1]
            key = JsonPlace(line)
            path[-1][0].add_member(name, key)
        else:
            place = key if key is not None else JsonPlace(line)
            if key is None:
                path[-1][0].add_item(place)
            key = None
            if token in ("[", "{"):
                path.append((place, token == "{"))
    return root if root.items is None else root.items[0]


def lines_of_repeated_keys(text: str) -> list[tuple[int, str]]:
    """The lines at which an object of ``text`` repeats a key, each with the key.

    The text may end at any token, and need not be valid JSON: it is cut where the parser stopped.
    """
    found: list[tuple[int, str]] = []
    # The keys of each open object; None for an open list.
    path: list[set[str] | None] = []
    before = ""
    for line, token in tokens(text):
        if token in ("{", "["):
            path.append(set() if token == "{" else None)
        elif token in ("}", "]"):
            del path[-1:]
        elif token[0] == '"' and before in ("{", ",") and path and (keys := path[-1]) is not None:
            try:
                name = str(json.loads(token))
            except ValueError:
                break
            if name in keys:
                found.append((line, name))
            keys.add(name)
        before = token
    return found


def lines_of_words(text: str, words: Collection[str]) -> list[tuple[int, str]]:
    """The lines of the numbers or bare words of ``text`` that are among ``words``."""
    return [(line, token) for line, token in tokens(text) if token in words] if words else []


def signs_of(text: str) -> Iterator[str]:
    """The first character of each token of ``text``, in order."""
    return (match.group()[0] for match in _TOKEN.finditer(text))


def tokens(text: str) -> Iterator[tuple[int, str]]:
    """The tokens of ``text``, each with its line."""
    line, counted = 1, 0
    for match in _TOKEN.finditer(text):
        start = match.start()
        line += text.count("\n", counted, start)
        counted = start
        yield line, match.group()
