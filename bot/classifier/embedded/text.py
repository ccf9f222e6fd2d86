"""Words and character sequences of a text: hashed for the classifier, or weighted over a vocabulary of their own."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import _lru_cache_wrapper, cached_property, lru_cache
from itertools import chain, pairwise
from math import log, sqrt
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bot.classifier.visible_text import clean, read_turns

Found = TypeVar("Found")

READ_CHARACTERS: Final = 20_000
"""How much of a query is read: of longer turns the beginning and the end."""

# Every alternative begins with characters that no other one takes, so the search is linear.
_TOKEN: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\n|[^\w\s]")


@dataclass(frozen=True)
class ReadText:
    """A query's cleaned ``turns``, and their joined ``text``."""

    turns: tuple[str, ...]
    text: str

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """Its words and single signs, case kept."""
        return tuple(_TOKEN.findall(self.text))

    @cached_property
    def words(self) -> list[str]:
        """The words in folded case."""
        return [token.casefold() for token in self.tokens if token[0].isalnum()]


def read_text(turns: Sequence[str]) -> ReadText:
    """``turns`` as features see them; the time is linear in what is read, and what is read is bounded."""
    turns = read_turns(turns)
    share = READ_CHARACTERS // max(1, len(turns))
    cleaned = tuple(clean(turn, share) for turn in turns)
    return ReadText(cleaned, "\n".join(cleaned))


CHARACTER_LENGTHS: Final = (3, 4)
"""Lengths of the character sequences within a word and its two borders."""

BUCKETS: Final = 8_192
"""Places of the words, and as many of the character sequences: what two terms share counts for both."""

KEPT_CHARACTERS: Final = 24
"""Longer words are read again each time: they are rare, and would fill the memory."""


def of_each(known: _lru_cache_wrapper[Found], words: Sequence[str]) -> Iterable[Found]:
    """What ``known`` says of each of ``words``; only of short ones it is remembered."""
    if max(map(len, words), default=0) <= KEPT_CHARACTERS:
        return map(known, words)
    return [known(word) if len(word) <= KEPT_CHARACTERS else known.__wrapped__(word) for word in words]


UNIT: Final = 255
"""The length of each of the two vectors of hashed terms, whose values are whole numbers in one byte."""


_HASH_BITS: Final = 50
"""Of the key of a term, those below its place: they tell terms of one place apart."""

_WEIGHTS: Final = np.array([0.0, *(1.0 + log(count) for count in range(1, 256))])
"""The weight of a term by its count, as far as most texts go."""


def damped(counts: NDArray[np.intp]) -> NDArray[np.float64]:
    """The weight of terms by their ``counts``: 1 + ln(count)."""
    if counts.max(initial=0) < len(_WEIGHTS):
        return _WEIGHTS[counts]
    return np.array([1.0 + log(count) for count in counts.tolist()])


def hashed_terms(read: ReadText) -> tuple[NDArray[np.uint16], NDArray[np.uint8]]:
    """Places, ascending, and values of the words and the character sequences of a text.

    A value is 1 + ln(count), and the vectors of words and of character sequences have length :data:`UNIT` each.  No
    term is weighted by how many texts have it: a row depends on its own text alone.
    """
    words = read.words
    own = list(of_each(_hashed_word, ["0" if word[0].isdecimal() else word for word in words]))
    single, paired = [each.key for each in own], [_key_of_pair(one, other) for one, other in pairwise(own)]
    keys = np.concatenate([np.array(single + paired, np.uint64), *of_each(_sequence_keys, words)])
    order = np.argsort(keys)
    keys = keys[order]
    starts, counts = _runs(keys)
    places, firsts = keys[starts] >> np.uint64(_HASH_BITS), np.minimum.reduceat(order, starts)
    weights = damped(counts)
    starts, sizes = _runs(places)
    if len(starts) < len(places):
        # What shares a place is added up: terms that occur once count 1 each, others in the order of the text.
        totals = np.add.reduceat(counts, starts)
        summed = np.where(sizes > 1, sizes, weights[starts])
        for at in np.flatnonzero((sizes > 1) & (totals > sizes)).tolist():
            run = slice(starts[at], starts[at] + sizes[at])
            summed[at] = _sum_of_weights(counts[run][np.argsort(firsts[run])].tolist())
        places, weights, firsts = places[starts], summed, np.minimum.reduceat(firsts, starts)
    squares = (weights * weights)[np.argsort(firsts)]
    number = int(np.searchsorted(places, BUCKETS))
    values = np.empty(len(places))
    for part in (slice(0, number), slice(number, None)):
        if len(values[part]):
            # Summed up one after the other, in the order of the text.
            values[part] = np.rint(UNIT * weights[part] / sqrt(squares[part].cumsum()[-1]))
    kept = values > 0
    return places[kept].astype(np.uint16), values[kept].astype(np.uint8)


def _runs(values: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where runs of equal ``values`` begin, and their lengths."""
    begins = np.ones(len(values), bool)
    begins[1:] = values[1:] != values[:-1]
    starts = np.flatnonzero(begins)
    return starts, np.append(starts[1:], len(values)) - starts


def _sum_of_weights(counts: Iterable[int]) -> float:
    """What terms of one place count together, given how often each is in the text."""
    total = 0.0
    for count in counts:
        total += 1.0
        total += log(count)
    return total


def word_terms(read: ReadText) -> Counter[str]:
    """Words and pairs of neighbouring words, with their counts; numbers count as one word."""
    return Counter(_word_terms(read))


def _word_terms(read: ReadText) -> list[str]:
    words = ["0" if word[0].isdecimal() else word for word in read.words]
    return [*words, *(f"{one} {other}" for one, other in pairwise(words))]


class _HashedWord(NamedTuple):
    """A word after a blank, as bytes; two checksums of it without the blank, and its key."""

    following: bytes
    crc: int
    adler: int
    key: int


@lru_cache(maxsize=16_384)
def _hashed_word(word: str) -> _HashedWord:
    data = word.encode(errors="surrogatepass")
    crc, adler = zlib.crc32(data), zlib.adler32(data)
    return _HashedWord(b" " + data, crc, adler, _key(crc, adler))


def _key_of_pair(one: _HashedWord, other: _HashedWord) -> int:
    """The key of two neighbours: checksums go on where those of the first word ended."""
    return _key(zlib.crc32(other.following, one.crc), zlib.adler32(other.following, one.adler))


def _key(crc: int, adler: int) -> int:
    """The place of a term, by a checksum, and below it what tells it from others of this place: two checksums."""
    return crc % BUCKETS << _HASH_BITS | crc // BUCKETS << 31 | adler & 0x7FFF_FFFF


@lru_cache(maxsize=32_768)
def _sequence_keys(word: str) -> NDArray[np.uint64]:
    """The keys of the character sequences of a word, whose places come after those of words."""
    sequences = [sequence.encode(errors="surrogatepass") for sequence in sequences_of(word)]
    keys = (_key(zlib.crc32(data), zlib.adler32(data)) for data in sequences)
    return np.array([key + (BUCKETS << _HASH_BITS) for key in keys], np.uint64)


def character_terms(read: ReadText) -> Counter[str]:
    """Sequences of characters within words, with their counts; a blank stands for a word's border."""
    return Counter(chain.from_iterable(of_each(_sequences, read.words)))


def sequences_of(word: str) -> tuple[str, ...]:
    """The character sequences of ``word``, the shorter ones first; a blank stands for its borders."""
    bordered = f" {word[:60]} "
    return tuple(
        bordered[start : start + length] for length in CHARACTER_LENGTHS for start in range(len(bordered) - length + 1)
    )


_sequences: Final = lru_cache(maxsize=8_192)(sequences_of)


@dataclass(frozen=True)
class TermVocabulary:
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


def vocabulary_of(frequencies: Mapping[str, int], size: int, least: int) -> TermVocabulary:
    """The terms of at least ``least`` of ``size`` documents, sorted; idf = ln((1 + n) / (1 + df)) + 1.

    ``frequencies`` says in how many documents each term is.
    """
    terms = sorted(term for term, frequency in frequencies.items() if frequency >= least)
    return TermVocabulary(tuple(terms), tuple(log((1 + size) / (1 + frequencies[term])) + 1.0 for term in terms))
