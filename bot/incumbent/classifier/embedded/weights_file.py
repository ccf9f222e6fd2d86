"""The weights of multilingual-e5-small (Wang et al. 2024, arXiv 2402.05672) in four bits: reading their file.

A number in four bits is a multiple, −8 to 7, of the step of its block of 32 (``Q4_0``).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

BLOCK: Final = 32
"""How many neighbouring numbers of four bits have a step in common."""

_BLOCK_BYTES: Final = 2 + BLOCK // 2
_HEADER: Final = struct.Struct("<4sI7ifi")
_VOCABULARY: Final = struct.Struct("<5iQ")


@dataclass(frozen=True)
class Vocabulary:
    """The pieces of words by their places, with log-probabilities, and what single characters are replaced by.

    ``begin`` and ``end`` frame a text; they and ``unknown`` are no piece of any word.
    """

    pieces: dict[str, int]
    scores: list[float]
    replacements: dict[int, str]
    begin: int
    end: int
    unknown: int


class WeightsFile:
    """The file at ``path``, whose digest has been verified; read as far as it is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as file:
            header = _HEADER.unpack(file.read(_HEADER.size))
            self.width, self.layers, self.heads, self.inner = header[2:6]
            size, *signs, length = _VOCABULARY.unpack(file.read(_VOCABULARY.size))
            ends = np.frombuffer(file.read(4 * (size + 1)), "<u4")
            scores = np.frombuffer(file.read(4 * size), "<f4").tolist()
            text = file.read(length)
            number, length = struct.unpack("<iI", file.read(8))
            replacements = _replacements(file.read(length), number)
            (number,) = struct.unpack("<i", file.read(4))
            self._places = dict(_entry(file) for _ in range(number))
        pieces = _pieces(text, ends)
        self.vocabulary = Vocabulary(
            {piece: place for piece, place in pieces.items() if place not in signs},
            scores,
            replacements,
            begin=signs[0],
            end=signs[1],
            unknown=signs[3],
        )

    def numbers(self, name: str) -> NDArray[np.float32]:
        """A vector that is kept in single precision."""
        start, length = self._places[name]
        return np.fromfile(self._path, "<f4", length // 4, offset=start)

    def matrix(self, name: str, columns: int) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
        """Multiples (rows × blocks × 32) of steps (rows × blocks)."""
        start, length = self._places[name]
        return _blocks(
            np.fromfile(self._path, np.uint8, length, offset=start).reshape(-1, columns // BLOCK, _BLOCK_BYTES)
        )

    def words(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """What the embedding begins with: a row for each of ``rows``, the pieces of a text."""
        multiples, steps = _blocks(self._words[rows])
        return (multiples * steps[..., np.newaxis]).reshape(len(rows), -1)

    @cached_property
    def _words(self) -> NDArray[np.uint8]:
        # 54 MB, of which a text needs a few rows.
        start, length = self._places["emb.word"]
        shape = (length // (self.width // BLOCK * _BLOCK_BYTES), self.width // BLOCK, _BLOCK_BYTES)
        return np.memmap(self._path, np.uint8, "r", start, shape)


def _entry(file: Any) -> tuple[str, tuple[int, int]]:
    """The name of an array, and where in the file it begins and how many bytes it has."""
    (length,) = struct.unpack("<H", file.read(2))
    name = file.read(length).decode()
    _, _, start, size = struct.unpack("<BIQQ", file.read(21))
    return name, (start, size)


def _pieces(text: bytes, ends: NDArray[np.uint32]) -> dict[str, int]:
    """The pieces of words with their places; ``ends`` counts bytes."""
    begins = (np.frombuffer(text, np.uint8) & 0xC0) != 0x80
    places = np.concatenate([[0], np.cumsum(begins)])[ends].tolist()
    letters = text.decode()
    return {letters[start:end]: place for place, (start, end) in enumerate(pairwise(places))}


def _replacements(data: bytes, number: int) -> dict[int, str]:
    found, place = {}, 0
    for _ in range(number):
        character, count = struct.unpack_from("<IB", data, place)
        found[character] = data[place + 5 : place + 5 + 4 * count].decode("utf-32-le")
        place += 5 + 4 * count
    return found


def _blocks(raw: NDArray[np.uint8]) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Blocks as multiples of their steps: each is a step in half precision, and 16 bytes, the first 16 in low bits."""
    steps = np.ascontiguousarray(raw[..., :2]).view("<f2")[..., 0].astype(np.float64)
    packed = raw[..., 2:]
    multiples = np.concatenate([packed & 15, packed >> 4], axis=-1).view(np.int8)
    multiples -= 8
    return multiples, steps
