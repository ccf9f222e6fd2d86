"""The bootstrap over queries: what the measures would have been with other queries of the same kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bot.evaluation.cells import Cells, Numbers
from bot.evaluation.metrics import confusion

LEVEL = 0.95
"""Share of the resamples that an interval holds (semantics, section 8)."""
_BLOCK = 4_000_000
"""Weights held in memory at a time."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How often queries are drawn anew, and the seed of the draws."""

    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class Interval:
    """The middle 95 % of the resamples' values (percentile interval)."""

    low: float
    high: float


def weights(queries: int, sampling: Sampling) -> Iterator[Numbers]:
    """Blocks of shape (resamples, queries): how often each of ``queries`` is in each resample of as many."""
    random = np.random.default_rng(sampling.seed)
    most = max(1, _BLOCK // max(1, queries))
    for begun in range(0, sampling.resamples, most):
        rows = min(most, sampling.resamples - begun)
        drawn = random.integers(0, queries, size=(rows, queries)) + np.arange(rows)[:, None] * queries
        yield np.bincount(drawn.ravel(), minlength=rows * queries).reshape(rows, queries).astype(np.float64)


def phis(several: Sequence[Cells], sampling: Sampling) -> tuple[Numbers, ...]:
    """Of each of ``several`` classifiers phi in every resample, of shape (resamples, capabilities).

    All see the same resamples of the same queries, so that differences are paired.  Phi is not a number in a resample
    that has one class only of a capability.
    """
    blocks: list[list[Numbers]] = [[] for _ in several]
    for block in weights(len(several[0].labelled), sampling):
        for cells, found in zip(several, blocks, strict=True):
            found.append(confusion(cells, block).phi)
    return tuple(np.concatenate(found) for found in blocks)


def macro(values: Numbers) -> Numbers:
    """The mean over the last axis of what is a number; not a number where nothing is."""
    known = np.isfinite(values)
    count = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def interval(values: Numbers) -> Interval | None:
    """The percentile interval of those ``values`` that are numbers; ``None`` where none is."""
    known = values[np.isfinite(values)]
    if not known.size:
        return None
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(known, [tail, 1 - tail])
    return Interval(float(low), float(high))
