"""Which observed queries are off-distribution, and by which signals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from bot.classifier.embedded.terms import Vocabulary, character_terms, learn_vocabulary, word_terms
from bot.classifier.embedded.text import ReadText, read_text
from bot.extension.model import Observed, Signal
from bot.extension.reference import Reference
from bot.learning_settings import ExtensionSettings
from bot.rounding import DECIMALS


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
        terms = [_terms(read_text(turns)) for turns in exemplars]
        self._vocabulary = learn_vocabulary(terms, 1)
        holders: dict[int, list[tuple[int, float]]] = {}
        for place, counts in enumerate(terms):
            for term, weight in zip(*self._vocabulary.weigh(counts), strict=True):
                holders.setdefault(term, []).append((place, weight))
        self._holders = {
            term: (np.array([place for place, _ in own], dtype=np.intp), np.array([weight for _, weight in own]))
            for term, own in holders.items()
        }
        self._size = len(exemplars)

    def nearest(self, turns: tuple[str, ...]) -> tuple[float, int | None]:
        """The greatest similarity to an exemplar, in [0, 1], and that exemplar's place, the first of equals.

        ``(0.0, None)`` if none has anything in common with ``turns``.
        """
        similar = np.zeros(self._size)
        for term, weight in zip(*_weigh(self._vocabulary, _terms(read_text(turns))), strict=True):
            # Term by term, and no matrix product, which may add in an order that depends on threads.
            places, weights = self._holders[term]
            similar[places] += weight * weights
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
