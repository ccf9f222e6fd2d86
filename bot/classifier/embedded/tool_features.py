"""What speaks for a step of a query calling a tool, as numbers: the features that weights are fitted on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from math import log
from typing import Final

import numpy as np

from bot.classifier.embedded.operations import OPERATIONS, operation_shares, operations_of
from bot.classifier.embedded.step_features import LEADS, QueryPart, read_step
from bot.classifier.embedded.steps import words_in
from bot.classifier.embedded.tool_texts import Array, TextIndex, initials_of, name_words, sequences_of, terms_of
from bot.classifier.embedded.word_lists import KNOWLEDGE, PLAIN_VERBS, PREPOSITIONS, SEARCHES
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
        self.name_sequences = TextIndex([sequences_of(words) for words in names])
        self.description_sequences = TextIndex([sequences_of(words) for words in descriptions])
        objects = [terms_of([word for word in words if word not in PLAIN_VERBS]) or terms_of(words) for words in names]
        self.objects = TextIndex([Counter(terms) for terms in objects])
        self.object_weight = np.array(
            [max(1e-9, sum(self.objects.weights[term] for term in sorted(set(terms)))) for terms in objects]
        )
        nouns = [_nouns(words) or words for words in names]
        self.nouns = TextIndex([Counter(terms_of(words[-1:])) for words in nouns])
        self.texts = TextIndex(
            [
                Counter([*terms_of(name), *initials_of(name), *terms_of(description), *terms_of(words)])
                for name, description, words in zip(names, descriptions, parameters, strict=True)
            ]
        )
        self.parameters = TextIndex([Counter(terms_of(words)) for words in parameters])
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
        self.starters = [read_step(clean(starter[:2_000], 1_000)) for starter in starters[:20]]
        self.starter_sequences = TextIndex([step.sequences for step in self.starters])

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

    def lexical(self, step: QueryPart) -> Array:
        """A row of features for each tool."""
        counts = step.sequences
        # Whatever another index has is in the texts too.
        terms, head = self.texts.known(step.terms), self.texts.known(step.head)
        named = self.name_sequences.cosines(counts)
        described = self.description_sequences.cosines(counts)
        matched = self.objects.matched(terms)
        texts = self.texts.matched(terms)
        asked = self._asked(terms)
        parameters = self.parameters.matched(terms)
        # An id or a name asks for one thing, its absence for many.
        specific = min(1.0, step.specifics / 2)
        columns = (
            self.texts.matched(head) / self._asked(head),
            np.minimum(1.0, self.nouns.matched(head)),
            np.minimum(1.0, self.nouns.matched(terms)),
            np.minimum(1.0, self.objects.matched(head) / self.object_weight),
            self._own @ np.append(step.lead[: len(OPERATIONS)], 0.0),
            named,
            described,
            matched / self.object_weight,
            np.log1p(matched),
            texts / asked,
            np.log1p(texts),
            np.log1p(parameters),
            self.operations @ step.verbs,
            self.verbs @ step.verbs,
            self.verbs @ step.lead[: len(OPERATIONS)],
            (specific - 0.5) * self.plural,
            (specific - 0.5) * self.by_key,
            (specific - 0.5) * self.operations[:, OPERATIONS.index("list")],
            (specific - 0.5) * self.operations[:, OPERATIONS.index("get")],
        )
        led = self._own[:, :, None] * step.lead
        effects = self.effects[:, None] * np.concatenate([step.lead, step.verbs])
        rows = np.empty((self.size, len(columns) + led[0].size + effects.shape[1]))
        for place, column in enumerate(columns):
            rows[:, place] = column
        end = len(columns) + led[0].size
        rows[:, len(columns) : end] = led.reshape(self.size, -1)
        rows[:, end:] = effects
        return rows

    def _asked(self, terms: AbstractSet[str]) -> float:
        """The weights of ``terms``, which the texts have, together; 1 of none."""
        return sum([self.texts.weights[term] for term in sorted(terms)]) or 1.0

    def call_features(self, step: QueryPart, lexical: Array, scores: Array) -> list[float]:
        """What the tools and their scores say of whether ``step`` calls any of them."""
        best = int(scores.argmax())
        weights = _softmax(scores)
        terms = step.plain
        known = sum(term in self.texts.weights for term in terms) / max(1, len(terms))
        head = step.head & step.plain
        own = sum(self.texts.has(term, best) for term in head)
        ordered = np.sort(scores)[::-1]
        searching = self.searching_share(scores)
        asked = float(step.lead[LEADS.index("question")])
        writes = float(weights @ self.effects)
        return [
            float(ordered[0]) / 5,
            float(ordered[0] - ordered[1]) / 5 if self.size > 1 else 0.0,
            log(self.size),
            float(-(weights * np.log(weights + 1e-12)).sum()),
            writes,
            writes * asked,
            writes * float(step.specifics == 0),
            known,
            own / max(1, len(head)),
            float(len(head) - own > 1),
            *(float(lexical[:, place].max()) for place in (0, 1, 3, 5, 6, 9)),
            *(float(lexical[best, place]) for place in (0, 1, 3, 9, 11)),
            searching,
            searching * asked,
            searching * float(step.specifics == 0),
            float(self.searching.mean()),
            self.starter_likeness(step),
        ]

    def searching_share(self, scores: Array) -> float:
        """How probably the called tool is one that searches texts."""
        return float(_softmax(scores) @ self.searching)

    def starter_likeness(self, step: QueryPart) -> float:
        """The greatest cosine of the step's character sequences with a starter's, 0 without starters."""
        return float(self.starter_sequences.cosines(step.sequences).max(initial=0.0))


def _softmax(scores: Array) -> Array:
    odds: Array = np.exp(scores - scores.max())
    odds /= odds.sum()
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
