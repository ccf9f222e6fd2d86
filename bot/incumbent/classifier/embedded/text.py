"""Words, stems and character sequences of a text: hashed, or weighted over a vocabulary of their own."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import _lru_cache_wrapper, cached_property, lru_cache
from itertools import chain, pairwise
from math import sqrt
from operator import add
from typing import Final, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from incumbent.classifier.embedded.exact import log_of
from incumbent.classifier.embedded.word_lists import STOP_WORDS
from incumbent.classifier.visible_text import clean, read_turns

Array: TypeAlias = NDArray[np.float64]
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

_WEIGHTS: Final = np.array([0.0, *(1.0 + log_of(count) for count in range(1, 256))])
"""The weight of a term by its count, as far as most texts go."""


def damped(counts: NDArray[np.intp]) -> Array:
    """The weight of terms by their ``counts``: 1 + ln(count)."""
    if counts.max(initial=0) < len(_WEIGHTS):
        return _WEIGHTS[counts]
    return np.array([1.0 + log_of(count) for count in counts.tolist()])


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
        total += log_of(count)
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
        values = [(1.0 + log_of(count)) * self.weights[place] for place, count in known]
        length = sqrt(sum(value * value for value in values))
        return [place for place, _ in known], [value / length for value in values] if length else values


def vocabulary_of(frequencies: Mapping[str, int], size: int, least: int) -> TermVocabulary:
    """The terms of at least ``least`` of ``size`` documents, sorted; idf = ln((1 + n) / (1 + df)) + 1.

    ``frequencies`` says in how many documents each term is.
    """
    terms = sorted(term for term, frequency in frequencies.items() if frequency >= least)
    return TermVocabulary(tuple(terms), tuple(log_of((1 + size) / (1 + frequencies[term])) + 1.0 for term in terms))


NAME_CHARACTERS: Final = 200
"""How much of a tool's name is read."""

WORDS: Final = 32_768
"""Of how many words, those used last, it is remembered what they come to."""

_LAST_OF_ENDINGS: Final = frozenset("sgde")

_WHOLE_ENDING: Final = 7
"""So many characters have their endings in them, and remain long enough without."""

_WORD_BORDER: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
_UNSPACED_RUN: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]{2,}")


def name_words(name: str) -> list[str]:
    """A name as words in folded case: ``getRepairs``, ``get_repairs`` and ``Repairs-get`` have the same ones."""
    read = clean(name[: 2 * NAME_CHARACTERS], NAME_CHARACTERS)
    return [word for part in _WORD_BORDER.split(read) if part for word in _cut_unspaced(part.casefold())]


def terms_of(words: Sequence[str]) -> list[str]:
    """``words`` without those that say nothing, by their stems; pairs of characters where a script has no spaces."""
    telling = [word for word in words if word not in STOP_WORDS]
    return list(chain.from_iterable(of_each(_terms_of_word, telling)))


@lru_cache(maxsize=WORDS)
def _terms_of_word(word: str) -> tuple[str, ...]:
    return tuple(map(stem, _cut_unspaced(word)))


def stem(word: str) -> str:
    """``word`` without the commonest endings, so that “lists”, “listing” and “listed” are one term."""
    if word[-1:] not in _LAST_OF_ENDINGS:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def compounds_of(words: Sequence[str]) -> list[str]:
    """Pairs of neighbours written as one word, and initials of two to four neighbours."""
    letters = "".join(map(_initials, words))
    two = list(map(add, letters, letters[1:]))
    three = list(map(add, two, letters[2:]))
    following = words[1:]
    joined = [
        stem(one + other) if end is None else one + end
        for one, other, end in zip(words, following, map(_end_of_stem, following), strict=False)
    ]
    return [*joined, *two, *three, *map(add, three, letters[3:])]


@lru_cache(maxsize=WORDS)
def _end_of_stem(word: str) -> str | None:
    """What the stem of any longer word that ends with ``word`` ends with; ``None`` where its beginning matters."""
    if word[-1:] not in _LAST_OF_ENDINGS:
        return word
    return stem(word) if len(word) >= _WHOLE_ENDING else None


@lru_cache(maxsize=WORDS)
def _initials(word: str) -> str:
    """The first letter of each part of ``word``."""
    return "".join(part[0] for part in re.split("[-'’]", word) if part)


def _cut_unspaced(word: str) -> list[str]:
    if _UNSPACED_RUN.search(word) is None:
        return [word]
    return [word[start : start + 2] for start in range(max(1, len(word) - 1))]


def initials_of(words: Sequence[str]) -> list[str]:
    """Initials of two and three neighbours: a tool for pull requests is one for “PR”s."""
    return [
        "".join(word[0] for word in words[start : start + length])
        for length in (2, 3)
        for start in range(len(words) - length + 1)
    ]
