"""A fitted model: arrays in, probabilities out.  Prediction of a few queries needs numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bot.classifier.embedded.calibration import Floats, sigmoid
from bot.classifier.embedded.familiarity import Familiarity
from bot.classifier.embedded.features import FeatureSpace, Rows
from bot.classifier.embedded.kernel import Reference
from bot.classifier.embedded.threads import one_thread

DECIMALS: Final = 6
"""Probabilities are rounded to what is meaningful, so that machines whose exponentials differ in a last bit agree."""

UNSURE: Final = 1e-4
"""So near the border between two rounded numbers, in units of the last decimal, a sum is made in a fixed order.

That is 1e-10; a matrix product of some 10,000 terms is off by less than 1e-12.
"""


@dataclass(frozen=True, kw_only=True)
class FittedModel:
    """Kernel ridge regressions on the exemplars, several members a capability, with a calibration per capability.

    ``rows`` are the exemplars, ``digests`` those of their texts, ``familiarity`` what they are written in; ``weights``
    has a row for each of them and a column per capability and member (those of a capability together); ``intercepts``
    one number per capability; ``calibration`` a row per capability: threshold, slope below, slope above; ``held_out``
    a row per capability: counts of exemplars that a fit was made without (:mod:`bot.classifier.embedded.left_out`).
    """

    capabilities: tuple[str, ...]
    space: FeatureSpace
    rows: Rows
    digests: tuple[str, ...]
    familiarity: Familiarity
    weights: NDArray[np.float32]
    intercepts: Floats
    calibration: Floats
    held_out: NDArray[np.int32]

    @property
    def members(self) -> int:
        """How many members vote on a capability."""
        return self.weights.shape[1] // len(self.capabilities) if self.capabilities else 0

    @cached_property
    def _weights(self) -> Floats:
        return self.weights.astype(np.float64)

    @cached_property
    def reference(self) -> Reference:
        """The exemplars, ready to be compared with."""
        return Reference.of(self.rows)

    def probabilities(self, queries: Sequence[Sequence[str]]) -> Floats:
        """The calibrated probability of each capability (rows) by each member (columns), for each of ``queries``.

        Rounded to :data:`DECIMALS`; a query has the same bits whatever is beside it.
        """
        if not queries or not self.capabilities:
            return np.zeros((len(queries), len(self.capabilities), self.members))
        rows = self.space.rows(queries)
        with one_thread("blas"):
            similarities = self.reference.similarities(rows)
            found = self._calibrated(similarities @ self._weights)
        # How a library sums up a matrix product shows in the last bits, and these where a number is rounded up or down.
        steps = found * 10**DECIMALS
        near = np.abs(steps - np.floor(steps) - 0.5) < UNSURE
        for place in np.flatnonzero(near.any(axis=(1, 2))):
            found[place] = self._calibrated(np.einsum("i,ij->j", similarities[place], self._weights))
        return found.round(DECIMALS)

    def _calibrated(self, scores: Floats) -> Floats:
        shape = (*scores.shape[:-1], len(self.capabilities), self.members)
        return calibrated(scores.reshape(shape) + self.intercepts[:, None], self.calibration)


def calibrated(scores: Floats, calibration: Floats) -> Floats:
    """The probabilities that ``scores`` (a row per capability, of one query or of several) stand for."""
    distances = scores - calibration[:, 0:1]
    slopes = (distances < 0) * calibration[:, 1:2] + (distances >= 0) * calibration[:, 2:3]
    return sigmoid(slopes * distances)
