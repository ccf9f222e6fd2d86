"""Characters that show nothing: text that hides behind them is neither read by a person nor typed by one."""

from __future__ import annotations

import unicodedata
from typing import Final

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

# Letters, marks and symbols by their category that show nothing: fillers, joiners, empty cells.  Variation selectors
# are none: they change the look of what is before them, as in emoji and in names.
BLANK: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U00013441\U00013442\U00016fe4\U0001d159"
)
"""Blank glyphs that are no format characters."""


def is_invisible(character: str) -> bool:
    """Whether ``character`` shows nothing, or moves what is shown: controls, format characters, blank glyphs."""
    return character in BLANK or unicodedata.category(character) in _UNSEEN


def is_shown(character: str) -> bool:
    """Whether ``character`` can be shown as it is: printable, and no blank glyph."""
    return character.isprintable() and character not in BLANK
