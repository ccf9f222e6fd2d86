"""Personal data found, masked and replaced in what users write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from bot.personal_data.bank_data import accounts, cards
from bot.personal_data.mail import mails
from bot.personal_data.model import Candidate, Found, Kind
from bot.personal_data.plain_text import PlainText
from bot.personal_data.stand_ins import PLACEHOLDER, Numbering, comparable, placeholder, stand_in

_POSSIBLE: Final = re.compile(r"[0-9@]|[\[({<] ?at ?[\])}>]| dot ")
"""What every kind of personal data has, names apart; most texts have none of it."""


@dataclass(frozen=True)
class Detector:
    """Finds personal data.

    ``names`` also finds names of people, where the words around show one.  ``allowed`` are values that are not personal
    here, compared without case, blanks, brackets and dashes; ``@contoso.com`` allows every address of that domain.
    """

    names: bool = False
    allowed: frozenset[str] = frozenset()

    def find(self, text: str) -> tuple[Found, ...]:
        """What is personal in ``text``, in order; spans do not overlap."""
        given = PlainText(text)
        if not _POSSIBLE.search(given.lower):
            return ()
        return tuple(
            found
            for kept in _surest(self._candidates(given))
            if not self._is_allowed(
                found := Found(kept.kind, given.place(kept.start), given.place(kept.end - 1) + 1), text
            )
        )

    def masked(self, text: str) -> str:
        """``text`` with a placeholder for all that is personal; a value has the same one wherever it is."""
        return self.all_masked((text,))[0]

    def all_masked(self, texts: Sequence[str]) -> tuple[str, ...]:
        """``texts`` masked under one numbering, as the turns of a query are."""
        numbers = Numbering()
        return tuple(self._with(text, numbers, lambda kind, _, number: placeholder(kind, number)) for text in texts)

    def replaced(self, text: str) -> str:
        """``text`` with values of the same form that belong to nobody; nothing in it is found personal."""
        return self.all_replaced((text,))[0]

    def all_replaced(self, texts: Sequence[str]) -> tuple[str, ...]:
        """``texts`` replaced under one numbering."""
        numbers = Numbering()
        replaced = [self._with(text, numbers, stand_in) for text in texts]
        # What takes the place of a value may, beside what is around it, look like another.
        for place, text in enumerate(replaced):
            while self.find(text):
                text = self._with(text, numbers, lambda kind, _, number: placeholder(kind, number))
            replaced[place] = text
        return tuple(replaced)

    def _with(self, text: str, numbers: Numbering, written: Callable[[Kind, str, int], str]) -> str:
        parts, end = [], 0
        for found in self.find(text):
            value = text[found.start : found.end]
            parts += [text[end : found.start], written(found.kind, value, numbers.of(found.kind, value))]
            end = found.end
        return "".join([*parts, text[end:]])

    def _candidates(self, given: PlainText) -> Iterator[Candidate]:
        # A placeholder stays what it is, whatever is beside it.
        lower = PLACEHOLDER.sub(lambda match: "\0" * len(match[0]), given.lower)
        yield from cards(lower)
        yield from accounts(lower)
        yield from mails(lower)

    def _is_allowed(self, found: Found, text: str) -> bool:
        value = comparable(text[found.start : found.end])
        return value in self._allowed or (found.kind is Kind.E_MAIL and "@" + value.rpartition("@")[2] in self._allowed)

    @cached_property
    def _allowed(self) -> frozenset[str]:
        return frozenset(map(comparable, self.allowed))


def _surest(candidates: Iterator[Candidate]) -> list[Candidate]:
    """The surest and longest of the candidates that overlap, by place."""
    kept: list[Candidate] = []
    taken: set[int] = set()
    for candidate in sorted(
        candidates, key=lambda it: (-it.sureness, it.start - it.end, it.start, list(Kind).index(it.kind))
    ):
        span = range(candidate.start, candidate.end)
        if taken.isdisjoint(span):
            kept.append(candidate)
            taken.update(span)
    return sorted(kept, key=lambda it: it.start)
