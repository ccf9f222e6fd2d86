"""Self-consistency: from the samples of a query to values and confidences (paper, section 2.2; semantics, 2.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum

from bot.classifier.model import BASES, EVEN, Consensus, Sample


def agree(samples: Sequence[Sample], capabilities: Iterable[str], asked_for: int) -> dict[str, Consensus] | None:
    """The consensus of ``samples``, the valid ones of ``asked_for``, on each of ``capabilities``.

    v = majority of the votes, an even split being FALSE; κ = mean of the probabilities.  ``None`` if fewer than a
    majority of the samples asked for are valid: the query is unclassified.
    """
    valid = len(samples)
    if 2 * valid <= asked_for:
        return None
    basis = max((sample.basis for sample in samples), key=BASES.index)
    return {
        name: Consensus(
            value=2 * sum(sample.votes[name] for sample in samples) > valid,
            confidence=fsum(sample.probabilities[name] for sample in samples) / valid,
            basis=basis,
        )
        for name in capabilities
    }


def consensus_of(probabilities: Sequence[float]) -> Consensus:
    """What :func:`agree` finds of samples that all have calibrated ``probabilities``, and vote as these say."""
    valid = len(probabilities)
    votes = sum([probability >= EVEN for probability in probabilities])
    return Consensus(value=2 * votes > valid, confidence=fsum(probabilities) / valid)
