"""Which observed queries are off-distribution, and by which signals."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from bot.classifier.embedded.text import ReadText, TermVocabulary, character_terms, read_text, vocabulary_of, word_terms
from bot.classifier.model import Classification, Consensus
from bot.config import ExtensionSettings
from bot.curator.entry import Entry
from bot.extension.model import Observed, Signal
from bot.extension.reference import ReferenceExemplars
from bot.intake.query import Query
from bot.pipeline.submission import Submission
from bot.taxonomy.model import Taxonomy
from bot.text.compare import DECIMALS, rounded

EVEN: Final = 0.5
"""The probability at which the evidence for and against a capability is equal."""


def observe(
    query: Query, submission: Submission, found: Classification, taxonomy: Taxonomy, settings: ExtensionSettings
) -> Observed:
    """The classifier's result for ``query``, a query of ``submission``.

    Only the samples' majority and their mean probability are kept: they count as disagreeing on a capability if the
    mean is within ``settings.split`` of :data:`EVEN`.  Doubt about the called tool is not doubt about the capabilities
    that the query exercises.
    """
    judged = {item.id: found.judgements[item.id] for item in taxonomy.capabilities if item.is_judged_from_text}
    return Observed(
        id="/".join(submission.source(query.id)),
        customer=submission.customer,
        turns=query.turns,
        beliefs={name: Consensus(value=item.value, confidence=item.probability) for name, item in judged.items()},
        split=frozenset(
            name
            for name, item in judged.items()
            if item.path == "inference" and rounded(abs(item.confidence - EVEN)) < settings.split
        ),
        off_taxonomy=found.off_taxonomy,
    )


def observe_all(
    submission: Submission, found: Mapping[str, Classification], taxonomy: Taxonomy, settings: ExtensionSettings
) -> list[Observed]:
    """The results for the queries of ``submission``, without those that argue with the classifier.

    Such a query is for a person to judge, and not a basis for a capability.
    """
    queries = {query.id: query for query in submission.queries}
    return [
        observe(queries[id], submission, item, taxonomy, settings) for id, item in found.items() if not item.attempt
    ]


def observe_entry(entry: Entry, taxonomy: Taxonomy) -> Observed:
    """``entry`` with the classification in its file, which has no probabilities of capabilities that it does not
    exercise.
    """
    place = (entry.id,) if entry.source is None else entry.source.place
    scores = entry.scores
    return Observed(
        id="/".join(place),
        customer=place[0],
        turns=entry.turns,
        beliefs={
            item.id: Consensus(value=item.id in scores, confidence=scores.get(item.id, 0.0))
            for item in taxonomy.capabilities
            if item.is_judged_from_text
        },
    )


def probable(query: Observed, reference: ReferenceExemplars, settings: ExtensionSettings) -> frozenset[str]:
    """The distinguishing capabilities that are not improbable."""
    return frozenset(
        name
        for name, belief in query.beliefs.items()
        if name in reference.distinguishing and (belief.value or belief.confidence >= settings.low_probability)
    )


def signals_of(
    query: Observed, reference: ReferenceExemplars, resemblance: Resemblance, settings: ExtensionSettings
) -> tuple[Signal, ...]:
    """The signals of ``query`` alone, in the order of :class:`Signal`; those that it shares with others are
    left out.
    """
    torn = any(name in reference.distinguishing for name in query.split)
    holds = {
        Signal.LOW_PROBABILITY: not probable(query, reference, settings),
        Signal.OFF_TAXONOMY: bool(query.off_taxonomy),
        Signal.SPLIT_VOTE: torn,
        Signal.FAR: resemblance.nearest(query.turns)[0] < settings.far,
    }
    return tuple(signal for signal, true in holds.items() if true)


class Resemblance:
    """The similarity of texts to the exemplars: cosine similarity of weighted words and character sequences."""

    def __init__(self, exemplars: Sequence[tuple[str, ...]]) -> None:
        # As numbers from the start: as strings, the terms of thousands of texts would fill the memory.
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
            # Term by term; a matrix product may add in an order that depends on threads.
            held = slice(self._ends[term], self._ends[term + 1])
            similar[self._places[held]] += weight * self._weights[held]
        similar = np.round(similar, DECIMALS)
        if not similar.any():
            return 0.0, None
        best = int(similar.argmax())
        return float(similar[best]), best


@lru_cache(maxsize=4)
def resemblance_of(exemplars: tuple[tuple[str, ...], ...]) -> Resemblance:
    """The similarity of texts to ``exemplars``."""
    return Resemblance(exemplars)


def _terms(read: ReadText) -> Counter[str]:
    return word_terms(read) + character_terms(read)


def _weigh(vocabulary: TermVocabulary, counts: Counter[str]) -> tuple[list[int], list[float]]:
    """As :meth:`TermVocabulary.weigh`, but unknown terms count as well, so that a few shared words do not suffice."""
    places, weights = vocabulary.weigh(counts)
    unknown = sum(count for term, count in counts.items() if term not in vocabulary.places)
    known = sum(counts.values()) - unknown
    share = known / (known + unknown) if known else 0.0
    return places, [weight * share for weight in weights]
