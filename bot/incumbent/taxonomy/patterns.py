"""Cue patterns: regular expressions of RE2, which searches in time proportional to the text for any pattern.

RE2 has no lookaround and no backreferences, which take longer.  Its ``\\b``, ``\\w``, ``\\d`` and ``\\s`` are ASCII
only; ``\\pL`` is any letter, ``\\p{Latin}`` one of the Latin script.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final, Protocol

import re2

from incumbent.errors import IncumbentError

MAX_MEMORY: Final = 8 * 2**20
"""Maximum memory in bytes of one compiled pattern and its searches."""

MAX_INSTRUCTIONS: Final = 10_000
"""Maximum instructions of one compiled pattern: in the worst case a search runs all of them for each byte."""

_PROBE: Final = b"Zq 7,"
# Constructs that RE2 does not have: their pattern, their name, and what to write instead.
_UNKNOWN: Final = (
    (
        re.compile(r"\(\?<?[=!]"),
        "it looks ahead or behind (`(?=`, `(?!`, `(?<=`, `(?<!`)",
        "match the text around as well, as in (?:^|[^\\pL])word(?:[^\\pL]|$), or write out what may follow",
    ),
    (
        re.compile(r"\(\?P=|\(\?\(|\\[1-9]"),
        "it refers back to a group (`\\1`, `(?P=name)`, `(?(1)`)",
        "write out what the group may be",
    ),
    (re.compile(r"\(\?>|[*+?}]\+"), "it has an atomic group or a possessive repeat", "write (?: and a plain repeat"),
    (re.compile(r"\\Z"), "it has `\\Z`", "write \\z or $"),
    (re.compile(r"\\[uUN]"), "it has `\\u`, `\\U` or `\\N`", "write the character itself, or \\x{20AC}"),
)
_ESCAPED: Final = re.compile(r"\\\\")
_NO_REPEAT: Final = re.compile(r"(?<!\\)\{(?:,\d|\d*,?\d{9})")


class Pattern(Protocol):
    """A compiled, case-insensitive cue pattern."""

    def search(self, text: bytes) -> object | None:
        """A match in ``text``, encoded as UTF-8; ``None`` without one."""
        ...


class PatternError(IncumbentError):
    """A pattern that cannot be used; the taxonomy is at fault.

    ``message`` says what is wrong, ``fix`` how to correct it.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(f"{message}\n    fix: {fix}")
        self.message = message
        self.fix = fix


@lru_cache(maxsize=4096)
def compile_pattern(text: str) -> Pattern:
    """Compile the case-insensitive cue pattern ``text``.

    Raises :class:`PatternError` if RE2 does not support it, if it is too large, or if it matches an empty text.
    """
    plain = _ESCAPED.sub("", text)
    if _NO_REPEAT.search(plain):
        message = "RE2 takes a repeat without a lower bound (`{,5}`), or with one that is far too large, for characters"
        raise PatternError(message, "write {0,5}")
    try:
        compiled = re2.compile(text, _options())
    except UnicodeEncodeError:
        raise PatternError("it holds half of a surrogate pair", "write the whole character") from None
    except re2.error as error:
        raise _refused(plain, error.args[0].decode("utf-8", "replace")) from None
    if compiled.programsize > MAX_INSTRUCTIONS:
        raise _too_large()
    empty = compiled.search(_PROBE)
    if empty is not None and empty.start() == empty.end():
        raise PatternError("the pattern matches without any character", "make at least one part of it compulsory")
    found: Pattern = compiled
    return found


TOGETHER: Final = 12
"""How many cue patterns are searched for in one pass: of more, far more of what is between them has to be kept."""


@dataclass(frozen=True)
class PatternSet:
    """Some cue patterns of which many are searched for in one pass over a text, which takes a tenth of the time."""

    patterns: tuple[str, ...]

    def matching(self, text: bytes) -> list[int]:
        """The places of those that match somewhere in ``text``, encoded as UTF-8, in any order.

        Raises :class:`PatternError` for patterns that :func:`compile_pattern` refuses.
        """
        found: list[int] = []
        for start, part in self._parts:
            matches = None if part is None else part.Match(text)
            own = range(start, min(start + TOGETHER, len(self.patterns)))
            if matches is None:
                found += [place for place in own if compile_pattern(self.patterns[place]).search(text) is not None]
            else:
                found += [start + place for place in matches if place < len(own)]
        return found

    @cached_property
    def _parts(self) -> list[tuple[int, Any]]:
        """Where each part begins, and the part."""
        starts = range(0, len(self.patterns), TOGETHER)
        return [(start, _set_of(self.patterns[start : start + TOGETHER])) for start in starts]


def _set_of(patterns: Sequence[str]) -> Any:
    """The ``patterns`` and one that every text matches; ``None`` where together they are too large.

    RE2 gives up in silence when a search takes more memory than it may: then that last one does not match either.
    """
    found = re2.Set.SearchSet(_options())
    try:
        for pattern in (*patterns, ""):
            found.Add(pattern)
        found.Compile()
    except re2.error:
        return None
    return found


def _options() -> Any:
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = MAX_MEMORY
    return options


def _refused(pattern: str, reason: str) -> PatternError:
    """The error for a pattern that RE2 refuses for a ``reason``."""
    for written, what, fix in _UNKNOWN:
        if written.search(pattern):
            return PatternError(f"{what}, which RE2 does not know", fix)
    if reason.startswith("pattern too large"):
        return _too_large()
    if reason.startswith("invalid repetition size"):
        return PatternError(f"its repeats combine to more than 1,000: {reason}", "lower their bounds")
    return PatternError(
        f"not a regular expression of RE2: {reason}",
        "correct the pattern (github.com/google/re2/wiki/Syntax)",
    )


def _too_large() -> PatternError:
    message = "the pattern is too large"
    return PatternError(message, "lower the bounds of its repeats, use fewer \\pL, or write several patterns")
