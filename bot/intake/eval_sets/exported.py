"""Rows that an export of a regression set wrote: what is known of the entry, where the format has no place for it."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Final

from pydantic import ValidationError

from bot.documents import Data
from bot.intake.eval_sets.reader import Source
from bot.intake.eval_sets.records import listed
from bot.intake.eval_sets.rows import Row, rest_of
from bot.intake.expected.carried import carried
from bot.intake.query import Setup
from bot.intake.query_file import SetupFile

_LIST: Final = "*.entries.json"


class Entries:
    """The entries that a list beside ``source`` names as its rows, for formats that have no place for an entry.

    ``used`` are the paths of such lists.  Raises :class:`~bot.errors.InputError` if one cannot be read.
    """

    def __init__(self, source: Source) -> None:
        self.used: set[str] = set()
        self._left: dict[str, deque[dict[str, Data]]] = {}
        name = source.path.rpartition("/")[2]
        for reference in source.matching(source.root, _LIST):
            other = source.beside(source.root, reference)
            for place in listed(other.root["entries"]).places:
                if place["file"].text == name and place.has("prompt"):
                    self.used.add(other.path)
                    record = rest_of(place, "file", "case", "prompt")
                    self._left.setdefault(place["prompt"].text, deque()).append(record)

    def take(self, prompt: str) -> dict[str, Data] | None:
        """What the list says of the next row with this prompt, whatever became of the rows around it."""
        left = self._left.get(prompt.strip())
        return left.popleft() if left else None


def with_setup(row: Row) -> Row:
    """``row`` with the set-up of the entry that an export wrote it from, unless its file says one itself."""
    told = carried(row.expected).get("setup")
    if told is None or row.setup != Setup():
        return row
    try:
        return replace(row, setup=SetupFile.model_validate(told).setup)
    except ValidationError:
        # Somebody's own key of that name, or changed by hand: it stays in what is expected.
        return row
