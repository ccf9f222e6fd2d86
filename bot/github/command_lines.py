"""Command lines: which lines of a comment are some, and their words (pure)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from bot.github.prose import seen
from bot.text.invisible import is_invisible

LONGEST_LINE: Final = 120
"""Characters of a misspelt line that are shown."""

_COMMAND: Final = re.compile(r" {0,3}/incumbent(?=[\s:,;]|$)(.*)", re.ASCII | re.IGNORECASE | re.DOTALL)
SEPARATOR: Final = re.compile(r":|--|–")


@lru_cache(maxsize=256)
def command_lines(body: str) -> tuple[tuple[int, str, str], ...]:
    """The command lines of ``body``: number (1-based), the line, and what it says after ``/incumbent``."""
    lines = re.split(r"\r\n|\r|\n", body)
    found: dict[int, str] = {}
    for number, line in enumerate(lines, 1):
        command = _COMMAND.match("".join(character for character in line if not is_unseen(character)))
        if command:
            found[number] = command[1]
    return tuple((number, lines[number - 1], found[number]) for number in (seen(lines, found) if found else ()))


class Backticks:
    """The runs of backticks of a text, to find the one that closes a code span."""

    def __init__(self, text: str) -> None:
        self._starts: dict[int, list[int]] = {}
        for run in re.finditer("`+", text):
            self._starts.setdefault(len(run[0]), []).append(run.start())

    def end(self, opened: int, length: int) -> int | None:
        """Where the span ends whose opening run of ``length`` ends at ``opened``."""
        starts = self._starts.get(length, [])
        index = bisect_left(starts, opened)
        return starts[index] + length if index < len(starts) else None


def first_word(words: str) -> str:
    """The first of ``words``, in lower case."""
    return next(tokens_of(words), ("", 0, 0))[0].lower()


def things(words: str) -> tuple[str, ...]:
    """What is said after the first of ``words``, up to a reason, which a colon or a dash sets apart."""
    found = []
    for token, _, _ in list(tokens_of(words))[1:]:
        if SEPARATOR.match(token):
            break
        found.append(bare(token.removesuffix(":")))
        if token.endswith(":"):
            break
    return tuple(found)


def cut(line: str) -> str:
    """As much of ``line`` as is shown."""
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…"


def is_unseen(character: str) -> bool:
    """Whether ``character`` shows nothing."""
    return character != "\t" and is_invisible(character)


def bare(text: str) -> str:
    """``text`` without the backticks around it."""
    return text.strip("`").strip() if text[:1] == text[-1:] == "`" else text


def tokens_of(text: str) -> Iterator[tuple[str, int, int]]:
    """What spaces and commas separate outside backticks, with start and end."""
    backticks = Backticks(text)
    at = 0
    while begin := re.compile(r"[^\s,]").search(text, at):
        start = at = begin.start()
        while piece := re.compile(r"`+|[^\s,`]+").match(text, at):
            at = piece.end()
            if piece[0][0] == "`":
                at = backticks.end(at, len(piece[0])) or at
        yield text[start:at], start, at
