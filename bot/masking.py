"""The border that every answer passes, to a person or to a program: what must not be repeated has a stand-in.

Text and Markdown mask each text that they quote (:func:`masked`).  JSON is masked as a whole where it is written
(:func:`masked_json`), so that no output is forgotten.  Files that are data to be used stay as they are: entries, eval
sets, exports, and the document of facts between the two jobs on GitHub.
"""

from __future__ import annotations

import json
import re
from typing import Final, TypeAlias

from bot.invisible import BLANK
from bot.secrets import redacted

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

_ENTRY: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,79}-[0-9a-f]{8}")
"""An id as :func:`bot.curator.entry.entry_id` makes it; a key of that form would have no capital letter."""

_NOT_PLAIN: Final = re.compile(r"[^ -~\n]")


def masked(text: str) -> str:
    """``text`` as it may be shown; the id of an entry is shown as it is, even one that begins like a key (`sk-…`)."""
    return text if _ENTRY.fullmatch(text) else redacted(text)


def masked_data(data: Json) -> Json:
    """``data`` with every text in it masked, names too; names that then are the same are numbered."""
    if isinstance(data, str):
        return masked(data)
    if isinstance(data, list):
        return [masked_data(item) for item in data]
    if not isinstance(data, dict):
        return data
    found: dict[str, Json] = {}
    for name, item in data.items():
        shown = base = masked(name)
        count = 1
        while shown in found:
            count += 1
            shown = f"{base} {count}"
        found[shown] = masked_data(item)
    return found


def masked_json(data: Json, indent: int | None = 2) -> str:
    """``data`` masked, as JSON in which each character that shows nothing is written as an escape (``\\u202e``)."""
    text = json.dumps(masked_data(data), ensure_ascii=False, indent=indent)
    return _NOT_PLAIN.sub(lambda found: _escaped(found[0]), text)


def _escaped(sign: str) -> str:
    return sign if sign.isprintable() and sign not in BLANK else json.dumps(sign)[1:-1]
