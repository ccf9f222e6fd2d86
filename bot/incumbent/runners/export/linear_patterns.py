"""Customers' regular expressions that a backtracking engine matches in time proportional to the text.

Runners search with the engines of JavaScript and Python, where ``^(a+)+$`` takes minutes on forty letters.  Only
patterns that are proved harmless pass, in the part of the syntax that both engines read alike: the steps from one place
of the text are bounded, and an unbounded repeat is tried only once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import Final

MOST_STEPS: Final = 10_000
"""The most steps that an engine may take from one place of a text; cue patterns are limited to as many instructions."""
_DEEPEST: Final = 20

_ESCAPED = r"\\(?:[dDwWsStnrfv]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[!-/:-@\[-`{-~])"
_TOKEN: Final = re.compile(
    rf"(?P<atom>{_ESCAPED}|\[(?!\^?\])\^?(?:{_ESCAPED}|[^\\\[\]])+\]|[^\\\[\](){{}}*+?|^$])"
    r"|(?P<place>[\^$]|\\[bB])|(?P<open>\((?:\?:|(?!\?)))|(?P<close>\))|(?P<bar>\|)"
    r"|(?P<repeat>(?:[*+?]|\{(?P<least>\d{1,4})(?P<to>,(?P<most>\d{0,4}))?\})\??)"
)
_FIX: Final = "begin it with ^, give its repeats a bound, as in {1,20}, and do not nest repeats"


class _FaultError(Exception):
    """Says what is wrong with a pattern, and how to fix it."""


@dataclass(frozen=True, slots=True)
class _Cost:
    """The cost of a part of a pattern from one place of the text.

    ``steps`` tries it in all its ``ways``.  ``loops`` are the unbounded repeats on one way; ``tried`` of them have
    something behind them, so that the engine leaves them again one character earlier.
    """

    steps: int
    ways: int
    loops: int = 0
    tried: int = 0
    anchored: bool = False
    is_atom: bool = False

    def then(self, other: _Cost) -> _Cost:
        """The cost of both parts, the ``other`` behind this one."""
        steps, ways = self.steps + self.ways * other.steps, self.ways * other.ways
        loops, tried = self.loops + other.loops, self.loops + other.tried
        return _bounded(_Cost(steps, ways, loops, tried, anchored=self.anchored))

    def either(self, other: _Cost) -> _Cost:
        """The cost of both parts as alternatives."""
        loops, tried = max(self.loops, other.loops), max(self.tried, other.tried)
        both = self.anchored and other.anchored
        return _bounded(_Cost(self.steps + other.steps, self.ways + other.ways, loops, tried, anchored=both))


@lru_cache(maxsize=4096)
def pattern_fault(text: str) -> str | None:
    """Why the regular expression ``text`` is not given to a runner, and how to fix it; ``None`` if it is harmless."""
    try:
        cost = _Parser(_tokens(text)).whole()
    except _FaultError as fault:
        return str(fault)
    if cost.tried > (1 if cost.anchored else 0):
        return f"it may take far longer than its text is long; {_FIX}"
    return None


def _tokens(text: str) -> list[re.Match[str]]:
    found: list[re.Match[str]] = []
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            near = text[place : place + 10]
            raise _FaultError(
                f"it has {near!r}, which not all engines read alike; write a backslash before what is meant"
            )
        found.append(token)
        place = token.end()
        if len(found) > MOST_STEPS:
            raise _too_large()
    return found


class _Parser:
    """Goes through the tokens of a pattern once."""

    def __init__(self, tokens: Sequence[re.Match[str]]) -> None:
        self._tokens = tokens
        self._next = 0

    def whole(self) -> _Cost:
        """The cost of the whole pattern."""
        cost = self._branches(0)
        if self._next < len(self._tokens):
            raise _FaultError("a parenthesis is closed that was not opened; write \\) for one that is meant")
        return cost

    def _branches(self, depth: int) -> _Cost:
        if depth > _DEEPEST:
            raise _too_large()
        branches = [self._branch(depth)]
        while self._kind() == "bar":
            self._next += 1
            branches.append(self._branch(depth))
        return reduce(_Cost.either, branches)

    def _branch(self, depth: int) -> _Cost:
        parts: list[_Cost] = []
        while (kind := self._kind()) not in (None, "bar", "close"):
            parts.append(self._part(kind, depth))
        if not parts:
            return _Cost(1, 1)
        return replace(reduce(_Cost.then, parts), anchored=parts[0].anchored)

    def _part(self, kind: str | None, depth: int) -> _Cost:
        token = self._tokens[self._next]
        self._next += 1
        if kind == "place":
            return _Cost(1, 1, anchored=token[0] == "^")
        if kind == "repeat":
            raise _FaultError(f"{token[0]} repeats nothing that can be repeated; write \\{token[0]} if it is meant")
        if kind == "open":
            part = self._branches(depth + 1)
            if self._kind() != "close":
                raise _FaultError("a parenthesis is not closed; write \\( for one that is meant")
            self._next += 1
        else:
            part = _Cost(1, 1, is_atom=True)
        if self._kind() == "repeat":
            part = _repeated(part, self._tokens[self._next])
            self._next += 1
        return part

    def _kind(self) -> str | None:
        return self._tokens[self._next].lastgroup if self._next < len(self._tokens) else None


def _repeated(part: _Cost, repeat: re.Match[str]) -> _Cost:
    least, most = _bounds(repeat)
    if most is None:
        if not part.is_atom:
            raise _FaultError(f"it repeats more than one character without a bound; {_FIX}")
        return _bounded(_Cost(least + 1, 1, loops=1))
    if part.loops and most > 1:
        raise _FaultError(f"it repeats what repeats without a bound; {_FIX}")
    steps, ways, ways_of_so_many = 1, 0, 1
    for number in range(most + 1):
        ways += ways_of_so_many if number >= least else 0
        steps += part.steps * ways_of_so_many if number < most else 0
        ways_of_so_many *= part.ways
        _bounded(_Cost(steps, ways))
    return _Cost(steps, ways, part.loops, part.tried, anchored=part.anchored and least > 0)


def _bounds(repeat: re.Match[str]) -> tuple[int, int | None]:
    """The least and the greatest number of times; ``None`` without one."""
    if repeat["least"] is None:
        return (1 if repeat[0][0] == "+" else 0), (1 if repeat[0][0] == "?" else None)
    least = int(repeat["least"])
    if repeat["to"] is None:
        return least, least
    return least, int(repeat["most"]) if repeat["most"] else None


def _bounded(cost: _Cost) -> _Cost:
    if max(cost.steps, cost.ways) > MOST_STEPS:
        raise _too_large()
    return cost


def _too_large() -> _FaultError:
    return _FaultError(f"it can be tried in too many ways; {_FIX}, or write several assertions")
