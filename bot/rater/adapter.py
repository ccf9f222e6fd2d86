"""The intrinsic half of rating: scores from the query's classification alone (paper, 2.3; semantics, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from bot.classifier.model import EVEN, Classification
from bot.rater.model import Doubt, ScoredQuery
from bot.taxonomy.model import Taxonomy


def rate(
    id: str,
    turns: tuple[str, ...],
    classification: Classification,
    taxonomy: Taxonomy,
    customer: str | None = None,
    *,
    personal: Mapping[str, int],
    doubted: frozenset[str] = frozenset(),
) -> ScoredQuery:
    """cs(q, c) = κ(q, c) for every c in sig(q); only the scores are ever stored.

    ``personal`` maps each kind of personal data to the number of its values in the query.  ``doubted`` are the
    capabilities that rest on a doubted expectation of calls.
    """
    return ScoredQuery(
        id=id,
        turns=turns,
        scores={name: judgement.confidence for name, judgement in classification.judgements.items() if judgement.value},
        customer=customer,
        arbitrated=classification.arbitrated,
        doubts=doubts_of(dict(_doubtful(classification)), classification.signature, taxonomy),
        attempt=classification.attempt,
        personal=personal,
        # A correction means that a person has looked at the query.
        familiar=classification.unfamiliar is None or bool(classification.corrected),
        doubted=doubted & classification.signature,
    )


def _doubtful(classification: Classification) -> Iterator[tuple[str, float]]:
    for name, judgement in classification.judgements.items():
        if not judgement.value and 0 < judgement.probability < EVEN:
            yield name, judgement.probability


def doubts_of(probabilities: Mapping[str, float], signature: Collection[str], taxonomy: Taxonomy) -> tuple[Doubt, ...]:
    """The doubts about a query with this ``signature``: capabilities that it may exercise, with ``probabilities``."""
    found = []
    for name, probability in probabilities.items():
        group = taxonomy.exactly_one.get(taxonomy.by_id[name].group, ())
        others = tuple([member.id for member in group if member.id in signature])
        found.append(Doubt(capability=name, probability=probability, instead_of=others))
    return tuple(found)
