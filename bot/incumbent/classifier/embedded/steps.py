"""The steps of a query, the parts of it that each ask for something, and what their words say of a tool call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import log
from typing import Final

import numpy as np

from incumbent.classifier.embedded.phrases import small_letters
from incumbent.classifier.embedded.text import WORDS, Array, compounds_of, terms_of
from incumbent.classifier.embedded.word_lists import (
    CUES,
    GREETINGS,
    HOW,
    MUCH,
    OPENERS,
    OPERATIONS,
    PREPOSITIONS,
    QUESTIONS,
    STOP_WORDS,
    UNSPACED,
    UNSPACED_CUES,
    WRITING,
    YES_OR_NO,
    leading_verb,
    operation_shares,
    operations_of,
    words_of,
)

MAX_STEPS: Final = 4
"""Of more steps than that, neighbours are read together."""

_TOKEN: Final = re.compile("[\\w\u0300-\u036f\u064b-\u065f\u0900-\u0903\u093a-\u094f]+(?:['’-]\\w+)*")
"""Letters and digits with the marks that some scripts write vowels with; underscores are taken out before."""
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+(?=\S)|(?<=[。！？；])(?=\S)|\n+")
_SPACED_SENTENCE: Final = re.compile(r"\s(?:(?<=[.!?;]\s)\s*(?=\S)|(?<=\n)\n*)")
"""The same where blanks follow sentences: it begins with one set of characters, which is found far sooner."""
_UNSPACED_ENDS: Final = re.compile("[。！？；]")
_JOINT: Final = re.compile(r",?\s+(?:and|then|und|dann|et|puis|y|luego|poi|depois|daarna|oraz|ve|sonra|और|फिर)\s+|,\s+")
"""What two orders of one sentence may be joined by, in small letters."""

STEP_OPENERS: Final = OPENERS | words_of(
    "after that before also additionally furthermore lastly afterwards moreover addition could you help me by too "
    "instead und dann auch et puis ensuite también luego poi anche depois também daarna ook "
    "per favore por favor s'il vous te plaît pouvez peux puedes podrías könnten können kannst kun je kunt puoi può "
    "você pode poderia merci danke gerne go ahead would like want i'd i need to have"
)
"""Words that may stand before a step's order."""
_ORDER_OPENERS: Final = STEP_OPENERS - words_of("i i'd i'll we the")
_QUOTED: Final = re.compile(r"\"[^\"\n]{1,2000}\"|“[^”\n]{1,2000}”|«[^»\n]{1,2000}»|「[^」\n]{1,2000}」")


def words_in(text: str) -> list[str]:
    """The words of ``text`` in folded case."""
    text = text.replace("_", " ")
    if text.isascii():
        return _TOKEN.findall(text.lower())
    return [word.casefold() for word in _TOKEN.findall(text.replace("’", "'"))]


def asks(words: Sequence[str]) -> bool:
    """Whether words plainly begin with an order or a question."""
    first = next((word for word in words if word not in STEP_OPENERS), "")
    return first in QUESTIONS or leading_verb(words, STEP_OPENERS, 0) is not None


def split_steps(turns: Sequence[str]) -> list[list[str]]:
    """The steps of each of the cleaned ``turns``, at most :data:`MAX_STEPS` in all; no word of the query is left out.

    A turn is a step of its own; within a turn, parts are told apart where each begins with an order or a question.
    """
    spoken = [turn for turn in turns if turn.strip()] or [""]
    _join_neighbours(spoken, MAX_STEPS, "\n")
    steps = [_parts(turn) for turn in spoken]
    while sum(map(len, steps)) > MAX_STEPS:
        longest = max(steps, key=len)
        _join_neighbours(longest, len(longest) - 1, " ")
    return steps


def _join_neighbours(texts: list[str], limit: int, by: str) -> None:
    """Joins the shortest neighbours until there are no more than ``limit`` texts."""
    while len(texts) > limit:
        shortest = min(range(len(texts) - 1), key=lambda place: len(texts[place]) + len(texts[place + 1]))
        texts[shortest : shortest + 2] = [by.join(texts[shortest : shortest + 2])]


def _parts(turn: str) -> list[str]:
    """A turn cut where a further order or question begins; what is quoted is not cut."""
    masked = _QUOTED.sub(lambda match: "0" * len(match.group()), turn)
    cuts = [0]
    for sentence, start in _sentences(masked):
        cuts.extend(start + place for place in _clauses(sentence))
    pieces = [(start, end) for start, end in pairwise([*cuts[1:], len(turn)]) if turn[start:end].strip()]
    steps: list[str] = []
    asked = False
    for start, end in pieces:
        asking = asks(words_in(masked[start:end]))
        if steps and (not asking or not asked):
            steps[-1] = f"{steps[-1]} {turn[start:end].strip()}"
            asked = asked or asking
        else:
            steps.append(turn[start:end].strip())
            asked = asking
    return steps or [turn]


def _sentences(text: str) -> list[tuple[str, int]]:
    """The sentences of ``text`` and where each begins."""
    ends = _SENTENCE if _UNSPACED_ENDS.search(text) else _SPACED_SENTENCE
    starts = [0, *(match.end() for match in ends.finditer(text))]
    return [(text[start:end], start) for start, end in pairwise([*starts, len(text)])]


def _clauses(sentence: str) -> list[int]:
    """Where the clauses of ``sentence`` begin: after a joint that an order follows, if the one before it asks too."""
    starts = [0]
    for joint in _JOINT.finditer(small_letters(sentence)):
        following = words_in(sentence[joint.end() : joint.end() + 60])
        if len(following) > 1 and _orders(following) and asks(words_in(sentence[starts[-1] : joint.start()])):
            starts.append(joint.end())
    return starts


def _orders(words: Sequence[str]) -> bool:
    """Whether words begin with an order: a verb as it is given in one, not in the past."""
    verb = leading_verb(words, _ORDER_OPENERS, 0)
    return verb is not None and not verb.endswith(("ed", "ing"))


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
