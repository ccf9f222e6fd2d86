"""Names and texts of tools and queries as terms, and their likeness by TF-IDF."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bot.classifier.cleaning import clean
from bot.classifier.embedded.request_words import STOP_WORDS

Array = NDArray[np.float64]

NAME_CHARACTERS: Final = 200
"""How much of a tool's name is read."""

_WORD_BORDER: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
_UNSPACED_RUN: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]{2,}")


def name_words(name: str) -> list[str]:
    """A name as words in folded case: ``getRepairs``, ``get_repairs`` and ``Repairs-get`` have the same ones."""
    read = clean(name[: 2 * NAME_CHARACTERS], NAME_CHARACTERS)
    return [word for part in _WORD_BORDER.split(read) if part for word in _cut_unspaced(part.casefold())]


def terms_of(words: Sequence[str]) -> list[str]:
    """``words`` without those that say nothing, by their stems; pairs of characters where a script has no spaces."""
    return [stem(part) for word in words if word not in STOP_WORDS for part in _cut_unspaced(word)]


def stem(word: str) -> str:
    """``word`` without the commonest endings, so that “lists”, “listing” and “listed” are one term."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def compounds_of(words: Sequence[str]) -> list[str]:
    """Pairs of neighbours written as one word, and initials of two to four neighbours."""
    pairs = [stem(one + other) for one, other in pairwise(words)]
    parts = [part for word in words for part in re.split("[-'’]", word) if part]
    initials = [
        "".join(part[0] for part in parts[start : start + length])
        for length in (2, 3, 4)
        for start in range(len(parts) - length + 1)
    ]
    return pairs + initials


def sequences_of(words: Sequence[str]) -> Counter[str]:
    """Sequences of three and four characters within words and their borders."""
    bordered = [f" {word[:60]} " for word in words]
    return Counter(
        word[start : start + length]
        for word in bordered
        for length in (3, 4)
        for start in range(len(word) - length + 1)
    )


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
        self.holders = {
            term: (np.array([place for place, _ in rows]), np.array([value for _, value in rows]))
            for term, rows in holders.items()
        }

    def cosines(self, counts: Counter[str]) -> Array:
        """The cosine of a text with each document, by the terms that any document has."""
        found = np.zeros(self.size)
        known = sorted(
            (term, (1 + log(count)) * self.weights[term]) for term, count in counts.items() if term in self.weights
        )
        length = sum(value * value for _, value in known) ** 0.5
        for term, value in known:
            places, values = self.holders[term]
            found[places] += value / length * values
        return found

    def matched(self, terms: Sequence[str]) -> Array:
        """The sum of the weights of the ``terms`` that each document has."""
        found = np.zeros(self.size)
        for term in terms:
            if term in self.holders:
                found[self.holders[term][0]] += self.weights[term]
        return found


def initials_of(words: Sequence[str]) -> list[str]:
    """Initials of two and three neighbours: a tool for pull requests is one for “PR”s."""
    return [
        "".join(word[0] for word in words[start : start + length])
        for length in (2, 3)
        for start in range(len(words) - length + 1)
    ]
