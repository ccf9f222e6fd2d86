"""The steps of a query: the parts of it that each ask for something, where they can be told apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from bot.classifier.embedded.operations import leading_verb
from bot.classifier.embedded.phrases import small_letters
from bot.classifier.embedded.word_lists import OPENERS, QUESTIONS, words_of

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
