"""Names and texts of tools and queries as terms, and their likeness by TF-IDF."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import chain
from math import log
from operator import add
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bot.classifier.embedded.word_lists import STOP_WORDS
from bot.classifier.visible_text import clean

Array = NDArray[np.float64]

NAME_CHARACTERS: Final = 200
"""How much of a tool's name is read."""

WORDS: Final = 8_192
"""Of how many words, those used last, it is remembered what they come to."""

_KEPT_CHARACTERS: Final = 24
"""Longer words are read again each time: they are rare, and would fill the memory."""

_LAST_OF_ENDINGS: Final = frozenset("sgde")

_WORD_BORDER: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
_UNSPACED_RUN: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]{2,}")


def name_words(name: str) -> list[str]:
    """A name as words in folded case: ``getRepairs``, ``get_repairs`` and ``Repairs-get`` have the same ones."""
    read = clean(name[: 2 * NAME_CHARACTERS], NAME_CHARACTERS)
    return [word for part in _WORD_BORDER.split(read) if part for word in _cut_unspaced(part.casefold())]


def terms_of(words: Sequence[str]) -> list[str]:
    """``words`` without those that say nothing, by their stems; pairs of characters where a script has no spaces."""
    return [term for word in words if word not in STOP_WORDS for term in _terms_of_word(word)]


def _terms_of_word(word: str) -> tuple[str, ...]:
    return _kept_terms(word) if len(word) <= _KEPT_CHARACTERS else _kept_terms.__wrapped__(word)


@lru_cache(maxsize=WORDS)
def _kept_terms(word: str) -> tuple[str, ...]:
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
    return [*map(stem, map(add, words, words[1:])), *two, *three, *map(add, three, letters[3:])]


@lru_cache(maxsize=WORDS)
def _initials(word: str) -> str:
    """The first letter of each part of ``word``."""
    return "".join(part[0] for part in re.split("[-'’]", word) if part)


def sequences_of(words: Sequence[str]) -> Counter[str]:
    """Sequences of three and four characters within words and their borders."""
    return Counter(chain.from_iterable(map(sequences_of_word, words)))


def sequences_of_word(word: str) -> tuple[str, ...]:
    """Those of one word, the shorter ones first; a blank stands for its borders."""
    return _kept_sequences(word) if len(word) <= _KEPT_CHARACTERS else _kept_sequences.__wrapped__(word)


@lru_cache(maxsize=WORDS)
def _kept_sequences(word: str) -> tuple[str, ...]:
    bordered = f" {word[:60]} "
    return tuple(bordered[start : start + length] for length in (3, 4) for start in range(len(bordered) - length + 1))


def _cut_unspaced(word: str) -> list[str]:
    if _UNSPACED_RUN.search(word) is None:
        return [word]
    return [word[start : start + 2] for start in range(max(1, len(word) - 1))]


class TextIndex:
    """Terms of short texts weighted by TF-IDF, for products with a query."""

    def __init__(self, documents: Sequence[Counter[str]]) -> None:
        self.size = len(documents)
        frequencies: Counter[str] = Counter()
        for document in documents:
            frequencies.update(document.keys())
        self.weights = {term: log((1 + self.size) / (1 + number)) + 1.0 for term, number in frequencies.items()}
        holders: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for place, document in enumerate(documents):
            values = {term: (1 + log(count)) * self.weights[term] for term, count in document.items()}
            length = sum(value * value for _, value in sorted(values.items())) ** 0.5
            for term, value in values.items():
                holders[term].append((place, value / length))
        ordered = sorted(holders)
        self._numbers = {term: number for number, term in enumerate(ordered)}
        self._idf = np.array([self.weights[term] for term in ordered])
        self._sizes = np.array([len(holders[term]) for term in ordered], np.intp)
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._places = np.array([place for term in ordered for place, _ in holders[term]], np.intp)
        self._values = np.array([value for term in ordered for _, value in holders[term]])

    def cosines(self, counts: Counter[str]) -> Array:
        """The cosine of a text with each document, by the terms that any document has."""
        get = self._numbers.get
        known = sorted([(number, count) for term, count in counts.items() if (number := get(term)) is not None])
        if not known:
            return np.zeros(self.size)
        numbers = np.array([number for number, _ in known], np.intp)
        damped = np.array([1.0 if count == 1 else 1 + log(count) for _, count in known])
        weights = damped * self._idf[numbers]
        # Summed up one after the other, in the order of the terms.
        weights /= (weights * weights).cumsum()[-1] ** 0.5
        at, sizes = self._held(numbers)
        return self._summed(at, np.repeat(weights, sizes) * self._values[at])

    def matched(self, terms: AbstractSet[str]) -> Array:
        """The sum of the weights of the ``terms`` that each document has."""
        numbers = sorted(map(self._numbers.__getitem__, self.known(terms)))
        if not numbers:
            return np.zeros(self.size)
        at, sizes = self._held(np.array(numbers, np.intp))
        return self._summed(at, np.repeat(self._idf[numbers], sizes))

    def known(self, terms: AbstractSet[str]) -> AbstractSet[str]:
        """Those of ``terms`` that any document has."""
        return self._numbers.keys() & terms

    def has(self, term: str, place: int) -> bool:
        """Whether the document at ``place`` has ``term``."""
        number = self._numbers.get(term)
        if number is None:
            return False
        start = int(self._starts[number])
        return place in self._places[start : start + int(self._sizes[number])]

    def _held(self, numbers: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where the documents of the terms with these ``numbers`` are, term by term, and how many of each there are."""
        sizes = self._sizes[numbers]
        ends = sizes.cumsum()
        return np.repeat(self._starts[numbers] - ends + sizes, sizes) + np.arange(ends[-1]), sizes

    def _summed(self, at: NDArray[np.intp], weights: Array) -> Array:
        """The sum of the ``weights`` of each document, one after the other."""
        sums: Array = np.bincount(self._places[at], weights=weights, minlength=self.size).astype(np.float64)
        return sums


def initials_of(words: Sequence[str]) -> list[str]:
    """Initials of two and three neighbours: a tool for pull requests is one for “PR”s."""
    return [
        "".join(word[0] for word in words[start : start + length])
        for length in (2, 3)
        for start in range(len(words) - length + 1)
    ]
