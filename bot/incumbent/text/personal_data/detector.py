"""Finds, masks and replaces personal data in users' texts, and counts it by kind, without the values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Final

from incumbent.text.personal_data.model import (
    PLACEHOLDER,
    Found,
    Numbering,
    PersonalDataKind,
    comparable,
    placeholder,
    stand_in,
)
from incumbent.text.plain_text import PlainText

# Quick tests: most texts have nothing that any kind needs.
_MAIL: Final = re.compile(r"[\[({<] ?at ?[\])}>]| dot |%(?:25)?40|&(?:#x?0{0,5}[46]|commat)|\\u0040")
_DIGIT: Final = re.compile(r"\d")
_MOST_PASSES: Final = 10
"""A text that still contains matches after so many passes is an attack, and is masked as a whole."""
# Digits close to each other, or with letters in one piece: every kind of number has one or the other.
_NUMBER: Final = re.compile(
    r"\d(?:[\W_]{0,4}\d){5}|(?=[a-z]{0,8}\d)[a-z0-9]{9}|[a-z]{3} [a-z]{3} ?\d\d[a-z]\d\d|"
    r"[a-z]{2}\d\d[\W_]{1,2}[a-z]{4}[\W_]{1,2}\d|\d[a-z][a-z0-9]\d-[a-z]"
)

Written = Callable[[PersonalDataKind, str, int], str]
"""Gives the replacement for a value, from its kind, the value and its number."""


@dataclass(frozen=True)
class Detector:
    """Finds personal data.

    ``names`` also finds names of people where the words around them show one.  ``allowed`` values are never personal;
    they are compared without case, blanks, brackets and dashes.  ``@contoso.com`` allows every address of that domain.
    """

    names: bool = False
    allowed: frozenset[str] = frozenset()

    def find(self, text: str) -> tuple[Found, ...]:
        """The personal data in ``text``, in order; spans do not overlap."""
        given = PlainText(text)
        spans = (
            replace(kept, start=given.place(kept.start), end=given.place(kept.end - 1) + 1)
            for kept in _surest(self._candidates(given))
        )
        return tuple(found for found in spans if not self._is_allowed(text[found.start : found.end], found.kind))

    def masked(self, text: str) -> str:
        """``text`` with a placeholder for all personal data; equal values have equal placeholders."""
        return self.all_masked((text,))[0]

    def all_masked(self, texts: Sequence[str]) -> tuple[str, ...]:
        """``texts`` (such as the turns of a query) masked with one numbering."""
        return self._changed(texts, _placeholder)

    def replaced(self, text: str) -> str:
        """``text`` with example values of the same form, which this detector does not find."""
        return self.all_replaced((text,))[0]

    def all_replaced(self, texts: Sequence[str]) -> tuple[str, ...]:
        """``texts`` replaced with one numbering."""
        return self._changed(texts, stand_in)

    def _changed(self, texts: Sequence[str], written: Written) -> tuple[str, ...]:
        numbers = Numbering(texts)
        changed = [self._with(text, numbers, written) for text in texts]
        # A replacement may, together with the text around it, look like another value.
        for place, text in enumerate(changed):
            if text == texts[place]:
                continue
            for _ in range(_MOST_PASSES):
                again = self._with(text, numbers, _placeholder)
                if again == text:
                    break
                text = again
            else:
                kinds = [found.kind for found in self.find(text)][:1]
                text = placeholder(kinds[0], numbers.of(kinds[0], text)) if kinds else text
            changed[place] = text
        return tuple(changed)

    def _with(self, text: str, numbers: Numbering, written: Written) -> str:
        parts, end = [], 0
        for found in self.find(text):
            value = text[found.start : found.end]
            parts += [text[end : found.start], written(found.kind, value, numbers.of(found.kind, value))]
            end = found.end
        return "".join([*parts, text[end:]])

    def _candidates(self, given: PlainText) -> Iterator[Found]:
        # The patterns of a kind are slow to load, and most texts do not need them.
        text, lower = given.text, given.lower
        if self.names:
            from incumbent.text.personal_data.names import names

            yield from names(text)
        if "@" in lower or _MAIL.search(lower):
            from incumbent.text.personal_data.mail import mails

            yield from mails(lower)
        if not _DIGIT.search(lower):
            return
        # A placeholder is never a part of a match.
        text, lower = (PLACEHOLDER.sub(lambda match: "\0" * len(match[0]), it) for it in (text, lower))
        from incumbent.text.personal_data.addresses import addresses

        yield from addresses(text)
        if _NUMBER.search(lower):
            from incumbent.text.personal_data.bank_data import accounts, cards
            from incumbent.text.personal_data.national_ids import national_ids
            from incumbent.text.personal_data.phones import phones

            yield from national_ids(lower)
            yield from phones(lower)
            yield from cards(lower)
            yield from accounts(lower)

    def _is_allowed(self, value: str, kind: PersonalDataKind) -> bool:
        written = comparable(value)
        return written in self._allowed or (
            kind is PersonalDataKind.E_MAIL and "@" + written.rpartition("@")[2] in self._allowed
        )

    @cached_property
    def _allowed(self) -> frozenset[str]:
        return frozenset(map(comparable, self.allowed))


def _placeholder(kind: PersonalDataKind, _: str, number: int) -> str:
    return placeholder(kind, number)


def _surest(candidates: Iterator[Found]) -> list[Found]:
    """The surest and longest of the candidates that overlap, by place."""
    kept: list[Found] = []
    taken: set[int] = set()
    for candidate in sorted(
        candidates, key=lambda it: (-it.sureness, it.start - it.end, it.start, list(PersonalDataKind).index(it.kind))
    ):
        span = range(candidate.start, candidate.end)
        if taken.isdisjoint(span):
            kept.append(candidate)
            taken.update(span)
    return sorted(kept, key=lambda it: it.start)


_WORDS: Final[Mapping[PersonalDataKind, tuple[str, str]]] = {
    PersonalDataKind.CARD: ("a payment card number", "payment card numbers"),
    PersonalDataKind.IBAN: ("a bank account number", "bank account numbers"),
    PersonalDataKind.NATIONAL_ID: ("a national id", "national ids"),
    PersonalDataKind.E_MAIL: ("an e-mail address", "e-mail addresses"),
    PersonalDataKind.PHONE: ("a phone number", "phone numbers"),
    PersonalDataKind.ADDRESS: ("a street address", "street addresses"),
    PersonalDataKind.NAME: ("the name of a person", "names of people"),
}


@lru_cache(maxsize=20_000)
def personal_in(texts: tuple[str, ...], detector: Detector) -> Mapping[str, int]:
    """Kind of personal data → number of different values in ``texts``, in the order of the kinds."""
    values = {
        (found.kind, comparable(text[found.start : found.end])) for text in texts for found in detector.find(text)
    }
    counts = Counter(kind for kind, _ in values)
    return MappingProxyType({kind.value: counts[kind] for kind in PersonalDataKind if counts[kind]})


def personal_in_name(name: str) -> str:
    """The kinds of personal data in ``name``, a part of a path, in words.  The allowlist does not apply to paths."""
    return kinds_in_words(personal_in((name,), Detector()))


def kinds_in_words(kinds: Mapping[str, int]) -> str:
    """``kinds`` in words, as in “an e-mail address and 2 payment card numbers”."""
    named = [
        _WORDS[PersonalDataKind(kind)][0] if count == 1 else f"{count} {_WORDS[PersonalDataKind(kind)][1]}"
        for kind, count in kinds.items()
    ]
    return " and ".join(part for part in (", ".join(named[:-1]), *named[-1:]) if part)
