"""The intrinsic half: what a classification says about the query alone (paper, section 2.3; semantics, section 3)."""

from __future__ import annotations

from bot.classifier.model import Classification
from bot.rater.model import ScoredQuery


def rate(classification: Classification, turns: tuple[str, ...]) -> ScoredQuery:
    """cs(q, c) = κ(q, c) for every c in sig(q); the only half that is ever stored."""
    return ScoredQuery(
        id=classification.query_id,
        turns=turns,
        scores={name: judgement.confidence for name, judgement in classification.judgements.items() if judgement.value},
        arbitrated=classification.arbitrated,
        attempt=classification.attempt,
    )
