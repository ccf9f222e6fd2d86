"""What DeepEval's lists and objects stand for where CSV and JSON Lines hold them as texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bot.errors import InputError
from bot.files.documents import Data
from bot.files.limits import ReadingLimits
from bot.intake.eval_sets.records import Records, decoded
from bot.intake.eval_sets.table import plain_key
from bot.intake.place import Place

_LISTS: Final = frozenset({"context", "retrievalcontext"})
"""Keys of lists of texts, joined to one (see :func:`~bot.intake.eval_sets.table.plain_key`)."""
_TOOLS: Final = frozenset({"toolscalled", "expectedtools"})
_OBJECTS: Final = frozenset(
    {"additionalmetadata", "customcolumnkeyvalues", "expectations", "expectedlabels", "persona", "imagesmapping"}
)

# Prose has a space beside a semicolon; between the items of a list there is none.
_SEMICOLON: Final = re.compile(r"(?<=\S);(?=\S)")
_TRAILING_COMMA: Final = re.compile(r",\s*([\]}])")


@dataclass(frozen=True, slots=True)
class Cells:
    """How the texts of a file are read: ``separators`` says what divides each list, by the key in the file."""

    separators: Mapping[str, re.Pattern[str]]
    limits: ReadingLimits

    def value(self, place: Place) -> Place:
        """What the text at ``place`` stands for; ``place`` itself if it holds no text, or one that stands for itself.

        Raises :class:`~bot.errors.InputError` for turns and tools that begin like JSON and are none.
        """
        key = str(place.path[-1]) if place.path else ""
        kind = plain_key(key)
        if not place.text:
            return place
        if key in self.separators:
            return _list(place, self.separators[key].split(str(place.data)))
        if kind in _TOOLS:
            found = _decoded(place, self.limits)
            return found if found.data is not place.data else _list(place, _names(place.text))
        if kind == "turns":
            return _decoded(place, self.limits)
        if kind in _OBJECTS:
            try:
                return _decoded(place, self.limits)
            except InputError:
                # DeepEval reads Python's way of writing an object as well; it stays the text it is.
                return place
        return place


def cells_of(records: Records, limits: ReadingLimits, *, flat: bool) -> Cells:
    """How the texts of ``records`` are read; only a ``flat`` file has lists as texts.

    DeepEval joins with ``|``, before version 3 with ``;``, which counts only where no record has a ``|``.
    """
    separators: dict[str, re.Pattern[str]] = {}
    if flat:
        for record in records.places:
            for key, place in record.entries:
                if plain_key(key) in _LISTS and separators.get(key) is not _BAR:
                    separators[key] = _BAR if "|" in place.text else _SEMICOLON
    return Cells(separators, limits)


_BAR: Final = re.compile(r"\|")


def _names(text: str) -> list[str]:
    """The tools that are named in ``text``, which is no JSON."""
    return [name.strip() for name in re.split(r"[|;]", text) if name.strip()]


def _list(place: Place, items: list[str]) -> Place:
    return Place(place.source, place.path, list[Data](items))


def _decoded(place: Place, limits: ReadingLimits) -> Place:
    """The JSON at ``place``, with a comma before the end of a list or object pardoned, as DeepEval does."""
    try:
        return decoded(place, limits)
    except InputError:
        mended = _TRAILING_COMMA.sub(r"\1", place.text)
        if mended == place.text:
            raise
        try:
            return decoded(Place(place.source, place.path, mended), limits)
        except InputError:
            pass
        raise
