"""A step of a query as the features see it, and what its own words say of whether it calls any tool."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Final

import numpy as np

from bot.classifier.embedded.operations import OPERATIONS, leading_verb, operation_shares, operations_of
from bot.classifier.embedded.steps import STEP_OPENERS, words_in
from bot.classifier.embedded.tool_texts import WORDS, Array, compounds_of, terms_of
from bot.classifier.embedded.word_lists import (
    CUES,
    GREETINGS,
    HOW,
    MUCH,
    OPENERS,
    PREPOSITIONS,
    QUESTIONS,
    STOP_WORDS,
    UNSPACED,
    UNSPACED_CUES,
    WRITING,
    YES_OR_NO,
)

STEP_CHARACTERS: Final = 4_000
"""How much of a step is read."""

_SPECIFIC: Final = re.compile(r"\d|[<\"“”'‘«「#@]\w|\w[/@]\w|(?<=[^\W\d_][ ,])[A-Z]")
_SPECIFIC_WITHOUT_PAIRS: Final = re.compile(
    r"[\d<\"“”'‘«「#A-Z](?:(?<=\d)|(?<=[<\"“”'‘«「#])\w|(?<=[^\W\d_][ ,][A-Z]))"
)
"""The same in texts without a slash or “@”: it begins with one set of characters, which is found far sooner."""
_PLACEHOLDER: Final = re.compile(r"\\?<[^<>]{1,60}>|\"[^\"\n]{1,200}\"")


@dataclass(frozen=True)
class QueryPart:
    """A part of a query as the features see it."""

    text: str
    words: tuple[str, ...]
    plain: frozenset[str]
    """The stems of its words alone."""
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


def read_step(text: str) -> QueryPart:
    """``text``, cleaned already, as a step."""
    text = text[:STEP_CHARACTERS]
    words = words_in(text)
    without = _PLACEHOLDER.sub(" ", text) if "<" in text or '"' in text else text
    bare = words if without == text else words_in(without)
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
    head = [*terms_of(bare[:end]), *compounds_of(bare[:end])]
    plain = frozenset(terms_of(words))
    return QueryPart(
        text,
        tuple(words),
        plain,
        plain.union(compounds_of(words)),
        frozenset(head),
        lead,
        shares / max(1.0, shares.sum()),
        _specifics(text),
    )


def _specifics(text: str) -> int:
    """How many numbers, quotations, placeholders and names ``text`` has."""
    return len((_SPECIFIC if "/" in text or "@" in text else _SPECIFIC_WITHOUT_PAIRS).findall(text))


@lru_cache(maxsize=WORDS)
def _cues_of(word: str) -> tuple[str, ...]:
    """The names of the cues that have ``word``."""
    return tuple(name for name, cue in CUES.items() if word in cue)


def step_features(step: QueryPart) -> list[float]:
    """What the step's own words say of whether it calls any tool."""
    words = step.words
    count = max(1, len(words))
    start = next((place for place, word in enumerate(words) if word not in OPENERS), 0)
    first = words[start] if words else ""
    content = [word for word in words if word not in STOP_WORDS and word not in OPENERS]
    held = dict.fromkeys(CUES, 0)
    for word in words:
        for name in _cues_of(word):
            held[name] += 1
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
