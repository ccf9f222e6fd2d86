"""Which combinations of capabilities somebody carries, in a form that grows and is asked at little cost.

Every combination is a *rest* and one *end*: its lowest bit, and the others.  So the combinations that a query shares a
rest for are looked up at once, and a resident is entered by its rests, which are far fewer than what it carries.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Literal

Novelty = Literal["signature"] | int


class Carried:
    """The combinations that some of those added carry (semantics, section 4).

    All masks are of what may be combined: the whole signature, or the competent capabilities that are no base choices.
    """

    def __init__(self, novelty: Novelty) -> None:
        self._novelty = novelty
        # Rest → the ends with which somebody carries it.
        self._ends: dict[int, int] = {}

    def copy(self) -> Carried:
        """Another one, which grows by itself."""
        other = Carried(self._novelty)
        other._ends = dict(self._ends)
        return other

    def add(self, mask: int) -> None:
        """Somebody carries what is in ``mask``."""
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
        """The combinations of ``mask`` that nobody carries, as rests, each with all of its ends (at least one)."""
        ends, novelty = self._ends, self._novelty
        if novelty == "signature" or mask.bit_count() <= novelty:
            low = mask & -mask
            return [(mask ^ low, low)] if low & ~ends.get(mask ^ low, 0) else []
        if novelty == 2:
            # As below, without lists: it is what is shipped, and asked most.
            found = []
            left = mask & mask - 1
            while left:
                rest = left & -left
                left ^= rest
                if free := mask & (rest - 1) & ~ends.get(rest, 0):
                    found.append((rest, free))
            return found
        rests: Iterable[int] = map(sum, combinations(bits_of(mask), novelty - 1))
        return [
            (rest, free) for rest in rests if (free := mask & ((rest & -rest) - 1 if rest else -1) & ~ends.get(rest, 0))
        ]

    def opened_by(self, bits: int, mask: int) -> int:
        """Which of ``bits`` complete, each with ``mask`` alone, a combination that no one carries.

        Each combination of ``mask`` itself is carried.
        """
        if self._novelty == 2 and mask:
            ends = self._ends
            return sum([bit for bit in bits_of(bits) if mask & ~ends.get(bit, 0)])
        return sum([bit for bit in bits_of(bits) if self.lacking(mask | bit)])


def counted(lacking: Iterable[tuple[int, int]]) -> int:
    """How many combinations these are."""
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
