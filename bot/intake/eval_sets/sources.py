"""A file's content as readers get it, and what it can be told by before it is parsed."""

from __future__ import annotations

from typing import Final

from bot.config import Limits
from bot.documents import decode, parse
from bot.intake.eval_sets.reader import Source

_PARSED: Final = (".json", ".yaml", ".yml")


def glance(content: bytes) -> str:
    """``content`` as text in whatever encoding it seems to be, just to see what it was meant as."""
    # Every second byte of UTF-16 is zero where the text is ASCII, as all marks and names of files are.
    return content.replace(b"\0", b"").decode("utf-8", "replace")


def open_source(name: str, content: bytes, limits: Limits) -> Source:
    """``content`` decoded, and parsed if its name says how; raises :class:`bot.errors.InputError`."""
    if not name.lower().endswith(_PARSED):
        return Source(file=name, text=decode(content, name, limits.reading), document=None)
    document = parse(content, name, limits.reading)
    return Source(file=name, text=document.text, document=document)
