"""Records of tables whose columns were flattened from mappings, such as ``inputs.question`` from ``inputs``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from bot.documents import Data
from bot.intake.eval_sets.inputs import cell, is_conversation
from bot.intake.place import Place
from bot.limits import ReadingLimits

_STRUCTURED: Final = re.compile(r"tool|trajectory|messages", re.IGNORECASE)


def restored(
    record: Place, column: re.Pattern[str], groups: Mapping[str, str], inputs: str, limits: ReadingLimits
) -> Place:
    """The row ``record`` of a table as the record that it was written from.

    ``column`` splits the header of a flattened column into its group and the name in it; ``groups`` says which key each
    group stands for, and so which columns hold a whole value.  ``inputs`` is the key of the inputs.  What is JSON in a
    whole value is decoded; in a flattened one only if it holds messages or its name tells of tools, since a text may be
    JSON as well.
    """
    held: dict[str, Data] = {}
    loose: list[tuple[str, str, str, Data]] = []
    for key, place in record.entries:
        split = column.fullmatch(key)
        if split is not None:
            told = _STRUCTURED.search(split[2]) is not None
            inner = cell(place, limits, strict=told)
            told = told or is_conversation(inner)
            loose.append((key, groups[split[1]], split[2], inner.data if told else place.data))
        elif key in groups:
            held[key] = cell(place, limits, strict=key == inputs).data
        else:
            held[key] = place.data
    for key, group, name, data in loose:
        whole = held.setdefault(group, {})
        if isinstance(whole, dict) and name not in whole:
            whole[name] = data
        else:
            held[key] = data
    return Place(record.source, record.path, held)
