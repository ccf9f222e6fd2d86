"""Telephone numbers: international ones, and national ones that have a typical form or a word that names them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, cast

import phonenumbers
from phonenumbers import PhoneMetadata, PhoneNumberDesc, PhoneNumberFormat

from incumbent.text.personal_data.model import Found, PersonalDataKind, Sureness
from incumbent.text.personal_data.near import Window, folded, is_dated, said_to_be_other, windows


def _split(names: str) -> tuple[str, ...]:
    return tuple(names.split())


_REGIONS: Final = _split(
    "US GB DE FR ES IT NL BR PT PL SE DK FI NO TR JP KR CN IN RU AT CH BE IE AU NZ ZA MX AR CO CL PE CA HK TW SG MY "
    "ID TH VN PH IL AE SA EG NG KE GR CZ HU RO UA"
)
"""Regions whose national numbers are recognised."""
_WORDS: Final = folded(
    "phone, phones, phone number, telephone, tel, tel., telefon, telefono, telefone, telefoon, telefonnummer, "
    "telefonnr, telephon, téléphone, mobile, mobil, mobiltelefon, mobilnummer, mobiel, mobilfunk, "
    "cell, cellphone, cellular, fax, whatsapp, handy, handynummer, "
    "telefax, telefoonnummer, rufnummer, durchwahl, festnetz, mon portable, son portable, "
    "au portable, portable:, portable :, numero de telephone, gsm, celular, movil, cellulare, "
    "telemovel, "
    "komorka, komorkowy, telefonu, numer telefonu, puhelin, puhelinnumero, puh, puhelinnumeroni, "
    "kannykka, telefonnumret, "
    "mobilnr, tlf, tlf., tlfnr, mob, mob., cep, cep telefonu, telefonum, telefonunuz, numaram, "
    "電話, 電話番号, 携帯, 携帯電話, "
    "전화, 전화번호, 휴대폰, 핸드폰, 연락처, 휴대전화, 电话, 手机, 手机号, 电话号码, 联系方式, 手機, 電話號碼, "
    "微信, फोन, फ़ोन, मोबाइल, "
    "телефон, тел, тел., моб, моб., мобильный, номер телефона, мой номер, звонить, позвоните, "
    "звоните, перезвоните, هاتف, جوال, طلفון, טלפון, נייד, điện thoại, telepon, sms, viber, "
    "landline, "
    "voicemail, hotline, callback, helpline, contact number, my number, number to reach, linea, "
    "numarayi, emergency contact"
)
_VERBS: Final = folded(
    "call, calls, calling, called, text, texted, ring, rang, reach, reached, reachable, dial, "
    "dialed, sms to, message, contact, phoned, contacted, "
    "anrufen, ruf, rufen, erreichen, erreichbar, angerufen, zuruckrufen, ruckruf, appelle, appeler, "
    "appelez, rappeler, rappelez, rappelle-moi, joindre, joignable, "
    "llamar, llama, llamame, llame, llamenme, contactar, contacto, ligar, ligue, liga, me liga, "
    "chamar, chiamare, chiama, chiamami, chiamatemi, chiamarmi, "
    "bel, bellen, bel me, bereikbaar, zadzwon, zadzwonic, dzwonic, oddzwon, ring mig, ringa, soita, "
    "soittaa, ring til, ara, arayin, arayalim, arayabilir, arayabilirsiniz, ulasabilirsiniz, 연락, "
    "かけて, 打给, 致电, 联系, कॉल, contactez"
)
_BEFORE: Final = 42
_VERB_BEFORE: Final = 30
_AFTER: Final = 36
_RUN: Final = re.compile(
    r"(?:(?<![a-z0-9])|(?<=tel)|(?<=phone)|(?<=mobil)|(?<=mobile)|(?<=cell)|(?<=fax)|(?<=telefon)|"
    r"(?<=handy)|(?<=tlf)|(?<=gsm)|(?<=cep))"
    r"(?<!\d[.:/-])(?<![$€£¥#_=@])[+(]{0,2}\d{1,15}(?:\)?[ .\-/~]{0,3}[(]?(?<!\d)\d{1,12}|"
    r"\)\d{1,12}){0,10}(?![0-9_@])(?![a-z][0-9a-z]?(?![a-z]))(?![.:]\d)"
)
_GROUP: Final = re.compile(r"[+(]{0,2}\d+")
_AMERICAN: Final = re.compile(r"(?:1[ .-])?(?:\([1-9]\d\d\) ?\d{3}[ .-]|[1-9]\d\d[-.]\d{3}[-.])\d{4}")
# National forms used only for telephone numbers, with their regions: a bracket or a zero before an area, and groups.
_MARKED: Final = tuple(
    (re.compile(form), _split(regions))
    for form, regions in (
        (r"0[1-9](?:[ .-]\d\d){4}", "FR"),
        (r"01[5-7]\d{1,2}[ /-]?\d{3,4} ?\d{3,5}|0\d{2,4}[ /-]\d{6,8}|0\d{2,5} ?/ ?\d{3,4}[ -]?\d{2,5}", "DE AT CH"),
        (
            r"0\d{2,3}-\d{7}|06[ -]\d{8}|06[ -]\d\d[ -]\d\d[ -]\d\d[ -]\d\d|0\d\d[ -]\d{3}[ -]\d\d[ -]\d\d",
            "NL BE CH SE TR",
        ),
        (r"0[789]0-\d{4}-\d{4}|0\d{1,2}-\d{3,4}-\d{4}|0\d{3}-\d\d-\d{4}|\(0\d{1,4}\) ?\d{2,4}-\d{4}", "JP KR TW"),
        (r"01[016-9]-?\d{3,4}-?\d{4}", "KR"),
        (r"09\d\d-\d{3}-\d{3}", "TW"),
        (r"1[3-9]\d[ -]\d{4}[ -]\d{4}|0\d{2,3}-\d{7,8}", "CN"),
        (r"07\d{3} (?:\d{6}|\d{3} \d{3})|02\d \d{4} \d{4}|\(02\d\) \d{4} \d{4}|01\d{3} \d{6}|01\d\d \d{3} \d{4}", "GB"),
        (r"04\d\d \d{3} \d{3}|\(0\d\) ?\d{4} ?\d{4}|0[23478] \d{4} \d{4}", "AU"),
        (r"02\d \d{3} \d{3,5}|0\d{1,2} \d{3} \d{4}", "NZ IE FI ZA"),
        (r"\(\d\d\) ?9? ?\d{4}-\d{4}", "BR"),
        (r"(?:0 ?)?\(?[2-5]\d\d\)? \d{3} \d\d \d\d", "TR"),
        (r"[67]\d\d(?: \d\d){3}", "ES"),
        (r"07\d-?[ ]?\d{3}[ ]\d\d[ ]\d\d|0\d{1,2}-\d{3} \d\d \d\d|07\d-\d{7}", "SE"),
        (r"8[ -]?\(?9\d\d\)?[ -]?\d{3}[ -]\d\d[ -]\d\d", "RU"),
    )
)
# Numbers reserved for fiction: United States and Canada, United Kingdom, Australia, Germany, France, Sweden.
_FICTION: Final = re.compile(
    r"""
      1\d{3}55501\d\d
    | 44(?:
        1632960 | 7700900 | 2079460 | 1(?:1[3-8]|[2-6]1)4960 | 1914980 | 2896496 | 2920180 | 3069990 | 8081570 | 9098790
      )\d{3}
    | 61(?:491570(?:006|15[6-9]|313|737|110)|[2378](?:5550|7010)\d{4})
    | 49(?:(?:3023125|6990009|4066969|2214710|8999998)\d{3}|(?:17139200|176040690)\d\d|15228817386|15228895456)
    | 33(?:19900|26191|35301|46571|53649|63998)\d{4}
    | 46(?:7017406\d\d|3139006\d\d|4062804\d\d|846500[4-9]\d\d|9803192\d\d)
    """,
    re.VERBOSE,
)
_REGIONS_OF_FICTION: Final = "US", "GB", "AU", "DE", "FR", "SE"
_NO_PHONE: Final = re.compile(r"\d{1,4}\.\d{5,}|\d{5}-\d{3}")
"""Decimal fractions and post codes."""
_INTERNET: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_COUNTED: Final = "012345678901234567890 12345678910 987654321098765432109"
_LEAST: Final = 8
_LEAST_AFTER_VERB: Final = 9
_MOST: Final = 15


@dataclass(frozen=True, slots=True)
class _Near:
    """Places near a word for telephones, and places after a verb such as “call” that also has other objects."""

    words: list[Window]
    verbs: list[Window]

    def names(self, start: int, digits: int) -> bool:
        return any(begin <= start <= end for begin, end in self.words) or (
            digits >= _LEAST_AFTER_VERB and any(begin <= start <= end for begin, end in self.verbs)
        )


def phones(lower: str) -> Iterator[Found]:
    """Telephone numbers in a plain text."""
    runs = [
        run
        for run in _RUN.finditer(lower)
        if sum(map(str.isdigit, run[0])) >= _LEAST and not _INTERNET.fullmatch(run[0])
    ]
    if not runs:
        return
    near = _Near(windows(lower, _WORDS, _AFTER, _BEFORE), windows(lower, _VERBS, 0, _VERB_BEFORE))
    for run in runs:
        yield from _in_run(lower, run, near)


def _in_run(lower: str, run: re.Match[str], near: _Near) -> Iterator[Found]:
    groups = [group.span() for group in _GROUP.finditer(lower, *run.span())]
    end = 0
    for place, (start, _) in enumerate(groups):
        if start < end or not (place == 0 or _may_begin(lower, groups, place)):
            continue
        for _, stop in reversed(groups[place : place + 9]):
            candidate = _candidate(lower, start, stop, near)
            if candidate:
                yield candidate
                end = stop
                break


def _may_begin(lower: str, groups: list[tuple[int, int]], place: int) -> bool:
    """Whether a number may begin at group ``place`` of a run of groups of digits."""
    start, end = groups[place]
    if end - start < 2 or lower[start - 1] not in " ~\n":
        return False
    return lower[start] in "+(0" or _AMERICAN.match(lower, start) is not None


def _candidate(lower: str, start: int, stop: int, near: _Near) -> Found | None:
    if lower[start] == "(" and ")" not in lower[start:stop]:
        start += 1
    written = lower[start:stop]
    digits = "".join(filter(str.isdigit, written))
    if not _LEAST <= len(digits) <= _MOST or _is_made_up(digits) or _NO_PHONE.fullmatch(written) or is_dated(written):
        return None
    if written.startswith(("+", "(+", "00")):
        if _international(digits.removeprefix("00") if written.startswith("00") else digits):
            return Found(PersonalDataKind.PHONE, start, stop, Sureness.CHECKED)
        if not written.startswith("00"):
            return None
    named = near.names(start, len(digits))
    regions = _REGIONS
    if _AMERICAN.fullmatch(written):
        regions = _REGIONS_OF_FICTION[:1]
    elif not named:
        regions = tuple(region for form, of in _MARKED if form.fullmatch(written) for region in of)
    if said_to_be_other(lower, start) or not _national(digits, regions):
        return None
    return Found(PersonalDataKind.PHONE, start, stop, Sureness.CHECKED if named else Sureness.FORM)


def _is_made_up(digits: str) -> bool:
    """Whether the digits are a sequence or a repetition."""
    return len(set(digits)) < 3 or digits in _COUNTED or digits.removeprefix("1") in _COUNTED


@lru_cache(maxsize=4096)
def _international(digits: str) -> bool:
    """Whether ``digits`` after a plus are a valid number that is not reserved for fiction."""
    # A zero in brackets before the area is not dialled: +44 (0)20.
    return _valid("+" + digits, None)


@lru_cache(maxsize=4096)
def _national(digits: str, of: tuple[str, ...]) -> bool:
    """Whether ``digits`` are valid in one of the regions, and reserved for fiction in none."""
    regions = [region for region in of if _shape(region).fullmatch(digits)]
    if any(_is_fiction(digits, region) for region in _REGIONS_OF_FICTION if region in regions):
        return False
    return any(_valid(digits, region) for region in regions)


@cache
def _shape(region: str) -> re.Pattern[str]:
    """A pattern of the numbers of ``region``: wider than the library's check, and faster."""
    numbers = cast("PhoneMetadata", PhoneMetadata.metadata_for_region(region))
    form = cast("PhoneNumberDesc", numbers.general_desc).national_number_pattern
    return re.compile(f"(?:{numbers.national_prefix or ''})?(?:{numbers.national_prefix_for_parsing or ''})?(?:{form})")


def _valid(written: str, region: str | None) -> bool:
    number = _parsed(written, region)
    return number is not None and phonenumbers.is_valid_number(number) and not _FICTION.fullmatch(_dialled(number))


def _is_fiction(digits: str, region: str) -> bool:
    number = _parsed(digits, region)
    return number is not None and _FICTION.fullmatch(_dialled(number)) is not None


def _parsed(written: str, region: str | None) -> phonenumbers.PhoneNumber | None:
    try:
        return phonenumbers.parse(written, region)
    except phonenumbers.NumberParseException:
        return None


def _dialled(number: phonenumbers.PhoneNumber) -> str:
    return phonenumbers.format_number(number, PhoneNumberFormat.E164).lstrip("+")
