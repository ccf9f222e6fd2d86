"""How much customers' manner of writing differs from the exemplars', whatever they ask for.

A missing capability makes a few traits frequent.  Customers who write otherwise than the exemplars shift nearly all of
them, and then hardly any single trait says something: what the median trait is off by is everybody's manner, and
surprise is divided by as much (as genomic control does for strata of a population).
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
"""Of a standard normal variable."""


def inflation(
    counts: Mapping[Trait, int], size: int, reference: ReferenceExemplars, settings: ExtensionSettings
) -> float:
    """By how much surprise is to be divided, ≥ 1: 1 where the queries are written as the exemplars are.

    ``counts`` says in how many of ``size`` queries each trait is.  Of the traits that ``settings.everyday`` queries or
    more should have, if queries and exemplars were drawn from one source, the median squared deviation counts, in units
    of its variance; ``settings.tolerated`` of it is what a missing capability itself brings.
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
