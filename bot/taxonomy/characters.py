"""Sets of characters, as far as a single regular expression can tell characters apart.

A set is an integer whose bits stand for representatives: every character that the expression names, the neighbours of
its ranges, and some of each class.  Two items of the expression share a character exactly if they share a
representative.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

_COMMON: Final = "09٣amzAMZ_éßЖſ \t\n\r\u00a0!-.?'\"€\0\U0001f600"
_CATEGORIES: Final = {
    name: re.compile(text)
    for name, text in (("CATEGORY_DIGIT", r"\d"), ("CATEGORY_SPACE", r"\s"), ("CATEGORY_WORD", r"\w"))
}
_LAST: Final = 0x10FFFF


class Alphabet:
    """The representatives for one expression, and the sets of its items.  Case is ignored."""

    def __init__(self, tree: Any) -> None:
        codes = {ord(character) for character in _COMMON}
        for code in _codes(tree):
            codes.update((max(code - 1, 0), code, min(code + 1, _LAST)))
        characters = {chr(code) for code in codes}
        self._characters = tuple(sorted(characters.union(*map(_variants, characters))))
        self._single: dict[str, int] = {}
        for place, character in enumerate(self._characters):
            for variant in _variants(character):
                self._single[variant] = self._single.get(variant, 0) | 1 << place
        self.all = (1 << len(self._characters)) - 1
        self.word = self._where("CATEGORY_WORD")

    def of(self, operation: str, argument: Any) -> int:
        """The set that a one-character item of a parsed expression matches."""
        match operation:
            case "LITERAL":
                return self._range(argument, argument)
            case "NOT_LITERAL":
                return self.all & ~self._range(argument, argument)
            case "IN":
                return self._class(argument)
            case _:
                return self.all

    def _class(self, items: Iterable[tuple[Any, Any]]) -> int:
        found, negated = 0, False
        for operation, argument in items:
            match str(operation):
                case "NEGATE":
                    negated = True
                case "LITERAL":
                    found |= self._range(argument, argument)
                case "RANGE":
                    found |= self._range(*argument)
                case _:
                    found |= self._where(str(argument))
        return self.all & ~found if negated else found

    def _where(self, category: str) -> int:
        plain = category.replace("_NOT_", "_")
        test = _CATEGORIES.get(plain)
        if test is None:
            return self.all
        found = sum(1 << place for place, character in enumerate(self._characters) if test.match(character))
        return found if plain == category else self.all & ~found

    def _range(self, first: int, last: int) -> int:
        ends = _variants(chr(first)) | _variants(chr(last))
        if first == last:
            found = 0
            for end in ends:
                found |= self._single.get(end, 0)
            return found
        return sum(
            1 << place
            for place, character in enumerate(self._characters)
            if any(first <= ord(variant) <= last or variant in ends for variant in _variants(character))
        )


@lru_cache(maxsize=4096)
def _variants(character: str) -> frozenset[str]:
    """The character and what it is when case is ignored."""
    forms = (character, character.lower(), character.upper(), character.casefold(), character.upper().lower())
    return frozenset(form for form in forms if len(form) == 1)


def _codes(tree: Any) -> Iterable[int]:
    """Every character code that a parsed expression names."""
    if isinstance(tree, tuple) and len(tree) == 2 and str(tree[0]) in ("LITERAL", "NOT_LITERAL"):
        yield tree[1]
    elif isinstance(tree, tuple) and len(tree) == 2 and str(tree[0]) == "RANGE":
        yield from tree[1]
    elif hasattr(tree, "__getitem__") and not isinstance(tree, str):
        # A parsed sequence can be counted and indexed, but is neither a list nor iterable by protocol.
        for place in range(len(tree)):
            yield from _codes(tree[place])
