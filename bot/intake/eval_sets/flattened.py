"""Tables whose columns were flattened from mappings, such as ``inputs.question`` from ``inputs``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from bot.errors import InputError
from bot.files.documents import Data
from bot.intake.eval_sets.inputs import cell, is_conversation
from bot.intake.eval_sets.reader import Source
from bot.intake.eval_sets.records import Records
from bot.intake.place import Place

_STRUCTURED: Final = re.compile(r"tool|trajectory|messages", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flattening:
    """How a format's tables were flattened.

    ``column`` splits the header of a flattened column into its group and the name in it; ``groups`` says which key each
    group stands for, and so which columns hold a whole value.  ``inputs`` is the key of the inputs.
    """

    column: re.Pattern[str]
    groups: Mapping[str, str]
    inputs: str

    def undone(self, source: Source) -> tuple[Source, Records]:
        """The records that the rows of the table ``source`` were written from, and names of columns to match."""
        columns = source.columns
        if columns is not None:
            names = {what: self._name(name) for what, name in columns.model_dump(exclude_none=True).items()}
            columns = columns.model_copy(update=names)
        places: list[Place] = []
        problems = list(source.records.problems)
        for record in source.records.places:
            try:
                places.append(self._record(source, record))
            except InputError as error:
                problems.extend(error.problems)
        return replace(source, columns=columns), Records(tuple(places), tuple(problems))

    def _name(self, header: str) -> str:
        split = self.column.fullmatch(header)
        return header if split is None else f"{self.groups[split[1]]}.{split[2]}"

    def _record(self, source: Source, row: Place) -> Place:
        """The record of ``row``.

        What is JSON in a whole value is decoded; in a flattened one only if it holds messages or its name tells of
        tools, since a text may be JSON as well.
        """
        held: dict[str, Data] = {}
        loose: list[tuple[str, str, str, Data]] = []
        for key, place in row.entries:
            split = self.column.fullmatch(key)
            if split is not None:
                told = _STRUCTURED.search(split[2]) is not None
                inner = cell(place, source.limits, strict=told)
                data = inner.data if told or is_conversation(inner) else place.data
                loose.append((key, self.groups[split[1]], split[2], data))
            elif key in self.groups:
                whole = self.groups[key]
                held[key if row.has(whole) else whole] = cell(place, source.limits, strict=whole == self.inputs).data
            else:
                held[key] = place.data
        for key, group, name, data in loose:
            values = held.setdefault(group, {})
            if isinstance(values, dict) and name not in values:
                values[name] = data
            else:
                held[key] = data
        return Place(row.source, row.path, held)
