"""What speaks for a step of a query calling a tool, as numbers: the features that weights are fitted on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from math import log
from typing import Final

import numpy as np

from bot.classifier.embedded.steps import LEADS, QueryPart, words_in
from bot.classifier.embedded.text import sequences_of
from bot.classifier.embedded.tool_texts import Array, TextIndex, initials_of, name_words, terms_of
from bot.classifier.embedded.word_lists import (
    KNOWLEDGE,
    OPERATIONS,
    PLAIN_VERBS,
    PREPOSITIONS,
    SEARCHES,
    operation_shares,
    operations_of,
)
from bot.classifier.visible_text import clean
from bot.intake.specification import Tool

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
