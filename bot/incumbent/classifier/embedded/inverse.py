"""Inverses of symmetric positive matrices by arithmetic that is the same everywhere (:mod:`.exact`).

A matrix is kept as tiles of single precision, those on and below its diagonal.  Rows of tiles are eliminated one after
the other (Golub and Van Loan, "Matrix Computations", section 4.1, in blocks), which makes of S the factors of its
inverse Tᵀ D T: T with ones on its diagonal and nothing above it, D with blocks on its diagonal alone.  A product of
tiles is of short numbers, and a tile is no wider than :data:`.exact.SPAN`, so that no sum is rounded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from threading import local
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from incumbent.classifier.embedded.exact import Floats, product, short
from incumbent.classifier.embedded.kernel import TILE, Singles, empty_tiles, on_all_cores, spans
from incumbent.classifier.model import Progress, silent

Places: TypeAlias = NDArray[np.intp]

_STEP: Final = 32
"""Within a tile, so many rows are exchanged together."""

UNSEEN: Final = silent("")


@dataclass(frozen=True)
class Inverse:
    """(S + λI)⁻¹ as its factors: ``tiles`` holds T below the diagonal and D on it."""

    size: int
    tiles: list[list[Singles]]

    @staticmethod
    def of(rows: Iterable[list[Singles]], ridge: float, progress: Progress = UNSEEN) -> Inverse:
        """That of S, whose ``rows`` of tiles come one after the other, and λ = ``ridge``; the tiles are used up."""
        tiles = list(rows)
        for row in tiles:
            row[-1][np.diag_indices(len(row[-1]))] += np.float32(ridge)
        for pivot in range(len(tiles)):
            progress(pivot, len(tiles))
            _eliminate(tiles, pivot)
        return Inverse(sum(len(row[0]) for row in tiles), tiles)

    def times(self, values: Floats) -> Floats:
        """The product with ``values``."""
        parts = [values[span] for span in spans(self.size)]
        found = [np.zeros(part.shape) for part in parts]

        def forward(number: int) -> None:
            row = self.tiles[number]
            held = parts[number].copy()
            for tile, part in zip(row[:-1], parts, strict=False):
                held += product(tile, part)
            found[number] = product(row[-1], held)

        on_all_cores(forward, range(len(parts)))
        middle = found
        result = [part.copy() for part in middle]

        def backward(number: int) -> None:
            for row, part in zip(self.tiles[number + 1 :], middle[number + 1 :], strict=True):
                result[number] += product(row[number].T, part)

        on_all_cores(backward, range(len(parts)))
        return np.concatenate(result)

    def solve_block(self, places: Places, values: Floats) -> Floats:
        """The inverse of its rows and columns at ``places``, which ascend, times ``values``."""
        block = self.block(places)
        if len(places) <= TILE:
            return product(inverted(block[0][0].astype(np.float64)), values)
        return Inverse.of(block, 0.0).times(values)

    def block(self, places: Places) -> list[list[Singles]]:
        """The tiles of its rows and columns at ``places``, which ascend."""
        found = list(empty_tiles(len(places)))
        # In a row of tiles nothing is right of the diagonal.
        begins = np.searchsorted(places, [span.start for span in spans(self.size)]).tolist()
        for number, (row, end) in enumerate(zip(self.tiles, [*begins[1:], len(places)], strict=True)):
            own = np.zeros((len(row[0]), end))
            for place, tile in enumerate(row[:-1]):
                columns = slice(begins[place], begins[place + 1])
                own[:, columns] = tile[:, places[columns] - place * TILE]
            mine = np.arange(begins[number], end)
            own[places[mine] - number * TILE, mine] = 1.0
            if end:
                _add_square(found, own, row[-1].astype(np.float64))
        return found


def _add_square(found: list[list[Singles]], own: Floats, inner: Floats) -> None:
    """Add ``own``ᵀ ``inner`` ``own`` to the tiles ``found``, which may go on after it."""
    cuts = spans(own.shape[1])
    short_inner = short(inner)
    plain = on_all_cores(lambda cut: short(own[:, cut].T), cuts)
    weighted = on_all_cores(lambda side: short(side @ short_inner.T), plain)

    def add(place: tuple[int, int]) -> None:
        one, other = place
        part = _product(weighted[one], plain[other])
        found[one][other][: len(part), : part.shape[1]] += part

    on_all_cores(add, [(one, other) for one in range(len(cuts)) for other in range(one + 1)])


_own: Final = local()


def _product(one: Floats, other: Floats) -> Floats:
    """``one`` @ ``other``.T of short numbers; it lasts until the thread makes the next one."""
    # What is made anew each time costs a tenth of a product.
    if not hasattr(_own, "room"):
        _own.room = np.empty(TILE * TILE)
    found: Floats = _own.room[: len(one) * len(other)].reshape(len(one), len(other))
    return np.matmul(one, other.T, out=found)


def _eliminate(tiles: list[list[Singles]], pivot: int) -> None:
    """Subtract multiples of the row ``pivot`` of tiles from those below it."""
    own = tiles[pivot]
    inner = inverted(own[-1].astype(np.float64))
    short_inner = short(inner)
    below = range(pivot + 1, len(tiles))
    left = on_all_cores(lambda tile: short(tile.T), own[:-1])
    under = on_all_cores(lambda number: short(tiles[number][pivot]), below)
    sides = [*left, short_inner, *under]
    scaled = dict(zip(below, on_all_cores(lambda side: short(side @ short_inner.T), under), strict=True))

    def reduce(place: tuple[int, int]) -> None:
        row, column = place
        tile = tiles[row][column]
        if column == pivot:
            tile[:] = -scaled[row]
        else:
            tile -= _product(scaled[row], sides[column])

    on_all_cores(reduce, [(row, column) for row in below for column in range(row + 1)])
    own[-1][:] = inner


def inverted(matrix: Floats, step: int = _STEP) -> Floats:
    """The inverse of a symmetric positive ``matrix``, by exchanging ``step`` rows after the others (Goodnight 1979)."""
    found = (matrix + matrix.T) / 2
    for pivot in spans(len(found), step):
        column = found[:, pivot].copy()
        if step == 1:
            inner = 1.0 / column[pivot]
            scaled = column * inner
            found -= scaled * column.T
        else:
            inner = inverted(column[pivot], 1)
            scaled = product(column, inner)
            found -= product(scaled, column.T)
        found[:, pivot] = scaled
        found[pivot] = scaled.T
        found[pivot, pivot] = -inner
    return -found
