"""Who, of those that wait for a person, offers what: asked at little cost, however many wait."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from typing import Final

_DIGITS: Final = bytes.maketrans(b"01", b"\0\1")


class Offers:
    """Masks of capabilities, or of combinations, and the ids of those who offer them, in the order they came."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        # Mask → who offers it, as the bits of one number; and those who came since somebody asked last.
        self._known: dict[int, int] = {}
        self._latest: dict[int, list[int]] = {}
        # Most who ask are told of the same ones.
        self._named: dict[int, tuple[str, ...]] = {}

    def add(self, id: str, masks: Iterable[int]) -> None:
        """``id`` offers these ``masks``, after all others."""
        place = len(self._ids)
        self._ids.append(id)
        for mask in masks:
            self._latest.setdefault(mask, []).append(place)

    def of(self, masks: Iterable[int]) -> tuple[str, ...]:
        """Who offers at least one of these ``masks``."""
        union = 0
        for mask in masks:
            union |= self._places(mask)
        if union not in self._named:
            digits = bin(union)[:1:-1].encode().translate(_DIGITS)
            self._named[union] = tuple(compress(self._ids, digits))
        return self._named[union]

    def _places(self, mask: int) -> int:
        if latest := self._latest.pop(mask, None):
            bits = bytearray(latest[-1] // 8 + 1)
            for place in latest:
                bits[place // 8] |= 1 << place % 8
            self._known[mask] = self._known.get(mask, 0) | int.from_bytes(bits, "little")
        return self._known.get(mask, 0)
