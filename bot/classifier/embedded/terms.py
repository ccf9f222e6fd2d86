"""Words and character sequences of a text: hashed for the classifier, or weighted over a vocabulary of their own."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from math import log, sqrt
from typing import Final

from bot.classifier.embedded.text import ReadText

CHARACTER_LENGTHS: Final = (3, 4)
"""Lengths of the character sequences within a word and its two borders."""

BUCKETS: Final = 8_192
"""Places of the words, and as many of the character sequences: what two terms share counts for both."""

_KEPT_CHARACTERS: Final = 24
"""Longer words are read again each time: they are rare, and would fill the memory."""

UNIT: Final = 255
"""The length of each of the two vectors of hashed terms, whose values are whole numbers in one byte."""


def hashed_terms(read: ReadText) -> tuple[list[int], list[int]]:
    """Places, ascending, and values of the words and the character sequences of a text.

    A value is 1 + ln(count), and the vectors of words and of character sequences have length :data:`UNIT` each.  No
    term is weighted by how many texts have it: a row depends on its own text alone.
    """
    places: list[int] = []
    values: list[int] = []
    for offset, counts in ((0, word_terms(read)), (BUCKETS, character_terms(read))):
        weights: dict[int, float] = {}
        for place, count in zip(map(_place, counts), counts.values(), strict=True):
            weight = weights.get(place, 0.0) + 1.0
            weights[place] = weight if count == 1 else weight + log(count)
        length = sqrt(sum(value * value for value in weights.values()))
        # Most terms are in a text once.
        whole = {weight: round(UNIT * weight / length) for weight in set(weights.values())}
        for place in sorted(weights):
            value = whole[weights[place]]
            if value:
                places.append(offset + place)
                values.append(value)
    return places, values


def word_terms(read: ReadText) -> Counter[str]:
    """Words and pairs of neighbouring words, with their counts; numbers count as one word."""
    words = ["0" if word[0].isdecimal() else word for word in read.words]
    return Counter([*words, *(f"{one} {other}" for one, other in pairwise(words))])


@lru_cache(maxsize=32_768)
def _place(term: str) -> int:
    return zlib.crc32(term.encode(errors="surrogatepass")) % BUCKETS


def character_terms(read: ReadText) -> Counter[str]:
    """Sequences of characters within words, with their counts; a blank stands for a word's border."""
    return Counter(chain.from_iterable(map(_sequences, read.words)))


def _sequences(word: str) -> tuple[str, ...]:
    return _kept_sequences(word) if len(word) <= _KEPT_CHARACTERS else _kept_sequences.__wrapped__(word)


@lru_cache(maxsize=8_192)
def _kept_sequences(word: str) -> tuple[str, ...]:
    bordered = f" {word[:60]} "
    return tuple(
        bordered[start : start + length] for length in CHARACTER_LENGTHS for start in range(len(bordered) - length + 1)
    )


@dataclass(frozen=True)
class Vocabulary:
    """Terms in their order, each with its inverse document frequency."""

    terms: tuple[str, ...]
    weights: tuple[float, ...]

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each term."""
        return {term: place for place, term in enumerate(self.terms)}

    def weigh(self, counts: Counter[str]) -> tuple[list[int], list[float]]:
        """Places (ascending) and weights of the known terms of a text: (1 + ln tf) · idf, of length 1 together."""
        known = sorted((self.places[term], count) for term, count in counts.items() if term in self.places)
        values = [(1.0 + log(count)) * self.weights[place] for place, count in known]
        length = sqrt(sum(value * value for value in values))
        return [place for place, _ in known], [value / length for value in values] if length else values


def learn_vocabulary(documents: Sequence[Counter[str]], least: int) -> Vocabulary:
    """The terms of at least ``least`` documents, sorted; idf = ln((1 + n) / (1 + df)) + 1."""
    frequencies: Counter[str] = Counter()
    for document in documents:
        frequencies.update(document.keys())
    return vocabulary_of(frequencies, len(documents), least)


def vocabulary_of(frequencies: Mapping[str, int], size: int, least: int) -> Vocabulary:
    """The same from ``frequencies``: in how many of ``size`` documents each term is."""
    terms = sorted(term for term, frequency in frequencies.items() if frequency >= least)
    return Vocabulary(tuple(terms), tuple(log((1 + size) / (1 + frequencies[term])) + 1.0 for term in terms))
