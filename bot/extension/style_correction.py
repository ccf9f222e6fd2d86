"""Measures how much customers' style of writing differs from the exemplars', independent of the request.

A missing capability makes a few traits frequent.  Customers with another style shift nearly all of them, so that hardly
any single trait is informative.  The shift of the median trait is common style, and surprise is divided by it (as
genomic control does for strata of a population).
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Final

from bot.config import ExtensionSettings
from bot.extension.model import Trait
from bot.extension.reference import ReferenceExemplars
from bot.text.compare import rounded

_TEXTUAL: Final = ("word", "phrase", "structure")
_MEDIAN_OF_SQUARES: Final = 0.4549364
"""The median of the square of a standard normal variable."""


def inflation(
    counts: Mapping[Trait, int], size: int, reference: ReferenceExemplars, settings: ExtensionSettings
) -> float:
    """The divisor of surprise, ≥ 1; it is 1 if the queries have the style of the exemplars.

    ``counts`` says in how many of ``size`` queries each trait is.  It uses the traits that at least
    ``settings.everyday`` queries should have, if queries and exemplars were drawn from one source.  Their median
    squared deviation counts, in units of its variance; ``settings.tolerated`` of it may come from a missing capability
    itself.
    """
    squares = []
    known = reference.textual_shares
    everyday = {trait for trait in counts if trait.kind in _TEXTUAL and not trait.unexplained} | known.keys()
    for trait in everyday:
        observed, share = counts.get(trait, 0), known.get(trait, 0.0)
        both = (observed + share * reference.size) / (size + reference.size)
        variance = size * both * (1 - both) * reference.size / (size + reference.size)
        if size * both >= settings.everyday and variance > 0:
            squares.append(rounded((observed - size * both) ** 2 / variance))
    if not squares:
        return 1.0
    return rounded(max(1.0, median(squares) / _MEDIAN_OF_SQUARES / settings.tolerated))
