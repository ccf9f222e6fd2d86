"""Invisible characters: they can hide text from a reader."""

from __future__ import annotations

import unicodedata
from typing import Final

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

# Unicode calls these letters, marks or symbols, but they show nothing: fillers, joiners, empty cells.  Variation
# selectors are not among them: they change the look of the character before them, as in emoji and in names.
BLANK: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U00013441\U00013442\U00016fe4\U0001d159"
)
"""Blank glyphs that are not format characters."""


def is_invisible(character: str) -> bool:
    """Whether ``character`` is a control character, a format character or a blank glyph."""
    return character in BLANK or unicodedata.category(character) in _UNSEEN


def is_shown(character: str) -> bool:
    """Whether ``character`` needs no escape: printable, and not a blank glyph."""
    return character.isprintable() and character not in BLANK
