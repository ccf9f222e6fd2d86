"""Corrected costs: what a curator says that the mock set-up behind a text costs (semantics, section 7; pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from pydantic import Field

from bot.curator.entry import Timestamp
from bot.files.validation import FileModel, Text
from bot.intake.query import SetupCost
from bot.text.compare import rounded


class CorrectedCost(FileModel):
    """The cost that a curator gave the set-up behind a text; it counts in place of the customer's `setup.cost`."""

    value: SetupCost = Field(description="how dear the set-up is, relative to others")
    by: Text | None = None
    at: Timestamp
    reason: Text | None = None


Costs: TypeAlias = Mapping[str, CorrectedCost]
"""Digest of a text (:func:`bot.text.compare.text_key`) → its corrected cost."""


def total(costs: Iterable[float]) -> float:
    """The sum of ``costs``, the same in any order."""
    return rounded(math.fsum(costs))
