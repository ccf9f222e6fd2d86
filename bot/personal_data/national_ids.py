"""Numbers by which states know people: valid by their rules, and named or unmistakably written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from bot.personal_data.model import Candidate, Kind, Sureness
from bot.personal_data.national_checks import check_of
from bot.personal_data.national_schemes import GENERAL, SCHEMES
from bot.personal_data.near import Window, is_dated, said_to_be_other, windows

_BEFORE: Final = 45
"""So far behind a word that names it a number begins at most."""
_AFTER: Final = 34
"""So far before such a word it begins at most."""
_LONGEST: Final = 80
"""No number with what is looked at behind it is longer."""
_BEFORE_UNCHECKED: Final = 24
_AFTER_UNCHECKED: Final = 20
"""The same for numbers without check digits."""
_PUBLISHED: Final = frozenset({"rssmra80a01h501u", "078051120", "219099999", "457555462"})
_BEGIN: Final = r"(?<![0-9_])(?<!\d[./-])"
_END: Final = r"(?![0-9_])(?![./-]\d)"


def national_ids(lower: str) -> Iterator[Candidate]:
    """Numbers by which a state knows a person, in a plain text."""
    yield from _marked_ids(lower)
    general = windows(lower, GENERAL, _AFTER, _BEFORE)
    for place, scheme in enumerate(SCHEMES):
        reach = (_AFTER, _BEFORE) if scheme.check else (_AFTER_UNCHECKED, _BEFORE_UNCHECKED)
        yield from _named_ids(lower, place, windows(lower, scheme.words, *reach), sure=bool(scheme.check))
        if scheme.check:
            yield from _named_ids(lower, place, general, sure=False)


def _named_ids(lower: str, place: int, near: list[Window], *, sure: bool) -> Iterator[Candidate]:
    words = SCHEMES[place].words
    for start, end in near:
        for match in _pattern(place).finditer(lower, start, end + _LONGEST):
            if match.start() > end:
                break
            if (
                _is_whole(lower, match, words)
                and not is_dated(match[0])
                and check_of(SCHEMES[place].check)(match[0])
                and (sure or not said_to_be_other(lower, match.start()))
                and not _is_published(match[0])
            ):
                yield Candidate(Kind.NATIONAL_ID, *match.span(), Sureness.NAMED)


def _marked_ids(lower: str) -> Iterator[Candidate]:
    for match in _marked().finditer(lower):
        for scheme in SCHEMES:
            if (
                scheme.marked
                and re.fullmatch(scheme.marked, match[0])
                and _is_whole(lower, match, ())
                and check_of(scheme.marked_check or scheme.check)(match[0])
                and not _is_published(match[0])
                and not said_to_be_other(lower, match.start())
            ):
                yield Candidate(Kind.NATIONAL_ID, *match.span(), Sureness.CHECKED)
                break


def _is_whole(lower: str, match: re.Match[str], words: tuple[str, ...]) -> bool:
    """Whether no letters make ``match`` a part of something else; people also write a word for it right beside it."""
    start, end = match.span()
    if lower[start - 1 : start].isascii() and lower[start - 1 : start].isalpha():
        return lower[start].isdigit() and lower.endswith(words, 0, start)
    if lower[end : end + 1].isascii() and lower[end : end + 1].isalpha():
        word_behind = lower[end - 1].isdigit() and lower[end : end + 2].isalpha()
        return word_behind and (bool(words) or not match[0].isdigit())
    return True


def _is_published(written: str) -> bool:
    """Whether it is a published example, or one digit many times."""
    compact = re.sub(r"[\W_]", "", written)
    return compact in _PUBLISHED or len(set(filter(str.isdigit, compact))) < 2


@cache
def _pattern(place: int) -> re.Pattern[str]:
    return re.compile(f"{_BEGIN}(?:{SCHEMES[place].form}){_END}")


@cache
def _marked() -> re.Pattern[str]:
    return re.compile(f"{_BEGIN}(?:{'|'.join(scheme.marked for scheme in SCHEMES if scheme.marked)}){_END}")
