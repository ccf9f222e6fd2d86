"""Which observed queries are off-distribution, and by which signals."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import Final

import numpy as np

from incumbent.classifier.embedded.text import (
    ReadText,
    TermVocabulary,
    character_terms,
    damped,
    read_text,
    vocabulary_of,
    word_terms,
)
from incumbent.classifier.model import Classification, Consensus
from incumbent.curator.entry import Entry
from incumbent.extension.model import Observed, Signal
from incumbent.extension.reference import ReferenceExemplars
from incumbent.intake.query import Query
from incumbent.pipeline.submission import Submission
from incumbent.taxonomy.config import ExtensionSettings
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import DECIMALS, rounded

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
        numbers: defaultdict[str, int] = defaultdict(count().__next__)
        found, counted, sizes = array("i"), array("i"), array("i")
        for turns in exemplars:
            counts = _terms(read_text(turns))
            found.extend(map(numbers.__getitem__, counts))
            counted.extend(counts.values())
            sizes.append(len(counts))
        self._size = len(sizes)
        held = np.bincount(found, minlength=len(numbers)).tolist()
        self._vocabulary = vocabulary_of(dict(zip(numbers, held, strict=True)), self._size, 1)
        ranks = np.fromiter(map(self._vocabulary.places.__getitem__, numbers), np.intp, len(numbers))
        terms, places = ranks[found], np.repeat(np.arange(self._size), sizes)
        weights = damped(np.asarray(counted)) * np.array(self._vocabulary.weights)[terms]
        order = np.argsort(terms, kind="stable")
        self._ends = np.searchsorted(terms[order], np.arange(len(numbers) + 1))
        self._places, weights = places[order], weights[order]
        # Squares are added one by one in the order of the terms, as `TermVocabulary.weigh` adds them.
        lengths = np.sqrt(np.bincount(self._places, weights * weights, self._size))
        self._weights = weights / lengths[self._places]

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
    counts = word_terms(read)
    counts.update(character_terms(read))
    return counts


def _weigh(vocabulary: TermVocabulary, counts: Counter[str]) -> tuple[list[int], list[float]]:
    """As :meth:`TermVocabulary.weigh`, but unknown terms count as well, so that a few shared words do not suffice."""
    places, weights = vocabulary.weigh(counts)
    unknown = sum(count for term, count in counts.items() if term not in vocabulary.places)
    known = sum(counts.values()) - unknown
    share = known / (known + unknown) if known else 0.0
    return places, [weight * share for weight in weights]
