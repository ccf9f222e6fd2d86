"""How alike two queries are: the kernel of the classifier's ridge regression.

k(x, y) = exp(−d²(x, y)) + LEXICAL · ⟨terms of x, terms of y⟩, with d² a weighted sum of the squared distances of
embeddings, structure and cues.  All products are of whole numbers below 2²⁴, so they are exact in single precision
whatever the order of summation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from bot.classifier.embedded.embedding import SCALE
from bot.classifier.embedded.features import STRUCTURE_STEP, Rows
from bot.classifier.embedded.text import BUCKETS, UNIT

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


Singles: TypeAlias = NDArray[np.float32]
Features: TypeAlias = NDArray[np.int8] | Singles
Doubles: TypeAlias = NDArray[np.float64]

EMBEDDING: Final = 3.1
STRUCTURE: Final = 0.0024
CUES: Final = 0.0095
"""How much a unit of squared distance counts: of embeddings of length 1, of standardised structure, of a cue."""

STRUCTURE_ALONE: Final = 0.008
CUES_ALONE: Final = 0.03
"""The same where there is no embedder."""

LEXICAL: Final = 0.35
"""How much lexical similarity counts, which is 2 for the same text."""
_PER_TERM: Final = LEXICAL / UNIT**2
"""The same per unit of a product of two terms."""

FREQUENT: Final = 512
"""How many of the most frequent terms :func:`gram` multiplies apart from the others; it decides on the time alone."""

_CUE_VALUES: Final = np.array([0.0, 10.0, 12.0, 14.0], np.float32)
_CUE_UNIT: Final = 10.0
"""What 0, 1, 2 and more matching patterns of a capability count: the first one most."""


@dataclass(frozen=True)
class ReferenceQueries:
    """The queries that others are compared with, ready for that.

    Each of ``blocks`` is single-precision rows for squared distances (:func:`_from_distances`), and what a unit of such
    a distance counts.  Of each term, ``starts`` has where in ``holders`` (queries) and ``weights`` those that have it
    are.
    """

    size: int
    blocks: tuple[tuple[Singles, np.float32], ...]
    starts: NDArray[np.intp]
    holders: NDArray[np.int32]
    weights: NDArray[np.uint8]

    @staticmethod
    def of(rows: Rows) -> ReferenceQueries:
        """``rows`` of at least one query."""
        owners = np.repeat(np.arange(len(rows), dtype=np.int32), np.diff(rows.ends))
        order = np.argsort(rows.places, kind="stable")
        return ReferenceQueries(
            size=len(rows),
            blocks=tuple((_from_distances(block), np.float32(unit)) for block, unit in _blocks(rows)),
            starts=np.concatenate([[0], np.cumsum(np.bincount(rows.places, minlength=2 * BUCKETS))]),
            holders=owners[order],
            weights=rows.values[order],
        )

    def similarities(self, queries: Rows) -> Doubles:
        """k between each of ``queries`` (rows) and each of the reference's (columns).

        A query has the same bits whatever is beside it.
        """
        found = self._by_terms(queries)
        found *= _PER_TERM
        for span, closeness in self._closeness(queries):
            found[:, span] += closeness
        return found

    def products(self, queries: Rows, weights: Doubles, by_term: Doubles) -> Doubles:
        """:meth:`similarities` times ``weights`` (a row for each of the reference's queries), but for the last bits.

        ``by_term`` are :func:`weights_by_term`: what terms add is linear in them, so that no query of the reference has
        to be looked at for it.
        """
        found: Doubles = _term_matrix(queries) @ by_term
        for span, closeness in self._closeness(queries):
            found += closeness @ weights[span]
        return found

    def _closeness(self, queries: Rows) -> Iterator[tuple[slice, Doubles]]:
        """What all features but terms add to k; so few columns at a time that they stay in a core's cache."""
        blocks = [_to_distances(block) for block, _ in _blocks(queries)]
        for span in spans(self.size):
            closeness = np.zeros((len(queries), span.stop - span.start))
            for own, (block, unit) in zip(blocks, self.blocks, strict=True):
                distance = own @ block[span].T
                distance *= unit
                closeness -= distance
            np.exp(closeness, out=closeness)
            yield span, closeness

    def _by_terms(self, queries: Rows) -> Doubles:
        """The scalar products of the terms of ``queries`` (rows) and of the reference's (columns)."""
        found = np.zeros((len(queries), self.size))
        for number, (start, end) in enumerate(pairwise(queries.ends.tolist())):
            places, values = queries.places[start:end], queries.values[start:end]
            starts, ends = self.starts[places], self.starts[places + np.uint16(1)]
            held = np.flatnonzero(ends > starts)
            if len(held):
                ranges = [slice(*pair) for pair in zip(starts[held].tolist(), ends[held].tolist(), strict=True)]
                holders = np.concatenate([self.holders[each] for each in ranges])
                weights = np.concatenate([self.weights[each] for each in ranges]).astype(np.float64)
                weights *= np.repeat(values[held], (ends - starts)[held])
                found[number] = np.bincount(holders, weights=weights, minlength=self.size)
        return found


def weights_by_term(rows: Rows, weights: Doubles) -> Doubles:
    """What a term of a query adds to the products with ``weights`` (a row for each of ``rows``): a row for each term.

    It takes about as long as the similarities of 500 queries by their terms.
    """
    found: Doubles = (_term_matrix(rows).T.tocsr() @ weights) * _PER_TERM
    return found


def gram(rows: Rows) -> Doubles:
    """k between all pairs of ``rows``."""
    size = len(rows)
    features = [(block.astype(np.float32), np.float32(unit)) for block, unit in _blocks(rows)]
    blocks = [(block, (block * block).sum(axis=1), unit) for block, unit in features]
    frequent, rare = _terms(rows)
    found = np.empty((size, size))

    def fill(tile: tuple[slice, slice]) -> None:
        one, other = tile
        distance = np.zeros(found[tile].shape, np.float32)
        for block, squares, unit in blocks:
            distance += unit * (squares[one, np.newaxis] + squares[other] - 2 * (block[one] @ block[other].T))
        shared = frequent[one] @ frequent[other].T
        shared += (rare[one] @ rare[other].T).toarray()
        # Processors differ in the last bits of an exponential, and an inverse magnifies that.
        found[tile] = np.exp(-distance.astype(np.float64)) + _PER_TERM * shared
        found[other, one] = found[tile].T

    on_all_cores(fill, lower(size))
    return found


def _terms(rows: Rows) -> tuple[Singles, Any]:
    """The terms as two matrices: the most frequent ones with all their zeros, and a sparse one of the others.

    What half of the texts have costs a sparse product dearly, and what hardly any has a dense one.
    """
    terms = _term_matrix(rows, np.float32)
    order = np.argsort(-np.bincount(rows.places, minlength=2 * BUCKETS), kind="stable")
    return terms[:, order[:FREQUENT]].toarray(), terms[:, order[FREQUENT:]]


def _term_matrix(rows: Rows, kind: type[np.floating[Any]] = np.float64) -> Any:
    """The terms as a sparse matrix with a row for each of ``rows``."""
    from scipy.sparse import csr_array

    shape = (len(rows), 2 * BUCKETS)
    return csr_array((rows.values.astype(kind), rows.places.astype(np.int32), rows.ends), shape=shape)


def _to_distances(block: Features) -> Singles:
    """Rows whose products with those of :func:`_from_distances` are squared distances: |x|² − 2⟨x, y⟩ + |y|²."""
    single = block.astype(np.float32)
    return np.column_stack([single, (single * single).sum(axis=1), np.ones(len(block), np.float32)])


def _from_distances(block: Features) -> Singles:
    """The other side of :func:`_to_distances`."""
    size, width = block.shape
    found = np.empty((size, width + 2), np.float32)
    for span in spans(size):
        single = block[span].astype(np.float32)
        np.multiply(single, -2, out=found[span, :width])
        found[span, width] = 1
        found[span, width + 1] = (single * single).sum(axis=1)
    return found


def _blocks(rows: Rows) -> tuple[tuple[Features, float], ...]:
    """Each block of features, and what a unit of its squared distance counts."""
    alone = rows.embedding.shape[1] == 0
    meaning = () if alone else ((rows.embedding, EMBEDDING / SCALE**2),)
    return (
        *meaning,
        (rows.structure, (STRUCTURE_ALONE if alone else STRUCTURE) / STRUCTURE_STEP**2),
        (_CUE_VALUES[rows.cues], (CUES_ALONE if alone else CUES) / _CUE_UNIT**2),
    )
