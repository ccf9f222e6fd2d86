"""Clauses of a query: how many there are, how each begins, and how alike they are.

Whether a query asks for several things shows in clauses that each begin with an order or a question word, and in
clauses that repeat one another: “what did X cost and what did Y cost”.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import Final

from bot.classifier.embedded.lexica import ACTIONS, CONJUNCTIONS, OPENERS, QUESTIONS
from bot.classifier.embedded.text import ReadText

NAMES: Final = (
    "clauses",
    "clauses that begin with an action",
    "clauses that begin with a question word",
    "later clauses that begin with either",
    "conjunctions before an action",
    "conjunctions before a question word",
    "clauses that begin alike",
    "shared words of neighbouring clauses",
    "repeated words",
    "repeated pairs of words",
    "words with digits",
    "words per clause",
    "parallel items",
)
"""The features, in the order of :func:`clause_features`."""

# As NFKC leaves them: full-width signs are plain ones by then.
_BREAKS: Final = frozenset(".!?,;:。、\n–—→|+&")


def clause_features(read: ReadText) -> list[float]:
    """Counts over the clauses of a query, in the order of :data:`NAMES`; not damped."""
    clauses, joined = _split(read)
    words = [word for clause in clauses for word in clause]
    starts = [_begins(clause) for clause in clauses]
    firsts = Counter(clause[0] for clause in clauses)
    counts = Counter(words)
    pairs = Counter(pair for clause in clauses for pair in pairwise(clause))
    return [
        len(clauses),
        starts.count("action"),
        starts.count("question"),
        sum(start != "" for start in starts[1:]),
        sum(start == "action" and after for start, after in zip(starts, joined, strict=True)),
        sum(start == "question" and after for start, after in zip(starts, joined, strict=True)),
        sum(count - 1 for count in firsts.values()),
        sum(len(set(one) & set(other)) for one, other in pairwise(clauses)),
        sum(count - 1 for count in counts.values()),
        sum(count - 1 for count in pairs.values()),
        sum(map(_with_digit, words)),
        len(words) / max(1, len(clauses)),
        _items(clauses),
    ]


def _split(read: ReadText) -> tuple[list[list[str]], list[bool]]:
    """The clauses as words in folded case, and whether a conjunction stands before each."""
    clauses: list[list[str]] = [[]]
    joined = [False]
    for token in read.tokens:
        word = token.casefold().replace("’", "'")
        conjunction = word in CONJUNCTIONS
        if conjunction or token in _BREAKS:
            if clauses[-1]:
                clauses.append([])
                joined.append(False)
            joined[-1] = joined[-1] or conjunction
        elif token[0].isalnum():
            clauses[-1].append(word)
    if not clauses[-1]:
        clauses.pop()
        joined.pop()
    return clauses, joined


def _begins(clause: list[str]) -> str:
    """“action” or “question” if that is how the clause begins after words like “please”, else nothing."""
    for word in clause:
        if word in QUESTIONS:
            return "question"
        if word in ACTIONS:
            return "action"
        if word not in OPENERS:
            return ""
    return ""


def _items(clauses: list[list[str]]) -> int:
    """The longest run of clauses of nearly the same length that share their first word or hold a digit each."""
    longest = run = 0
    for one, other in pairwise(clauses):
        alike = abs(len(one) - len(other)) <= 1 and (one[0] == other[0] or (_has_digit(one) and _has_digit(other)))
        run = run + 1 if alike else 0
        longest = max(longest, run)
    return longest


def _has_digit(clause: list[str]) -> bool:
    return any(map(_with_digit, clause))


@lru_cache(maxsize=32_768)
def _with_digit(word: str) -> bool:
    return any(map(str.isdecimal, word))
