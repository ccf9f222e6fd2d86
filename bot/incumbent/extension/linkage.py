"""Average linkage (UPGMA): what is together when all that is nearer than a distance was merged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def average_linkage(distances: NDArray[np.float64], most: float) -> list[list[int]]:
    """The clusters that merges of clusters at a mean distance below ``most`` leave, each the places of its members.

    ``distances`` is the symmetric matrix of all pairs, and is overwritten.  A chain of nearest neighbours is followed
    until two are each other's (Müllner 2011, arXiv 1109.2378, section 3.1); its time is quadratic.
    """
    np.fill_diagonal(distances, np.inf)
    sizes = np.ones(len(distances), np.intp)
    members = [[place] for place in range(len(distances))]
    found: list[list[int]] = []
    chain: list[int] = []
    for _ in range(len(distances) - 1):
        chain = chain or [int(np.flatnonzero(sizes)[0])]
        while True:
            row = distances[chain[-1]]
            nearest = int(row.argmin())
            if len(chain) > 1 and row[chain[-2]] == row[nearest]:
                break
            chain.append(nearest)
        gone, kept = sorted((chain.pop(), chain.pop()))
        if distances[gone, kept] < most:
            members[kept] += members[gone]
        else:  # both are complete: the mean distance of what merges later is no less
            found += [members[gone], members[kept]]
            members[kept] = []
        total = sizes[gone] + sizes[kept]
        mean = (sizes[gone] * distances[gone] + sizes[kept] * distances[kept]) / total
        distances[kept], distances[:, kept] = mean, mean
        distances[gone], distances[:, gone] = np.inf, np.inf
        sizes[kept], sizes[gone] = total, 0
    return [sorted(together) for together in (*found, *members[-1:]) if together]
