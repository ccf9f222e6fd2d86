"""From a query to a sparse row of numbers: structure, cues, weighted words and character sequences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final

from bot.classifier.embedded.structure import NAMES, structure
from bot.classifier.embedded.terms import Vocabulary, character_terms, learn_vocabulary, word_terms
from bot.classifier.embedded.text import ReadText
from bot.taxonomy.patterns import Pattern, compile_pattern

# How much each block counts beside the terms, each of whose two blocks has length 1.
STRUCTURE_SCALE: Final = 0.2
STRUCTURE_LIMIT: Final = 3.0
CUE_SCALE: Final = 1.2
TURNS_SCALE: Final = 1.5
LEAST_WORDS: Final = 1
LEAST_CHARACTERS: Final = 2
"""In how many exemplars a word or pair of words, or a character sequence, must stand to be a feature."""

Row = tuple[list[int], list[float]]
"""A sparse row: places, ascending, and values."""


@dataclass(frozen=True)
class Cues:
    """The cue patterns of some capabilities: for each, whether one matches, and how many do."""

    patterns: tuple[tuple[Pattern, ...], ...]

    @staticmethod
    def of(patterns: Iterable[Iterable[str]]) -> Cues:
        """Compiled patterns; raises :class:`bot.taxonomy.patterns.PatternError`, which loading a taxonomy rules out."""
        return Cues(tuple(tuple(map(compile_pattern, own)) for own in patterns))

    @property
    def width(self) -> int:
        """The number of features."""
        return 2 * len(self.patterns)

    def counts(self, text: str) -> list[int]:
        """How many patterns of each capability match somewhere in ``text``."""
        encoded = text.encode("utf-8", "replace")
        return [sum(pattern.search(encoded) is not None for pattern in own) for own in self.patterns]


@dataclass(frozen=True)
class FeatureSpace:
    """What the places of a row mean: learnt once from the exemplars, then fixed.

    ``centre`` and ``spread`` standardise the structural features.
    """

    cues: Cues
    centre: tuple[float, ...]
    spread: tuple[float, ...]
    words: Vocabulary
    characters: Vocabulary

    @property
    def width(self) -> int:
        """The number of features."""
        return len(NAMES) + 1 + self.cues.width + len(self.words.terms) + len(self.characters.terms)

    def row(self, read: ReadText) -> Row:
        """The features of a query; the same query gives the same bits."""
        places: list[int] = []
        values: list[float] = []
        offset = 0
        for place, (value, centre, spread) in enumerate(zip(structure(read), self.centre, self.spread, strict=True)):
            standard = (value - centre) / spread
            places.append(place)
            values.append(STRUCTURE_SCALE * max(-STRUCTURE_LIMIT, min(STRUCTURE_LIMIT, standard)))
        offset += len(NAMES)
        if len(read.turns) > 1:
            places.append(offset)
            values.append(TURNS_SCALE)
        offset += 1
        for place, count in enumerate(self.cues.counts(read.text)):
            if count:
                places.extend((offset + 2 * place, offset + 2 * place + 1))
                values.extend((CUE_SCALE, CUE_SCALE * min(count, 3) / 3))
        offset += self.cues.width
        for vocabulary, counts in ((self.words, word_terms(read)), (self.characters, character_terms(read))):
            own_places, own_values = vocabulary.weigh(counts)
            places.extend(offset + place for place in own_places)
            values.extend(own_values)
            offset += len(vocabulary.terms)
        return places, values


def learn_features(exemplars: Sequence[ReadText], cues: Cues) -> FeatureSpace:
    """The feature space of ``exemplars``; deterministic."""
    columns = list(zip(*(structure(read) for read in exemplars), strict=True)) or [(0.0,)] * len(NAMES)
    centre = [sum(column) / len(column) for column in columns]
    spread = [
        sqrt(sum((value - middle) ** 2 for value in column) / len(column)) or 1.0
        for column, middle in zip(columns, centre, strict=True)
    ]
    return FeatureSpace(
        cues=cues,
        centre=tuple(centre),
        spread=tuple(spread),
        words=learn_vocabulary([word_terms(read) for read in exemplars], LEAST_WORDS),
        characters=learn_vocabulary([character_terms(read) for read in exemplars], LEAST_CHARACTERS),
    )
