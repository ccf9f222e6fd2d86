"""What makes two texts the same to us."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def normalise(turns: Sequence[str]) -> str:
    """``turns``, each by Unicode NFKC, case folding and collapsing of white space, joined by newlines.

    Semantics, section 4.  A newline inside a turn is white space and collapses, so the result tells turns apart.
    """
    return "\n".join(" ".join(unicodedata.normalize("NFKC", turn).casefold().split()) for turn in turns)
