"""Where the values of a JSON text stand: the line of every key and item."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

# Possessive, and content with a text that is never closed: no file makes it go back, or over the same text twice.
_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)'
_TOKEN: Final = re.compile(_STRING + r'|[\[\]{}:,]|[^\s\[\]{}:,"]++', re.DOTALL)


@dataclass(slots=True)
class Place:
    """A value's place: its line (from 1), and the places of its members by key, or of its items in order.

    A member's line is that of its key, an item's that of its first character.
    """

    line: int
    # A file may have so many values that an empty dictionary for each of them fills the memory.
    members: dict[str, Place] | None = None
    items: list[Place] | None = None

    def child(self, step: str | int) -> Place | None:
        """The place of the member or item ``step``, if there is one."""
        if isinstance(step, int) and self.items is not None:
            return self.items[step] if 0 <= step < len(self.items) else None
        return None if self.members is None else self.members.get(str(step))

    def add_item(self, place: Place) -> None:
        """One more item of the list that stands here."""
        if self.items is None:
            self.items = []
        self.items.append(place)

    def add_member(self, name: str, place: Place) -> None:
        """One more member of the mapping that stands here; of keys that are given twice the first counts."""
        if self.members is None:
            self.members = {}
        self.members.setdefault(name, place)


def find_places(text: str) -> Place:
    """The places of the values of ``text``, which is valid JSON.

    A scanner of our own, since a YAML parser takes escapes such as ``\\ud83d\\ude00`` and long keys for errors.
    """
    root = Place(1)
    # The open objects and lists, and whether each is an object.
    path: list[tuple[Place, bool]] = [(root, False)]
    key: Place | None = None
    for line, token in tokens(text):
        if token in ("]", "}"):
            path.pop()
        elif token == ":" or token == ",":
            continue
        elif path[-1][1] and key is None:
            name: str = json.loads(token) if "\\" in token else token[1:-1]
            key = Place(line)
            path[-1][0].add_member(name, key)
        else:
            place = key if key is not None else Place(line)
            if key is None:
                path[-1][0].add_item(place)
            key = None
            if token in ("[", "{"):
                path.append((place, token == "{"))
    return root if root.items is None else root.items[0]


def lines_of_repeated_keys(text: str) -> list[tuple[int, str]]:
    """The lines at which an object of ``text`` is given a key that it has already, each with the key.

    The text may end at any token, and need not be JSON at all: it is what is left when the parser has given up.
    """
    found: list[tuple[int, str]] = []
    # Of each open object the keys it has; of an open list, nothing.
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
    """The brackets, commas and colons of ``text`` in order, and of everything else the first character."""
    return (match.group()[0] for match in _TOKEN.finditer(text))


def tokens(text: str) -> Iterator[tuple[int, str]]:
    """The tokens of ``text``, each with its line, without white space."""
    line, counted = 1, 0
    for match in _TOKEN.finditer(text):
        start = match.start()
        line += text.count("\n", counted, start)
        counted = start
        yield line, match.group()
