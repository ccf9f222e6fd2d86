"""The Verdict Engine: a pure rule cascade over relational facts and knobs.

Paper, section 2.4 and appendix B; semantics, section 5.  It reads no file, no clock and no network.
"""

from __future__ import annotations

from bot.config import Knobs, Options
from bot.consolidator.verdict import Decision, Reason, Route, Ruling
from bot.rater.model import RelationalFacts
from bot.rounding import rounded


def decide(facts: RelationalFacts, knobs: Knobs, options: Options) -> Ruling:
    """The ruling on a query with these ``facts``: gates 0 to 5, then honesty (gate 6)."""
    return _honest(_cascade(facts, knobs, options), facts, knobs, options)


def _cascade(facts: RelationalFacts, knobs: Knobs, options: Options) -> Ruling:
    if not facts.exercised:
        return Ruling(Decision.EXCLUDE, Route.DIRECT, (Reason.OFF_TAXONOMY,))
    if rounded(facts.max_similarity) >= rounded(knobs.clone_cutoff):
        if options.clone_rescue and facts.new_capabilities:
            return Ruling(Decision.INCLUDE, Route.REVIEW, (Reason.CLONE, Reason.NEW_COVERAGE))
        return Ruling(Decision.EXCLUDE, Route.DIRECT, (Reason.CLONE,))
    if not (facts.new_capabilities or facts.wins or facts.novel):
        return Ruling(Decision.EXCLUDE, Route.DIRECT, (Reason.REDUNDANT,))
    if facts.new_capabilities:
        return Ruling(Decision.INCLUDE, Route.DIRECT, (Reason.NEW_COVERAGE,))
    if facts.wins:
        return _replacement(facts, knobs)
    return Ruling(Decision.INCLUDE, Route.REVIEW, (Reason.NOVEL_COMBO,))


def _replacement(facts: RelationalFacts, knobs: Knobs) -> Ruling:
    """Gate 4: whether the beaten champions could go without losing what they hold."""
    if facts.undominated or facts.protected or facts.short_floors:
        return Ruling(Decision.KEEP_BOTH, Route.DIRECT, (Reason.SPLIT_OR_FLOOR,))
    if len(facts.sole) > knobs.concentration_cap:
        return Ruling(Decision.REPLACE, Route.REVIEW, (Reason.CONCENTRATION,))
    return Ruling(Decision.REPLACE, Route.DIRECT, (Reason.DOMINATES,))


def _honest(ruling: Ruling, facts: RelationalFacts, knobs: Knobs, options: Options) -> Ruling:
    """Gate 6: a low-confidence tag cannot admit a query by itself (the paper's invariant I5)."""
    score = facts.top_score if options.honesty_scope == "all" else facts.evidence_score
    doubtful = rounded(score) < rounded(knobs.honesty_floor)
    if ruling.decision.admits and ruling.route is Route.DIRECT and doubtful:
        return Ruling(ruling.decision, Route.REVIEW, (*ruling.reasons, Reason.LOW_CONFIDENCE))
    return ruling
