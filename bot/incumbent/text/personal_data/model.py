"""Personal data: its kinds, its places in a text, and what is written in its place.

That is a placeholder, or a value of the same form that is reserved for examples.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from itertools import chain
from typing import Final

from incumbent.text.plain_text import plain


class PersonalDataKind(StrEnum):
    """A kind of personal data."""

    CARD = "card"
    IBAN = "iban"
    NATIONAL_ID = "national-id"
    E_MAIL = "e-mail"
    PHONE = "phone"
    ADDRESS = "address"
    NAME = "name"

    @property
    def words(self) -> str:
        """The kind in words."""
        return _WORDS.get(self, self.value)


_WORDS = {
    PersonalDataKind.CARD: "payment card",
    PersonalDataKind.IBAN: "bank account",
    PersonalDataKind.NATIONAL_ID: "national id",
    PersonalDataKind.PHONE: "phone number",
}


class Sureness(IntEnum):
    """Which of two spans that overlap is kept: the surer one, then the longer one."""

    WORDS = 0
    FORM = 1
    CHECKED = 2
    NAMED = 3


@dataclass(frozen=True, slots=True)
class Found:
    """Personal data in a text: ``text[start:end]``."""

    kind: PersonalDataKind
    start: int
    end: int
    sureness: Sureness


CARD_STAND_INS: Final = (
    "4242 4242 4242 4242",
    "5555 5555 5555 4444",
    "3782 822463 10005",
    "4111 1111 1111 1111",
    "5105 1051 0510 5100",
    "6011 1111 1111 1117",
    "3714 496353 98431",
    "4000 0566 5566 5556",
    "2223 0031 2200 3222",
    "6011 0009 9013 9424",
    "3566 0020 2036 0505",
    "3056 9300 0902 0004",
    "5200 8282 8282 8210",
    "4012 8888 8888 1881",
)
"""Card numbers that providers publish for tests."""
PLACEHOLDER: Final = re.compile(rf"\[(?:{'|'.join(kind.words for kind in PersonalDataKind)}) \d{{1,5}}\]")
_AMERICAN: Final = re.compile(r"(?:\+?1[ .-]?)?\(?[2-9]\d\d\)?[ .-]?[2-9]\d\d[ .-]?\d{4}")
_FICTION: Final = range(100, 200)
"""The last digits of the numbers reserved for fiction: 555-0100 to 555-0199."""
_LEFT_OUT: Final = re.compile(r"[\s()\[\]/-]")


def comparable(value: str) -> str:
    """``value`` without case, blanks, brackets and dashes."""
    return _LEFT_OUT.sub("", plain(value))


def placeholder(kind: PersonalDataKind, number: int) -> str:
    """The placeholder for value ``number`` of ``kind``."""
    return f"[{kind.words} {number}]"


class Numbering:
    """Numbers the values in ``texts`` within each kind, by first appearance.

    Numbers of placeholders that are in ``texts`` already are not used again.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._numbers: dict[PersonalDataKind, dict[str, int]] = {}
        self._taken: dict[str, int] = {}
        for found in chain.from_iterable(map(PLACEHOLDER.findall, texts)):
            words, _, number = found[1:-1].rpartition(" ")
            self._taken[words] = max(self._taken.get(words, 0), int(number))

    def of(self, kind: PersonalDataKind, value: str) -> int:
        """The number of ``value``; equal values have equal numbers."""
        known = self._numbers.setdefault(kind, {})
        return known.setdefault(comparable(value), self._taken.get(kind.words, 0) + len(known) + 1)


def stand_in(kind: PersonalDataKind, value: str, number: int) -> str:
    """A value reserved for examples, of the same form as ``value``; the placeholder if there is none."""
    if kind is PersonalDataKind.E_MAIL:
        return f"person{number}@example.com"
    if kind is PersonalDataKind.CARD and number <= len(CARD_STAND_INS):
        return CARD_STAND_INS[number - 1]
    if kind is PersonalDataKind.PHONE and number <= len(_FICTION) and _AMERICAN.fullmatch(plain(value)):
        country = "+1 " if plain(value).startswith("+") else ""
        return f"{country}202-555-{_FICTION[number - 1]:04d}"
    return placeholder(kind, number)
