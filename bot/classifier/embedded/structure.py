"""Structure of a query: enumerations, conjunctions, clauses, conditionals, sentences, turns, length.

Term weights carry a query's topic; whether it asks for several things at once, one after the other or under a condition
stands in its structure.  The signs are those of English and of punctuation at large.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import pairwise
from math import log1p
from typing import Final

from bot.classifier.embedded.text import ReadText
from bot.classifier.embedded.word_lists import ACTIONS, CONJUNCTIONS, LEXICA, OPENERS, QUESTIONS

CLAUSE_FEATURES: Final = (
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


# As NFKC leaves them: full-width signs are plain ones by then.
_SENTENCE_ENDS: Final = frozenset(".!?。")
_OPENING: Final = frozenset("([{<")
_QUOTES: Final = frozenset("\"“”„«»'`")

NAMES: Final = (
    "turns",
    "words",
    "characters per word",
    "sentences",
    "words per sentence",
    "question marks",
    "exclamation marks",
    "commas",
    "colons",
    "quotes",
    "brackets",
    "slashes",
    "numbers",
    "capitalised words",
    "shouted words",
    "lines",
    "dotted names",
    "longest enumeration",
    "short coordination",
    "actions",
    "coordinated actions",
    "later sentences with an action",
    "begins with an action",
    "begins with a question word",
    "reference after a coordination",
    *LEXICA,
    *CLAUSE_FEATURES,
)
"""The features, in the order of :func:`structure`."""


def structure(read: ReadText) -> list[float]:
    """The structural features of a query, in the order of :data:`NAMES`; counts are damped by log(1 + n)."""
    scan = _Scan(read)
    tokens = read.tokens
    words = max(1, scan.words)
    signs = {sign: tokens.count(sign) for sign in set(tokens) if not sign[0].isalnum()}
    counts = [
        len(read.turns) - 1,
        scan.words,
        scan.letters / words,
        scan.sentences,
        scan.words / max(1, scan.sentences),
        signs.get("?", 0),
        signs.get("!", 0),
        signs.get(",", 0),
        signs.get(":", 0) + signs.get(";", 0),
        sum(signs.get(sign, 0) for sign in _QUOTES),
        sum(signs.get(sign, 0) for sign in _OPENING),
        signs.get("/", 0),
        scan.numbers,
        scan.capitalised,
        scan.shouted,
        signs.get("\n", 0) - (len(read.turns) - 1),
        scan.dotted,
        scan.longest_enumeration,
        scan.short_coordinations,
        scan.actions,
        scan.coordinated_actions,
        scan.later_actions,
        scan.begins_with_action,
        scan.begins_with_question,
        scan.references_after,
        *(scan.lexical[name] for name in LEXICA),
        *clause_features(read),
    ]
    return [log1p(max(0.0, count)) for count in counts]


@lru_cache(maxsize=32_768)
def _lexica_of(word: str) -> tuple[str, ...]:
    """The names of the lexica that have ``word``."""
    return tuple(name for name, lexicon in LEXICA.items() if word in lexicon)


class _Scan:
    """One pass over the tokens."""

    def __init__(self, read: ReadText) -> None:
        self.words = self.letters = self.numbers = self.capitalised = self.shouted = self.dotted = 0
        self.sentences = self.actions = self.coordinated_actions = self.later_actions = 0
        self.longest_enumeration = self.short_coordinations = self.references_after = 0
        self.begins_with_action = self.begins_with_question = 0
        self.lexical = dict.fromkeys(LEXICA, 0)
        self._items = 0
        self._gap = 0
        self._sentence_words = 0
        self._coordinated = False
        before = ""
        tokens = read.tokens
        for place, token in enumerate(tokens):
            if token[0].isalnum():
                self._word(token, before)
            else:
                self._sign(token, before, tokens[place + 1] if place + 1 < len(tokens) else "")
            before = token
        if self._sentence_words:
            self.sentences += 1

    def _word(self, token: str, before: str) -> None:
        word = token.casefold().replace("’", "'")
        first = self._sentence_words == 0
        self.words += 1
        self.letters += len(token)
        self._sentence_words += 1
        self.numbers += token[0].isdecimal()
        if len(token) > 1 and token.isupper():
            self.shouted += 1
        elif token[0].isupper() and not first:
            self.capitalised += 1
        kinds = _lexica_of(word)
        for name in kinds:
            self.lexical[name] += 1
        if self._coordinated and "reference" in kinds:
            self.references_after += 1
        joins = "and" in kinds or "or" in kinds
        if word in ACTIONS:
            self._action(first, before)
        if self.words == 1:
            self.begins_with_question = int("question" in kinds)
        if joins:
            self._join()
        else:
            self._gap += 1

    def _action(self, first: bool, before: str) -> None:
        """A word that may be an order; it is one where a sentence, a clause or a coordination begins."""
        self.actions += 1
        joined = before.casefold() in {"and", "then", "also", "or", "please", ",", ";", ":", "to", "&", "finally"}
        if first and self.words == 1:
            self.begins_with_action = 1
        elif first:
            self.later_actions += 1
            self._coordinated = True
        elif joined:
            self.coordinated_actions += 1
            self._coordinated = True

    def _join(self) -> None:
        """“and”, “or”: after a short gap it ends an enumeration or joins two things."""
        if 0 < self._gap <= 4:
            self.short_coordinations += 1
            self._items += 1
            self.longest_enumeration = max(self.longest_enumeration, self._items + 1)
        self._items = 0
        self._gap = 0

    def _sign(self, token: str, before: str, after: str) -> None:
        if token == ",":
            # Items of an enumeration are short; a longer stretch is a clause of its own.
            self._items = self._items + 1 if self._gap <= 5 else 1
            self.longest_enumeration = max(self.longest_enumeration, self._items)
            self._gap = 0
        elif token == "." and before[:1].isalnum() and after[:1].islower():
            self.dotted += 1
        elif token in _SENTENCE_ENDS or token == "\n":
            self.sentences += self._sentence_words > 0
            self._sentence_words = self._items = self._gap = 0
        elif token == "&":
            self._join()
