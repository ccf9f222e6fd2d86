"""JSON as exports write it: the same bytes for the same data, in texts people can read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

from bot.files.documents import Data

# JSON lets these stand, but YAML does not, or they end a line for many readers, or command a terminal.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def value(data: Data) -> str:
    """``data`` on one line; its texts read the same in YAML."""
    return _escaped(json.dumps(data, ensure_ascii=False, allow_nan=False))


def document(data: Data) -> str:
    """``data`` as a JSON file."""
    return _escaped(json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def lines(records: Iterable[Mapping[str, Data]]) -> str:
    """``records`` as JSON Lines."""
    return "".join(value(dict(record)) + "\n" for record in records)


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)
