"""Text similarity for the clone gate: sim of the paper (section 2.3) and of semantics, section 4.

The scorer was chosen by measurement (``docs/similarity.md``): the length of the longest common subsequence of two texts
as a share of the longer one.  It is symmetric, is 1 exactly for equal texts, and never exceeds ``shorter / longer``.
So a query that is only contained in another one is not a clone of it, if the other adds more than
``1 / clone_cutoff - 1`` of its length.

Import this only where texts are compared: numpy is slow to load.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cdist, extractOne

from incumbent.rater.model import Similarity
from incumbent.rater.profile import Profile
from incumbent.text.compare import rounded

_AT_A_TIME: Final = 64
"""Queries that are compared together: the characters of more do not fit into a processor's cache."""
_PROBED: Final = 32
"""So many choices are compared first; what the best of them reach rules out most others."""
_BUCKETS: Final = 128
"""Each character of ASCII has a bucket of its own; others share these, so that bounds are less tight but as true."""

if TYPE_CHECKING:
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
    return cdist(queries, choices, scorer=SCORER, dtype="float64")


def most_similar_few(queries: Sequence[str], choices: Sequence[str], count: int) -> Iterator[list[tuple[int, float]]]:
    """For each normalised query the indices and similarities of the ``count`` choices that are most similar to it.

    The most similar come first (ties: the first choice).
    """
    # A common subsequence has of each character at most as many as both texts.  To count them takes a fraction of a
    # comparison, and shows of most pairs that others are more similar.
    known, lengths = _characters(choices), np.array([len(choice) for choice in choices])
    probed = max(count, _PROBED)
    for begin in range(0, len(queries), _AT_A_TIME):
        some = queries[begin : begin + _AT_A_TIME]
        for query, shared in zip(some, _shared(_characters(some), known), strict=True):
            places = np.arange(len(choices))
            if len(choices) > probed:
                longer = np.maximum(lengths, len(query))
                # Computed as by the scorer: so rounding does not make a bound less than the similarity.
                bounds = 1.0 - (longer - shared) / np.maximum(longer, 1)
                likely = np.argpartition(bounds, -probed)[-probed:]
                places = np.flatnonzero(bounds >= np.partition(_compared(query, choices, likely), -count)[-count])
            values = _compared(query, choices, places)
            best = np.argsort(-values, kind="stable")[:count]
            yield list(zip(places[best].tolist(), values[best].tolist(), strict=True))


def _compared(query: str, choices: Sequence[str], places: NDArray[np.intp]) -> NDArray[np.float64]:
    values: NDArray[np.float64] = similarity_matrix([query], [choices[place] for place in places.tolist()])[0]
    return values


def _characters(texts: Sequence[str]) -> NDArray[np.int64]:
    """How many characters of each bucket (rows) each text (columns) has."""
    found = np.zeros((_BUCKETS, len(texts)), dtype=np.int64)
    for place, text in enumerate(texts):
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        found[:, place] = np.bincount(points % _BUCKETS, minlength=_BUCKETS)
    return found


def _shared(queries: NDArray[np.int64], choices: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most characters that each query (rows) and each choice (columns) can share."""
    longest = max(queries.sum(axis=0).max(initial=0), choices.sum(axis=0).max(initial=0))
    # Small numbers are compared more quickly.
    kind = np.min_scalar_type(int(longest))
    found = np.zeros((queries.shape[1], choices.shape[1]), dtype=kind)
    for ours, theirs in zip(queries.astype(kind), choices.astype(kind), strict=True):
        if ours.any() and theirs.any():
            found += np.minimum.outer(ours, theirs)
    return found.astype(np.int64)


def nearest_of(profile: Profile, members: Sequence[Profile]) -> Similarity:
    """maxSim of one query among ``members``, in any order (ties: smaller id); 0 without members."""
    if not members:
        return Similarity(0.0, None)
    values = similarity_matrix([profile.text], [member.text for member in members])[0]
    best = values.max()
    return Similarity(float(best), min(members[place].id for place in np.flatnonzero(values == best).tolist()))


# A cutoff spares the scorer most comparisons. By as much it is below the true one, since the scorer rounds it to whole
# characters, and then may miss a text that is just as similar.
_BELOW: Final = 0.001


def clones_among(queries: Sequence[str], others: Sequence[str], cutoff: float) -> list[list[int]]:
    """Of each normalised query the places of the ``others``, normalised too, that it is a clone of."""
    least = rounded(cutoff)
    found: list[list[int]] = [[] for _ in queries]
    for begin in range(0, len(queries), _AT_A_TIME):
        some = queries[begin : begin + _AT_A_TIME]
        values = cdist(some, others, scorer=SCORER, score_cutoff=max(least - _BELOW, 0.0), dtype="float64")
        for row, place in np.argwhere(values >= least - _BELOW).tolist():
            if rounded(float(values[row, place])) >= least:
                found[begin + row].append(place)
    return found


class NearestResidents:
    """maxSim(q) for every query of a cycle, updated while R grows (ties: smaller id)."""

    def __init__(self, texts: Sequence[str], ids: Sequence[str]) -> None:
        self._texts = list(texts)
        self._open = np.ones(len(texts), dtype=bool)
        self._best = np.full(len(texts), -1.0)
        self._resident: list[str | None] = [None] * len(ids)

    def settle(self, place: int) -> None:
        """Mark the query at ``place`` as judged: it needs no more comparisons."""
        self._open[place] = False

    def reopen(self, places: Sequence[int], entered: Sequence[Profile]) -> None:
        """Let the settled queries at ``places`` be judged again, after ``entered`` joined R."""
        self._open[:] = False
        self._open[list(places)] = True
        for member in entered:
            self.compare_one(member)

    def of(self, place: int) -> Similarity:
        """The current maxSim; 0 for an empty R."""
        resident = self._resident[place]
        return Similarity(0.0 if resident is None else float(self._best[place]), resident)

    def compare_all(self, members: Sequence[Profile]) -> None:
        """Compare every query with ``members``, which must be sorted by id."""
        if not members:
            return
        choices = [member.text for member in members]
        found = [most_similar(text, choices) for text in self._texts]
        self._best = np.array([value for _, value in found])
        self._resident = [members[place].id for place, _ in found]

    def compare_one(self, member: Profile) -> None:
        """Compare every open query with the new ``member``."""
        places = np.flatnonzero(self._open)
        if not places.size:
            return
        values = similarity_matrix([member.text], [self._texts[place] for place in places.tolist()])[0]
        for position in np.flatnonzero(values >= self._best[places]).tolist():
            place = int(places[position])
            held = self._resident[place]
            if values[position] > self._best[place] or held is None or member.id < held:
                self._best[place] = values[position]
                self._resident[place] = member.id
