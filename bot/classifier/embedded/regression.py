"""Kernel ridge regression of all capabilities at once, and what leaving some exemplars out would have given.

With A = (K + λI)⁻¹, a = A(y − b) are the weights of all exemplars.  Leaving the exemplars g out gives them the scores
y_g − A_gg⁻¹ a_g, and the others the weights a − A_·g A_gg⁻¹ a_g, without a further fit (Rifkin and Lippert 2007,
"Notes on regularized least squares", section 4, in blocks).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bot.classifier.embedded.calibration import Booleans, Floats
from bot.classifier.embedded.features import Rows
from bot.classifier.embedded.kernel import gram, lower, on_all_cores, spans


@dataclass(frozen=True)
class Regression:
    """The fit on all exemplars: a row for each of them, a column for each capability.

    ``inverse`` is A, ``weights`` a, ``targets`` y, and ``intercepts`` b, the means of those that are known.
    """

    inverse: Floats
    weights: Floats
    targets: Floats
    intercepts: Floats

    @staticmethod
    def of(rows: Rows, targets: Floats, known: Booleans, ridge: float) -> Regression:
        """On ``rows`` and ``targets``: 1 where an exemplar exercises a capability, else −1, with λ = ``ridge``.

        What is not ``known`` pulls no way: its target is the mean.  The same bits whatever the number of cores.
        """
        intercepts = np.where(known, targets, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        targets = np.where(known, targets, intercepts)
        with _one_thread():
            inverse = _inverse(gram(rows), ridge)
            return Regression(inverse, inverse @ (targets - intercepts), targets, intercepts)

    def without(self, out: NDArray[np.intp]) -> Floats:
        """The weights of the fit without the exemplars ``out``, whose own are 0."""
        if not len(out):
            return self.weights
        with _one_thread():
            found: Floats = self.weights - self.inverse[out].T @ self._solved(out)
        found[out] = 0
        return found

    def left_out(self, groups: Sequence[NDArray[np.intp]]) -> Floats:
        """The scores of each exemplar by the fit without its group; 0 for those in none."""
        found = np.zeros(self.targets.shape)
        with _one_thread():
            for group in groups:
                found[group] = self.targets[group] - self._solved(group)
        return found

    def _solved(self, out: NDArray[np.intp]) -> Floats:
        """A_gg⁻¹ a_g."""
        from scipy.linalg import cho_factor, cho_solve

        found: Floats = cho_solve(cho_factor(self.inverse[np.ix_(out, out)], lower=True), self.weights[out])
        return found


@contextmanager
def _one_thread() -> Iterator[None]:
    """Holds libraries to one thread: how they share a sum out among several would show in the last bits."""
    import scipy.linalg  # noqa: F401  # its threads can be limited once it is loaded
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


def _inverse(kernel: Floats, ridge: float) -> Floats:
    """(K + λI)⁻¹, by sweeping one block of columns after another (Goodnight 1979); ``kernel`` is used up."""
    size = len(kernel)
    kernel[np.diag_indices(size)] += ridge
    for pivot in spans(size):
        _sweep(kernel, pivot)
    for one, other in lower(size):
        kernel[other, one] = kernel[one, other].T
    np.negative(kernel, out=kernel)
    return kernel


def _sweep(matrix: Floats, pivot: slice) -> None:
    """Exchange the rows and columns ``pivot`` of a symmetric matrix; only what is not above its diagonal is used.

    Once all are exchanged it is its negative inverse.
    """
    inner = np.linalg.inv(matrix[pivot, pivot])
    column = np.concatenate([matrix[pivot, : pivot.start].T, matrix[pivot.start :, pivot]])
    scaled = np.empty_like(column)

    def scale(one: slice) -> None:
        scaled[one] = column[one] @ inner

    def reduce(tile: tuple[slice, slice]) -> None:
        one, other = tile
        matrix[tile] -= scaled[one] @ column[other].T

    on_all_cores(scale, spans(len(matrix)))
    on_all_cores(reduce, [tile for tile in lower(len(matrix)) if pivot not in tile])
    matrix[pivot, : pivot.start] = scaled[: pivot.start].T
    matrix[pivot.stop :, pivot] = scaled[pivot.stop :]
    matrix[pivot, pivot] = -inner
