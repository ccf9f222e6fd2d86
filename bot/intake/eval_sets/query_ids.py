"""Ids of queries: the file's own, or one made from the content, which does not depend on the order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from bot.text.compare import normalise
from bot.text.invisible import is_shown
from bot.text.personal_data.counting import personal_in_name
from bot.text.secrets import holds_key

ID_CHARACTERS: Final = 200
"""Maximum length of a query id."""


class MadeIds:
    """Makes ids from content: ``q-`` and the first 10 hex digits of the SHA-256 of the normalised turns.

    An id stays the same if its query moves in the file.  If it is taken, by a given id or by an equal query before it,
    the smallest free suffix from ``-2`` on is added.
    """

    def __init__(self, given: Iterable[str]) -> None:
        self._taken = set(given)
        self._counts: dict[str, int] = {}

    def make(self, turns: Sequence[str]) -> str:
        """A free id for a query with these turns."""
        base = f"q-{hashlib.sha256(normalise(turns).encode()).hexdigest()[:10]}"
        count = self._counts.get(base, 1)
        made = base if count == 1 else f"{base}-{count}"
        while made in self._taken:
            count += 1
            made = f"{base}-{count}"
        self._taken.add(made)
        self._counts[base] = count
        return made


def fault_of_id(name: str) -> str | None:
    """The fault of a query id in a file, or ``None``."""
    if not name.strip():
        return "the id is empty"
    if len(name) > ID_CHARACTERS:
        return f"the id has {len(name)} characters, more than {ID_CHARACTERS}"
    if holds_key(name):
        return "the id holds what looks like a key"
    if not all(map(is_shown, name)):
        return "the id holds characters that cannot be seen, such as a line break or a tab"
    if personal := personal_in_name(name):
        return f"the id holds {personal}"
    return None
