"""What a fit costs, as measured (docs/classifier.md): it grows faster than the number of exemplars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_SECONDS: Final = (1.7e-7, 2.0e-11)
"""Of one processor, for each pair and each triple of exemplars: similarities, and elimination."""

_MEGABYTES: Final = (235.0, 2.05e-6)
"""Of the process without the kernel, and of the kernel for each pair of exemplars."""


@dataclass(frozen=True, slots=True)
class FittingCost:
    """``minutes`` of one processor, and ``gigabytes`` of memory."""

    minutes: float
    gigabytes: float


def cost_of_fit(exemplars: int) -> FittingCost:
    """The cost of a fit of so many ``exemplars`` whose rows are known."""
    seconds = _SECONDS[0] * exemplars**2 + _SECONDS[1] * exemplars**3
    return FittingCost(seconds / 60, (_MEGABYTES[0] + _MEGABYTES[1] * exemplars**2) / 1_000)
