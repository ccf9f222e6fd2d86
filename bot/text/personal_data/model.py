"""Personal data: its kinds, and its places in a text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum


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


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """Personal data in a text: ``text[start:end]``."""

    kind: PersonalDataKind
    start: int
    end: int


class Sureness(IntEnum):
    """Which of two spans that overlap is kept: the surer one, then the longer one."""

    WORDS = 0
    FORM = 1
    CHECKED = 2
    NAMED = 3


@dataclass(frozen=True, slots=True)
class PossibleMatch:
    """A span of the plain text that may be personal data."""

    kind: PersonalDataKind
    start: int
    end: int
    sureness: Sureness
