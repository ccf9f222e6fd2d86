"""Rows that an export of a regression set wrote: what is known of the entry, where the format has no place for it."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import replace
from typing import Final

from pydantic import ValidationError

from bot.errors import InputError
from bot.files.documents import Data, as_list, as_mapping
from bot.intake.eval_sets.reader import EvalSetRow, SourceFile
from bot.intake.expectations.export_round_trip import carried
from bot.intake.query import SETUP_FILE, Setup

_PART: Final = re.compile(r"-\d+\Z")


class Entries:
    """The entries that the list beside ``source`` names as its rows, for formats that have no place for an entry.

    The list of ``set.csv``, and of ``set-01.csv``, is ``set.entries.json``; ``used`` is its path, if it says anything.
    One that cannot be read says nothing here: it is told of as a file of its own.
    """

    def __init__(self, source: SourceFile) -> None:
        self.used: set[str] = set()
        self._left: dict[str, deque[dict[str, Data]]] = {}
        name = source.path.rpartition("/")[2]
        stem = name.rpartition(".")[0]
        for reference in dict.fromkeys(f"{each}.entries.json" for each in (stem, _PART.sub("", stem))):
            try:
                other = source.beside(source.root, reference)
            except InputError:
                continue
            for record in map(as_mapping, as_list(as_mapping(other.root.data).get("entries"))):
                prompt = record.get("prompt")
                if record.get("file") == name and isinstance(prompt, str):
                    self.used.add(other.path)
                    kept = {key: value for key, value in record.items() if key not in ("file", "case", "prompt")}
                    self._left.setdefault(prompt.strip(), deque()).append(kept)

    def take(self, prompt: str) -> dict[str, Data] | None:
        """What the list says of the next row with this prompt, whatever became of the rows around it."""
        left = self._left.get(prompt.strip())
        return left.popleft() if left else None


def with_setup(row: EvalSetRow) -> EvalSetRow:
    """``row`` with the set-up of the entry that an export wrote it from, unless its file says one itself."""
    told = carried(row.expected).get("setup")
    if told is None or row.setup != Setup():
        return row
    try:
        return replace(row, setup=SETUP_FILE.validate_python(told))
    except ValidationError:
        # Somebody's own key of that name, or changed by hand: it stays in what is expected.
        return row
