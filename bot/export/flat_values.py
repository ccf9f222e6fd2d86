"""What of a customer's own data goes to a runner as data: single values, and lists of them.

Loaders read more into deeper structure than stands there: promptfoo opens what ``$ref`` names, at any depth, and
renders every text that it finds.  What does not pass travels in the entry's record, as JSON in one string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from bot.files.documents import Data
from bot.intake.expectations.export_round_trip import SEALED
from bot.intake.templates import LOADED, MARKS

NOT_FLAT: Final = "write single values and lists of them, and no key that begins with $"

_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"?')


def is_flat(value: Data) -> bool:
    """Whether ``value`` is a text, a number, a truth value or nothing, or a list of these."""
    return not any(isinstance(each, dict | list) for each in (value if isinstance(value, list) else [value]))


def is_flat_mapping(value: Data) -> bool:
    """Whether ``value`` is a mapping of flat values under names, none of which a loader takes for a reference."""
    return isinstance(value, dict) and all(not key.startswith("$") and is_flat(each) for key, each in value.items())


def is_plain_text(text: str) -> bool:
    """Whether a runner that renders texts, and loads what begins like the address of a file, leaves ``text`` alone."""
    return not MARKS.search(text) and not text.lstrip().startswith(LOADED)


def sealed(data: Data) -> str:
    """``data`` as JSON without an opening brace in any text: nothing of it can be taken for a template."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return _QUOTED.sub(lambda quoted: quoted[0].replace("{", "\\u007b"), text)


def carried_as(expected: Data) -> Mapping[str, Data]:
    """What was ``expected`` as a part of an entry's record; where it is not flat, as JSON in a string."""
    flat = is_flat(expected) or is_flat_mapping(expected)
    return {"expected": expected} if flat else {SEALED: sealed(expected)}
