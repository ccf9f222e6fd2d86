"""Where the values of a JSON text stand: the line of every key and item."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|\n|[^\s\[\]{}:,"]+', re.DOTALL)


@dataclass(slots=True)
class Place:
    """A value's place: its line (from 1), and the places of its members by key, or of its items in order.

    A member's line is that of its key, an item's that of its first character.
    """

    line: int
    members: dict[str, Place] = field(default_factory=dict)
    items: list[Place] = field(default_factory=list)

    def child(self, step: str | int) -> Place | None:
        """The place of the member or item ``step``, if there is one."""
        if isinstance(step, int) and self.items:
            return self.items[step] if 0 <= step < len(self.items) else None
        return self.members.get(str(step))


def find_places(text: str) -> Place:
    """The places of the values of ``text``, which is valid JSON.

    A scanner of our own, since a YAML parser takes escapes such as ``\\ud83d\\ude00`` and long keys for errors.
    """
    root = Place(1)
    # The open objects and lists, and whether each is an object.
    path: list[tuple[Place, bool]] = [(root, False)]
    key: Place | None = None
    name: str | None = None
    for line, token in _tokens(text):
        if token in ("]", "}"):
            path.pop()
        elif token == ":" or token == ",":
            continue
        elif path[-1][1] and key is None:
            name = json.loads(token)
            key = path[-1][0].members[str(name)] = Place(line)
        else:
            place = key if key is not None else Place(line)
            if key is None:
                path[-1][0].items.append(place)
            key = None
            if token in ("[", "{"):
                path.append((place, token == "{"))
    return root.items[0] if root.items else root


def line_of_repeated_key(text: str, name: str) -> int | None:
    """The line at which an object of ``text`` is given the key ``name`` for the second time.

    The text may be broken after that.
    """
    # Of each open object whether it has the key; of an open list, nothing.
    path: list[bool | None] = []
    before = ""
    for line, token in _tokens(text):
        if token in ("{", "["):
            path.append(False if token == "{" else None)
        elif token in ("}", "]"):
            path.pop()
        elif token[0] == '"' and before in ("{", ",") and path[-1] is not None and json.loads(token) == name:
            if path[-1]:
                return line
            path[-1] = True
        before = token
    return None


def line_of_word(text: str, word: str) -> int | None:
    """The line of the first number or bare word ``word`` of ``text``, which may be broken after it."""
    return next((line for line, token in _tokens(text) if token == word), None)


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    """The tokens of ``text``, each with its line, without white space."""
    line = 1
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token == "\n":
            line += 1
        else:
            yield line, token
