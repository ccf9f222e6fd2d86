"""JSON, YAML and flat values as exports write them: the same bytes for the same data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from bot.files.documents import Data, as_list
from bot.intake.expectations.export_round_trip import SEALED
from bot.intake.templates import LOADED, MARKS

# Valid in JSON, but YAML rejects these, many readers end a line at them, or they control a terminal.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def value(data: Data) -> str:
    """``data`` on one line; its texts read the same in YAML."""
    return _escaped(json.dumps(data, ensure_ascii=False, allow_nan=False))


def json_document(data: Data) -> str:
    """``data`` as a JSON file."""
    return _escaped(json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def lines(records: Iterable[Mapping[str, Data]]) -> str:
    """``records`` as JSON Lines."""
    return "".join(value(dict(record)) + "\n" for record in records)


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


_PLAIN_KEY: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*|[a-z][a-z_]*")


def yaml_document(data: Data) -> str:
    """``data``, a mapping or a list, as a YAML file of block collections."""
    return "\n".join(_lines(data, "")) + "\n"


def _lines(data: Data, indent: str) -> Iterator[str]:
    if isinstance(data, dict):
        for key, item in data.items():
            yield from _entry(f"{indent}{key if _PLAIN_KEY.fullmatch(key) else value(key)}:", item, f"{indent}  ")
    else:
        for item in as_list(data):
            inner = list(_lines(item, f"{indent}  ")) if isinstance(item, dict | list) and item else []
            if inner:
                yield f"{indent}- {inner[0].lstrip(' ')}"
                yield from inner[1:]
            else:
                yield f"{indent}- {value(item)}"


def _entry(head: str, item: Data, indent: str) -> Iterator[str]:
    if isinstance(item, dict | list) and item:
        yield head
        yield from _lines(item, indent)
    else:
        yield f"{head} {value(item)}"


NOT_FLAT: Final = "write single values and lists of them, and no key that begins with $"

_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"?')


def is_flat(value: Data) -> bool:
    """Whether ``value`` is a text, a number, a truth value or nothing, or a list of these."""
    return not any(isinstance(each, dict | list) for each in (value if isinstance(value, list) else [value]))


def is_flat_mapping(value: Data) -> bool:
    """Whether ``value`` is a mapping of flat values under names, none of which a loader takes for a reference."""
    return isinstance(value, dict) and all(not key.startswith("$") and is_flat(each) for key, each in value.items())


def is_plain_text(text: str) -> bool:
    """Whether ``text`` is safe for a runner that renders texts as templates and loads those that begin like a file's
    address.
    """
    return not MARKS.search(text) and not text.lstrip().startswith(LOADED)


def sealed(data: Data) -> str:
    """``data`` as JSON without an opening brace in any text, so that none of it is a template."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return _QUOTED.sub(lambda quoted: quoted[0].replace("{", "\\u007b"), text)


def carried_as(expected: Data) -> Mapping[str, Data]:
    """``expected`` as a part of an entry's record; as JSON in a string unless it is flat."""
    flat = is_flat(expected) or is_flat_mapping(expected)
    return {"expected": expected} if flat else {SEALED: sealed(expected)}
