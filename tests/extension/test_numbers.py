"""Linkage and sparse rows give what scipy gives, which is not needed to run."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform

from incumbent.extension.linkage import average_linkage
from incumbent.extension.sparse_rows import SparseRows


def a_table(seed: int, rows: int, columns: int) -> tuple[list[list[int]], NDArray[np.float64]]:
    """Columns of each row, none empty, with several rows alike; and a weight for each column."""
    random = np.random.default_rng(seed)
    places = [sorted({*random.integers(0, columns, random.integers(0, 5)).tolist(), 0}) for _ in range(rows)]
    return places, np.round(random.uniform(0.5, 3.0, columns), 1)


@pytest.mark.parametrize("decimals", [1, 6])
@pytest.mark.parametrize("size", [1, 2, 3, 40])
def test_what_merges_below_a_distance_is_what_scipy_merges(size: int, decimals: int) -> None:
    """Rounded to one decimal, many distances are equal: then the order of the merges counts."""
    for seed in range(40):
        apart = np.random.default_rng(seed).uniform(0, 1, size * (size - 1) // 2).round(decimals)
        for most in (0.0, 0.2, 0.5, 2.0):
            found = average_linkage(squareform(apart) if size > 1 else np.zeros((1, 1)), most)
            expected = [1]
            if size > 1:
                expected = fcluster(linkage(apart, "average"), np.nextafter(most, -np.inf), "distance").tolist()
            together = {tuple(np.flatnonzero(np.array(expected) == label).tolist()) for label in set(expected)}
            assert set(map(tuple, found)) == together
            assert len(found) == len(together)


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_are_mostly_zero_are_reckoned_with_as_whole_ones(seed: int) -> None:
    places, weights = a_table(seed, rows=30, columns=9)
    rows = SparseRows.of(places, weights)
    whole = np.zeros(rows.shape)
    whole[rows.rows, rows.columns] = rows.values
    assert [np.flatnonzero(row).tolist() for row in whole] == places
    np.testing.assert_allclose(rows.row_sums(), whole.sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(rows.column_sums(), whole.sum(axis=0), rtol=1e-14)
    np.testing.assert_allclose(rows.dot(weights), whole @ weights, rtol=1e-14)
    assert rows.column_counts().tolist() == (whole > 0).sum(axis=0).tolist()
    assert rows.greatest().tolist() == whole.argmax(axis=1).tolist()
    chosen = np.array([2, 3, 11])
    np.testing.assert_array_equal(rows.take(chosen).row_sums(), rows.row_sums()[chosen])
    unit = csr_array(whole / np.sqrt((whole**2).sum(axis=1))[:, None])
    np.testing.assert_allclose(rows.cosines(), (unit @ unit.T).toarray(), rtol=1e-13)
