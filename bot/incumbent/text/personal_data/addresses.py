"""Street addresses: a match needs a street, a house number, and a town or post code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from incumbent.text.personal_data.model import Found, PersonalDataKind, Sureness
from incumbent.text.plain_text import plain

_REACH: Final = 90
"""At most so many characters before the house number, its street begins."""

_CAPITAL: Final = r"(?=[^\W\d_])[^a-zß-ÿа-я][\w'’-]{0,29}\w"
_JOIN: Final = r"[ ]?[,;\n-]?[ ]?\n?[ ]?"
_TOWN: Final = rf"{_CAPITAL}(?:[ -](?:{_CAPITAL}|am|an|der|im|sur|upon|de|la|les|on|sous|nad))?(?:[ -]{_CAPITAL})?"
_NAME_WORD: Final = r"(?:\d{1,3}(?:st|nd|rd|th)|[^\W\d][\w.'’-]{0,19})"
_FLAT: Final = r"(?:(?<!\w)(?i:unit|flat|apt|apartment|suite|level)\.?[ ][\w-]{1,5},?[ ])?"
_STREETS: Final = (
    "street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct|way|place|pl|terrace|circle|cir|square|sq|"
    "parkway|pkwy|highway|hwy|close|crescent|cres|gardens|gdns|grove|row|mews|hill|broadway|trail|loo"
    "p|walk|quay|rise|view|"
    "park|parade|esplanade|plaza|alley|bend|run|pike|crossing|strand"
)
_STATES: Final = (
    "AL|AK|AZ|AR|CA|CO|CT|DC|DE|FL|GA|HI|IA|ID|IL|IN|KS|KY|LA|MA|MD|ME|MI|MN|MO|MS|MT|NC|ND|NE|NH|NJ|"
    "NM|NV|NY|OH|OK|OR|PA|"
    "RI|SC|SD|TN|TX|UT|VA|VT|WA|WI|WV|WY|ON|QC|BC|AB|MB|SK|NS|NB|NL|NSW|VIC|QLD|TAS|ACT"
)
_STATE_NAMES: Final = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Florida|Georgia|Hawaii|Idaho|Ill"
    "inois|Indiana|Iowa|"
    "Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|"
    "Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|Ohio|Oklahoma|Oregon|Pennsylvania|Tennessee|"
    "Texas|Utah|Vermont|Virginia|Washington|Wisconsin|Wyoming|Ontario|Quebec|Ireland|UK|USA|England|Scotland|Wales"
)
_CODE: Final = (
    r"(?:\d{5}(?:-\d{4})?|[A-Za-z]{1,2}\d[A-Za-z\d]?[ ]?\d[A-Za-z]{2}|"
    r"[A-Za-z]\d[A-Za-z][ ]?\d[A-Za-z]\d|[A-Z]\d\d[ ][A-Z\d]{4})"
)
_HOUSE: Final = r"(?<![\w$€£.,/#-])\d{1,5}(?:[ ]?[-/][ ]?\d{1,4})?[A-Za-z]?\b"
_UNIT: Final = (
    r"(?:,?[ ]?(?:apt|apartment|unit|suite|ste|flat|floor|room|rm|building|bldg|no|"
    r"\#)\b\.?[ ]?\#?[\w-]{1,8}|[ ]?\#[\w-]{1,6})?"
)
_AFTER_HOUSE: Final = (
    r"(?:[ ](?:bis|ter|[A-Z][ ]\d{1,3}))?(?:[ ]?[/m.][ ]?\d{1,4})?"
    r"(?:,?[ ](?:\d{1,2}[.°oa][ ]?\w{0,12}|(?i:wohnung|whg\.?|ap(?:to|t|p)?\.?|piso|puerta|m\.?|"
    r"lok\.?|bus|bte|lgh|stiege|top|tür|et\.?|h)[ ]?\w{1,6})){0,3}"
)
_STREET_NAME: Final = (
    rf"(?:(?<![\w.])(?:{_CAPITAL}[ ]){{0,2}}"
    r"[\w.'’-]{0,22}(?i:strasse|straße|str\.?|gasse|weg|platz|allee|ring|damm|ufer|chaussee|steig|markt|"
    r"straat|laan|plein|gracht|kade|dijk|singel|dreef|gade|vej|vang|torv|gate|gata|vei|veien|gaten|vagen|gatan|stigen|"
    r"torget|katu|tie|kuja|polku|utca|út|ut|tér|ter|körút)"
    r"|(?<![\w.])(?i:via|viale|piazza|corso|vicolo|largo|calle|c/|c\.|avenida|av\.?|avda\.?|plaza|"
    r"paseo|ronda|carrer|rua|r\.|travessa|praca|"
    r"alameda|estrada|ul\.|ulica|ulicy|al\.|aleja|aleje|os\.|plac|pl\.|rue|ulice|str\.|strada|"
    r"bulevardul)[ ]?(?:[\w.'’-]{1,25}[ ]){0,4}[\w.'’-]{1,25})"
)
_CAPITALS: Final = (
    rf"(?<![\w.]){_CAPITAL}(?:[ ](?:{_CAPITAL}|an|am|auf|der|dem|den|in|im|zum|zur|unter|von|van|de|"
    rf"het)){{0,3}}"
)
_NUMBER_WORD: Final = r",?[ ](?:(?i:nr|no|n[°o]|num|numero)\.?[ ]?)?"
_LONG_CODE: Final = r"(?:[A-Z]{1,2}-)?(?:\d{5}(?:-\d{3})?|\d{4}[ ]?[A-Z]{2}|\d{3}[ ]\d\d|\d\d-\d{3}|\d{4}-\d{3})"
_ANY_CODE: Final = r"\d\d(?:\d[ ]?\d|-\d)"
"""A part of every numeric post code."""
_SHORT_CODE: Final = r"(?:[A-Z]{1,2}-)?\d{4}"
_RUSSIAN_STREET: Final = (
    r"(?:(?<![\w.])[А-Я][\w-]{2,25}[ ](?:[\w-]{2,25}[ ])?(?:проспект|улица|бульвар|шоссе|переулок|"
    r"набережная|площадь)|(?<![\w.])(?i:ул\.?|улица|улице|улицы|проспект|просп\.|пр\.|пр-т|пер\.|"
    r"переулок|бульвар|б-р|шоссе|наб\.|набережная|пл\.|площадь)[ ]?"
    r"(?:[\w.-]{2,25}[ ]){0,3}[\w.-]{2,25})"
)
_RUSSIAN_TOWN: Final = r"(?:(?:\d{6},?[ ])?(?:(?i:г\.|город)[ ]?)?[А-Я][\w-]{2,25}(?:[ -][А-Я][\w-]{2,25})?,[ ]?)?"


# Made-up addresses, and words after a comma that are not a town.
_MADE_UP: Final = re.compile(
    r"(?i)\b(?:123|1234|456|789|100) (?:main|elm|oak|fake|maple|any|first) (?:st|street|ave|avenue|rd|"
    r"road)\b(?!.*\d{5})|\b123 main\b"
    r"|\b(?:anytown|anywhere|anycity|example\w*|sample\w*|placeholder|your (?:city|town|street)|"
    r"city name|cityville|townsville|musterstadt|"
    r"musterhausen|musterstrasse|musterstraße|musterweg)\b|, (?:please|thanks|thank|and|but|then|also|"
    r"or|we|the|my|if|so|can|could|which|where)$"
)


_HINDI_HOUSE: Final = "|".join(map(plain, ("मकान", "फ्लैट", "प्लॉट", "घर")))
_HINDI_STREETS: Final = "|".join(
    map(plain, ("मार्ग", "नगर", "रोड", "सड़क", "गली", "कॉलोनी", "विहार", "चौक", "सेक्टर", "पथ"))
)


@dataclass(frozen=True, slots=True)
class AddressForm:
    """Addresses of one form: ``rest`` begins with the house number; ``street`` is before it, if the street comes first.

    Every such text contains ``needs``.  It is searched first: that is faster, and several rules share it.
    """

    rest: str
    street: str = ""
    needs: str = ""


_RULES: Final = (
    # 742 Maple St Apt 3, Springfield, IL 62704
    AddressForm(
        rf"""
        {_FLAT}{_HOUSE},?[ ](?:{_NAME_WORD}[ ]){{1,4}}(?i:{_STREETS})\b\.?
        (?:[ ](?:[NSEW]{{1,2}}|North|South|East|West)\b\.?)?(?i:{_UNIT})
        (?:
            [ ]?[,\n]?[ ]?\n?(?:(?!to[ ]|and[ ]|at[ ]|on[ ]|by[ ])[\w.'’-]{{2,20}}[ ,]{{1,2}}){{0,5}}?{_CODE}\b
          | [ ]?[,\n][ ]?\n?{_TOWN},?[ ](?:(?:{_STATES}|{_STATE_NAMES})\b(?:,?[ ]\d{{4}}\b)?|\d{{4}}\b)
          | [ ]?,[ ]?{_TOWN}(?=[ ]?(?:[.!?;)"]|$))
        )
    """,
        needs=r"[,\n]|\d{5}|[A-Za-z]\d",
    ),
    # 940 Fulton Market, Chicago, IL 60607
    AddressForm(
        rf"""
        {_FLAT}{_HOUSE}[ ](?:{_NAME_WORD}[ ]){{0,4}}{_NAME_WORD}(?i:{_UNIT})[ ]?,[ ](?:{_NAME_WORD},?[ ]){{1,4}}
        (?:
            (?:{_STATES})[ ]\d{{5}}(?:-\d{{4}})?
          | [A-Za-z]{{1,2}}\d[A-Za-z\d]?[ ]\d[A-Za-z]{{2}} | [A-Z]\d\d[ ][A-Z\d]{{4}} | [A-Z]\d[A-Z][ ]\d[A-Z]\d
        )\b
    """,
        needs=",",
    ),
    # 12 bis rue de la Paix, 75002 Paris; 12 rue de la Paix à Paris
    AddressForm(rf"""
        {_HOUSE}(?:[ ](?:bis|ter|quater)\b)?,?[ ](?i:
            rue|avenue|av\.?|boulevard|bd\.?|blvd\.?|place|pl\.?|chemin|ch\.|allees?|impasse|quai|cours|route|square|
            passage|villa|faubourg|sentier|promenade|hameau|calle|via|rua|avenida|plaza|piazza|paseo|corso|viale
        )[ ](?:[\w.'’-]{{1,25}}[ ]){{0,5}}[\w.'’-]{{1,25}}
        (?:
            {_JOIN}(?:(?i:apt|appt|bat|etage|esc)[\w. ]{{1,12}},[ ])?
            (?:[A-Z]{{1,2}}-)?(?:\d{{5}}|\d{{4}}|\d\d[ ]\d{{3}})[ ]{_TOWN}
          | (?:,[ ]|[ ]a[ ]){_TOWN}(?=[ ]?(?:[.,!?;)"]|$))
        )
    """),
    # Hauptstraße 5, 10115 Berlin
    AddressForm(
        rf"{_HOUSE}{_AFTER_HOUSE}{_JOIN}(?:[\w ]{{2,25}},[ ])?(?:{_LONG_CODE}[ ](?:{_TOWN}|"
        rf"[\w'’-]{{3,25}})|{_SHORT_CODE}[ ]{_TOWN})",
        _STREET_NAME,
        _ANY_CODE,
    ),
    # Unter den Linden 77, 10117 Berlin
    AddressForm(rf"{_HOUSE}{_AFTER_HOUSE}[ ]?[,\n][ ]?\n?{_LONG_CODE}[ ]{_TOWN}", _CAPITALS, _ANY_CODE),
    # 00-375 Warszawa, ul. Smolna 30
    AddressForm(rf"{_HOUSE}{_AFTER_HOUSE}", rf"{_LONG_CODE}[ ]{_TOWN},[ ]{_STREET_NAME}", _ANY_CODE),
    # Calle Mayor 5, Madrid
    AddressForm(
        rf"{_HOUSE}{_AFTER_HOUSE},[ ]{_TOWN}(?:[ ]?[(/-][ ]?[A-Z]{{2}}\b\)?)?(?:,?[ ]\d{{5}}-?\d{{3}})?"
        r"(?=[ ]?(?:[.,!?;)\n\"]|$))",
        _STREET_NAME,
        ",",
    ),
    # Rua das Flores, 123, apto 4, Centro, São Paulo - SP, 01310-100
    AddressForm(
        rf"{_HOUSE}{_AFTER_HOUSE}(?:[ ]?[,-][ ]?"
        rf"(?:[\w.'’]{{1,20}}[ ]){{0,3}}[\w.'’]{{1,20}}){{1,4}}?[ ]?[-/,][ ]?(?:[A-Z]{{2}},?[ ])?(?:"
        rf"(?i:cep|c\.?p\.?):?[ ]?)?\d{{5}}(?:-?\d{{3}})?\b(?:[ ]{_TOWN}(?:[ ]?[-/][ ]?[A-Z]{{2}}\b)?)?",
        _STREET_NAME,
        _ANY_CODE,
    ),
    # Sakarya Cad. No: 12 D: 3, 34710 Kadikoy/Istanbul
    AddressForm(
        rf"{_HOUSE}(?:,?[ ](?i:d|daire|kat|"
        rf"k)[.:]?[ ]?:?[ ]?\d{{1,3}}){{0,2}}[ ]?,?[ ](?:\d{{5}}[ ])?{_TOWN}"
        rf"(?:[ ]?[/,][ ]?{_CAPITAL}){{0,2}}",
        r"(?<![\w.])(?:[\w.'’]{2,25}[ ]){1,4}(?i:cad(?:desi|\.)?|sok(?:ak|agi|\.)?|sk\.|bulv(?:ari|\.)?|"
        r"mah(?:allesi|\.)?),?[ ](?i:no|numara)[.:]{0,2}",
    ),
    # Москва, ул. Ленина, д. 12, кв. 5
    AddressForm(
        r"\d{1,4}[а-я]?\b(?:,?[ ]?(?i:кв\.?|квартира|корп\.|к\.|стр\.|"
        r"оф\.)[ ]?\d{1,4}){1,3}(?:,?[ ](?:\d{6},?[ ])?(?:г\.[ ]?)?[А-Я][\w-]{2,25}(?:,[ ]\d{6})?)?",
        rf"{_RUSSIAN_TOWN}{_RUSSIAN_STREET},?[ ]?(?:(?i:д\.?|дом)[ ]?)?",
        "[а-я]",
    ),
    AddressForm(
        r"\d{1,4}[а-я]?\b(?:,[ ](?:\d{6},?[ ])?(?:г\.[ ]?)?[А-Я][\w-]{2,25})",
        rf"{_RUSSIAN_STREET},?[ ]?(?:(?i:д\.?|дом)[ ]?)?",
        "[а-я]",
    ),
    AddressForm(
        r"\d{1,4}[а-я]?\b",
        rf"(?:\d{{6}},?[ ])?(?:(?i:г\.|город)[ ]?)?[А-Я][\w-]{{2,25}}(?:[ -][А-Я][\w-]{{2,25}})?,[ ]?"
        rf"{_RUSSIAN_STREET},?[ ]?(?:(?i:д\.?|дом)[ ]?)?",
        "[а-я]",
    ),
    # 北京市朝阳区建国路88号
    AddressForm(
        r"\d{1,5}(?:弄\d{1,4})?(?:号|號)(?:[\u4e00-\u9fff]{0,8}\d{1,4}(?:栋|幢|座|号楼|楼|單元|单元|室|層|层)){0,4}",
        r"(?:(?![到在是址给往住为成])[\u4e00-\u9fff]){2,8}"
        r"(?:省|市|区|县|區|縣)[\u4e00-\u9fff]{1,30}(?:路|街|道|巷|弄|胡同|段|里)",
        "[号號]",
    ),
    # 〒100-0001 東京都千代田区千代田1-1
    AddressForm(
        r"(?:\d{1,4}(?:-\d{1,4}){1,3}|\d{1,2}丁目\d{1,4}(?:番地?\d{0,4}号?|-\d{1,4}){0,2}|"
        r"\d{1,4}番地?)(?:[ ]?[\w]{1,20}?\d{2,4}号室)?",
        r"(?:〒?\d{3}-\d{4}[ \n]?)?(?:東京都|北海道|京都府|大阪府|[\u4e00-\u9fff]{2,3}県|"
        r"[\u4e00-\u9fff]{2,4}市)[\u3040-\u30ff\u4e00-\u9fff々]{1,20}",
        "[都道府県市]",
    ),
    # 서울특별시 강남구 테헤란로 123
    AddressForm(
        r"\d{1,4}(?:-\d{1,4})?(?:번길[ ]?\d{1,4})?"
        r"(?:,?[ ]?\d{1,4}동[ ]?\d{1,5}호|,?[ ]?\d{1,5}호)?(?:[ ]\(\d{5}\))?",
        r"(?:[가-힣]{2,7}(?:특별시|광역시|특별자치시|도|시)[ ]|"
        r"(?:서울|부산|대구|인천|광주|대전|울산|경기)(?:시|도)?[ ])"
        r"(?:[가-힣]{1,6}(?:시|구|군|읍|면|동)[ ]){1,3}[가-힣0-9]{1,10}(?:로|길|동)[ ]?(?:\d{1,3}[가-힣]?길[ ])?",
        "[가-힣]",
    ),
    # 12, MG Road, Indiranagar, Bengaluru 560038
    AddressForm(
        rf"""
        (?:(?<!\w)(?i:house|flat|plot|door|shop|{_HINDI_HOUSE})\.?[ ](?:(?i:no|number|न)\.?[ ]?)?)?
        (?<![\w.-])\#?\d[\w/-]{{0,7}},?[ ](?:[^\s,]{{1,20}}[ ,]{{1,2}}){{0,8}}?
        (?:
            (?i:road|rd|nagar|marg|street|layout|colony|cross|main|phase|sector|enclave|vihar|lane|block|path|salai)\b
          | [^\s,]{{0,12}}(?:{_HINDI_STREETS})
        )
        (?:,?[ -]{{1,3}}[^\s,]{{1,20}}){{1,8}}?,?[ -]{{1,3}}\d{{3}}[ ]?\d{{3}}\b
    """,
        needs=_ANY_CODE,
    ),
)


_NEEDED: Final = tuple(dict.fromkeys(rule.needs for rule in _RULES))


def addresses(text: str) -> Iterator[Found]:
    """Street addresses in a plain text, with its case kept."""
    needed = {needs: not needs or re.search(needs, text) is not None for needs in _NEEDED}
    for rule in _RULES:
        if not needed[rule.needs]:
            continue
        rest, street = _patterns(rule)
        for match in rest.finditer(text):
            before = street.search(text, max(0, match.start() - _REACH), match.start()) if street else match
            if before and not _MADE_UP.search(text, before.start(), match.end()):
                yield Found(PersonalDataKind.ADDRESS, before.start(), match.end(), Sureness.WORDS)


@cache
def _patterns(rule: AddressForm) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    street = rf"(?:{rule.street})(?:{_NUMBER_WORD})?$" if rule.street else ""
    return re.compile(rule.rest, re.VERBOSE), re.compile(street, re.VERBOSE) if street else None
