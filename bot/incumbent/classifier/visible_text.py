"""The visible part of a text: the only part that a backend reads."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

_SPACES: Final = re.compile(r"[^\S\n]+")
_LINE_BREAKS: Final = re.compile(r"(?<!\s)\s*\n\s*")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
_FILLERS: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Fillers and variation selectors: marks and letters by their category, but invisible."""

# Flags of regions are spelt with tag characters; the writing direction is changed where the language needs it; a single
# joiner or non-joiner belongs to emoji and to several scripts.  Other such characters have no honest use in a query.
_FLAGS: Final = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
"""The flags of England, Scotland and Wales: no other region has one (Unicode, recommended emoji)."""
_HIDDEN: Final = re.compile(
    "[\U000e0000-\U000e007f]"
    "|[\u202d\u202e]"
    "|[\u00ad\u034f\u115f\u1160\u180e\u200b-\u200f\u2060-\u2064\u3164\ufeff\uffa0]{3}"
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}"
    "|(?:^|[^\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"
    "|[\u206a-\u206f\ufff9-\ufffb\U0001d173-\U0001d17a\U000f0000-\U0010ffff]"
)

_MAY_HIDE: Final = re.compile(
    "[\u00ad\u034f\u115f\u1160\u180e\u200b-\u200f\u202d\u202e\u2060-\u2064\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e01ef\U000f0000-\U0010ffff]"
)
"""A character of whatever the last one matches: most texts have none, which one set of characters shows sooner."""

READ_TURNS: Final = 100
"""The number of turns of a query that are read: the beginning and the end of longer conversations."""


def read_turns(turns: Sequence[str]) -> Sequence[str]:
    """``turns``, or the first and the last of very many."""
    return turns if len(turns) <= READ_TURNS else [*turns[: READ_TURNS // 2], *turns[-READ_TURNS // 2 :]]


def clean(text: str, length: int) -> str:
    """NFKC without control, format, unassigned and other invisible characters; white space collapsed, line breaks kept.

    Of a text longer than ``length`` characters, the beginning and the end.
    """
    if len(text) <= length and _is_clean(text):
        return text.strip()
    text = _FILLERS.sub("", _SPACES.sub(" ", cut(unicodedata.normalize("NFKC", cut(text, length)), length)))
    if not text.isprintable():
        text = "".join(
            character for character in text if character == "\n" or unicodedata.category(character) not in _UNSEEN
        )
    return _LINE_BREAKS.sub("\n", _SPACES.sub(" ", text)).strip()


def _is_clean(text: str) -> bool:
    """Whether there is nothing to do for ``text`` but to strip it, as with most; looking takes far less than doing."""
    if not text.isprintable() or "  " in text:
        return False
    return text.isascii() or (unicodedata.is_normalized("NFKC", text) and _FILLERS.search(text) is None)


def cut(text: str, length: int) -> str:
    """``text``, or its first three quarters and last quarter with ``length`` characters and a space between them."""
    return text if len(text) <= length else text[: length - length // 4] + " " + text[len(text) - length // 4 :]


def hides_text(turns: Sequence[str]) -> bool:
    """Whether invisible characters carry a message, or change the reading order (semantics, gate 7).

    Tag characters outside flags, overrides of the writing direction, runs of invisible characters, variation selectors
    on characters without variants, annotations, and private-use characters.
    """
    return any(_MAY_HIDE.search(turn) and _HIDDEN.search(_FLAGS.sub("", turn)) is not None for turn in turns)
