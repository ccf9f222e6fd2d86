"""How hostile authors disguise an instruction: codes that a model can read, and characters that nobody sees."""

from __future__ import annotations

import base64
import codecs
import html
from collections.abc import Callable, Mapping
from string import ascii_lowercase
from typing import Final
from urllib.parse import quote

_MORSE_CODES: Final = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
)
_MORSE: Final = dict(zip(ascii_lowercase, _MORSE_CODES.split(), strict=True))
_LEET: Final = str.maketrans("aeiostlAEIOSTL", "4310571" * 2)
# Cyrillic and Greek letters that look like Latin ones.
_HOMOGLYPHS: Final = str.maketrans(
    "aceiopxyABEHIKMNOPTXYZ",
    "\u0430\u0441\u0435\u0456\u043e\u0440\u0445\u0443"
    "\u0391\u0392\u0395\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7\u03a5\u0396",
)


def _codes(text: str, offsets: Callable[[int], int]) -> str:
    return "".join(chr(offsets(ord(character))) if " " <= character <= "~" else character for character in text)


def _variation_selector(byte: int) -> int:
    """Byte 0 to 15 as U+FE00 to U+FE0F, the others from U+E0100 on."""
    return 0xFE00 + byte if byte < 16 else 0xE0100 + byte - 16


def _bits(text: str) -> str:
    return "".join(f"{byte:08b}" for byte in text.encode())


def _mathematical(text: str) -> str:
    bold = {ord("A"): 0x1D400, ord("a"): 0x1D41A}
    return "".join(
        chr(bold[ord("a" if character.islower() else "A")] + ord(character.lower()) - ord("a"))
        if character.isascii() and character.isalpha()
        else character
        for character in text
    )


DISGUISES: Final[Mapping[str, Callable[[str], str]]] = {
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "binary": lambda text: " ".join(f"{byte:08b}" for byte in text.encode()),
    "percent": lambda text: quote(text, safe=""),
    "entities": lambda text: "".join(f"&#{ord(character)};" for character in html.escape(text)),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "reversed": lambda text: text[::-1],
    "leetspeak": lambda text: text.translate(_LEET),
    "morse": lambda text: " / ".join(
        " ".join(_MORSE[letter] for letter in word if letter in _MORSE) for word in text.lower().split()
    ),
    "tags": lambda text: _codes(text, lambda code: 0xE0000 + code),
    "fullwidth": lambda text: _codes(text, lambda code: 0x3000 if code == 0x20 else code + 0xFEE0),
    "mathematical": _mathematical,
    "homoglyphs": lambda text: text.translate(_HOMOGLYPHS),
    "variation-selectors": lambda text: "".join(chr(_variation_selector(byte)) for byte in text.encode()),
    "zero-width-bits": lambda text: _bits(text).replace("0", "\u200b").replace("1", "\u200c"),
    "zero-width-between": lambda text: "\u200b".join(text),
    "soft-hyphens": lambda text: "\u00ad".join(text),
    "bidi-override": lambda text: f"\u202e{text[::-1]}\u202c",
    "combining": lambda text: "".join(f"{character}\u0336\u0321\u0489\u035c" for character in text),
}
"""Each disguise by its name in ``attacks.yaml``."""
