"""Patterns of phrases that most texts have none of: one pass over a text tells which of them are worth searching for.

Python's regular expressions are tried at each character of a text, which takes long for so many phrases, and so does
compiling them.  So of every pattern it is known what each of its matches has at least: one of these words, and one of
those (``required_words.json``, made by ``python -m dev.required_words``).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

REQUIRED: Final = Path(__file__).with_name("required_words.json")
BORDER: Final = "\b"
"""Stands for the border of a word in what is required."""

# For Python each of these is an “i” where case is ignored, for RE2 it is not.
_DOTS: Final = str.maketrans("\u0130\u0131", "ii")


@dataclass(frozen=True)
class Phrases:
    """Patterns by name, case ignored; ``required`` has, by name, sets of pieces: a match has one of each set.

    A pattern without a set may match any text.
    """

    patterns: Mapping[str, str]
    required: Mapping[str, Sequence[Sequence[str]]]

    def possible(self, text: str) -> frozenset[str]:
        """The names of the patterns that may match somewhere in ``text``; all others do not."""
        searched = text if text.isascii() else text.translate(_DOTS)
        found = self._pieces.Match(searched.encode("utf-8", "replace"))
        if not found:
            # RE2 gives up in silence where a search takes too much memory: the last piece is in every text.
            return frozenset(self.patterns)
        lacking = dict(self._needed)
        for place in found:
            if place < len(self._owners):
                lacking[self._owners[place]] -= 1
        return frozenset(name for name, number in lacking.items() if not number)

    def sub(self, name: str, by: str | Callable[[re.Match[str]], str], text: str) -> str:
        """``text`` with each match of the pattern called ``name`` replaced."""
        return _compiled(self.patterns[name]).sub(by, text)

    @cached_property
    def _needed(self) -> dict[str, int]:
        return {name: len(self.required[name]) for name in self.patterns}

    @cached_property
    def _owners(self) -> list[str]:
        return [name for name in self.patterns for _ in self.required[name]]

    @cached_property
    def _pieces(self) -> Any:
        import re2

        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        found = re2.Set.SearchSet(options)
        for name in self.patterns:
            for pieces in self.required[name]:
                found.Add("|".join(map(_searched, pieces)))
        found.Add("")
        found.Compile()
        return found


class Edited:
    """A ``text`` in which phrases are replaced one after the other."""

    def __init__(self, text: str, phrases: Phrases) -> None:
        self.text = text
        self._phrases = phrases
        self._possible: frozenset[str] | None = None

    def sub(self, name: str, by: str | Callable[[re.Match[str]], str]) -> None:
        """Replace each match of the pattern called ``name``."""
        if self._possible is None:
            self._possible = self._phrases.possible(self.text)
        if name in self._possible:
            self.to(self._phrases.sub(name, by, self.text))

    def to(self, text: str) -> None:
        """Go on with ``text``."""
        if text != self.text:
            self.text, self._possible = text, None


def required_words() -> Mapping[str, Sequence[Sequence[str]]]:
    """What the data file says of each pattern."""
    found: Mapping[str, Sequence[Sequence[str]]] = _held()["required"]
    return found


def pattern_digest(patterns: Mapping[str, str]) -> str:
    """The digest of ``patterns``."""
    return hashlib.sha256(json.dumps(patterns, sort_keys=True).encode()).hexdigest()[:16]


@cache
def _held() -> Mapping[str, Any]:
    held: Mapping[str, Any] = json.loads(REQUIRED.read_text(encoding="utf-8"))
    return held


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _searched(piece: str) -> str:
    import re2

    inner: str = re2.escape(piece.strip(BORDER))
    return r"\b" * piece.startswith(BORDER) + inner + r"\b" * piece.endswith(BORDER)
