"""How languages are written: costs of short byte sequences, from the data file ``languages.npz``.

The costs are those of py3langid 0.4 (Lui & Baldwin 2012, "langid.py"; BSD-3-Clause), a naive Bayes model over the byte
sequences of 139 languages, without regard to case, reduced to the sequences that tell languages of one script apart.
``python -m bench familiarity --table`` writes the file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

TABLE: Final = Path(__file__).with_name("languages.npz")
NO_LANGUAGE: Final = "zxx"
"""The class of identifiers, numbers and markup (ISO 639-2)."""

LONGEST: Final = 6
"""Bytes in the longest sequence of the file."""

WEIGHT_STEPS: Final = 64
"""How finely ln(1 + count) is counted."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How well each of ``languages`` explains a text: ``scores`` in nats, the greater the better, over √bytes.

    ``matched``: mean length in bytes of what is known of the text before each letter's last byte: short where letters
    follow each other as in no language.
    """

    languages: tuple[str, ...]
    scores: tuple[float, ...]
    matched: float

    @property
    def best(self) -> str:
        """The likeliest language, or :data:`NO_LANGUAGE`."""
        return max(zip(self.scores, self.languages, strict=True))[1]

    def margin(self, seen: Collection[str]) -> float | None:
        """By how much the likeliest of ``seen`` is likelier than the likeliest other one; ``None`` without either."""
        pairs = [pair for pair in zip(self.languages, self.scores, strict=True) if pair[0] != NO_LANGUAGE]
        own = [score for language, score in pairs if language in seen]
        others = [score for language, score in pairs if language not in seen]
        return max(own) - max(others) if own and others else None


@dataclass(frozen=True, eq=False, slots=True)
class LanguageTable:
    """The languages of one script.

    ``keys``: the known sequences as numbers (:func:`sequence_key`), ascending; ``costs``: for each, what it costs every
    language beyond the one it is most frequent in, in ``step`` nats, two languages to a byte.
    """

    languages: tuple[str, ...]
    keys: NDArray[np.uint64]
    costs: NDArray[np.uint8]
    step: float

    def likeness(self, text: str) -> Likeness | None:
        """How like its languages a text in folded case is; ``None`` if it has no known sequence."""
        data = np.frombuffer(f" {text} ".encode(errors="replace"), np.uint8)
        places, lengths = self._longest(data)
        letters = (data >= 0x80) | ((data >= ord("a")) & (data <= ord("z")))
        found, counts = np.unique(places[places >= 0], return_counts=True)
        if not found.size:
            return None
        packed = self.costs[found]
        # Whole numbers: sums of them are the same on every machine.
        weights = np.rint(np.log1p(counts) * WEIGHT_STEPS).astype(np.int32)
        sums = np.empty(2 * packed.shape[1], np.int32)
        sums[::2] = weights @ (packed >> 4).astype(np.int32)
        sums[1::2] = weights @ (packed & 15).astype(np.int32)
        scores = sums[: len(self.languages)] * (-self.step / WEIGHT_STEPS / sqrt(len(data)))
        merged: dict[str, float] = {}
        for language, score in zip(self.languages, scores.tolist(), strict=True):
            if score >= merged.get(language, score):
                merged[language] = score
        return Likeness(tuple(merged), tuple(merged.values()), float(lengths[letters].mean()))

    def _longest(self, data: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.int8]]:
        """For each byte the place of the longest known sequence that ends with it (−1: none), and its length."""
        size = len(data)
        places = np.full(size, -1, np.intp)
        lengths = np.zeros(size, np.int8)
        # A row for each length; no sequence has the number 0.
        wanted = np.zeros((LONGEST, size), np.uint64)
        numbers = np.zeros(size, np.uint64)
        wide = data.astype(np.uint64)
        for length in range(1, min(LONGEST, size) + 1):
            numbers[length - 1 :] |= wide[: size - length + 1] << np.uint64(8 * (length - 1))
            wanted[length - 1, length - 1 :] = numbers[length - 1 :] | np.uint64(length << 8 * LONGEST)
        flat = wanted.reshape(-1)
        flat_places = np.flatnonzero(_marks(self)[_marked(flat)])
        found = np.searchsorted(self.keys, flat[flat_places])
        known = self.keys[np.minimum(found, len(self.keys) - 1)] == flat[flat_places]
        rows, ends = np.divmod(flat_places[known], size)
        # Of several that end in one place the last is the longest.
        places[ends] = found[known]
        lengths[ends] = rows + 1
        return places, lengths


_MARK_BITS: Final = 20
_SPREAD: Final = np.uint64(0x9E37_79B9_7F4A_7C15)


def _marked(keys: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Which mark each of ``keys`` has; several may have the same."""
    return ((keys * _SPREAD) >> np.uint64(64 - _MARK_BITS)).astype(np.intp)


@cache
def _marks(table: LanguageTable) -> NDArray[np.bool_]:
    """The marks that any key of ``table`` has: most sequences of a text have none, which is seen sooner than sought."""
    found = np.zeros(1 << _MARK_BITS, bool)
    found[_marked(table.keys)] = True
    return found


def sequence_key(sequence: bytes) -> int:
    """A number for a sequence of at most :data:`LONGEST` bytes: its length, then its bytes."""
    return len(sequence) << 8 * LONGEST | int.from_bytes(sequence)


@cache
def load_tables() -> Mapping[str, LanguageTable]:
    """The tables of the shipped file, by script."""
    with np.load(TABLE, allow_pickle=False) as file:
        scripts = bytes(file["scripts"]).decode().split()
        step = float(file["step"])
        return {
            script: LanguageTable(
                tuple(bytes(file[f"{script}.languages"]).decode().split()),
                file[f"{script}.keys"],
                file[f"{script}.costs"],
                step,
            )
            for script in scripts
        }
