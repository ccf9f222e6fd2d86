"""How alike two queries are: the kernel of the classifier's ridge regression.

k(x, y) = exp(−d²(x, y)) + PER_TERM · ⟨terms of x, terms of y⟩, with d² a weighted sum of the squared distances of
embeddings, structure and cues.  All products are of whole numbers below 2²⁴, so they are exact in single precision
whatever the order of summation, and k is counted in whole steps: so are its sums, whatever it is weighted with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from os import cpu_count
from typing import Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from incumbent.classifier.embedded import exact
from incumbent.classifier.embedded.embedding import SCALE
from incumbent.classifier.embedded.features import STRUCTURE_STEP, Rows
from incumbent.classifier.embedded.text import BUCKETS

Item = TypeVar("Item")
Found = TypeVar("Found")

TILE: Final = 384
"""Large enough that products of tiles are as quick as large ones, small enough that they stay in a core's cache."""


def spans(size: int, step: int = TILE) -> list[slice]:
    """The rows of each tile of a matrix of so many rows."""
    return [slice(start, min(size, start + step)) for start in range(0, size, step)]


def on_all_cores(work: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
    """What ``work`` makes of each of ``items``, none of which may touch what another one writes.

    Libraries have one thread.
    """
    with ThreadPoolExecutor(cpu_count()) as pool:
        return list(pool.map(work, items))


Singles: TypeAlias = NDArray[np.float32]
Features: TypeAlias = NDArray[np.int8] | Singles
Doubles: TypeAlias = NDArray[np.float64]

STEPS: Final = 2.0**23
"""k is counted in multiples of 1 / STEPS: below 2, single precision has room for all of them."""

EMBEDDING: Final = 3.1
STRUCTURE: Final = 0.0024
CUES: Final = 0.0095
"""How much a unit of squared distance counts: of embeddings of length 1, of standardised structure, of a cue."""

STRUCTURE_ALONE: Final = 0.008
CUES_ALONE: Final = 0.03
"""The same where there is no embedder."""

PER_TERM: Final = 45
"""How many steps a unit of a product of two terms counts: lexical similarity is 0.7 for the same text."""

FREQUENT: Final = 512
"""How many of the most frequent terms are multiplied apart from the others; it decides on time and memory alone."""

_CUE_VALUES: Final = np.array([0.0, 10.0, 12.0, 14.0], np.float32)
_CUE_UNIT: Final = 10.0
"""What 0, 1, 2 and more matching patterns of a capability count: the first one most."""


_IN_CACHE: Final = 1 << 15
"""So many similarities stay in a core's cache from one step to the next."""

_AT_ONCE: Final = 96
"""So many queries are compared with all others at a time, in a thread."""


@dataclass(frozen=True)
class Terms:
    """The terms of queries, ready to be multiplied with those of others.

    Most queries have some of the most frequent terms: ``common`` has a row for each query and a column for each of
    these, ``columns`` the column of each term (-1: none).  Of each other term ``starts`` says where in ``queries``
    (ascending) and ``values`` the queries are that have it.
    """

    columns: NDArray[np.intp]
    common: Singles
    starts: NDArray[np.intp]
    queries: NDArray[np.int32]
    values: NDArray[np.uint8]

    @staticmethod
    def of(rows: Rows) -> Terms:
        """Those of ``rows``."""
        order = np.argsort(-np.bincount(rows.places, minlength=2 * BUCKETS), kind="stable")
        columns = np.full(2 * BUCKETS, -1)
        columns[order[:FREQUENT]] = np.arange(FREQUENT)
        rare = columns[rows.places] < 0
        owners = np.repeat(np.arange(len(rows), dtype=np.int32), np.diff(rows.ends))[rare]
        places, values = rows.places[rare], rows.values[rare]
        order = np.argsort(places, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(places, minlength=2 * BUCKETS))])
        return Terms(columns, _common(rows, columns), starts, owners[order], values[order])

    def __len__(self) -> int:
        return len(self.common)

    def before(self, end: int) -> Terms:
        """Those of the first ``end`` queries."""
        chosen = self.queries < end
        counts = np.concatenate([[0], np.cumsum(chosen)])
        return Terms(self.columns, self.common[:end], counts[self.starts], self.queries[chosen], self.values[chosen])

    def products(self, queries: Rows) -> Doubles:
        """The scalar products of the terms of ``queries`` (rows) and of these (columns)."""
        found = (_common(queries, self.columns) @ self.common.T).astype(np.float64)
        for number, (start, end) in enumerate(pairwise(queries.ends.tolist())):
            places, values = queries.places[start:end], queries.values[start:end]
            starts, ends = self.starts[places], self.starts[places + np.uint16(1)]
            held = np.flatnonzero(ends > starts)
            if len(held):
                ranges = [slice(*pair) for pair in zip(starts[held].tolist(), ends[held].tolist(), strict=True)]
                holders = np.concatenate([self.queries[each] for each in ranges])
                weights = np.concatenate([self.values[each] for each in ranges]).astype(np.float64)
                weights *= np.repeat(values[held], (ends - starts)[held])
                found[number] += np.bincount(holders, weights=weights, minlength=len(self))
        return found


def _common(rows: Rows, columns: NDArray[np.intp]) -> Singles:
    """The values of those terms of ``rows`` that have one of the ``columns``."""
    found = np.zeros((len(rows), FREQUENT), np.float32)
    owners = np.repeat(np.arange(len(rows)), np.diff(rows.ends))
    chosen = columns[rows.places] >= 0
    found[owners[chosen], columns[rows.places[chosen]]] = rows.values[chosen]
    return found


@dataclass(frozen=True)
class ReferenceQueries:
    """The queries that others are compared with, ready for that.

    Each of ``blocks`` is single-precision rows for squared distances (:func:`_from_distances`), and what a unit of such
    a distance counts.
    """

    blocks: tuple[tuple[Singles, float], ...]
    terms: Terms

    @staticmethod
    def of(rows: Rows) -> ReferenceQueries:
        """``rows`` of at least one query."""
        return ReferenceQueries(_reference_blocks(rows), Terms.of(rows))

    def similarities(self, queries: Rows) -> Doubles:
        """k between each of ``queries`` (rows) and each of the reference's (columns), in steps.

        A query has the same bits whatever is beside it.
        """
        found = self.terms.products(queries)
        found *= PER_TERM
        own = _query_blocks(queries)
        for span in spans(len(self.terms), max(TILE, _IN_CACHE // len(queries))):
            found[:, span] += _closeness(own, self.blocks, span)
        return found


def empty_tiles(size: int) -> Iterator[list[Singles]]:
    """Room for the tiles on and below the diagonal of a matrix, row by row."""
    for one in spans(size):
        yield [np.zeros((one.stop - one.start, other.stop - other.start), np.float32) for other in spans(one.stop)]


def gram(rows: Rows) -> Iterator[list[Singles]]:
    """k between all pairs of ``rows``, as tiles: of one row of tiles after the other those up to the diagonal."""
    own, blocks = _query_blocks(rows), _reference_blocks(rows)
    terms = Terms.of(rows)
    for found, one in zip(empty_tiles(len(rows)), spans(len(rows)), strict=True):
        earlier = terms.before(one.stop)

        def fill(inner: slice, found: list[Singles] = found, start: int = one.start, earlier: Terms = earlier) -> None:
            part = slice(start + inner.start, start + inner.stop)
            products = earlier.products(rows.between(part))
            mine = [block[part] for block in own]
            for tile, other in zip(found, spans(len(rows)), strict=False):
                k = products[:, other] * PER_TERM
                k += _closeness(mine, blocks, other)
                k /= STEPS
                tile[inner] = k

        on_all_cores(fill, spans(one.stop - one.start, _AT_ONCE))
        yield found


def _closeness(own: Sequence[Singles], blocks: Sequence[tuple[Singles, float]], span: slice) -> Doubles:
    """What all features but terms add to k; so few columns at a time that they stay in a core's cache."""
    exponent = np.zeros((len(own[0]), span.stop - span.start))
    for mine, (block, unit) in zip(own, blocks, strict=True):
        exponent -= (mine @ block[span].T) * np.float64(unit)
    found = exact.exp(exponent)
    found *= STEPS
    return np.rint(found, out=found)


def _query_blocks(rows: Rows) -> list[Singles]:
    return [_to_distances(block) for block, _ in _blocks(rows)]


def _reference_blocks(rows: Rows) -> tuple[tuple[Singles, float], ...]:
    return tuple((_from_distances(block), unit) for block, unit in _blocks(rows))


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
