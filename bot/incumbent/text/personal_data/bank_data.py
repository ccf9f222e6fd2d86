"""Numbers of payment cards and of bank accounts, by prefix, length and check digits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from string import ascii_lowercase
from typing import Final

from stdnum import iban, luhn, numdb

from incumbent.text.personal_data.model import CARD_STAND_INS, Found, PersonalDataKind, Sureness
from incumbent.text.personal_data.near import folded, said_to_be_other, windows

_PUBLISHED_CARDS: Final = frozenset(number.replace(" ", "") for number in CARD_STAND_INS) | {
    "4222222222222",
    "378734493671000",
    "30569309025904",
    "38520000023237",
    "36227206271667",
    "6200000000000005",
    "6205500000000000004",
    "6011981111111113",
    "6011000400000000",
    "3530111333300000",
    "4000000000000002",
    "4000000000009995",
    "4000002500003155",
    "4000000000003220",
    "4000000000000077",
    "4000000000000341",
    "4000000000000069",
    "4000000000000127",
    "4000000000000119",
    "4000008260000000",
    "4000002760000016",
    "4000000760000002",
    "5454545454545454",
    "5431111111111111",
    "4444333322221111",
    "4917610000000000",
    "4988438843884305",
    "4166676667666746",
    "4007000000027",
    "4012000033330026",
    "5424000000000015",
    "6011000000000012",
    "370000000000002",
    "4005519200000004",
    "4009348888881881",
    "4500600000000061",
    "2222405343248877",
    "2720994326581252",
    "4026000000000002",
    "4508750015741019",
    "5100000000000008",
    "6759649826438453",
}
_ZEROS: Final = "00000000"
"""Only test numbers contain this, never a real card."""
# First digits and lengths of the networks: Visa, Mastercard, American Express, Discover, Diners Club, JCB, UnionPay,
# Mir, Maestro, RuPay, Troy, Elo, Hipercard.
_NETWORK: Final = re.compile(
    r"""
      4(?:\d{12}|\d{15}|\d{18})
    | 5[1-5]\d{14} | 2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}
    | 3[47]\d{13}
    | (?:6011\d\d|64[4-9]\d{3}|65\d{4})\d{10,13}
    | 3(?:0[0-5]|095|[689]\d)\d{11} | 3[68]\d{14}
    | 35(?:2[89]|[3-8]\d)\d{12,15}
    | (?:62|8[12])\d{14,17}
    | 220[0-4]\d{12,15}
    | (?:5018|5020|5038|5893|6304|6759|676[1-3])\d{8,15}
    | 508[5-9]\d{12} | 60\d{14} | 9792\d{12} | (?:5067|6362)\d{12}
    """,
    re.VERBOSE,
)
_PIECES: Final = re.compile(r"(?<!\d)(?<!\d\.)\d+(?:[ .\-/_]{1,2}\d+){0,20}(?!\d)(?!\.\d)")
_GROUP: Final = re.compile(r"\d+")
_LEAST_DIGITS: Final = 13
_MOST_DIGITS: Final = 19
_SHAPES: Final = frozenset({(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (8, 8), (6, 13), (4, 4, 4, 1)})
"""Digits in each group, as cards are printed and typed."""
# The groups of a printed card with the same separator between all of them; table cells may have it too.
_PRINTED: Final = re.compile(
    r"(?<!\d)(?<!\d\.)\d{4}(?P<gap>\r\n| ?[^\w\s] ?|[\W_])"
    r"(?:\d{4}(?P=gap)\d{4}(?P=gap)\d{4}|\d{6}(?P=gap)\d{4,5})(?!\d)(?!\.\d)(?!(?P=gap)[0-9a-f]{4}(?![a-z0-9]))"
)
# The same with a line break in place of some separators.
_WRAPPED: Final = re.compile(
    r"(?<!\d)(?<!\d\.)\d{4}(?P<gap>{gap})(?:\d{4}{gap}\d{4}{gap}\d{4}|\d{6}{gap}\d{4,5})"
    r"(?!\d)(?!\.\d)(?!{gap}[0-9a-f]{4}(?![a-z0-9]))".replace("{gap}", r"(?:[ -]|[ \t\\]{0,3}\r?\n[ \t>]{0,8})")
)
_OF_LIST: Final = re.compile(r"(?<![a-z0-9])[0-9a-f]{4}")
_ROW_BEFORE: Final = re.compile(r"(?<![a-z0-9])[0-9a-f]{4}[ \t]{0,3}\r?\n[ \t>]{0,8}$")
_OF_HASH: Final = re.compile(r"[a-f]{1,8}\d")
_BETWEEN_CELLS: Final = frozenset({", ", "; ", " | ", "| ", " |"})
"""Separators of numbers in a sentence or a table.  They count inside a card only if a word says that it is one."""
_CARD_WORDS: Final = folded(
    "card, visa, mastercard, amex, maestro, discover, diners, cc, pan, karte, carte, carta, tarjeta, cartao, kart, "
    "kaart, karta, kort, карта, карты, 卡, 카드, カード"
)
_REACH: Final = 40
_WORD: Final = 4
"""A word of at least so many letters may directly precede a number; ids have fewer letters."""
_LONGEST_WORD: Final = 24
_BEHIND_CARDS: Final = frozenset({"cvv", "cvc", "exp"})
_NO_DIGITS_OF_HASHES: Final = frozenset(ascii_lowercase) - frozenset("abcdef")

_PUBLISHED_ACCOUNTS: Final = frozenset({"GB82WEST12345698765432", "DE89370400440532013000"})
_ACCOUNT: Final = re.compile(r"(?<!\d)[a-z]{2}[ -]?\d[ -]?\d")
_REST_OF_ACCOUNT: Final = re.compile(r"(?:[\W_]{0,2}[a-z0-9]){11,30}")
_LENGTHS: Final = re.compile(r"\d+")


def cards(lower: str) -> Iterator[Found]:
    """Numbers of payment cards in a plain text."""
    for run in _PIECES.finditer(lower):
        if run.end() - run.start() >= _LEAST_DIGITS and not _is_other(lower, run.start()):
            yield from _cards_in(lower, [group.span() for group in _GROUP.finditer(lower, *run.span())])
    for printed in chain(_PRINTED.finditer(lower), _WRAPPED.finditer(lower)):
        if _is_card("".join(filter(str.isdigit, printed[0]))) and not _is_of_list(lower, printed):
            yield Found(PersonalDataKind.CARD, *printed.span(), Sureness.CHECKED)


def _is_other(lower: str, start: int) -> bool:
    return said_to_be_other(lower, start) and not lower.endswith(_CARD_WORDS, 0, start)


def _is_of_list(lower: str, printed: re.Match[str]) -> bool:
    """Whether the groups belong to a list, a table or a longer number, or are not a card for another reason."""
    start, gap = printed.start(), printed["gap"]
    before = start - len(gap) - 4
    if before >= 0 and lower.startswith(gap, before + 4) and _OF_LIST.match(lower, before):
        return True
    if _ROW_BEFORE.search(lower, max(0, start - _REACH), start):
        return True
    said = gap not in _BETWEEN_CELLS or windows(lower[max(0, start - _REACH) : start], _CARD_WORDS, 0, 0)
    return not said or said_to_be_other(lower, start) or not _is_whole(lower, *printed.span())


def _cards_in(lower: str, groups: list[tuple[int, int]]) -> Iterator[Found]:
    found = False
    for first in range(len(groups)):
        digits, shape = "", []
        for start, end in groups[first : first + _MOST_DIGITS]:
            digits += lower[start:end]
            shape.append(end - start)
            if len(digits) > _MOST_DIGITS:
                break
            is_one = len(shape) == 1 and _is_whole(lower, start, end)
            is_printed = tuple(shape) in _SHAPES and not _OF_HASH.match(lower, end)
            if (is_one or is_printed) and _is_card(digits):
                found = True
                yield Found(PersonalDataKind.CARD, groups[first][0], end, Sureness.CHECKED)
    # In any grouping, if nothing else is beside it.
    start, end = groups[0][0], groups[-1][1]
    if not found and _is_whole(lower, start, end) and _is_card("".join(lower[start:end] for start, end in groups)):
        yield Found(PersonalDataKind.CARD, start, end, Sureness.CHECKED)


def _is_whole(lower: str, start: int, end: int) -> bool:
    """Whether no letters are beside it, as in a hash or an id.  Words may be: some scripts use no spaces."""
    before = lower[max(0, start - _LONGEST_WORD) : start]
    behind = lower[end : end + _LONGEST_WORD]
    word_before = before[len(before.rstrip(ascii_lowercase)) :]
    word_behind = behind[: len(behind) - len(behind.lstrip(ascii_lowercase))]
    return (not word_before or word_before.endswith(_CARD_WORDS) or _is_word(word_before)) and (
        not word_behind or word_behind in _BEHIND_CARDS or _is_word(word_behind)
    )


def _is_word(letters: str) -> bool:
    return len(letters) >= _WORD and not _NO_DIGITS_OF_HASHES.isdisjoint(letters)


def _is_card(digits: str) -> bool:
    return (
        bool(_NETWORK.fullmatch(digits))
        and _ZEROS not in digits
        and digits not in _PUBLISHED_CARDS
        and bool(luhn.is_valid(digits))
    )


def accounts(lower: str) -> Iterator[Found]:
    """International bank account numbers in a plain text."""
    for begun in _ACCOUNT.finditer(lower):
        length = _length_of_account(begun[0][:2].upper())
        rest = _REST_OF_ACCOUNT.match(lower, begun.end()) if length else None
        if rest is None:
            continue
        places = [place for place in range(begun.start(), rest.end()) if lower[place].isalnum()][:length]
        end = places[-1] + 1
        if not lower[end : end + 1].isdecimal() and _is_account("".join(lower[place] for place in places).upper()):
            yield Found(PersonalDataKind.IBAN, begun.start(), end, Sureness.CHECKED)


@cache
def _length_of_account(country: str) -> int:
    """The length of a country's account numbers; 0 if it has none."""
    form = numdb.get("iban").info(country)[0][1].get("bban", "")
    return 4 + sum(map(int, _LENGTHS.findall(form))) if form else 0


def _is_account(compact: str) -> bool:
    # The remainder first: it is faster, and few texts pass it.
    remainder = int("".join(str(int(sign, 36)) for sign in compact[4:] + compact[:4])) % 97
    return remainder == 1 and compact not in _PUBLISHED_ACCOUNTS and bool(iban.is_valid(compact, check_country=False))
