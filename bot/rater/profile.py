"""Queries and residents as bit masks over capabilities, so that relational facts cost a few machine words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import fsum
from typing import NamedTuple

from bot.config import Curation
from bot.rater.combining import Novelty, bits_of
from bot.text.compare import all_rounded, normalise, rounded

# Masks whose subsets are kept: they mean nothing beyond themselves, so that all sets share them.
_REMEMBERED = 1 << 14


class Profile(NamedTuple):
    """A query or resident, prepared for comparison.

    ``places`` are the indices of its capabilities, ``values`` their rounded scores; ``signature`` and ``caps`` are bit
    masks of sig(x) and caps(x); ``combined`` is the mask of what takes part in combinations, ``novelty`` how;
    ``customer`` brought it; ``rank`` is the place in the order of admission (``-1``: not in R).
    """

    id: str
    text: str
    # Not pairs: as many objects would cost more to keep than all the rest.
    places: tuple[int, ...]
    values: tuple[float, ...]
    signature: int
    caps: int
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
        """Capability index and rounded score, of each capability of sig(x)."""
        return zip(self.places, self.values, strict=True)

    @property
    def top(self) -> float:
        """The highest score; 0 without any."""
        return max(self.values, default=0.0)

    def score(self, index: int) -> float:
        """The rounded score of the capability with this index; it must be in the signature."""
        return self.values[self.places.index(index)]


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
        self._trial = config.trial
        # What may be part of a combination: alone, everything; with others, all but base choices.
        self._combining = sum(
            1 << index for index, name in enumerate(self.names) if self.novelty == 1 or name not in config.base
        )
        self.named: Callable[[int], tuple[str, ...]] = lru_cache(maxsize=None)(self._named)

    def profile(
        self,
        id: str,
        turns: Sequence[str],
        scores: Mapping[str, float],
        customer: str | None = None,
        rank: int = -1,
        pin: str | None = None,
    ) -> Profile:
        """``id`` with its ``scores``, every capability of which must be known here.

        Those of capabilities on trial are left out: nothing rests on them.
        """
        bars = self.bars
        if not self._trial.isdisjoint(scores):
            scores = {name: score for name, score in scores.items() if name not in self._trial}
        places = tuple(map(self.index.__getitem__, scores))
        values = all_rounded(scores.values())
        signature = caps = 0
        for place, score in zip(places, values, strict=True):
            bit = 1 << place
            signature |= bit
            if score >= bars[place]:
                caps |= bit
        return Profile(
            id,
            normalise(turns),
            places,
            values,
            signature,
            caps,
            caps.bit_count(),
            rounded(fsum(scores.values())),
            self.combined(signature, caps),
            self.novelty,
            customer,
            rank,
            pin,
        )

    def again(self, profile: Profile) -> Profile:
        """``profile``, made under other knobs, under these."""
        bars = self.bars
        caps = 0
        for index, score in profile.items:
            if score >= bars[index]:
                caps |= 1 << index
        if caps == profile.caps:
            return profile
        return profile._replace(caps=caps, breadth=caps.bit_count(), combined=self.combined(profile.signature, caps))

    def combined(self, signature: int, caps: int) -> int:
        """The mask of what takes part in combinations."""
        return signature if self._whole else self.combinable(caps)

    def combinable(self, mask: int) -> int:
        """What of ``mask`` may take part in combinations."""
        return mask if self._whole else mask & self._combining

    def carried(self, profile: Profile) -> frozenset[int]:
        """Every combination, of any query, that ``profile`` carries."""
        if self.novelty == "signature":
            return profile.combinations
        return _all_subsets(profile.combined, self.novelty)

    def _named(self, mask: int) -> tuple[str, ...]:
        return tuple([self.names[index] for index in bits(mask)])


@lru_cache(maxsize=_REMEMBERED)
def _subsets(caps: int, strength: int) -> frozenset[int]:
    return _masks(caps, min(strength, caps.bit_count())) if caps else frozenset()


@lru_cache(maxsize=_REMEMBERED)
def _all_subsets(caps: int, strength: int) -> frozenset[int]:
    # A query with fewer than t competent capabilities has a smaller combination, which any superset carries.
    return frozenset().union(*(_masks(caps, size) for size in range(1, strength + 1)))


def _masks(caps: int, size: int) -> frozenset[int]:
    return frozenset(map(sum, combinations(bits_of(caps), size)))


def bits(mask: int) -> list[int]:
    """The indices of the bits that are set in ``mask``, ascending."""
    return [bit.bit_length() - 1 for bit in bits_of(mask)]
