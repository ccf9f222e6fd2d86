"""Rows written by an export of a regression set: restores data of the entry that the format itself cannot store."""

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
    """The entries of the rows of ``source``, from the list beside it, for formats that cannot store an entry.

    The list of ``set.csv``, and of ``set-01.csv``, is ``set.entries.json``; ``used`` is its path, if it has any rows.
    A broken list is ignored here, and reported as a separate file.
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
        """The data of the next row with this prompt, even if rows were moved or removed."""
        left = self._left.get(prompt.strip())
        return left.popleft() if left else None


def with_setup(row: EvalSetRow) -> EvalSetRow:
    """``row`` with the set-up of the exported entry, unless the file has one itself."""
    setup = carried(row.expected).get("setup")
    if setup is None or row.setup != Setup():
        return row
    try:
        return replace(row, setup=SETUP_FILE.validate_python(setup))
    except ValidationError:
        # A custom key of that name, or an edited one: it stays in the expectation.
        return row
