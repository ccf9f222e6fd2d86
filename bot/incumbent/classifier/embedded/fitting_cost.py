"""What a fit costs, as measured (docs/classifier.md): it grows faster than the number of exemplars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from incumbent.errors import Problem
from incumbent.taxonomy.config import Curation
from incumbent.taxonomy.exemplars import EXEMPLARS_FOLDER
from incumbent.taxonomy.model import Taxonomy

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


def too_many_exemplars(taxonomy: Taxonomy, config: Curation) -> Problem | None:
    """The fault of a ``taxonomy`` with more exemplars than may be fitted; a language model fits none."""
    inline = sum(len(item.exemplars.positive) + len(item.exemplars.negative) for item in taxonomy.capabilities)
    size = len(taxonomy.exemplars) or inline
    if config.classifier.backend != "embedded" or size <= config.limits.exemplars:
        return None
    cost = cost_of_fit(size)
    return Problem(
        EXEMPLARS_FOLDER,
        None,
        f"{size:,} exemplars, more than the limit of {config.limits.exemplars:,}: a fit of them would take some "
        f"{cost.minutes:.0f} minutes of a processor and {cost.gigabytes:.1f} GB of memory",
        "remove exemplars that teach nothing new, or raise limits.exemplars in the config",
    )
