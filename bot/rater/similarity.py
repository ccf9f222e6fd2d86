"""Text similarity for the clone gate: sim of the paper (section 2.3) and of semantics, section 4.

The scorer was chosen by measurement (``docs/similarity.md``): the length of the longest common subsequence of two texts
as a share of the longer one.  It is symmetric, is 1 exactly for equal texts, and never exceeds ``shorter / longer``.
So a query that is only contained in another one is not a clone of it, if the other adds more than
``1 / clone_cutoff - 1`` of its length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cdist, extractOne

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCORER = LCSseq.normalized_similarity
"""The scorer for rapidfuzz functions such as ``cdist``; texts must be normalised."""


def similarity(a: str, b: str) -> float:
    """The similarity of two normalised texts in [0, 1]; 1 exactly if they are equal."""
    return SCORER(a, b)


def most_similar(query: str, choices: Sequence[str]) -> tuple[int, float]:
    """The index and the similarity of the normalised choice that is most similar to ``query`` (ties: the first).

    There must be at least one choice.
    """
    _, value, place = extractOne(query, choices, scorer=SCORER)
    return place, value


def similarity_matrix(queries: Sequence[str], choices: Sequence[str]) -> NDArray[np.float64]:
    """:func:`similarity` of each normalised query (rows) and each normalised choice (columns)."""
    return cdist(queries, choices, scorer=SCORER, dtype="float64", workers=1)
