"""Replaces personal data in queries, entries and whole files by made-up values (pure)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from incumbent.files.documents import Data
from incumbent.intake.query import EvalSet
from incumbent.text.personal_data.detector import Detector
from incumbent.text.personal_data.model import Numbering, stand_in
from incumbent.text.plain_text import digits_of

_LETTER: Final = "[0-9A-Za-z\u00c0-\u024f]"
_NO_LETTER_BEFORE: Final = f"(?<!{_LETTER})"
# In JSON and YAML a letter may be the end of an escape.
_NO_LETTER_BEFORE_IN_FILES: Final = rf"(?:{_NO_LETTER_BEFORE}|(?<=\\[nrtbf]))"


@dataclass(frozen=True)
class Replacement:
    """The personal ``values``, as they are written, and the replacement of each."""

    values: Mapping[str, str]

    @staticmethod
    def of(groups: Iterable[Sequence[str]], detector: Detector) -> Replacement:
        """Replacements for all that ``detector`` finds in ``groups`` of texts, one group per query.

        Values are numbered in each group; a value in several groups is replaced as in the first.
        """
        values: dict[str, str] = {}
        for texts in groups:
            numbers = Numbering(texts)
            for text in texts:
                for found in detector.find(text):
                    value = text[found.start : found.end]
                    values.setdefault(value, stand_in(found.kind, value, numbers.of(found.kind, value)))
        return Replacement(values)

    def text(self, text: str) -> str:
        """``text`` with every value replaced, even without the context that marks it as personal."""
        return self._in_texts(text)

    def data(self, data: Data) -> Data:
        """``data`` with the texts and numbers in it replaced."""
        if isinstance(data, dict):
            # Two names that would become equal stay different.
            names = {name: self.text(name) for name in data}
            taken = Counter(names.values())
            return {new if taken[new] == 1 else name: self.data(data[name]) for name, new in names.items()}
        if isinstance(data, list | tuple):
            return [self.data(item) for item in data]
        if isinstance(data, str):
            return self.text(data)
        digits = digits_of(data)
        replaced = digits if digits is None else self.text(digits)
        return data if replaced == digits else replaced

    def content(self, content: str) -> str:
        """The ``content`` of a file of JSON, YAML, CSV or text with every value replaced; nothing else changes."""
        return self._in_files(content)

    def over(self, other: Replacement) -> Replacement:
        """These replacements, and those of ``other`` for further values."""
        return Replacement({**other.values, **self.values})

    @cached_property
    def _in_texts(self) -> Callable[[str], str]:
        return _replacer(self.values, _NO_LETTER_BEFORE)

    @cached_property
    def _in_files(self) -> Callable[[str], str]:
        written = {form: other for value, other in self.values.items() for form in _forms(value)}
        return _replacer(written, _NO_LETTER_BEFORE_IN_FILES)


def _forms(value: str) -> Iterator[str]:
    """The forms of ``value`` in files, in quotes and without."""
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield value.replace("'", "''")
    yield value.replace('"', '""')


def _replacer(values: Mapping[str, str], before: str) -> Callable[[str], str]:
    if not values:
        return lambda text: text
    # Of two values that begin at one place, the longer one is meant.
    patterns = [_pattern(value, before) for value in sorted(values, key=lambda value: (-len(value), value))]
    found = re.compile("|".join(patterns))
    return lambda text: found.sub(lambda match: values[match[0]], text)


def _pattern(value: str, before: str) -> str:
    head = before if re.match(_LETTER, value) else ""
    tail = f"(?!{_LETTER})" if re.match(_LETTER, value[-1]) else ""
    more = rf"(?!\.{_LETTER})" if "@" in value else ""
    return f"{head}{re.escape(value)}{tail}{more}"


def replaced_contents(eval_set: EvalSet, content: str, detector: Detector) -> tuple[str, ...]:
    """The ``content`` of the file of ``eval_set`` with every value replaced, the best way first.

    Each query has its own numbers, so that it becomes the same wherever it occurs.  The best way also replaces values
    in other queries and in comments, without a context that marks them as personal.
    """
    everywhere = Replacement.of([query.texts for query in eval_set.queries], detector)
    if not everywhere.values:
        return ()
    rows: dict[int, list[Sequence[str]]] = {}
    for query in eval_set.queries:
        rows.setdefault(query.line or 1, []).append(query.texts)
    own = {line - 1: Replacement.of(texts, detector) for line, texts in sorted(rows.items())}
    lines = re.split(r"(?<=\n)", content)
    starts = sorted({0, *own})
    parts = [
        (own.get(start, everywhere), "".join(lines[start:end]))
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)
    ]
    return (
        "".join(part.over(everywhere).content(text) for part, text in parts),
        "".join(part.content(text) for part, text in parts),
    )


def not_replaced(before: EvalSet, after: EvalSet | None, detector: Detector) -> dict[str, tuple[str, ...]]:
    """Query of ``before`` → its texts that are not replaced in ``after``.

    If that cannot be determined for each text: all texts with personal data.  ``after`` is ``None`` if it cannot be
    read.
    """
    if after is None or any(
        len(mine) != len(theirs)
        for mine, theirs in ((before.queries, after.queries), (before.problems, after.problems))
    ):
        found = {query.id: tuple(filter(detector.find, query.texts)) for query in before.queries}
        return {id: texts for id, texts in found.items() if texts}
    left: dict[str, tuple[str, ...]] = {}
    for old, new in zip(before.queries, after.queries, strict=True):
        own = Replacement.of([old.texts], detector)
        meant = tuple(map(own.text, old.texts))
        is_same = new.turns == meant[: len(old.turns)] and new.expected == own.data(old.expected)
        if not is_same or new.texts != meant or any(map(detector.find, new.texts)):
            now = new.texts if len(new.texts) == len(meant) else old.texts
            left[old.id] = tuple(
                text
                for text, wanted, there in zip(old.texts, meant, now, strict=True)
                if wanted != there or detector.find(there)
            )
    return left
