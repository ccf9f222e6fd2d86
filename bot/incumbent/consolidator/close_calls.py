"""Close calls: what an excluded query would bring if it exercised what the classifier is in doubt about (pure).

Semantics, section 5.  A *new piece* of a redundant query is a capability that would be new or fill a floor if the query
were competent in it, or a combination that neither R nor a waiting query carries.  Its likelihood is the product of the
probabilities of what the query does not exercise competently now.  People see each piece once: with the query that most
likely brings it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import prod

from incumbent.consolidator.verdict import CloseCall
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.model import ScoredQuery
from incumbent.rater.profile import Profile, bits_of
from incumbent.text.compare import rounded


def close_calls(live: LiveSet, queries: Iterable[tuple[ScoredQuery, Profile]], least: float) -> Mapping[str, CloseCall]:
    """The close calls among redundant ``queries``, by query; ``live`` is R and the waiting queries after the cycle.

    ``least`` is the least likelihood of a piece to be shown, in [0, 1].  The likeliest come first.
    """
    least, named = rounded(least), live.capabilities.named
    pieces = _NewPieces(live)
    found = []
    for query, profile in queries:
        likely = pieces.of(query, profile, least)
        if likely:
            ranked = sorted((-value, mask.bit_count(), named(mask), mask) for mask, value in likely.items())
            found.append((ranked[0][0], query.id, ranked, query, profile))
    offered: set[int] = set()
    listed: dict[str, CloseCall] = {}
    # Ids are unique, so that sorting never compares the elements after them.
    for _, id, ranked, query, profile in sorted(found, key=lambda item: item[:2]):
        shown = next((piece for piece in ranked if piece[3] not in offered), None)
        if shown is not None:
            listed[id] = CloseCall(capabilities=shown[2], likelihood=-shown[0])
            offered.update(pieces.of(query, profile, rounded(least / 2)))
    return listed


class _NewPieces:
    """The new pieces of queries against one live set."""

    def __init__(self, live: LiveSet) -> None:
        self._live = live
        self._known = live.capabilities
        # Capability → those with which it forms a pair that is new: most queries have none.
        self._partners = live.new_partners() if self._known.novelty == 2 else {}
        # Capabilities that may be a piece, or part of one.
        self._possible = live.wanted()
        if self._known.novelty == 2:
            self._possible |= sum(bit for bit, new in self._partners.items() if new or live.is_new(bit))
        elif self._known.novelty != "signature":
            self._possible |= self._known.combining

    def of(self, query: ScoredQuery, profile: Profile, least: float) -> dict[int, float]:
        """The new pieces of ``query`` as masks, each with its likelihood, from ``least`` on."""
        known = self._known
        if not query.doubts and not profile.signature & ~profile.caps & self._possible:
            return {}
        likely: dict[int, float] = {}
        excluded: dict[int, int] = {}
        for index, score in profile.items:
            if score >= least and score and not profile.caps >> index & 1:
                likely[1 << index] = score
        for doubt in query.doubts:
            probability = rounded(doubt.probability)
            if probability >= least and probability and doubt.capability not in known.trial:
                bit = 1 << known.index[doubt.capability]
                likely[bit] = probability
                excluded[bit] = sum(1 << known.index[name] for name in doubt.excludes if name in known.index)
        found = {bit: probability for bit, probability in likely.items() if self._live.would_cover(bit, profile)}
        if likely and known.novelty != "signature":
            combinable = {bit: likely[bit] for bit in sorted(likely) if bit & known.combining}
            if known.novelty == 2:
                found |= self._pairs(profile.combined, combinable, excluded, least)
            else:
                found |= self._combinations(profile.combined, combinable, excluded, least, known.novelty)
        return found

    def _pairs(
        self, certain: int, likely: Mapping[int, float], excluded: Mapping[int, int], least: float
    ) -> Iterator[tuple[int, float]]:
        """The same as :meth:`_combinations` for two: this is the shipped value, and the most frequent case."""
        partners, uncertain = self._partners, sum(likely)
        for bit, likelihood in likely.items():
            rest = certain & ~excluded.get(bit, 0)
            if not rest and self._live.is_new(bit):
                yield bit, likelihood
            if new := partners[bit] & (rest | uncertain):
                for other in bits_of(new & rest):
                    yield bit | other, likelihood
                for other in bits_of(new & uncertain & (bit - 1) & ~excluded.get(bit, 0)):
                    both = rounded(likely[other] * likelihood)
                    if both >= least and not excluded.get(other, 0) & bit:
                        yield bit | other, both

    def _combinations(
        self, certain: int, likely: Mapping[int, float], excluded: Mapping[int, int], least: float, strength: int
    ) -> Iterator[tuple[int, float]]:
        """The combinations that are new, with what is ``certain`` and at least one that is ``likely``."""
        for size in range(1, strength + 1):
            for chosen in combinations(likely, size):
                likelihood, mask = rounded(prod(likely[bit] for bit in chosen)), sum(chosen)
                if likelihood < least or any(excluded.get(bit, 0) & mask for bit in chosen):
                    continue
                rest = _without(certain, chosen, excluded)
                # A query with fewer combinable capabilities than a combination has carries all of them together.
                for others in combinations(rest, min(strength - size, len(rest))):
                    if self._live.is_new(mask | sum(others)):
                        yield mask | sum(others), likelihood


def _without(certain: int, chosen: Iterable[int], excluded: Mapping[int, int]) -> Sequence[int]:
    """The bits of ``certain`` that a query can exercise together with those ``chosen``."""
    for bit in chosen:
        certain &= ~excluded.get(bit, 0)
    return bits_of(certain)
