"""What speaks for a step of a query calling a tool, as numbers: the features that weights are fitted on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import chain, pairwise
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from incumbent.classifier.embedded.steps import LEADS, QueryPart, words_in
from incumbent.classifier.embedded.text import (
    WORDS,
    Array,
    damped,
    initials_of,
    name_words,
    of_each,
    sequences_of,
    terms_of,
)
from incumbent.classifier.embedded.word_lists import (
    KNOWLEDGE,
    OPERATIONS,
    PLAIN_VERBS,
    PREPOSITIONS,
    SEARCHES,
    operation_shares,
    operations_of,
)
from incumbent.classifier.visible_text import clean
from incumbent.intake.specification import Tool

DESCRIPTION_CHARACTERS: Final = 1_000
"""How much of a tool's description is compared by words."""


class ToolFeatures:
    """The declared tools, read once, and the features of a step with each of them."""

    def __init__(self, tools: Sequence[Tool], starters: Sequence[str]) -> None:
        self.size = len(tools)
        names = [name_words(tool.name) for tool in tools]
        descriptions = [
            words_in(clean(tool.description[: 2 * DESCRIPTION_CHARACTERS], DESCRIPTION_CHARACTERS)) for tool in tools
        ]
        parameters = [
            [word for parameter in tool.parameters[:60] for word in name_words(parameter.name)] for tool in tools
        ]
        started = [words_in(clean(starter[:2_000], 1_000)) for starter in starters[:20]]
        self.sequences = TextIndex(*(list(map(_sequences, texts)) for texts in (names, descriptions, started)))
        """Those of the names, the descriptions and the starters."""
        objects = [terms_of([word for word in words if word not in PLAIN_VERBS]) or terms_of(words) for words in names]
        nouns = [terms_of((_nouns(words) or words)[-1:]) for words in names]
        texts = [
            [*terms_of(name), *initials_of(name), *terms_of(description), *terms_of(words)]
            for name, description, words in zip(names, descriptions, parameters, strict=True)
        ]
        given = list(map(terms_of, parameters))
        self._texts = list(map(frozenset, texts))
        self.terms = TextIndex(*(list(map(Counter, each)) for each in (texts, objects, nouns, given)))
        """Those of the whole texts, which have all of the others, of the objects, the nouns and the parameters."""
        self.weights, own, *_ = self.terms.weights
        self.object_weight = np.array([max(1e-9, sum(own[term] for term in sorted(set(terms)))) for terms in objects])
        self.operations = np.array(_operations(names, descriptions)).reshape(self.size, len(OPERATIONS))
        self._widen([terms_of(_nouns(words)) or terms_of(words) for words in names])
        none = np.maximum(0.0, 1.0 - self.operations.sum(axis=1))
        self._own = np.column_stack([self.operations, none])
        self.verbs = np.array(
            [
                _limited(operation_shares([*name, *description[:12]]))
                for name, description in zip(names, descriptions, strict=True)
            ]
        ).reshape(self.size, len(OPERATIONS))
        self.searching = np.array(
            [
                float(bool(SEARCHES & {*name, *description}) and bool(KNOWLEDGE & {*name, *description}))
                for name, description in zip(names, descriptions, strict=True)
            ]
        )
        self.effects = np.array([{"read": -1.0, "write": 1.0}.get(tool.effect, 0.0) for tool in tools])
        self.described = np.array([min(1.0, len(words) / 8) for words in descriptions])
        self.plural = np.array([float(any(_is_plural(word) for word in words)) for words in names])
        self.by_key = np.array(
            [
                float(bool({"id", "ids", "number", "key", "url", "by"} & {*name, *(words or [])}))
                for name, words in zip(names, parameters, strict=True)
            ]
        )

    def _widen(self, objects: Sequence[Sequence[str]]) -> None:
        """A tool that gets things also lists them where no other tool does, and the other way round."""
        get, many = OPERATIONS.index("get"), OPERATIONS.index("list")
        keys = [frozenset(terms) for terms in objects]
        held: defaultdict[frozenset[str], set[int]] = defaultdict(set)
        for key, row in zip(keys, self.operations, strict=True):
            held[key].update(place for place in (get, many) if row[place] > 0)
        for key, row in zip(keys, self.operations, strict=True):
            if held[key] in ({get}, {many}):
                row[get] = row[many] = (row[get] + row[many]) / 2

    def lexical(self, steps: Sequence[QueryPart]) -> tuple[Array, Array]:
        """For each of ``steps`` a row of features for each tool, and its greatest likeness with a starter, 0 without
        starters.
        """
        terms, heads = [self.terms.known(step.terms) for step in steps], [self.terms.known(step.head) for step in steps]
        named, described, started = self.sequences.cosines([step.words for step in steps])
        texts, matched, nouns, parameters = self.terms.matched(terms)
        first_texts, first_matched, first_nouns, _ = self.terms.matched(heads)
        asked, asked_first = (np.array([[self._asked(own)] for own in each]) for each in (terms, heads))
        leads, verbs = np.array([step.lead for step in steps]), np.array([step.verbs for step in steps])
        operations = leads[:, : len(OPERATIONS)]
        # An id or a name asks for one thing, its absence for many.
        specific = np.array([[min(1.0, step.specifics / 2) - 0.5] for step in steps])
        likeness = (
            first_texts / asked_first,
            np.minimum(1.0, first_nouns),
            np.minimum(1.0, nouns),
            np.minimum(1.0, first_matched / self.object_weight),
            _products(self.operations, operations),
            named,
            described,
            matched / self.object_weight,
            np.log1p(matched),
            texts / asked,
            np.log1p(texts),
            np.log1p(parameters),
            _products(self.operations, verbs),
            _products(self.verbs, verbs),
            _products(self.verbs, operations),
            specific * self.plural,
            specific * self.by_key,
            specific * self.operations[:, OPERATIONS.index("list")],
            specific * self.operations[:, OPERATIONS.index("get")],
        )
        led = self._own[:, :, None] * leads[:, None, None, :]
        effects = self.effects[:, None] * np.column_stack([leads, verbs])[:, None, :]
        rows = [np.stack(likeness, axis=2), led.reshape(len(steps), self.size, -1), effects]
        return np.concatenate(rows, axis=2), started.max(axis=1, initial=0.0)

    def _asked(self, terms: AbstractSet[str]) -> float:
        """The weights of ``terms``, which the texts have, together; 1 of none."""
        return sum([self.weights[term] for term in sorted(terms)]) or 1.0

    def call_features(self, steps: Sequence[QueryPart], lexical: Array, scores: Array, started: Array) -> Array:
        """What the tools and their ``scores`` (a row per step) say of whether each of ``steps`` calls any of them.

        ``lexical`` and ``started`` are what :meth:`lexical` says of them.
        """
        best = scores.argmax(axis=1)
        weights = _softmax(scores)
        heads = [step.head & step.plain for step in steps]
        own = np.array([len(head & self._texts[place]) for head, place in zip(heads, best.tolist(), strict=True)])
        sizes = np.array(list(map(len, heads)))
        ordered = np.sort(scores, axis=1)[:, ::-1]
        searching = _products(self.searching[None], weights)[:, 0]
        writes = _products(self.effects[None], weights)[:, 0]
        asked = np.array([step.lead[LEADS.index("question")] for step in steps])
        plain = np.array([float(step.specifics == 0) for step in steps])
        return np.column_stack(
            [
                ordered[:, 0] / 5,
                (ordered[:, 0] - ordered[:, 1]) / 5 if self.size > 1 else np.zeros(len(steps)),
                np.full(len(steps), log(self.size)),
                -(weights * np.log(weights + 1e-12)).sum(axis=1),
                writes,
                writes * asked,
                writes * plain,
                [len(self.terms.known(step.plain)) / max(1, len(step.plain)) for step in steps],
                own / np.maximum(1, sizes),
                sizes - own > 1,
                lexical[:, :, (0, 1, 3, 5, 6, 9)].max(axis=1),
                lexical[np.arange(len(steps)), best][:, (0, 1, 3, 9, 11)],
                searching,
                searching * asked,
                searching * plain,
                np.full(len(steps), self.searching.mean()),
                started,
            ]
        )

    def searching_share(self, scores: Array) -> float:
        """How probably the called tool is one that searches texts."""
        return float(_softmax(scores) @ self.searching)


def _sequences(words: Sequence[str]) -> Counter[str]:
    return Counter(chain.from_iterable(map(sequences_of, words)))


def _products(matrix: Array, rows: Array) -> Array:
    """The product of ``matrix`` with each of ``rows``, which has the same bits whatever is beside it."""
    found: Array = np.matmul(matrix, rows[:, :, None])[:, :, 0]
    return found


def _softmax(scores: Array) -> Array:
    odds: Array = np.exp(scores - scores.max(axis=-1, keepdims=True))
    odds /= odds.sum(axis=-1, keepdims=True)
    return odds


def _operations(names: Sequence[Sequence[str]], descriptions: Sequence[Sequence[str]]) -> list[list[float]]:
    """The operation of each tool: by the verb at that end of its name where this agent's names have theirs."""
    firsts = sum(bool(name and operations_of(name[0])) for name in names)
    lasts = sum(bool(len(name) > 1 and operations_of(name[-1])) for name in names)
    found = []
    for name, description in zip(names, descriptions, strict=True):
        ordered = list(name) if firsts >= lasts else list(reversed(name))
        verb = next((word for word in [*ordered, *description[:1]] if operations_of(word)), None)
        found.append(_limited(operation_shares([verb] if verb else [])))
    return found


def _limited(shares: list[float]) -> list[float]:
    total = max(1.0, sum(shares))
    return [share / total for share in shares]


def _nouns(name: Sequence[str]) -> list[str]:
    """The words of a name that are no verbs, up to “by”, “with” and the like."""
    end = next((place for place, word in enumerate(name) if place and word in PREPOSITIONS), len(name))
    return [word for word in name[:end] if not operations_of(word)]


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))


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
