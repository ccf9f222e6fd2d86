"""Names and texts of tools and queries as terms, and their likeness by TF-IDF."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import chain, pairwise
from math import log
from operator import add
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bot.classifier.embedded.text import damped, of_each, sequences_of
from bot.classifier.embedded.word_lists import STOP_WORDS
from bot.classifier.visible_text import clean

Array = NDArray[np.float64]

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


class TextIndex:
    """Sets of short texts, one beside the other, by their terms; each set weights its terms by TF-IDF.

    All sets together are compared with a query in one pass over its terms.
    """

    def __init__(self, *sets: Sequence[Counter[str]]) -> None:
        self.weights = [_frequencies_inverted(documents) for documents in sets]
        """The weight of each term, by set."""
        holders: defaultdict[str, list[tuple[int, int, float]]] = defaultdict(list)
        self._ends: list[int] = []
        place = 0
        for number, documents in enumerate(sets):
            for document in documents:
                for term, value in _weighted(document, self.weights[number]).items():
                    holders[term].append((number, place, value))
                place += 1
            self._ends.append(place)
        ordered = sorted(holders)
        self._numbers = {term: number for number, term in enumerate(ordered)}
        self._idf = np.array([[weights.get(term, 0.0) for term in ordered] for weights in self.weights])
        self._sizes = np.array([len(holders[term]) for term in ordered], np.intp)
        self._starts = np.cumsum(self._sizes) - self._sizes
        held = [holder for term in ordered for holder in holders[term]]
        self._sets = np.array([number for number, _, _ in held], np.intp)
        self._places = np.array([place for _, place, _ in held], np.intp)
        self._values = np.array([value for _, _, value in held])
        self._sequences = lru_cache(maxsize=WORDS)(self._sequences_of_word)

    def cosines(self, texts: Sequence[Sequence[str]]) -> list[Array]:
        """By set, how alike the character sequences of each of ``texts`` (its words) and of the set's texts are.

        A cosine, in a row for each of ``texts``; of its sequences those count that any text of the sets has.
        """
        size = max(1, len(self._numbers))
        known = [np.concatenate([_NONE, *of_each(self._sequences, words)]) for words in texts]
        counted = np.concatenate([numbers + place * size for place, numbers in enumerate(known)])
        keys, counts = np.unique(counted, return_counts=True)
        owners, numbers = np.divmod(keys, size)
        weights = damped(counts) * self._idf[:, numbers]
        # Summed up one after the other, in the order of the terms.
        squares = [np.bincount(owners, own * own, len(texts)).tolist() for own in weights]
        weights /= np.array([[square**0.5 or 1.0 for square in own] for own in squares])[:, owners]
        at, terms = self._held(numbers)
        return self._summed(owners[terms], at, weights[self._sets[at], terms] * self._values[at], len(texts))

    def matched(self, terms: Sequence[AbstractSet[str]]) -> list[Array]:
        """By set, the sum of the weights of those of the ``terms`` that each text has: a row for each of ``terms``.

        They must be :meth:`known`.
        """
        found = [sorted(map(self._numbers.__getitem__, own)) for own in terms]
        numbers = np.array([*chain.from_iterable(found)], np.intp)
        owners = np.repeat(np.arange(len(found)), list(map(len, found)))
        at, held = self._held(numbers)
        return self._summed(owners[held], at, self._idf[self._sets[at], numbers[held]], len(terms))

    def known(self, terms: AbstractSet[str]) -> AbstractSet[str]:
        """Those of ``terms`` that any text has."""
        return self._numbers.keys() & terms

    def _sequences_of_word(self, word: str) -> NDArray[np.intp]:
        """The numbers of the character sequences of ``word`` that any text has."""
        numbers = map(self._numbers.get, sequences_of(word))
        return np.array([number for number in numbers if number is not None], np.intp)

    def _held(self, numbers: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where the texts of the terms with these ``numbers`` are, term by term, and at which place its term is."""
        sizes = self._sizes[numbers]
        before = sizes.cumsum() - sizes
        terms = np.repeat(np.arange(len(numbers)), sizes)
        return np.arange(len(terms)) + (self._starts[numbers] - before)[terms], terms

    def _summed(self, owners: NDArray[np.intp], at: NDArray[np.intp], weights: Array, size: int) -> list[Array]:
        """By set, the sum of the ``weights`` of each text, one after the other: a row for each of ``size`` owners."""
        end = self._ends[-1]
        sums = np.bincount(owners * end + self._places[at], weights, size * end).astype(np.float64, copy=False)
        rows = sums.reshape(size, end)
        return [rows[:, start:stop] for start, stop in pairwise((0, *self._ends))]


_NONE: Final = np.zeros(0, np.intp)


def _frequencies_inverted(documents: Sequence[Counter[str]]) -> dict[str, float]:
    """The inverse document frequency of each term of ``documents``."""
    frequencies = Counter(chain.from_iterable(documents))
    return {term: log((1 + len(documents)) / (1 + number)) + 1.0 for term, number in frequencies.items()}


def _weighted(document: Counter[str], weights: Mapping[str, float]) -> dict[str, float]:
    """The terms of ``document`` by their ``weights``, of length 1 together."""
    values = {term: (1 + log(count)) * weights[term] for term, count in document.items()}
    length = sum(value * value for _, value in sorted(values.items())) ** 0.5
    return {term: value / length for term, value in values.items()}


def initials_of(words: Sequence[str]) -> list[str]:
    """Initials of two and three neighbours: a tool for pull requests is one for “PR”s."""
    return [
        "".join(word[0] for word in words[start : start + length])
        for length in (2, 3)
        for start in range(len(words) - length + 1)
    ]
