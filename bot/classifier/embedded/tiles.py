"""Square matrices worked on in tiles of one size, so that the bytes are the same however many cores share the work.

How a library shares a sum out among its own threads shows in the last bits.  So each tile is one thread's, and what is
summed within it depends on its size alone; the library has to be held to one thread meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

Item = TypeVar("Item")

TILE: Final = 384
"""Large enough that products of tiles are as quick as large ones, small enough that they stay in a core's cache."""


def spans(size: int) -> list[slice]:
    """The rows of each tile of a matrix of so many rows."""
    return [slice(start, min(size, start + TILE)) for start in range(0, size, TILE)]


def lower(size: int) -> list[tuple[slice, slice]]:
    """Rows and columns of the tiles on and below the diagonal: all there is to a symmetric matrix."""
    found = spans(size)
    return [(rows, columns) for place, rows in enumerate(found) for columns in found[: place + 1]]


def on_all_cores(work: Callable[[Item], None], items: Sequence[Item]) -> None:
    """Do ``work`` on each of ``items``, none of which may touch what another one writes."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(work, items):
            pass
