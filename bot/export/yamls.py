"""YAML as exports write it: every text in double quotes, so that no reader takes one for a number, a date or a tag."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from bot.export.jsons import value
from bot.files.documents import Data, as_list

_PLAIN_KEY: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*|[a-z][a-z_]*")


def document(data: Data) -> str:
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
