"""Words near a number that name it, or show that it is something else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from incumbent.text.plain_text import plain

Window = tuple[int, int]

# Words before numbers that do not identify a person: orders, counts, measures and versions.
_OTHER: Final = re.compile(
    r"(?:"
    r"(?<![a-z])(?:orders?|bestell(?:ung|nummer|-?nr)?|commande|pedido|ordine|encomenda|zamowienie|"
    r"invoices?|rechnung(?:snummer|s-?nr)?|"
    r"facture|factura|fattura|fatura|faktura|tickets?|tracking|sendung(?:snummer|s-?nr)?|shipment|parcel|part|parts|"
    r"sku|skus|isbn|issn|ean|gtin|upc|asin|imei|iccid|serial|s/n|version|build|commit|po|p\.o\.|rma|"
    r"awb|model|product|item|"
    r"artikel(?:nummer|-?nr)?|article|case|claim|batch|lot|ref|reference|referenz|confirmation|transaction|trx|txn|"
    r"incident|inc|request|job|run|event|device|asset|vin|vat|ust-?id(?:nr)?|tva|iva|partita iva|p\. ?iva|cnpj|ein|abn|"
    r"siren|siret|kvk|nip|regon|cif|duns|gstin|gst|company number|contract|policy|booking|flight|meter|voucher|coupon|"
    r"coordinates?|routing|aba|sort code|swift|bic|zip|zip code|postcode|postal code|plz|кпп|огрн|бик|"
    r"lat|lon|latitude|longitude|timestamp|epoch|seed|port|pid|uuid|hash|checksum|revision|chapter|"
    r"vorgang(?:snummer|s-?nr)?|auftrag(?:snummer|s-?nr)?|aktenzeichen|numero de suivi|kundennummer|kunden-?nr|"
    r"customer|client|account|acct|employee|student|member|user|session|record|row|line|object|entity|tenant)"
    r"(?:[ _-]?(?:no|nr|num|number|nummer|numbers|id|ids|code|ref|key))?"
    r"|订单(?:号|编号)?|单号|发票(?:号码?)?|快递单号|注文番号|伝票番号|製品番号|주문(?: ?번호)?"
    r"|송장(?: ?번호)?|заказа?|накладная"
    r")(?:\s?(?:is|was|ist|est|es|:|=|#|№|no\.?|nr\.?|n[°o]\.?|\())?[\s:#=(\"'№-]{0,4}[a-z]{0,4}[-_#]?$"
)
_REACH: Final = 36
# Dates with the text after them, ranges of years, a year and another number: 2018 12345.
_DATED: Final = re.compile(
    r"""
      (?:19|20)\d\d[-./ ](?:0?[1-9]|1[0-2])[-./ ](?:0?[1-9]|[12]\d|3[01])(?:\D.*)?
    | (?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./](?:19|20)\d\d(?:\D.*)?
    | (?:19|20)\d\d[ ]?[-/][ ]?(?:19|20)\d\d(?:\D.*)?
    | (?:19|20)\d\d[ ./-]{1,2}\d{5,}
    """,
    re.VERBOSE,
)


def said_to_be_other(lower: str, start: int) -> bool:
    """Whether the words right before ``start`` show that the number there does not identify a person."""
    return _OTHER.search(lower, max(0, start - _REACH), start) is not None


def is_dated(written: str) -> bool:
    """Whether ``written`` is not one number but a date or a year with the text after it."""
    return _DATED.fullmatch(written) is not None


def folded(words: str) -> tuple[str, ...]:
    """The words of a comma-separated list, as plain text."""
    return tuple(plain(word.strip()) for word in words.split(","))


def words(of: str) -> frozenset[str]:
    """The words of a list separated by spaces."""
    return frozenset(of.split())


def windows(lower: str, words: Iterable[str], before: int, after: int) -> list[Window]:
    """Where a number named by one of ``words`` may begin: up to ``before`` characters before it or ``after`` after."""
    used = [word for word in words if word in lower]
    spans = sorted((max(0, start - before), end + after) for word in used for start, end in _places(lower, word))
    merged: list[Window] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _places(lower: str, word: str) -> Iterator[Window]:
    start = lower.find(word)
    while start >= 0:
        end = start + len(word)
        if not (_joins(lower, start - 1, word[0]) or _joins(lower, end, word[-1])):
            yield start, end
        start = lower.find(word, end)


def _joins(lower: str, place: int, letter: str) -> bool:
    """Whether the character at ``place`` forms one word with the adjacent ``letter``.

    Only for ASCII: other scripts may write no spaces, or join endings to words.
    """
    return letter.isascii() and 0 <= place < len(lower) and lower[place].isascii() and lower[place].isalpha()
