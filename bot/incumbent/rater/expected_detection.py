"""Expected detection: the estimated share of faults that R shows, and what one query adds to it (semantics, section 4).

A fault is a fault of a set S of combinable capabilities.  An entry shows it with the chance p · e(r, S), where p is the
option ``flakiness`` and e(r, S) the product of the entry's scores in S.  No gate uses this: it orders what people see.

The order of the arithmetic is fixed, and the same on every machine:

- e(x, S) multiplies the scores, rounded for comparison, in order of the capabilities' ids.
- The chance that all of R miss a fault multiplies the factors 1 − p · e(r, S) in order of the entries' ids.  Factors of
  zero are counted instead, so that any factor can be divided out again.
- R without some entries divides by their factors in order of ids.  So entries with equal scores have equal values.  The
  result differs from the product of the remaining factors only in the last bits, which rounding removes.
- Sums over sets are exact until they are rounded once (:func:`math.fsum`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import fsum
from operator import attrgetter

from incumbent.rater.profile import Capabilities, Profile, bits_of
from incumbent.text.compare import rounded


class ExpectedDetection:
    """The faults that R, the ``residents``, is expected to show.

    Sets have 1 to t capabilities: t is the option ``novelty``, and 2 under ``signature``.  All profiles are of the same
    ``capabilities``.  ``flakiness`` is p: the chance, in [0, 1], that one run of a test shows a fault of what it
    exercises.
    """

    def __init__(self, residents: Iterable[Profile], capabilities: Capabilities, flakiness: float) -> None:
        self._combinable = capabilities.combining
        self._most = 2 if capabilities.novelty == "signature" else capabilities.novelty
        self._flakiness = flakiness
        # Set → the product of the residents' factors that are not zero, and the number of those that are.
        self._missed: dict[int, float] = {}
        self._certain: Counter[int] = Counter()
        missed = self._missed
        for resident in sorted(residents, key=attrgetter("id")):
            for mask, exercised in self._sets(resident, resident.signature):
                if factor := 1.0 - flakiness * exercised:
                    missed[mask] = missed.get(mask, 1.0) * factor
                else:
                    self._certain[mask] += 1

    def shown(self, mask: int) -> float:
        """f(S), not rounded: the chance that R shows a fault of the set ``mask`` of combinable capabilities."""
        return 1.0 - self._all_miss(mask)

    def gain(self, query: Profile, within: int | None = None) -> float:
        """ΔD(x) of a ``query`` that is not in R: what it adds to f, summed over the sets in caps(x).

        ``within`` is another mask in the place of caps(x), such as sig(x).
        """
        chance, all_miss = self._flakiness, self._all_miss
        sets = self._sets(query, query.caps if within is None else within)
        return rounded(fsum([all_miss(mask) * (chance * exercised) for mask, exercised in sets]))

    def loss(self, resident: Profile) -> float:
        """ΔD(r) of a ``resident``: what R without it takes away from f, summed over the sets in caps(r)."""
        return 0.0 - self.exchange((), (resident,))

    def exchange(self, entering: Iterable[Profile], leaving: Iterable[Profile]) -> float:
        """ΔD of an exchange: f after minus f before, summed over the sets in caps(x) of any x that comes or goes.

        Those ``leaving`` must be residents, and those ``entering`` must not.
        """
        coming, going = (sorted(some, key=attrgetter("id")) for some in (entering, leaving))
        before = {mask: self._all_miss(mask) for each in (*coming, *going) for mask, _ in self._sets(each, each.caps)}
        missed = {mask: self._missed.get(mask, 1.0) for mask in before}
        certain = {mask: self._certain[mask] for mask in before}
        for profiles, enters in ((going, False), (coming, True)):
            for profile in profiles:
                for mask, exercised in self._sets(profile, profile.signature):
                    if mask not in before:
                        continue
                    factor = 1.0 - self._flakiness * exercised
                    if not factor:
                        certain[mask] += 1 if enters else -1
                    elif enters:
                        missed[mask] *= factor
                    else:
                        missed[mask] /= factor
        return rounded(fsum([before[mask] - (0.0 if certain[mask] else missed[mask]) for mask in before]))

    def share(self, size: int, on_record: Iterable[Profile]) -> float:
        """D_k for k = ``size``: the mean of f over the sets of that size within caps(x) of some query ``on_record``.

        Queries on record include R.  It is 1 if there is no such set.
        """
        masks = {profile.caps & self._combinable for profile in on_record}
        sets = {sum(chosen) for mask in masks for chosen in combinations(bits_of(mask), size)}
        return rounded(fsum(map(self.shown, sets)) / len(sets)) if sets else 1.0

    def _all_miss(self, mask: int) -> float:
        return 0.0 if mask in self._certain else self._missed.get(mask, 1.0)

    def _sets(self, profile: Profile, within: int) -> Sequence[tuple[int, float]]:
        """The sets S of combinable capabilities of ``profile`` in ``within``, as masks, each with e(x, S)."""
        within &= self._combinable
        singles = [(1 << place, score) for place, score in profile.items if within >> place & 1]
        singles.sort()
        found = largest = singles
        for _ in range(1, self._most):
            # Bits ascend: each set is found once, and its product is taken in order of ids.
            largest = [(mask | bit, e * score) for mask, e in largest for bit, score in singles if bit > mask]
            found = found + largest
        return found
