"""Counts of exemplars that a fit was made without, by how probable they are: what a fitted model keeps of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bot.classifier.embedded.calibration import Booleans, Floats
from bot.classifier.held_out import HeldOut
from bot.text.compare import rounded

_STEPS: Final = 100
"""Probabilities are counted in hundredths."""

_FIRST: Final = _STEPS // 2
"""Below one half nothing is tagged."""

_KINDS: Final = _STEPS - _FIRST + 1

COUNTS: Final = 2 + 2 * _KINDS
"""Numbers per capability: whether parts were left out and not hands, how many exemplars exercise it, and of those that
are tagged with each hundredth from one half on how many do and how many do not."""


def counts_of(probabilities: Floats, truth: Booleans, *, in_parts: bool) -> NDArray[np.int32]:
    """The counts of one capability; each exemplar was judged by a fit without it and its fellows."""
    steps = np.floor(probabilities.round(9) * _STEPS).astype(np.int64) - _FIRST
    tagged = steps >= 0
    kinds = [np.bincount(steps[tagged & kind], minlength=_KINDS) for kind in (truth, ~truth)]
    return np.concatenate([[in_parts, truth.sum()], *kinds]).astype(np.int32)


def held_out(counts: Sequence[int], bar: float) -> HeldOut:
    """What the ``counts`` of a capability say of tags at ``bar`` and above, in whole hundredths."""
    first = min(max(ceil(rounded(bar * _STEPS)) - _FIRST, 0), _KINDS)
    found, false = sum(counts[2 + first : 2 + _KINDS]), sum(counts[2 + _KINDS + first :])
    return HeldOut(by="part" if counts[0] else "hand", found=found, false=false, missed=counts[1] - found)
