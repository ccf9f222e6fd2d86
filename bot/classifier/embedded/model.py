"""A fitted model: arrays in, probabilities out.  Prediction needs numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.classifier.embedded.calibration import Floats, sigmoid
from bot.classifier.embedded.features import FeatureSpace
from bot.classifier.embedded.text import read_text


@dataclass(frozen=True, kw_only=True)
class FittedModel:
    """Linear members with a calibration per capability.

    ``weights`` has a row per feature and a column per capability and member (those of a capability together),
    ``intercepts`` one number per column; ``calibration`` has a row per capability: threshold, slope below, slope above.
    """

    capabilities: tuple[str, ...]
    space: FeatureSpace
    weights: NDArray[np.float32]
    intercepts: Floats
    calibration: Floats

    @property
    def members(self) -> int:
        """How many members vote on a capability."""
        return len(self.intercepts) // len(self.capabilities) if self.capabilities else 0

    def probabilities(self, turns: Sequence[str]) -> Floats:
        """The calibrated probability of each capability (rows) by each member (columns)."""
        places, values = self.space.row(read_text(turns))
        # A plain sum over the few features at hand: a matrix product may add in an order that depends on threads.
        products = self.weights[np.array(places, dtype=np.intp)] * np.array(values)[:, np.newaxis]
        scores = (products.sum(axis=0) + self.intercepts).reshape(len(self.capabilities), self.members)
        distances = scores - self.calibration[:, 0:1]
        slopes = np.where(distances < 0, self.calibration[:, 1:2], self.calibration[:, 2:3])
        return sigmoid(slopes * distances)
