"""Personal data replaced in queries, entries and whole files by values that belong to nobody (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from bot.documents import Data
from bot.intake.query import EvalSet
from bot.personal_data.detector import Detector
from bot.personal_data.stand_ins import Numbering, stand_in

_LETTER: Final = "[0-9A-Za-z\u00c0-\u024f]"
_NO_LETTER_BEFORE: Final = f"(?<!{_LETTER})"
# In JSON and YAML a letter may be the end of an escape.
_NO_LETTER_BEFORE_IN_FILES: Final = rf"(?:{_NO_LETTER_BEFORE}|(?<=\\[nrtbf]))"


@dataclass(frozen=True)
class Replacement:
    """``values`` that are personal, as they are written, and what to write instead of each."""

    values: Mapping[str, str]

    @staticmethod
    def of(groups: Iterable[Sequence[str]], detector: Detector) -> Replacement:
        """What replaces all that ``detector`` finds in ``groups`` of texts, one for each query.

        Values are numbered in each group, so that a query becomes the same one wherever it is.  One that is in several
        groups is replaced as in the first.
        """
        values: dict[str, str] = {}
        for texts in groups:
            numbers = Numbering()
            for text in texts:
                for found in detector.find(text):
                    value = text[found.start : found.end]
                    values.setdefault(value, stand_in(found.kind, value, numbers.of(found.kind, value)))
        return Replacement(values)

    def text(self, text: str) -> str:
        """``text`` with every value replaced, also where nothing beside it shows what it is."""
        return self._in_texts(text)

    def data(self, data: Data) -> Data:
        """``data`` with the texts and numbers in it replaced."""
        if isinstance(data, dict):
            return {name: self.data(item) for name, item in data.items()}
        if isinstance(data, list | tuple):
            return [self.data(item) for item in data]
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, int) and not isinstance(data, bool):
            replaced = self.text(str(data))
            return data if replaced == str(data) else replaced
        return data

    def content(self, content: str) -> str:
        """The ``content`` of a file of JSON, YAML, CSV or text with every value replaced; nothing else changes."""
        return self._in_files(content)

    @cached_property
    def _in_texts(self) -> Callable[[str], str]:
        return _replacer(self.values, _NO_LETTER_BEFORE)

    @cached_property
    def _in_files(self) -> Callable[[str], str]:
        written = {form: other for value, other in self.values.items() for form in _forms(value)}
        return _replacer(written, _NO_LETTER_BEFORE_IN_FILES)


def _forms(value: str) -> Iterator[str]:
    """How files write ``value`` between quotes, and without."""
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield value.replace("'", "''")
    yield value.replace('"', '""')


def _replacer(values: Mapping[str, str], before: str) -> Callable[[str], str]:
    if not values:
        return lambda text: text
    # Of two that begin at one place, the longer one is meant.
    patterns = [_pattern(value, before) for value in sorted(values, key=lambda value: (-len(value), value))]
    found = re.compile("|".join(patterns))
    return lambda text: found.sub(lambda match: values[match[0]], text)


def _pattern(value: str, before: str) -> str:
    head = before if re.match(_LETTER, value) else ""
    tail = f"(?!{_LETTER})" if re.match(_LETTER, value[-1]) else ""
    more = rf"(?!\.{_LETTER})" if "@" in value else ""
    return f"{head}{re.escape(value)}{tail}{more}"


def is_replaced(before: EvalSet, after: EvalSet, replacement: Replacement, detector: Detector) -> bool:
    """Whether ``after`` says what ``before`` does, with every value replaced and nothing personal left."""
    return (
        len(before.queries) == len(after.queries)
        and len(before.problems) == len(after.problems)
        and all(
            new.turns == tuple(map(replacement.text, old.turns))
            and new.expected == replacement.data(old.expected)
            and new.texts == tuple(map(replacement.text, old.texts))
            and not any(map(detector.find, new.texts))
            for old, new in zip(before.queries, after.queries, strict=True)
        )
    )
