"""Texts as pieces of words: the likeliest cut by a unigram model (Kudo 2018, arXiv 1804.10959)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from incumbent.classifier.embedded.weights_file import Vocabulary

BORDER: Final = "\u2581"
"""Stands for the blank before a word; no piece has it but at its beginning."""

_PREFIX: Final = "query: "
"""What the model was taught to expect before a text that is compared with its like."""

_KEPT_WORDS: Final = 16_384
"""Of how many words, those used last, the pieces are kept."""

_WORD: Final = re.compile(f"{BORDER}?[^{BORDER}]{{1,100}}")
"""No piece has a border within, so that words are cut one by one; a longer one counts as several."""

_UNKNOWN_COST: Final = 10.0
"""How much less likely than the least likely piece an unknown character is."""


class Tokenizer:
    """Cuts texts into the pieces of ``vocabulary``."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._most = max(map(len, vocabulary.pieces))
        self._unknown = min(vocabulary.scores) - _UNKNOWN_COST
        self._known = lru_cache(maxsize=_KEPT_WORDS)(self._pieces)

    def pieces(self, text: str, limit: int) -> list[int]:
        """The first pieces of ``text`` with the signs for its beginning and end, ``limit`` of them at most."""
        found = [self._vocabulary.begin]
        read = (_PREFIX + text).translate(self._vocabulary.replacements)
        for word in _WORD.findall(f" {read}".replace(" ", BORDER)):
            found += self._known(word)
            if len(found) >= limit:
                break
        return [*found[: limit - 1], self._vocabulary.end]

    def _pieces(self, word: str) -> list[int]:
        """The likeliest cut of ``word``; of equally likely ones that whose last piece is longest."""
        known, scores, unknown = self._vocabulary.pieces, self._vocabulary.scores, self._vocabulary.unknown
        size = len(word)
        best = [0.0, *[float("-inf")] * size]
        last = [(0, unknown)] * (size + 1)
        for start in range(size):
            so_far = best[start]
            for end in range(start + 1, min(size, start + self._most) + 1):
                piece = known.get(word[start:end])
                if piece is not None and so_far + scores[piece] > best[end]:
                    best[end], last[end] = so_far + scores[piece], (start, piece)
            if so_far + self._unknown > best[start + 1]:
                best[start + 1], last[start + 1] = so_far + self._unknown, (start, unknown)
        found = []
        while size:
            size, piece = last[size]
            found.append(piece)
        return found[::-1]
