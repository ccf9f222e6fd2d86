"""Patterns of phrases that most texts have none of: one pass over a text tells which of them are worth searching for.

Python's regular expressions are tried at each character of a text, which takes long for so many phrases, and so does
compiling them.  So of every pattern it is known what each of its matches has at least: one of these words, and one of
those (``required_words.json``, made by ``python -m dev.required_words``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

Replacement: TypeAlias = Callable[[re.Match[str]], str | None]
"""Takes a match, whose case says nothing, and returns what it is replaced by; ``None``: it stays."""

REQUIRED: Final = Path(__file__).with_name("required_words.json")
BORDER: Final = "\b"
"""Stands for the border of a word in what is required."""

# Where case is ignored, Python takes each of these for the letter behind it, and RE2 does not.
_ALIKE: Final = (("\u0130", "i"), ("\u0131", "i"), ("\u017f", "s"))


def small_letters(text: str) -> str:
    """``text`` in small letters, of the same length.

    A pattern in such letters is found in it several times sooner than where case is ignored, in the same places.
    """
    return _with_alike(text).lower()


def _with_alike(text: str) -> str:
    if not text.isascii():
        for letter, plain in _ALIKE:
            text = text.replace(letter, plain)
    return text


@dataclass(frozen=True)
class Phrases:
    """Patterns by name, case ignored, themselves in small letters.

    ``required`` has, by name, sets of pieces: a match has one of each set.  A pattern without a set may match any text.
    The patterns called ``starting`` match only at the beginning of a text and where a match of ``starts`` ends.
    """

    patterns: Mapping[str, str]
    required: Mapping[str, Sequence[Sequence[str]]]
    starting: frozenset[str] = frozenset()
    starts: re.Pattern[str] = re.compile("")

    @cached_property
    def possible(self) -> Callable[[str], frozenset[str]]:
        """Gives the names of the patterns that may match somewhere in a text; all others do not.

        Of the latest texts it is remembered: most are asked about as they are given and as what they ask.
        """
        return lru_cache(maxsize=_REMEMBERED)(self._possible)

    def _possible(self, text: str) -> frozenset[str]:
        found = self._pieces.Match(small_letters(text).encode("utf-8", "replace"))
        if not found:
            # RE2 gives up in silence where a search takes too much memory: the last piece is in every text.
            return frozenset(self.patterns)
        lacking = dict(self._needed)
        for place in found:
            if place < len(self._owners):
                lacking[self._owners[place]] -= 1
        return frozenset(name for name, number in lacking.items() if not number)

    def sub(self, names: Sequence[str], by: str | Replacement, text: str) -> str:
        """``text`` with each match of the patterns called ``names`` replaced, as if they were the branches of one."""
        parts, end = [], 0
        for found in self._matches(names, small_letters(text)):
            instead = by if isinstance(by, str) else by(found)
            if instead is not None:
                parts += [text[end : found.start()], instead]
                end = found.end()
        return "".join([*parts, text[end:]])

    def _matches(self, names: Sequence[str], text: str) -> Iterator[re.Match[str]]:
        patterns = [_compiled(self.patterns[name]) for name in names]
        if len(patterns) > 1:
            return _matches_of_any(patterns, text)
        if self.starting.issuperset(names):
            return _matches_at(_ends(self.starts, text), patterns[0], text)
        return patterns[0].finditer(text)

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

    def sub(self, name: str, by: str | Replacement) -> None:
        """Replace each match of the pattern called ``name``."""
        self.sub_any((name,), by)

    def sub_any(self, names: Iterable[str], by: str | Replacement) -> None:
        """Replace each match of the patterns called ``names``, as if they were the branches of one."""
        possible = [name for name in names if name in self.possible]
        if possible:
            self.to(self._phrases.sub(possible, by, self.text))

    @property
    def possible(self) -> frozenset[str]:
        """The names of the patterns that may match."""
        if self._possible is None:
            self._possible = self._phrases.possible(self.text)
        return self._possible

    def to(self, text: str) -> None:
        """Go on with ``text``."""
        if text != self.text:
            self.text, self._possible = text, None


_REMEMBERED: Final = 512
"""Texts: more than are read together."""


@lru_cache(maxsize=4)
def _ends(pattern: re.Pattern[str], text: str) -> tuple[int, ...]:
    """Where ``text`` begins and matches of ``pattern`` end; many other patterns ask for it one after the other."""
    return 0, *(found.end() for found in pattern.finditer(text))


def _matches_of_any(patterns: Sequence[re.Pattern[str]], text: str) -> Iterator[re.Match[str]]:
    """The matches of ``patterns`` that do not overlap; of several that begin at one place, that of the first pattern.

    None of them may be empty.
    """
    found = [pattern.search(text) for pattern in patterns]
    while matches := [match for match in found if match is not None]:
        first = min(matches, key=re.Match.start)
        yield first
        end = first.end()
        found = [
            match if match is None or match.start() >= end else pattern.search(text, end)
            for pattern, match in zip(patterns, found, strict=True)
        ]


def _matches_at(places: Iterable[int], pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches of ``pattern`` that begin at one of ``places``, ascending, and do not overlap."""
    end = 0
    for place in places:
        found = pattern.match(text, place) if place >= end else None
        if found is not None:
            end = found.end()
            yield found


def required_words() -> Mapping[str, Sequence[Sequence[str]]]:
    """What the data file says of each pattern."""
    found: Mapping[str, Sequence[Sequence[str]]] = _held()["required"]
    return found


@cache
def _held() -> Mapping[str, Any]:
    held: Mapping[str, Any] = json.loads(REQUIRED.read_text(encoding="utf-8"))
    return held


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_with_alike(pattern))


def _searched(piece: str) -> str:
    import re2

    inner: str = re2.escape(piece.strip(BORDER))
    return r"\b" * piece.startswith(BORDER) + inner + r"\b" * piece.endswith(BORDER)
