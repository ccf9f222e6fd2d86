"""A backtracking matcher that counts its steps, as a measure of a pattern that does not depend on a clock.

It tries alternatives in the order in which Python's engine does, over the same parsed pattern, without any of that
engine's short cuts, so that it takes at least as many steps.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any, Final

_PARSER: Final[Any] = importlib.import_module("re._parser")
_CLASSES: Final = {"CATEGORY_WORD": r"\w", "CATEGORY_SPACE": r"\s", "CATEGORY_DIGIT": r"\d"}


class Matcher:
    """Searches with one pattern, and counts the characters and empty places that it looks at."""

    def __init__(self, pattern: str) -> None:
        self.tree = list(_PARSER.parse(pattern, re.IGNORECASE))
        self.text = ""
        self.steps = 0

    def search(self, text: str) -> bool:
        """Whether the pattern matches anywhere in ``text``, which is lower case."""
        self.text, self.steps = text, 0
        return any(next(self._sequence(self.tree, start), None) is not None for start in range(len(text) + 1))

    def _sequence(self, items: list[Any], start: int) -> Iterator[int]:
        """The places where a match of ``items`` from ``start`` on may end, in the engine's order."""
        if not items:
            yield start
            return
        choices = [self._item(items[0], start)]
        while choices:
            place = next(choices[-1], None)
            if place is None:
                choices.pop()
            elif len(choices) == len(items):
                yield place
            else:
                choices.append(self._item(items[len(choices)], place))

    def _item(self, item: Any, place: int) -> Iterator[int]:
        self.steps += 1
        operation, argument = item
        name = str(operation)
        if name in ("LITERAL", "ANY", "IN"):
            if place < len(self.text) and self._takes(name, argument, self.text[place]):
                yield place + 1
        elif name == "AT":
            if re.compile({"AT_BOUNDARY": r"\b", "AT_BEGINNING": "^", "AT_END": "$"}[str(argument)]).match(
                self.text, place
            ):
                yield place
        elif name == "SUBPATTERN":
            yield from self._sequence(list(argument[-1]), place)
        elif name == "BRANCH":
            for branch in argument[1]:
                yield from self._sequence(list(branch), place)
        else:
            yield from self._repeat(argument, place)

    def _repeat(self, argument: Any, start: int) -> Iterator[int]:
        least, most, body = argument
        items = list(body)
        rounds = [(start, self._sequence(items, start))]
        while rounds:
            place, further = rounds[-1]
            limit = len(rounds) > most if most is not _PARSER.MAXREPEAT else False
            end = None if limit else next(further, None)
            if end is not None and end > place:
                rounds.append((end, self._sequence(items, end)))
                continue
            if end is not None:
                continue
            if len(rounds) > least:
                yield place
            rounds.pop()

    def _takes(self, name: str, argument: Any, character: str) -> bool:
        if name == "ANY":
            return character != "\n"
        if name == "LITERAL":
            return character == chr(argument).lower()
        return any(
            re.match(_CLASSES[str(inner)], character) is not None
            if str(operation) == "CATEGORY"
            else self._takes("LITERAL", inner, character)
            for operation, inner in argument
        )
