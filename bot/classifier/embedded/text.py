"""A query as the features see it: cleaned of what nobody sees, bounded in length, cut into words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

READ_CHARACTERS: Final = 20_000
"""How much of a query is read: of longer turns the beginning and the end."""

READ_TURNS: Final = 100
"""How many turns of a query are read: of longer conversations the beginning and the end."""

# Every alternative begins with characters that no other one takes, so the search is linear.
_TOKEN: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\n|[^\w\s]")
_SPACES: Final = re.compile(r"[^\S\n]+")
_LINE_BREAKS: Final = re.compile(r"\s*\n\s*")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})


@dataclass(frozen=True, slots=True)
class ReadText:
    """A query's cleaned ``turns``, their joined ``text``, and its ``tokens``: words and single signs, case kept."""

    turns: tuple[str, ...]
    text: str
    tokens: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        """The words in folded case."""
        return [token.casefold() for token in self.tokens if token[0].isalnum()]


def read_text(turns: Sequence[str]) -> ReadText:
    """``turns`` as features see them; the time is linear in what is read, and what is read is bounded."""
    if len(turns) > READ_TURNS:
        turns = [*turns[: READ_TURNS // 2], *turns[-READ_TURNS // 2 :]]
    share = READ_CHARACTERS // max(1, len(turns))
    cleaned = tuple(_clean(turn, share) for turn in turns)
    text = "\n".join(cleaned)
    return ReadText(cleaned, text, tuple(_TOKEN.findall(text)))


def _clean(turn: str, share: int) -> str:
    """NFKC without control, format and unassigned characters; white space collapsed, line breaks kept."""
    text = _SPACES.sub(" ", _cut(unicodedata.normalize("NFKC", _cut(turn, share)), share))
    if not text.isprintable():
        text = "".join(
            character for character in text if character == "\n" or unicodedata.category(character) not in _UNSEEN
        )
    return _LINE_BREAKS.sub("\n", _SPACES.sub(" ", text)).strip()


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - length // 4] + " " + text[len(text) - length // 4 :]
