"""Whether the number of a person is valid by the rules of a state: those of ``stdnum``, and a few that it lacks."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Final, cast

from stdnum import luhn

_SEPARATORS: Final = re.compile(r"[ ./()-]")


@cache
def check_of(rule: str) -> Callable[[str], bool]:
    """The check of a rule: a module of ``stdnum`` such as ``br.cpf``, one of those here, or none (an empty name)."""
    own = _OWN.get(rule)
    if own is not None:
        return lambda written: own(_compact(written))
    if not rule:
        return lambda written: len(set(_compact(written))) > 2
    valid = cast("Callable[[str], bool]", import_module(f"stdnum.{rule}").is_valid)
    sign_counts = rule == "fi.hetu"
    return lambda written: bool(valid(_signed(written) if sign_counts else _compact(written)))


def _compact(written: str) -> str:
    return _SEPARATORS.sub("", written).upper()


def _signed(written: str) -> str:
    """With the sign before the last four, which gives the century and is a part of the number."""
    compact = re.sub(r"[ ./]", "", written).upper()
    return compact if compact[-5] in "-+A" or not compact[-5].isdigit() else f"{compact[:-4]}-{compact[-4:]}"


def _weighted(digits: str, weights: Sequence[int]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def _is_date(year: str, month: str, day: str) -> bool:
    return 1 <= int(month) <= 12 and 1 <= int(day) <= monthrange(2000 + int(year), int(month))[1]


def _national_insurance(number: str) -> bool:
    return number[:2] not in ("BG", "GB", "NK", "KN", "TN", "NT", "ZZ")


def _german_pension(number: str) -> bool:
    digits = number[:8] + f"{ord(number[8]) - 64:02d}" + number[9:11]
    products = (int(digit) * weight for digit, weight in zip(digits, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1), strict=True))
    return sum(sum(divmod(product, 10)) for product in products) % 10 == int(number[11])


def _singapore(number: str) -> bool:
    total = _weighted(number[1:8], (2, 7, 6, 5, 4, 3, 2)) + {"T": 4, "G": 4, "M": 3}.get(number[0], 0)
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "M": "KLJNPQRTUWX"}.get(number[0], "XWUTRQPNMLK")
    return letters[10 - total % 11 if number[0] == "M" else total % 11] == number[8]


def _hong_kong(number: str) -> bool:
    letters = number[:-7]
    values = [36] * (2 - len(letters)) + [ord(letter) - 55 for letter in letters]
    values += [int(digit) for digit in number[len(letters) : -1]]
    values.append(10 if number[-1] == "A" else int(number[-1]))
    return sum(value * weight for value, weight in zip(values, range(9, 0, -1), strict=True)) % 11 == 0


def _taiwan(number: str) -> bool:
    first = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(number[0]) + 10
    return _weighted(f"{first}{number[1:]}", (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1)) % 10 == 0


def _spanish_insurance(number: str) -> bool:
    return int(number[:-2]) % 97 == int(number[-2:])


def _australian_medicare(number: str) -> bool:
    return _weighted(number, (1, 3, 7, 9, 1, 3, 7, 9)) % 10 == int(number[8])


def _hungarian_insurance(number: str) -> bool:
    return _weighted(number, (3, 7) * 4) % 10 == int(number[8])


def _hungarian_tax(number: str) -> bool:
    return number[0] == "8" and _weighted(number, range(1, 10)) % 11 == int(number[9])


def _uruguayan(number: str) -> bool:
    return -_weighted(number, (2, 9, 8, 7, 6, 3, 4)) % 10 == int(number[7])


def _russian_insurance(number: str) -> bool:
    return _weighted(number, range(9, 0, -1)) % 101 % 100 == int(number[9:])


def _serbian(number: str) -> bool:
    rest = 11 - _weighted(number, (7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return _is_date("0", number[2:4], number[:2]) and (0 if rest > 9 else rest) == int(number[12])


def _latvian(number: str) -> bool:
    rest = (1101 - _weighted(number, (1, 6, 3, 7, 9, 10, 5, 8, 4, 2))) % 11
    return _is_date("0", number[2:4], number[:2]) and rest == int(number[10])


def _egyptian(number: str) -> bool:
    return _is_date(number[1:3], number[3:5], number[5:7])


def _person_of_chile(number: str) -> bool:
    return int(number[:-1]) < 50_000_000 and check_of("cl.rut")(number)


def _person_of_argentina(number: str) -> bool:
    return number[:2] in ("20", "23", "24", "27") and check_of("ar.cuit")(number)


def _person_of_portugal(number: str) -> bool:
    return number[0] in "123" and check_of("pt.nif")(number)


def _person_of_russia(number: str) -> bool:
    return len(number) == 12 and check_of("ru.inn")(number)


def _person_of_mexico(number: str) -> bool:
    return bool(import_module("stdnum.mx.rfc").is_valid(number, validate_check_digits=True))


def _person_of_india(number: str) -> bool:
    return number[3] == "P" and check_of("in_.pan")(number)


def _danish(number: str) -> bool:
    """Without the check digits, which numbers have lacked since 2007."""
    return _is_date(number[4:6], number[2:4], number[:2])


def _danish_checked(number: str) -> bool:
    return _danish(number) and _weighted(number, (4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


def _belgian(number: str) -> bool:
    """Of either century, which the check digits decide."""
    rests = (97 - int(century + number[:9]) % 97 for century in ("", "2"))
    return int(number[2:4]) <= 12 and int(number[9:]) in rests


def _norwegian(number: str) -> bool:
    """Two check digits behind a date; other registers add 40 to the day or the month."""
    day, month, year, individual = (int(number[at : at + 2]) for at in (0, 2, 4, 6))
    return (
        _weighted(number, (3, 7, 6, 1, 8, 9, 4, 5, 2, 1)) % 11 == 0
        and _weighted(number, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0
        and max(day, month) < 80
        and (year < 40 or not 50 <= individual < 90 or (year >= 54 and individual < 75))
        and _is_date(number[4:6], f"{month % 40}", f"{day % 40}")
    )


def _swedish(number: str) -> bool:
    """The year of ten digits is of either century, which differ in no leap year but 1900."""
    digits = number.replace("+", "")
    return check_of("se.personnummer")(digits if len(digits) != 10 else f"20{digits}")


def _south_african(number: str) -> bool:
    return _is_date(number[:2], number[2:4], number[4:6]) and number[10] in "01" and bool(luhn.is_valid(number))


def _american(number: str) -> bool:
    return check_of("us.ssn")(number) or check_of("us.itin")(number)


_OWN: Final[dict[str, Callable[[str], bool]]] = {
    "american": _american,
    "argentine": _person_of_argentina,
    "australian medicare": _australian_medicare,
    "belgian": _belgian,
    "chilean": _person_of_chile,
    "danish": _danish,
    "danish checked": _danish_checked,
    "egyptian": _egyptian,
    "german pension": _german_pension,
    "hong kong": _hong_kong,
    "hungarian insurance": _hungarian_insurance,
    "hungarian tax": _hungarian_tax,
    "indian": _person_of_india,
    "latvian": _latvian,
    "luhn": lambda number: bool(luhn.is_valid(number)),
    "mexican": _person_of_mexico,
    "national insurance": _national_insurance,
    "norwegian": _norwegian,
    "portuguese": _person_of_portugal,
    "russian": _person_of_russia,
    "russian insurance": _russian_insurance,
    "serbian": _serbian,
    "singapore": _singapore,
    "south african": _south_african,
    "spanish insurance": _spanish_insurance,
    "swedish": _swedish,
    "taiwan": _taiwan,
    "uruguayan": _uruguayan,
}
