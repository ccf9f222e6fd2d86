"""Ids of queries: the file's own, or one made from the content that survives a change of order."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Sequence
from typing import Final

from bot.text import normalise

ID_CHARACTERS: Final = 200
"""Most characters of a query id, as the format of ids has it."""


def made_id(turns: Sequence[str], taken: Container[str]) -> str:
    """``q-`` and the first 10 hex digits of the SHA-256 of the normalised turns.

    It stays the same wherever the query moves in its file.  Where the id is ``taken``, the smallest suffix from ``-2``
    on is added that makes it free: that is how the second of two equal queries of a folder is called.
    """
    base = f"q-{hashlib.sha256(normalise(turns).encode()).hexdigest()[:10]}"
    made, count = base, 1
    while made in taken:
        count += 1
        made = f"{base}-{count}"
    return made


def fault_of_id(name: str) -> str | None:
    """What is wrong with a query id that a file gives, or ``None``."""
    if not name.strip():
        return "the id is empty"
    if len(name) > ID_CHARACTERS:
        return f"the id has {len(name)} characters, more than {ID_CHARACTERS}"
    if not name.isprintable():
        return "the id holds characters that cannot be seen, such as a line break or a tab"
    return None
