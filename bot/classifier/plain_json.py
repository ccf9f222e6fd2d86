"""JSON for a prompt: whatever strangers wrote, it holds no bracket that could close a delimiter and nothing hidden."""

from __future__ import annotations

import json
import re
from typing import Final

_NO_CHARACTERS: Final = "\ufdd0-\ufdef" + "".join(
    f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
)

# The ranges are written out, so that the same query gives the same bytes under every version of Unicode.
_ESCAPED: Final = re.compile(
    "["
    "<>\ufe64\ufe65\uff1c\uff1e"  # angle brackets, and what compatibility normalisation makes one
    "\x7f-\xa0\u2028\u2029"  # controls and separators; JSON itself escapes the first 32
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # formats
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"  # fillers and variation selectors
    "\U000e0000-\U000e0fff"  # tags, and more variation selectors
    "\ud800-\uf8ff\U000f0000-\U0010ffff"  # halves of surrogate pairs, private use
    f"{_NO_CHARACTERS}]"
)


def plain_json(data: object) -> str:
    """``data`` as JSON in one line: escapes for angle brackets and for whatever people may not see, else as written.

    It reads back as ``data`` (two halves of a surrogate pair as the character they make), and is valid UTF-8 whatever
    ``data`` holds.
    """
    return _ESCAPED.sub(_escape, json.dumps(data, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return f"\\u{ord(character):04x}" if character.isascii() else json.dumps(character).strip('"')
