"""Close calls: what an excluded query would bring if it exercised what the classifier is in doubt about (pure).

Semantics, section 5.  A *new piece* of a redundant query is a capability that would be new or fill a floor if the query
were competent in it, or a combination that neither R nor a waiting query carries.  Its likelihood is the product of the
probabilities of what the query does not exercise competently now.  People see each piece once: with the query that most
likely brings it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from bot.consolidator.verdict import CloseCall
from bot.rater.contextualizer import LiveSet
from bot.rater.model import ScoredQuery
from bot.rater.profile import Profile, bits_of
from bot.text.compare import rounded


def close_calls(live: LiveSet, queries: Iterable[tuple[ScoredQuery, Profile]], least: float) -> Mapping[str, CloseCall]:
    """The close calls among redundant ``queries``, by query; ``live`` is R and the waiting queries after the cycle.

    ``least`` is the least likelihood of a piece to be shown, in [0, 1].  The likeliest come first.
    """
    least = rounded(least)
    found = []
    for query, profile in queries:
        pieces = dict(_pieces(live, query, profile, rounded(least / 2)))
        if pieces and max(pieces.values()) >= least:
            named = live.capabilities.named
            ranked = sorted((-likely, mask.bit_count(), named(mask), mask) for mask, likely in pieces.items())
            found.append((ranked[0][0], query.id, ranked))
    offered: set[int] = set()
    listed: dict[str, CloseCall] = {}
    for _, id, ranked in sorted(found):
        shown = next((piece for piece in ranked if -piece[0] >= least and piece[3] not in offered), None)
        if shown is not None:
            listed[id] = CloseCall(capabilities=shown[2], likelihood=-shown[0])
            offered.update(mask for *_, mask in ranked)
    return listed


def _pieces(live: LiveSet, query: ScoredQuery, profile: Profile, least: float) -> Iterator[tuple[int, float]]:
    """The new pieces of ``query`` as masks, each with its likelihood, from ``least`` on."""
    known = live.capabilities
    likely: dict[int, float] = {}
    excluded: dict[int, int] = {}
    for index, score in profile.items:
        if not profile.caps >> index & 1 and score >= least and score:
            likely[1 << index] = score
    for doubt in query.doubts:
        bit, probability = 1 << known.index[doubt.capability], rounded(doubt.probability)
        if probability >= least and probability and doubt.capability not in known.trial:
            likely[bit] = probability
            excluded[bit] = sum(1 << known.index[name] for name in doubt.excludes if name in known.index)
    if not likely:
        return
    for bit, probability in likely.items():
        if live.would_cover(bit, profile):
            yield bit, probability
    if known.novelty == "signature":
        return
    combinable = {bit: likelihood for bit, likelihood in likely.items() if bit & known.combining}
    certain = bits_of(profile.combined)
    for size in range(1, known.novelty + 1):
        for chosen in combinations(sorted(combinable), size):
            likelihood = 1.0
            for bit in chosen:
                likelihood *= combinable[bit]
            if (likelihood := rounded(likelihood)) < least or _excludes(chosen, excluded):
                continue
            gone = 0
            for bit in chosen:
                gone |= excluded.get(bit, 0)
            rest = [bit for bit in certain if not bit & gone]
            own = sum(chosen)
            # A query with fewer combinable capabilities than a combination has carries all of them together.
            width = min(known.novelty - size, len(rest))
            for others in combinations(rest, width):
                mask = own | sum(others)
                if live.is_new(mask):
                    yield mask, likelihood


def _excludes(chosen: Sequence[int], excluded: Mapping[int, int]) -> bool:
    """Whether a query exercises at most one of two that are ``chosen``."""
    whole = sum(chosen)
    return any(excluded.get(bit, 0) & whole for bit in chosen)
