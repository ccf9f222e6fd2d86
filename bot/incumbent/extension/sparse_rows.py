"""Rows of numbers that are mostly zero; every sum is taken in the order of rows and columns, so that it is the same
everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """``rows``, ``columns`` and ``values`` of what is not zero, sorted by row and column, in a table of ``shape``."""

    rows: Places
    columns: Places
    values: Floats
    shape: tuple[int, int]

    @classmethod
    def of(cls, places: Iterable[Iterable[int]], weights: Floats) -> Self:
        """A row for each of ``places``, which has the weights of those columns."""
        own = [np.array(sorted(columns), np.intp) for columns in places]
        columns = np.concatenate([np.empty(0, np.intp), *own])
        rows = np.repeat(np.arange(len(own)), [len(each) for each in own])
        return cls(rows, columns, weights[columns], (len(own), len(weights)))

    def take(self, chosen: Places) -> Self:
        """The ``chosen`` rows alone, in their order, which must be ascending."""
        new = np.full(self.shape[0], -1)
        new[chosen] = np.arange(len(chosen))
        kept = new[self.rows] >= 0
        return type(self)(new[self.rows[kept]], self.columns[kept], self.values[kept], (len(chosen), self.shape[1]))

    def row_sums(self) -> Floats:
        """The sum of each row."""
        return _sums(self.rows, self.values, self.shape[0])

    def column_sums(self) -> Floats:
        """The sum of each column."""
        return _sums(self.columns, self.values, self.shape[1])

    def column_counts(self) -> Places:
        """How many rows have each column."""
        return np.bincount(self.columns[self.values > 0], minlength=self.shape[1])

    def greatest(self) -> Places:
        """The column of the greatest value of each row, the first of several; no row may be empty."""
        order = np.lexsort((self.columns, -self.values, self.rows))
        return self.columns[order[np.searchsorted(self.rows, np.arange(self.shape[0]))]]

    def dot(self, vector: Floats) -> Floats:
        """The scalar product of each row with ``vector``."""
        return _sums(self.rows, self.values * vector[self.columns], self.shape[0])

    def cosines(self) -> Floats:
        """The cosine of the angle between each row and each, a square; no row may be zero."""
        lengths = np.sqrt(_sums(self.rows, self.values**2, self.shape[0]))
        unit = self.values * (1 / lengths)[self.rows]
        order = np.argsort(self.columns, kind="stable")
        ends = np.cumsum(np.bincount(self.columns, minlength=self.shape[1]))
        found = np.zeros((self.shape[0], self.shape[0]))
        for column in np.split(order, ends[:-1]):
            having, values = self.rows[column], unit[column]
            found[np.ix_(having, having)] += np.outer(values, values)
        return found


def _sums(places: Places, values: Floats, size: int) -> Floats:
    """The sum of the values of each place, added one after the other."""
    found: Floats = np.bincount(places, values, size).astype(np.float64, copy=False)
    return found
