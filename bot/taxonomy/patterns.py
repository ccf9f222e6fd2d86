"""Cue patterns: regular expressions that cannot be made to run for long.

Python's engine backtracks: where it has a choice, it tries the alternatives one after the other.  A pattern is accepted
only if searching any text with it takes time proportional to the text's length.  That holds if

* a repeat without an upper bound leaves no choice: the next character always tells whether it goes on or ends, and
  how each of its rounds goes;
* such a repeat begins only where its run of characters begins, so that no two places of the text scan the same run;
* the choices that remain (bounded repeats, alternatives of which one begins like another) have at most
  :data:`MOST_WAYS` combinations.

The check is structural and errs on the side of refusing: all that it refuses can be written with bounds.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Final

from bot.errors import IncumbentError
from bot.taxonomy.characters import Alphabet

MOST_WAYS: Final = 5_000
"""In how many ways a pattern may try to match at one place of the text: two gaps of 60 characters are 3,721."""

_PARSER: Final[Any] = importlib.import_module("re._parser")
_REPEATS: Final = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_ONE_CHARACTER: Final = ("LITERAL", "NOT_LITERAL", "IN", "ANY")
_PROBE: Final = "Zq 7,"


class PatternError(IncumbentError):
    """A pattern that cannot be used; the taxonomy is at fault.

    ``message`` says what is wrong, ``fix`` how to mend it.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(f"{message}\n    fix: {fix}")
        self.message = message
        self.fix = fix


@lru_cache(maxsize=4096)
def compile_pattern(text: str) -> re.Pattern[str]:
    """The cue pattern ``text``, case ignored.

    Raises :class:`PatternError` for what is no regular expression, may backtrack for long, or matches anything.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(text, re.IGNORECASE)
            tree = _PARSER.parse(text, re.IGNORECASE)
        _check(tree)
    except (re.error, OverflowError) as error:
        raise PatternError(f"not a regular expression: {error}", "mend the pattern (Python's `re`)") from None
    except Warning as warning:
        raise PatternError(f"the pattern is ambiguous: {warning}", "escape the characters that are meant") from None
    except RecursionError:
        raise PatternError("the pattern is nested too deeply", "write a flatter pattern") from None
    empty = compiled.search(_PROBE)
    if empty is not None and empty.start() == empty.end():
        raise PatternError("the pattern matches without any character", "make at least one part of it compulsory")
    return compiled


@dataclass(frozen=True, slots=True)
class _Scope:
    """What is known around an item: the sets that may stand before and after it.

    ``at_boundary`` is what may stand before it across a word boundary.  ``done`` is set where nothing at all follows,
    so that a match needs no more.
    """

    before: int
    after: int
    at_boundary: int = 0
    done: bool = False


@dataclass(frozen=True, slots=True)
class _Shape:
    """What an item of a pattern amounts to.

    ``ways``: in how many ways it may match from one place; ``steps``: how many it may try in all, the runs of
    unbounded repeats not counted; both end at one more than :data:`MOST_WAYS`.  ``first`` and ``last``: the sets it
    begins and ends with; ``every``: all characters it may take; ``empty``: whether it may take none.
    """

    ways: int
    steps: int
    first: int
    last: int
    every: int
    empty: bool


def _check(tree: Any) -> None:
    alphabet = Alphabet(tree)
    shape = _Analysis(alphabet).sequence(tree, _Scope(alphabet.all, 0, done=True))
    if max(shape.ways, shape.steps) > MOST_WAYS:
        raise PatternError(
            f"the choices and bounds of the pattern combine to more than {MOST_WAYS:,} ways to match",
            "lower the bounds of its repeats, or write several patterns",
        )


def _capped(number: int) -> int:
    return min(number, MOST_WAYS + 1)


class _Analysis:
    """Walks a parsed pattern; raises :class:`PatternError` where it is not safe."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.alphabet = alphabet

    def sequence(self, items: Any, scope: _Scope) -> _Shape:
        """The items of a pattern or group, one after the other."""
        parts = [(str(operation), argument) for operation, argument in items]
        followers = [scope.after]
        for operation, argument in reversed(parts):
            begins, optional = self.edge(operation, argument)
            followers.append(begins | followers[-1] if optional else begins)
        ways, steps, first, last, every, empty = 1, 1, 0, 0, 0, True
        before, at_boundary = scope.before, scope.at_boundary
        for place, (operation, argument) in enumerate(parts, 1):
            if operation == "AT":
                if str(argument) == "AT_BOUNDARY":
                    before, at_boundary = 0, at_boundary | before
                elif str(argument) in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
                    before = at_boundary = 0
                continue
            after = followers[len(parts) - place]
            done = scope.done and place == len(parts)
            shape = self.item(operation, argument, _Scope(before, after, at_boundary, done))
            steps = max(steps, _capped(ways * shape.steps))
            ways = _capped(ways * shape.ways)
            first = first | shape.first if empty else first
            last = last | shape.last if shape.empty else shape.last
            before = before | shape.last if shape.empty else shape.last
            at_boundary = at_boundary if shape.empty else 0
            every |= shape.every
            empty = empty and shape.empty
        return _Shape(ways, steps, first, last, every, empty)

    def edge(self, operation: str, argument: Any, side: int = 1) -> tuple[int, bool]:
        """The set an item begins with (``side`` 1) or ends with (-1), and whether it may take no character."""
        if operation in _ONE_CHARACTER:
            return self.alphabet.of(operation, argument), False
        if operation in _REPEATS:
            found, empty = self.edges(argument[2], side)
            return found, empty or argument[0] == 0
        if operation == "SUBPATTERN":
            return self.edges(argument[-1], side)
        if operation == "ATOMIC_GROUP":
            return self.edges(argument, side)
        if operation == "BRANCH":
            parts = [self.edges(branch, side) for branch in argument[1]]
            found = 0
            for part, _ in parts:
                found |= part
            return found, any(empty for _, empty in parts)
        if operation == "AT":
            return 0, True
        # Looking around costs time whatever comes, so the next character does not tell when what is before it ends.
        return self.alphabet.all, True

    def edges(self, items: Any, side: int = 1) -> tuple[int, bool]:
        """The set a sequence begins or ends with, and whether it may take no character."""
        found = 0
        for operation, argument in list(items)[::side]:
            part, empty = self.edge(str(operation), argument, side)
            found |= part
            if not empty:
                return found, False
        return found, True

    def item(self, operation: str, argument: Any, scope: _Scope) -> _Shape:
        """One item of a sequence."""
        if operation in _ONE_CHARACTER:
            own = self.alphabet.of(operation, argument)
            return _Shape(1, 1, own, own, own, False)
        if operation in _REPEATS:
            return self.repeat(argument, scope)
        if operation == "SUBPATTERN":
            return self.sequence(argument[-1], scope)
        if operation == "ATOMIC_GROUP":
            return self.sequence(argument, scope)
        if operation == "BRANCH":
            return self.branch(argument[1], scope)
        if operation in ("ASSERT", "ASSERT_NOT"):
            inner = self.sequence(argument[1], _Scope(self.alphabet.all, 0, done=True))
            return _Shape(inner.ways, inner.steps, 0, 0, 0, True)
        raise PatternError("the pattern refers back to a group", "write out what the group may be")

    def branch(self, branches: Sequence[Any], scope: _Scope) -> _Shape:
        """Alternatives; those of which one begins like another are choices."""
        shapes = [self.sequence(branch, scope) for branch in branches]
        heads = [self.head(branch, scope.after) for branch in branches]
        ways = max(
            sum(shape.ways for shape, other in zip(shapes, heads, strict=True) if _alike(head, other)) for head in heads
        )
        first, last, every = 0, 0, 0
        for shape in shapes:
            first, last, every = first | shape.first, last | shape.last, every | shape.every
        steps = max(shape.steps for shape in shapes)
        return _Shape(_capped(ways), steps, first, last, every, any(shape.empty for shape in shapes))

    def head(self, items: Any, after: int) -> list[int]:
        """The sets of the characters that a branch surely begins with, in order, as far as they are certain.

        A branch that is certain to its end goes on with what follows the group.
        """
        sets: list[int] = []
        for operation, argument in items:
            name = str(operation)
            if name in _ONE_CHARACTER:
                sets.append(self.alphabet.of(name, argument))
            elif name == "SUBPATTERN" and all(str(inner) in _ONE_CHARACTER for inner, _ in argument[-1]):
                sets.extend(self.head(argument[-1], 0))
            elif name != "AT":
                first, empty = self.edge(name, argument)
                return sets if empty else [*sets, first]
        return [*sets, after] if after else sets

    def repeat(self, argument: Any, scope: _Scope) -> _Shape:
        """A repeat, bounded or not."""
        least, most, body = argument
        unbounded = most is _PARSER.MAXREPEAT
        again = unbounded or most > 1
        first, empty = self.edges(body)
        last, _ = self.edges(body, -1)
        inner = self.sequence(
            body,
            _Scope(
                scope.before | last if again else scope.before,
                scope.after | first if again else scope.after,
                scope.at_boundary,
                scope.done and not again,
            ),
        )
        choice = least != most and (empty or bool(first & scope.after))
        if unbounded:
            self.unbounded(inner, scope, choice=choice)
            return _Shape(1, inner.steps, inner.first, inner.last, inner.every, empty or least == 0)
        ways = _capped(inner.ways ** min(most, MOST_WAYS.bit_length()) * (most - least + 1 if choice else 1))
        steps = max(ways, _capped(inner.steps * most))
        return _Shape(ways, steps, inner.first, inner.last, inner.every, empty or least == 0)

    def unbounded(self, inner: _Shape, scope: _Scope, *, choice: bool) -> None:
        """Refuse a repeat without an upper bound that leaves choices or may begin anywhere."""
        if choice or inner.empty or inner.ways > 1:
            raise PatternError(
                "a repeat without an upper bound (`*`, `+` or `{n,}`) can match the same text in several ways, "
                "so that a search may take very long",
                "give it a bound, such as .{0,60} for .*, or let what follows begin with a character it cannot match",
            )
        across = scope.at_boundary
        if not inner.every & ~self.alphabet.word:
            across &= ~self.alphabet.word
        elif not inner.every & self.alphabet.word:
            across &= self.alphabet.word
        if (scope.before | across) & inner.every and not scope.done:
            raise PatternError(
                "a repeat without an upper bound (`*`, `+` or `{n,}`) may begin in the middle of what it matches, "
                "so that a search scans the same text again and again",
                r"give it a bound, such as \d{1,9} for \d+, or put \b or a character that it cannot match before it",
            )


def _alike(head: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two branches with these heads may match the same text for as far as their heads are certain."""
    return all(one & two for one, two in zip(head, other, strict=False))
