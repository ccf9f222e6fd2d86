"""Structure of a query: enumerations, conjunctions, clauses, conditionals, sentences, turns, length.

Term weights carry a query's topic; whether it asks for several things at once, one after the other or under a condition
stands in its structure.  The signs are those of English and of punctuation at large.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from incumbent.classifier.embedded.exact import log_of
from incumbent.classifier.embedded.text import ReadText, of_each
from incumbent.classifier.embedded.word_lists import ACTIONS, CONJUNCTIONS, LEXICA, OPENERS, QUESTIONS

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


@dataclass(frozen=True, slots=True)
class _Token:
    """What a token is, whatever is around it."""

    folded: str
    is_word: bool
    begins_with_digit: bool
    shouted: bool
    capitalised: bool
    conjunction: bool
    ends_clause: bool
    action: bool
    lexica: tuple[str, ...]

    @staticmethod
    def of(token: str) -> _Token:
        """What ``token`` is."""
        folded = token.casefold().replace("’", "'")
        conjunction = folded in CONJUNCTIONS
        return _Token(
            folded,
            is_word=token[0].isalnum(),
            begins_with_digit=token[0].isdecimal(),
            shouted=len(token) > 1 and token.isupper(),
            capitalised=token[0].isupper(),
            conjunction=conjunction,
            ends_clause=conjunction or token in _BREAKS,
            action=folded in ACTIONS,
            lexica=tuple(name for name, lexicon in LEXICA.items() if folded in lexicon),
        )


_known: Final = lru_cache(maxsize=16_384)(_Token.of)


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
    for own in of_each(_known, read.tokens):
        if own.ends_clause:
            if clauses[-1]:
                clauses.append([])
                joined.append(False)
            joined[-1] = joined[-1] or own.conjunction
        elif own.is_word:
            clauses[-1].append(own.folded)
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
    return [log_of(1.0 + max(0.0, count)) for count in counts]


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
        for place, (token, own) in enumerate(zip(tokens, of_each(_known, tokens), strict=True)):
            if own.is_word:
                self._word(own, len(token), before)
            else:
                self._sign(token, before, tokens[place + 1] if place + 1 < len(tokens) else "")
            before = token
        if self._sentence_words:
            self.sentences += 1

    def _word(self, word: _Token, length: int, before: str) -> None:
        first = self._sentence_words == 0
        self.words += 1
        self.letters += length
        self._sentence_words += 1
        self.numbers += word.begins_with_digit
        if word.shouted:
            self.shouted += 1
        elif word.capitalised and not first:
            self.capitalised += 1
        for name in word.lexica:
            self.lexical[name] += 1
        if self._coordinated and "reference" in word.lexica:
            self.references_after += 1
        if word.action:
            self._action(first, before)
        if self.words == 1:
            self.begins_with_question = int("question" in word.lexica)
        if "and" in word.lexica or "or" in word.lexica:
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
