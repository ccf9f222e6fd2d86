"""The intrinsic half of rating: scores from the query's classification alone (paper, 2.3; semantics, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from incumbent.classifier.model import EVEN, Classification, Judgement, Path
from incumbent.rater.model import Doubt, ScoredQuery
from incumbent.taxonomy.model import Capability, Taxonomy


def rate(
    id: str,
    turns: tuple[str, ...],
    classification: Classification,
    taxonomy: Taxonomy,
    customer: str | None = None,
    *,
    personal: Mapping[str, int],
    doubted: frozenset[str] = frozenset(),
    setup_cost: float = 1.0,
) -> ScoredQuery:
    """cs(q, c) = κ(q, c) for every c in sig(q); only the scores are ever stored.

    ``personal`` maps each kind of personal data to the number of its values in the query.  ``doubted`` are the
    capabilities that rest on a doubted expectation of calls; ``setup_cost`` is what the mock set-up costs.
    """
    return ScoredQuery(
        id=id,
        turns=turns,
        scores={name: judgement.confidence for name, judgement in classification.judgements.items() if judgement.value},
        by_rule=by_rule(classification, taxonomy),
        customer=customer,
        arbitrated=classification.arbitrated,
        doubts=doubts_of(dict(_doubtful(classification)), taxonomy),
        attempt=classification.attempt,
        personal=personal,
        # A correction means that a person has looked at the query.
        familiar=classification.unfamiliar is None or bool(classification.corrected),
        doubted=doubted & classification.signature,
        setup_cost=setup_cost,
    )


_RULE_PATHS: Final[frozenset[Path]] = frozenset(("structure", "tool", "expected", "corrected"))
"""The paths whose values are rule values, whatever the capability."""


def by_rule(classification: Classification, taxonomy: Taxonomy) -> frozenset[str]:
    """The capabilities of the signature whose scores are rule values (semantics, section 3).

    Their κ says how sure the value is, and nothing of how well the query tests the capability.  A value that the
    specification decides has the κ of what it ``requires``, if anything: it is then an inferred one.
    """
    return frozenset(
        name
        for name, judgement in classification.judgements.items()
        if judgement.value
        and (judgement.path in _RULE_PATHS or _ruled(judgement, taxonomy.by_id[name], classification.arbitrated))
    )


def _ruled(judgement: Judgement, capability: Capability, arbitrated: Collection[str]) -> bool:
    """Whether the specification decided a TRUE value alone, or arbitration chose it among values of rules."""
    if judgement.path == "arbitration" and capability.source == "tool":
        return True
    declared = judgement.path == "specification" or (
        judgement.path == "arbitration" and capability.source == "spec" and capability.id not in arbitrated
    )
    return declared and capability.requires is None


def _doubtful(classification: Classification) -> Iterator[tuple[str, float]]:
    for name, judgement in classification.judgements.items():
        # Arbitration may make a likely member FALSE; elsewhere such a value is TRUE.
        likely = judgement.path != "arbitration" and judgement.probability >= EVEN
        if not judgement.value and judgement.probability > 0 and not likely:
            yield name, judgement.probability


def doubts_of(probabilities: Mapping[str, float], taxonomy: Taxonomy) -> tuple[Doubt, ...]:
    """The doubts about a query: capabilities that it may exercise, with ``probabilities``."""
    found = []
    for name, probability in probabilities.items():
        group = taxonomy.exactly_one.get(taxonomy.by_id[name].group, ())
        others = tuple([member.id for member in group if member.id != name])
        found.append(Doubt(capability=name, probability=probability, excludes=others))
    return tuple(found)
