"""Which queries to ask people about first (pure).

People's time is the scarce resource: the answers that would add most come first, and among these the least certain.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from bot.config import Curation
from bot.consolidator.verdict import Verdict
from bot.consolidator.verdict_engine import honesty
from bot.rater.model import RelationalFacts
from bot.text.compare import rounded


def by_gain(verdicts: Iterable[Verdict], config: Curation) -> tuple[Verdict, ...]:
    """``verdicts`` in the order in which to ask people about them.

    The greatest :func:`expected_gain` comes first.  At equal gain the query comes first whose evidence is nearest to
    the threshold of a direct admission, then the smaller id.
    """

    def order(verdict: Verdict) -> tuple[float, float, float, str]:
        capabilities, combinations = expected_gain(verdict.facts)
        score, least = honesty(verdict.facts, config.knobs, config.options)
        return -capabilities, -combinations, rounded(abs(score - least)), verdict.id

    return tuple(sorted(verdicts, key=order))


def expected_gain(facts: RelationalFacts) -> tuple[float, float]:
    """How many capabilities that lack coverers, and then how many new combinations, the query adds on average.

    A score is the probability that the query exercises the capability; those of a combination count as independent.
    """
    scores = facts.scores
    capabilities = {*facts.new_capabilities, *facts.fills}
    return (
        rounded(sum(scores.get(name, 0.0) for name in sorted(capabilities))),
        rounded(sum(prod(scores.get(name, 0.0) for name in names) for names in facts.new_combinations)),
    )
