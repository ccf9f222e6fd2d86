"""Profiles: queries and entries as bit masks over capabilities, so that relational facts are cheap."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, compress
from math import fsum
from typing import Final, Literal, NamedTuple, TypeVar

from incumbent.rater.model import RatedEntry
from incumbent.taxonomy.config import Curation
from incumbent.text.compare import all_rounded, normalise, rounded, seconds

Novelty = Literal["signature"] | int
Item = TypeVar("Item")


class CarriedCombinations:
    """The combinations that the added queries carry (semantics, section 4).

    All masks contain combinable capabilities only: the whole signature, or those of the competent
    capabilities.
    """

    def __init__(self, novelty: Novelty) -> None:
        self._novelty = novelty
        # A combination is its lowest bit, the end, and its rest.  Rest → the ends of carried combinations.
        self._ends: dict[int, int] = {}

    def copy(self) -> CarriedCombinations:
        """An independent copy."""
        other = CarriedCombinations(self._novelty)
        other._ends = dict(self._ends)
        return other

    def add(self, mask: int) -> None:
        """Add the combinations in ``mask``."""
        ends = self._ends
        if self._novelty == "signature":
            low = mask & -mask
            ends[mask ^ low] = ends.get(mask ^ low, 0) | low
            return
        ends[0] = ends.get(0, 0) | mask
        singles = bits_of(mask)
        for size in range(1, self._novelty):
            for rest in singles if size == 1 else map(sum, combinations(singles, size)):
                ends[rest] = ends.get(rest, 0) | mask

    def lacking(self, mask: int) -> list[tuple[int, int]]:
        """The combinations of ``mask`` that are not carried, as rests, each with all of its ends (at least one)."""
        ends, novelty = self._ends, self._novelty
        if novelty == "signature" or mask.bit_count() <= novelty:
            low = mask & -mask
            return [(mask ^ low, low)] if low & ~ends.get(mask ^ low, 0) else []
        if novelty == 2:
            # The same as below without lists: this is the shipped value, and the most frequent case.
            found = []
            left = mask & mask - 1
            while left:
                rest = left & -left
                left ^= rest
                if free := mask & (rest - 1) & ~ends.get(rest, 0):
                    found.append((rest, free))
            return found
        rests: Iterable[int] = map(sum, combinations(bits_of(mask), novelty - 1))
        # Below the lowest bit of a rest; all, if it is empty.
        return [(rest, free) for rest in rests if (free := mask & ((rest & -rest) - 1) & ~ends.get(rest, 0))]


def counted(lacking: Iterable[tuple[int, int]]) -> int:
    """The number of these combinations."""
    return sum([ends.bit_count() for _, ends in lacking])


def spelled_out(lacking: Iterable[tuple[int, int]]) -> frozenset[int]:
    """The masks of these combinations."""
    return frozenset([rest | end for rest, ends in lacking for end in bits_of(ends)])


def bits_of(mask: int) -> list[int]:
    """The single bits of ``mask``, ascending."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low)
        mask ^= low
    return found


# Size of the caches of subsets.  Subsets depend on the mask alone, so all live sets share them.
_REMEMBERED = 1 << 14


class Profile(NamedTuple):
    """A query or entry, prepared for comparison.

    ``places`` are the indices of its capabilities, ``values`` their rounded scores; ``counted`` is what these count
    for champions and wins, where the age of an entry matters (option ``recency``).  ``signature`` and ``caps`` are bit
    masks of sig(x) and caps(x), ``by_rule`` of its rule values, and ``contested`` of the capabilities that it may win
    or be champion of; ``combined`` is the mask of its combinable capabilities, ``novelty`` the strength of
    combinations; ``rank`` is the position in the order of admission (``-1``: not in R).
    """

    id: str
    text: str
    # Two tuples, not pairs, which would need more memory than all the rest.
    places: tuple[int, ...]
    values: tuple[float, ...]
    counted: tuple[float, ...]
    signature: int
    caps: int
    by_rule: int
    contested: int
    breadth: int
    total: float
    combined: int
    novelty: Novelty
    customer: str | None
    rank: int
    pin: str | None

    @property
    def combinations(self) -> frozenset[int]:
        """combinations(x) as masks (semantics, section 4)."""
        if self.novelty == "signature":
            return frozenset((self.combined,)) if self.combined else frozenset()
        return _subsets(self.combined, self.novelty)

    @property
    def items(self) -> Iterable[tuple[int, float]]:
        """Index and rounded score of each capability of sig(x)."""
        return zip(self.places, self.values, strict=True)

    @property
    def top(self) -> float:
        """The highest score; 0 without scores."""
        return max(self.values) if self.values else 0.0

    def score(self, index: int) -> float:
        """The rounded score of the capability with this index; it must be in the signature."""
        return self.values[self.places.index(index)]

    def counted_score(self, index: int) -> float:
        """What :meth:`score` counts for the title of champion."""
        return self.counted[self.places.index(index)]


class Capabilities:
    """The capabilities of one comparison, in order, with their knobs by index."""

    def __init__(self, names: Iterable[str], config: Curation) -> None:
        self.names: tuple[str, ...] = tuple(sorted(set(names)))
        self.index: dict[str, int] = {name: index for index, name in enumerate(self.names)}
        self.bars = [rounded(config.competence_bar(name)) for name in self.names]
        self.margins = [config.winning_margin(name) for name in self.names]
        self.floors = [config.redundancy_floor(name) for name in self.names]
        self.novelty: Novelty = config.options.novelty
        self._whole = self.novelty == "signature"
        self.fills = config.options.fill_floor
        self.scored = config.options.rule_values == "scored"
        self._win_needs_bar = config.options.win_needs_bar
        # Capabilities whose floor a customer who covers them does not fill.
        self.filled_by_others = sum(
            1 << index for index, name in enumerate(self.names) if name not in config.fill_from_any
        )
        self.trial = config.trial
        # Combinable capabilities: for strength 1 all.
        self.combining = sum(
            1 << index for index, name in enumerate(self.names) if self.novelty == 1 or name not in config.uncombinable
        )
        self.named: Callable[[int], tuple[str, ...]] = lru_cache(maxsize=None)(self._named)

    def profile(
        self,
        id: str,
        turns: Sequence[str],
        scores: Mapping[str, float],
        by_rule: Collection[str] = (),
        customer: str | None = None,
        rank: int = -1,
        pin: str | None = None,
    ) -> Profile:
        """The profile of ``id`` with its ``scores``, whose capabilities must all be known here.

        ``by_rule`` are those that a rule decided.
        Scores of capabilities on trial are left out, since verdicts do not use them.
        """
        bars = self.bars
        if not self.trial.isdisjoint(scores):
            scores = {name: score for name, score in scores.items() if name not in self.trial}
        index = self.index
        places = tuple(map(index.__getitem__, scores))
        values = all_rounded(scores.values())
        signature = caps = 0
        for place, score in zip(places, values, strict=True):
            bit = 1 << place
            signature |= bit
            if score >= bars[place]:
                caps |= bit
        ruled = 0
        for name in by_rule:
            if name in scores:
                ruled |= 1 << index[name]
        return Profile(
            id,
            normalise(turns),
            places,
            values,
            values,
            signature,
            caps,
            ruled,
            self._contested(signature, caps, ruled),
            caps.bit_count(),
            rounded(fsum(scores.values())),
            self.combined(signature, caps),
            self.novelty,
            customer,
            rank,
            pin,
        )

    def again(self, profile: Profile) -> Profile:
        """``profile``, made with other knobs, under these knobs."""
        bars = self.bars
        caps = 0
        for index, score in profile.items:
            if score >= bars[index]:
                caps |= 1 << index
        if caps == profile.caps:
            return profile
        return profile._replace(
            caps=caps,
            contested=self._contested(profile.signature, caps, profile.by_rule),
            breadth=caps.bit_count(),
            combined=self.combined(profile.signature, caps),
        )

    def _contested(self, signature: int, caps: int, by_rule: int) -> int:
        """The mask of what may be won or be the champion's (semantics, section 4)."""
        contested = caps if self._win_needs_bar else signature
        return contested if self.scored else contested & ~by_rule

    def aged(self, profile: Profile, weight: float) -> Profile:
        """``profile`` of an entry whose inferred scores count ``weight`` times as much as they are."""
        counted = [
            value if profile.by_rule >> index & 1 else value * weight
            for index, value in zip(profile.places, profile.values, strict=True)
        ]
        return profile._replace(counted=all_rounded(counted))

    def combined(self, signature: int, caps: int) -> int:
        """The mask of the combinable capabilities."""
        return signature if self._whole else self.combinable(caps)

    def combinable(self, mask: int) -> int:
        """The combinable capabilities of ``mask``."""
        return mask if self._whole else mask & self.combining

    def carried(self, profile: Profile) -> frozenset[int]:
        """Every combination that ``profile`` carries, also smaller ones of other queries."""
        if self.novelty == "signature":
            return profile.combinations
        return _all_subsets(profile.combined, self.novelty)

    def _named(self, mask: int) -> tuple[str, ...]:
        return selected(self.names, mask)


@lru_cache(maxsize=_REMEMBERED)
def _subsets(caps: int, strength: int) -> frozenset[int]:
    return _masks(caps, min(strength, caps.bit_count())) if caps else frozenset()


@lru_cache(maxsize=_REMEMBERED)
def _all_subsets(caps: int, strength: int) -> frozenset[int]:
    # A query with fewer than t competent capabilities has a smaller combination; any superset carries it.
    return frozenset().union(*(_masks(caps, size) for size in range(1, strength + 1)))


def _masks(caps: int, size: int) -> frozenset[int]:
    return frozenset(map(sum, combinations(bits_of(caps), size)))


_DIGITS: Final = bytes.maketrans(b"01", b"\0\1")


def selected(items: Iterable[Item], mask: int) -> tuple[Item, ...]:
    """The ``items`` at the places of the set bits of ``mask``."""
    return tuple(compress(items, bin(mask)[:1:-1].encode().translate(_DIGITS)))


def bits(mask: int) -> list[int]:
    """The indices of the set bits of ``mask``, ascending."""
    return [bit.bit_length() - 1 for bit in bits_of(mask)]


_DAY: Final = 24 * 60 * 60


def ages(residents: Sequence[RatedEntry]) -> list[float]:
    """The age of each of the ``residents``, in days: the time from its admission to the newest admission in R.

    Those that are about to enter (:func:`incumbent.consolidator.admissions.resident`) have no time yet; their age is 0.
    """
    moments = [_seconds(resident.admitted_at) for resident in residents]
    newest = max((moment for moment in moments if moment is not None), default=0.0)
    return [0.0 if moment is None else (newest - moment) / _DAY for moment in moments]


def weights(residents: Sequence[RatedEntry], half_life: float | None) -> Iterable[float]:
    """What one inferred point of each resident's scores counts, in (0, 1] (option ``recency``; semantics, section 7).

    ``half_life`` is in days; with ``None`` each counts 1.
    """
    if half_life is None:
        return [1.0] * len(residents)
    return [2.0 ** (-age / half_life) for age in ages(residents)]


def _seconds(admitted_at: str) -> float | None:
    try:
        return seconds(admitted_at)
    except ValueError:
        return None
