"""What speaks for a step of a query calling a tool, as numbers: the features that weights are fitted on."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bot.classifier.cleaning import clean
from bot.classifier.embedded.lexica import OPENERS, QUESTIONS
from bot.classifier.embedded.operations import OPERATIONS, leading_verb, operation_shares, operations_of
from bot.classifier.embedded.request_words import (
    CUES,
    GREETINGS,
    HOW,
    KNOWLEDGE,
    MUCH,
    PLAIN_VERBS,
    PREPOSITIONS,
    SEARCHES,
    STOP_WORDS,
    UNSPACED,
    UNSPACED_CUES,
    WRITING,
    YES_OR_NO,
)
from bot.classifier.embedded.steps import STEP_OPENERS, words_in
from bot.intake.specification import Tool

Array = NDArray[np.float64]

NAME_CHARACTERS: Final = 200
DESCRIPTION_CHARACTERS: Final = 1_000
"""How much of a tool's name and of its description is compared by words."""
STEP_CHARACTERS: Final = 4_000

_WORD_BORDER: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
UNSPACED_RUN: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]{2,}")
_SPECIFIC: Final = re.compile(r"\d|[<\"“”'‘«「#@]\w|\w[/@]\w|(?<=[^\W\d_][ ,])[A-Z]")
_PLACEHOLDER: Final = re.compile(r"\\?<[^<>]{1,60}>|\"[^\"\n]{1,200}\"")


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


def _joined(words: Sequence[str]) -> list[str]:
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
    found: Counter[str] = Counter()
    for word in words:
        bordered = f" {word[:60]} "
        for length in (3, 4):
            for start in range(len(bordered) - length + 1):
                found[bordered[start : start + length]] += 1
    return found


def _cut_unspaced(word: str) -> list[str]:
    if UNSPACED_RUN.search(word) is None:
        return [word]
    return [word[start : start + 2] for start in range(max(1, len(word) - 1))]


@dataclass(frozen=True)
class Step:
    """A part of a query as the features see it."""

    text: str
    words: tuple[str, ...]
    terms: frozenset[str]
    """The stems of its words, and of neighbours joined: “web app” is “webapp” too, “speech to text” also “stt”."""
    head: frozenset[str]
    """Those of its first words, before what “in”, “from”, “with” and the like begin: what is asked for, not where."""
    lead: Array
    """1 at the operation that its leading verb asks for (shared if ambiguous), at “question”, or at “other”."""
    verbs: Array
    """How much its words speak of each operation; not more than 1 in all."""
    specifics: int
    """Numbers, quotations, placeholders and names in it."""


LEADS: Final = (*OPERATIONS, "question", "other")


def read_step(text: str) -> Step:
    """``text``, cleaned already, as a step."""
    text = text[:STEP_CHARACTERS]
    words = words_in(text)
    bare = words_in(_PLACEHOLDER.sub(" ", text))
    lead = np.zeros(len(LEADS))
    verb = leading_verb(bare, STEP_OPENERS, 0)
    first = next((word for word in bare if word not in OPENERS), "")
    if first in QUESTIONS:
        lead[LEADS.index("question")] = 1.0
    elif verb is not None:
        found = operations_of(verb)
        lead[list(found)] = 1 / len(found)
    else:
        lead[LEADS.index("other")] = 1.0
    shares = np.array(operation_shares(bare[:60]))
    start = next((place for place, word in enumerate(bare) if word not in OPENERS), 0)
    end = next((place for place, word in enumerate(bare) if place > start + 1 and word in PREPOSITIONS), len(bare))
    head = [*terms_of(bare[:end]), *_joined(bare[:end])]
    return Step(
        text,
        tuple(words),
        frozenset([*terms_of(words), *_joined(words)]),
        frozenset(head),
        lead,
        shares / max(1.0, shares.sum()),
        len(_SPECIFIC.findall(text)),
    )


class _Index:
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
        self.name_sequences = _Index([sequences_of(words) for words in names])
        self.description_sequences = _Index([sequences_of(words) for words in descriptions])
        objects = [terms_of([word for word in words if word not in PLAIN_VERBS]) or terms_of(words) for words in names]
        self.objects = _Index([Counter(terms) for terms in objects])
        self.object_weight = np.array(
            [max(1e-9, sum(self.objects.weights[term] for term in sorted(set(terms)))) for terms in objects]
        )
        nouns = [_nouns(words) or words for words in names]
        self.nouns = _Index([Counter(terms_of(words[-1:])) for words in nouns])
        self.texts = _Index(
            [
                Counter([*terms_of(name), *_initials(name), *terms_of(description), *terms_of(words)])
                for name, description, words in zip(names, descriptions, parameters, strict=True)
            ]
        )
        self.parameters = _Index([Counter(terms_of(words)) for words in parameters])
        self.operations = np.array(_operations(names, descriptions)).reshape(self.size, len(OPERATIONS))
        self._widen([terms_of(_nouns(words)) or terms_of(words) for words in names])
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
        self.starter_sequences = _Index([sequences_of(step.words) for step in self.starters])

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

    def lexical(self, step: Step) -> Array:
        """A row of features for each tool."""
        counts = sequences_of(step.words)
        terms = sorted(step.terms)
        named = self.name_sequences.cosines(counts)
        described = self.description_sequences.cosines(counts)
        matched = self.objects.matched(terms)
        texts = self.texts.matched(terms)
        asked = sum(self.texts.weights.get(term, 0.0) for term in terms) or 1.0
        parameters = self.parameters.matched(terms)
        none = np.maximum(0.0, 1.0 - self.operations.sum(axis=1))
        own = np.column_stack([self.operations, none])
        # An id or a name asks for one thing, its absence for many.
        specific = min(1.0, step.specifics / 2)
        head = sorted(step.head)
        asked_head = sum(self.texts.weights.get(term, 0.0) for term in head) or 1.0
        columns = [
            self.texts.matched(head) / asked_head,
            np.minimum(1.0, self.nouns.matched(head)),
            np.minimum(1.0, self.nouns.matched(sorted(step.terms))),
            np.minimum(1.0, self.objects.matched(head) / self.object_weight),
            own @ np.append(step.lead[: len(OPERATIONS)], 0.0),
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
            (own[:, :, None] * step.lead[None, None, :]).reshape(self.size, -1),
            self.effects[:, None] * np.concatenate([step.lead, step.verbs])[None, :],
        ]
        return np.column_stack(columns)

    def call_features(self, step: Step, lexical: Array, scores: Array) -> list[float]:
        """What the tools and their scores say of whether ``step`` calls any of them."""
        best = int(scores.argmax())
        weights = _softmax(scores)
        terms = step.terms & frozenset(terms_of(step.words))
        known = sum(term in self.texts.weights for term in terms) / max(1, len(terms))
        head = step.head & frozenset(terms_of(step.words))
        own = sum(bool(term in self.texts.holders and best in self.texts.holders[term][0]) for term in sorted(head))
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

    def starter_likeness(self, step: Step) -> float:
        """The greatest cosine of the step's character sequences with a starter's, 0 without starters."""
        return float(self.starter_sequences.cosines(sequences_of(step.words)).max(initial=0.0))


def step_features(step: Step) -> list[float]:
    """What the step's own words say of whether it calls any tool."""
    words = step.words
    count = max(1, len(words))
    start = next((place for place, word in enumerate(words) if word not in OPENERS), 0)
    first = words[start] if words else ""
    content = [word for word in words if word not in STOP_WORDS and word not in OPENERS]
    held = {name: sum(word in cue for word in words) for name, cue in CUES.items()}
    if UNSPACED.search(step.text):
        for name, parts in UNSPACED_CUES.items():
            held[name] += sum(part in step.text for part in parts)
    asked = float(step.lead[LEADS.index("question")])
    plain = float(step.specifics == 0)
    pointing = float(held["first person"] + held["live"] > 0)
    bare = plain * (1 - pointing)
    definite = float(any(word in ("the", "this", "that", "these", "those") for word in words))
    return [
        log(count),
        min(3.0, float(step.specifics)),
        plain,
        pointing,
        bare,
        asked * bare,
        asked * plain * (1 - definite),
        float(len(content) <= 2),
        float(len(content) <= 4) * plain,
        float(len(content) <= 4) * plain * float(not asked),
        float(bool(words) and words[0] in GREETINGS),
        float(count <= 6 and held["greeting"] > 0),
        float("?" in step.text or "？" in step.text or "؟" in step.text),
        float(first in YES_OR_NO) * bare,
        float(first in WRITING),
        float(held["writing"] > 0 and asked == 0),
        float(held["general"] > 0) * bare,
        float(first in HOW and not MUCH.intersection(words[start + 1 : start + 2])) * bare,
        float(held["second person"] > 0) * asked,
        float(held["second person"] > 0 and held["first person"] == 0 and count <= 9) * plain,
        *step.lead,
        *(min(1.0, number / count * 4) for number in held.values()),
    ]


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


def _initials(words: Sequence[str]) -> list[str]:
    """Initials of two and three neighbours: a tool for pull requests is one for “PR”s."""
    return [
        "".join(word[0] for word in words[start : start + length])
        for length in (2, 3)
        for start in range(len(words) - length + 1)
    ]


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
