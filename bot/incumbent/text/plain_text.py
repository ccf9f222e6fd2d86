"""Plain text: a normalised form in which digits and words cannot hide, and characters that show nothing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
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


def is_shown(text: str) -> bool:
    """Whether no character of ``text`` needs an escape: all are printable, and none is a blank glyph."""
    return text.isprintable() and BLANK.isdisjoint(text)


_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""ASCII's invisible characters, except tab and line breaks."""
_DASHES = frozenset("\u2212\u30fc\uff70\u2043\u02d7")
"""Signs used as dashes, in addition to Unicode's category of dashes."""


def digits_of(number: object) -> str | None:
    """The digits of a whole ``number``; a fraction, such as a score, has none."""
    if isinstance(number, bool) or not (isinstance(number, int) or (isinstance(number, float) and number.is_integer())):
        return None
    return f"{number:.0f}" if isinstance(number, float) else str(number)


@dataclass(frozen=True)
class PlainText:
    """A text in normalised form: one form of digit, blank, dash and letter; nothing invisible, no accents."""

    original: str

    @cached_property
    def text(self) -> str:
        """The plain text with its case kept."""
        is_plain = self.original.isascii() and not _CONTROL.search(self.original)
        return self.original if is_plain else self.original.translate(_PLAIN)

    @cached_property
    def lower(self) -> str:
        """The plain text in lower case, of the same length."""
        return self.text.lower()

    def place(self, index: int) -> int:
        """Where the character ``index`` of the plain text is in the original."""
        return self._places[index] if self._places else index

    @cached_property
    def _places(self) -> list[int]:
        if len(self.text) == len(self.original):
            return []
        return [place for place, sign in enumerate(self.original) if _PLAIN[ord(sign)]]


def plain(text: str) -> str:
    """``text`` as plain text in lower case, for comparison."""
    return PlainText(text).lower


_ALIKE = {"\u0131": "i", "\u2028": "\n", "\u2029": "\n"}


class _Plain(dict[int, str]):
    """Code point → its plain form, one character or none."""

    def __missing__(self, code: int) -> str:
        self[code] = plain_sign = _plain_sign(chr(code))
        return plain_sign


def _plain_sign(sign: str) -> str:
    category = unicodedata.category(sign)
    if category in ("Cf", "Mn", "Me") or sign in BLANK or (category == "Cc" and sign not in "\t\n\r"):
        return ""
    if category == "Zs":
        return " "
    if category == "Nd":
        return str(unicodedata.decimal(sign))
    if category == "Pd" or sign in _DASHES:
        return "-"
    letters = [letter for letter in unicodedata.normalize("NFKD", sign) if unicodedata.category(letter) != "Mn"]
    compatible = letters[0] if len(letters) == 1 else unicodedata.normalize("NFKC", sign)
    # A sign that would become several stays, so that places map back.
    return _ALIKE.get(compatible, compatible) if len(compatible) == 1 else sign


_PLAIN = _Plain()
