"""JSON Lines from outside: one JSON value a line, each with its line, the good ones read whatever the others hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.documents import Document, parse_json_text
from bot.errors import InputError, Problem
from bot.json_strict import size
from bot.limits import ReadingLimits
from bot.parsed_once import parsed_once

_BROKEN_LINES: Final = 50
"""After so many lines that cannot be read the rest is not looked at: the file is hardly what it says it is."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The values of a file in its order, and the faults of the lines that cannot be read."""

    documents: tuple[Document, ...]
    problems: tuple[Problem, ...]


@parsed_once
def parse_json_lines(text: str, file: str, limits: ReadingLimits) -> Lines:
    """The values of ``text``; blank lines are passed over, and ``limits.nodes`` holds for all lines together;
    a line counts as a value beside those that it holds, since it is parsed by itself.
    """
    documents: list[Document] = []
    problems: list[Problem] = []
    nodes = broken = 0
    # Only a line feed ends a line: other separators may stand inside a string.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            document = parse_json_text(line, file, limits, number)
        except InputError as error:
            problems.extend(error.problems)
            broken += 1
            if broken == _BROKEN_LINES:
                message = "too many lines cannot be read; what follows was not looked at"
                problems.append(Problem(file, number + 1, message, "write one JSON value a line"))
                break
            continue
        nodes += 1 + size(document.data)
        if nodes > limits.nodes:
            problems.extend(limits.too_many(file, number).problems)
            break
        documents.append(document)
    return Lines(tuple(documents), tuple(problems))
