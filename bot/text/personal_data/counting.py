"""Counts personal data by kind and puts the counts into words, without the values (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from bot.text.personal_data.model import PersonalDataKind
from bot.text.personal_data.stand_ins import comparable

if TYPE_CHECKING:
    from bot.text.personal_data.detector import Detector

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
    # The patterns are slow to load, and most commands read no eval set.
    from bot.text.personal_data.detector import Detector

    return kinds_in_words(personal_in((name,), Detector()))


def kinds_in_words(kinds: Mapping[str, int]) -> str:
    """``kinds`` in words, as in “an e-mail address and 2 payment card numbers”."""
    named = [
        _WORDS[PersonalDataKind(kind)][0] if count == 1 else f"{count} {_WORDS[PersonalDataKind(kind)][1]}"
        for kind, count in kinds.items()
    ]
    return " and ".join(part for part in (", ".join(named[:-1]), *named[-1:]) if part)
