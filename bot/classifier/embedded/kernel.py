"""How alike two queries are: the kernel of the classifier's ridge regression.

k(x, y) = exp(−d²(x, y)) + LEXICAL · ⟨terms of x, terms of y⟩, with d² a weighted sum of the squared distances of
embeddings, structure and cues.  All products are of whole numbers below 2²⁴, so they are exact in single precision
whatever the order of summation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bot.classifier.embedded.embedding import SCALE
from bot.classifier.embedded.features import STRUCTURE_STEP, Rows
from bot.classifier.embedded.terms import BUCKETS, UNIT
from bot.classifier.embedded.tiles import lower, on_all_cores

Singles: TypeAlias = NDArray[np.float32]
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

FREQUENT: Final = 512
"""How many of the most frequent terms are multiplied apart from the others; it decides on the time alone."""

_CUE_VALUES: Final = np.array([0.0, 10.0, 12.0, 14.0], np.float32)
_CUE_UNIT: Final = 10.0
"""What 0, 1, 2 and more matching patterns of a capability count: the first one most."""


@dataclass(frozen=True)
class Reference:
    """The queries that others are compared with, ready for that.

    Each of ``blocks`` is single-precision rows, their squared lengths, and what a unit of squared distance counts.
    ``starts`` has, for each place of the terms, where in ``holders`` (queries) and ``weights`` those that have it are.
    """

    blocks: tuple[tuple[Singles, Singles, float], ...]
    starts: NDArray[np.intp]
    holders: NDArray[np.intp]
    weights: Singles
    size: int

    @staticmethod
    def of(rows: Rows) -> Reference:
        """``rows`` of at least one query."""
        order = np.argsort(rows.places, kind="stable")
        owners = np.repeat(np.arange(len(rows)), np.diff(rows.ends))
        counts = np.bincount(rows.places, minlength=2 * BUCKETS)
        return Reference(
            blocks=tuple((block, (block * block).sum(axis=1), unit) for block, unit in _blocks(rows)),
            starts=np.concatenate([[0], np.cumsum(counts)]),
            holders=owners[order],
            weights=rows.values[order].astype(np.float32),
            size=len(rows),
        )

    def similarities(self, query: Rows) -> NDArray[np.float64]:
        """k between each of the queries and ``query``, a single one."""
        distance = np.zeros(self.size)
        for (block, squares, unit), (own, _) in zip(self.blocks, _blocks(query), strict=True):
            distance += unit * (squares + float(own[0] @ own[0]) - 2 * (block @ own[0]))
        spans = [slice(*self.starts[place : place + 2].tolist()) for place in query.places.tolist()]
        shared: NDArray[Any] = np.zeros(self.size)
        if spans:
            holders = np.concatenate([self.holders[span] for span in spans])
            weights = np.concatenate([self.weights[span] for span in spans])
            values = np.repeat(query.values, [span.stop - span.start for span in spans])
            shared = np.bincount(holders, weights=weights * values, minlength=self.size)
        return np.exp(-distance) + LEXICAL / UNIT**2 * shared


def gram(rows: Rows) -> Doubles:
    """k between all pairs of ``rows``."""
    size = len(rows)
    blocks = [(block, (block * block).sum(axis=1), np.float32(unit)) for block, unit in _blocks(rows)]
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
        found[tile] = np.exp(-distance.astype(np.float64)) + LEXICAL / UNIT**2 * shared
        found[other, one] = found[tile].T

    on_all_cores(fill, lower(size))
    return found


def _terms(rows: Rows) -> tuple[Singles, Any]:
    """The terms as two matrices: the most frequent ones with all their zeros, and a sparse one of the others.

    What half of the texts have costs a sparse product dearly, and what hardly any has a dense one.
    """
    from scipy.sparse import csr_array

    terms = csr_array(
        (rows.values.astype(np.float32), rows.places.astype(np.int32), rows.ends), shape=(len(rows), 2 * BUCKETS)
    )
    order = np.argsort(-np.bincount(rows.places, minlength=2 * BUCKETS), kind="stable")
    return terms[:, order[:FREQUENT]].toarray(), terms[:, order[FREQUENT:]]


def _blocks(rows: Rows) -> tuple[tuple[Singles, float], ...]:
    """Each block of features, and what a unit of its squared distance counts."""
    alone = rows.embedding.shape[1] == 0
    return (
        (rows.embedding.astype(np.float32), EMBEDDING / SCALE**2),
        (rows.structure.astype(np.float32), (STRUCTURE_ALONE if alone else STRUCTURE) / STRUCTURE_STEP**2),
        (_CUE_VALUES[rows.cues], (CUES_ALONE if alone else CUES) / _CUE_UNIT**2),
    )
