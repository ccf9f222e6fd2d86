"""A query as the features see it: cleaned of what nobody sees, bounded in length, cut into words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.classifier.cleaning import clean, read_turns

READ_CHARACTERS: Final = 20_000
"""How much of a query is read: of longer turns the beginning and the end."""

# Every alternative begins with characters that no other one takes, so the search is linear.
_TOKEN: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|\n|[^\w\s]")


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
    turns = read_turns(turns)
    share = READ_CHARACTERS // max(1, len(turns))
    cleaned = tuple(clean(turn, share) for turn in turns)
    text = "\n".join(cleaned)
    return ReadText(cleaned, text, tuple(_TOKEN.findall(text)))
