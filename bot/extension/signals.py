"""Which observed queries are off-distribution, and by which signals."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from bot.classifier.embedded.text import ReadText, Vocabulary, character_terms, read_text, vocabulary_of, word_terms
from bot.config import ExtensionSettings
from bot.extension.model import Observed, Signal
from bot.extension.reference import Reference
from bot.text.compare import DECIMALS


def probable(query: Observed, reference: Reference, settings: ExtensionSettings) -> frozenset[str]:
    """The capabilities that tell queries apart and are not improbable."""
    return frozenset(
        name
        for name, belief in query.beliefs.items()
        if name in reference.distinguishing and (belief.value or belief.confidence >= settings.low_probability)
    )


def signals_of(
    query: Observed, reference: Reference, resemblance: Resemblance, settings: ExtensionSettings
) -> tuple[Signal, ...]:
    """The signals of ``query`` alone, in the order of :class:`Signal`; what it shares with others is not among them."""
    torn = any(name in reference.distinguishing for name in query.split)
    holds = {
        Signal.LOW_PROBABILITY: not probable(query, reference, settings),
        Signal.OFF_TAXONOMY: bool(query.off_taxonomy),
        Signal.SPLIT_VOTE: torn,
        Signal.FAR: resemblance.nearest(query.turns)[0] < settings.far,
    }
    return tuple(signal for signal, true in holds.items() if true)


class Resemblance:
    """How much texts resemble the exemplars: cosine similarity of weighted words and character sequences."""

    def __init__(self, exemplars: Sequence[tuple[str, ...]]) -> None:
        # As numbers from the start: the terms of thousands of texts fill the memory otherwise.
        numbers: dict[str, int] = {}
        counted = []
        for turns in exemplars:
            counts = _terms(read_text(turns))
            own = array("i", (numbers.setdefault(term, len(numbers)) for term in counts))
            counted.append((own, array("i", counts.values())))
        self._size = len(counted)
        names = list(numbers)
        frequencies = np.bincount([number for own, _ in counted for number in own], minlength=len(names))
        self._vocabulary = vocabulary_of(dict(zip(names, frequencies.tolist(), strict=True)), self._size, 1)
        terms, places, weights = array("i"), array("i"), array("d")
        for place, (own, counts_of) in enumerate(counted):
            text = Counter(dict(zip(map(names.__getitem__, own), counts_of, strict=True)))
            found, weighed = self._vocabulary.weigh(text)
            terms.extend(found)
            weights.extend(weighed)
            places.extend([place] * len(found))
        order = np.argsort(np.asarray(terms), kind="stable")
        self._ends = np.searchsorted(np.asarray(terms)[order], np.arange(len(names) + 1))
        self._places, self._weights = np.asarray(places)[order], np.asarray(weights)[order]

    def nearest(self, turns: tuple[str, ...]) -> tuple[float, int | None]:
        """The greatest similarity to an exemplar, in [0, 1], and that exemplar's place, the first of equals.

        ``(0.0, None)`` if none has anything in common with ``turns``.
        """
        similar = np.zeros(self._size)
        for term, weight in zip(*_weigh(self._vocabulary, _terms(read_text(turns))), strict=True):
            # Term by term, and no matrix product, which may add in an order that depends on threads.
            held = slice(self._ends[term], self._ends[term + 1])
            similar[self._places[held]] += weight * self._weights[held]
        similar = np.round(similar, DECIMALS)
        if not similar.any():
            return 0.0, None
        best = int(similar.argmax())
        return float(similar[best]), best


@lru_cache(maxsize=4)
def resemblance_of(exemplars: tuple[tuple[str, ...], ...]) -> Resemblance:
    """How much texts resemble ``exemplars``."""
    return Resemblance(exemplars)


def _terms(read: ReadText) -> Counter[str]:
    return word_terms(read) + character_terms(read)


def _weigh(vocabulary: Vocabulary, counts: Counter[str]) -> tuple[list[int], list[float]]:
    """As :meth:`Vocabulary.weigh`; what no exemplar holds counts as well, so that a few shared words do not suffice."""
    places, weights = vocabulary.weigh(counts)
    unknown = sum(count for term, count in counts.items() if term not in vocabulary.places)
    known = sum(counts.values()) - unknown
    share = known / (known + unknown) if known else 0.0
    return places, [weight * share for weight in weights]
