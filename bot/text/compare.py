"""Comparison: texts without spelling differences that no one means, and scores rounded alike."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from bot.text.digests import digest


def normalise(turns: Sequence[str]) -> str:
    """The text of ``turns`` as it is compared (semantics, section 4).

    Each turn: Unicode NFKC and case folding until neither changes it (folding can undo NFKC), white space collapsed
    to single spaces and stripped.  The turns are joined by newlines.
    """
    return "\n".join(map(_normalise_turn, turns))


def text_key(turns: Sequence[str]) -> str:
    """A digest of a query's text as it is compared, whatever the agent: what a correction is bound to."""
    return digest([normalise([turn]) for turn in turns])


def _normalise_turn(turn: str) -> str:
    if turn.isascii():
        # NFKC leaves it as it is, and folding is lower case.
        return " ".join(turn.lower().split())
    text = unicodedata.normalize("NFKC", turn)
    while (folded := unicodedata.normalize("NFKC", text.casefold())) != text:
        text = folded
    return " ".join(text.split())


DECIMALS: Final = 9
"""Comparisons of scores are made on values rounded to this many decimals (semantics, section 4)."""


_SCALE: Final = 10.0**DECIMALS


def rounded(value: float) -> float:
    """``value`` as it takes part in comparisons."""
    return round(value, DECIMALS)


def all_rounded(values: Iterable[float]) -> tuple[float, ...]:
    """:func:`rounded` of each."""
    # Most have so few decimals already: a quotient that is the value itself shows it, sooner than rounding does.
    return tuple([value if round(value * _SCALE) / _SCALE == value else round(value, DECIMALS) for value in values])
