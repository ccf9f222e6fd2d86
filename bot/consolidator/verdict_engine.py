"""The Verdict Engine: gates 0 to 6, a pure rule cascade over relational facts and knobs.

Paper, section 2.4 and appendix B; semantics, section 5.  It reads no file, no clock and no network.  ``CycleState``
(``cycle.py``) composes the final ruling: it applies gate 7 (``trust.py``) and looks at queries that wait.
"""

from __future__ import annotations

from typing import Final

from bot.config import Knobs, Options
from bot.consolidator.verdict import Decision, Reason, Route, Ruling
from bot.rater.model import RelationalFacts
from bot.text.compare import rounded

REDUNDANT: Final = Ruling(Decision.EXCLUDE, Route.DIRECT, (Reason.REDUNDANT,))
"""The ruling on a query without merit, or whose merit waiting queries already offer."""


def decide(facts: RelationalFacts, knobs: Knobs, options: Options) -> Ruling:
    """The ruling on a query with these ``facts``: gates 0 to 5, then gate 6, which may only send it to review."""
    ruling = _cascade(facts, knobs, options)
    ruling = _review_weak_scores(ruling, facts, knobs, options)
    return _review_unfamiliar(ruling, facts)


def _cascade(facts: RelationalFacts, knobs: Knobs, options: Options) -> Ruling:
    # Gate 0
    if not facts.exercised:
        return Ruling(Decision.EXCLUDE, Route.DIRECT, (Reason.OFF_TAXONOMY,))
    # Gate 1
    if rounded(facts.max_similarity) >= rounded(knobs.clone_cutoff):
        if options.clone_rescue and facts.new_capabilities:
            return Ruling(Decision.INCLUDE, Route.REVIEW, (Reason.CLONE, Reason.NEW_COVERAGE))
        return Ruling(Decision.EXCLUDE, Route.DIRECT, (Reason.CLONE,))
    # Gate 2
    if not (facts.new_capabilities or facts.fills or facts.wins or facts.novel):
        return REDUNDANT
    # Gate 3
    if facts.new_capabilities:
        return Ruling(Decision.INCLUDE, Route.DIRECT, (Reason.NEW_COVERAGE,))
    # Gate 3b
    if facts.fills:
        return Ruling(Decision.INCLUDE, Route.DIRECT, (Reason.FILLS_FLOOR,))
    # Gate 4
    if facts.wins:
        return _replacement(facts, knobs)
    # Gate 5
    return Ruling(Decision.INCLUDE, Route.REVIEW, (Reason.NOVEL_COMBO,))


def _replacement(facts: RelationalFacts, knobs: Knobs) -> Ruling:
    """Gate 4: whether the beaten champions could go without losing what they cover."""
    if facts.undominated or facts.protected or facts.short_floors:
        return Ruling(Decision.KEEP_BOTH, Route.DIRECT, (Reason.SPLIT_OR_FLOOR,))
    if len(facts.sole) > knobs.concentration_cap:
        return Ruling(Decision.REPLACE, Route.REVIEW, (Reason.CONCENTRATION,))
    return Ruling(Decision.REPLACE, Route.DIRECT, (Reason.DOMINATES,))


def _review_weak_scores(ruling: Ruling, facts: RelationalFacts, knobs: Knobs, options: Options) -> Ruling:
    """Gate 6: a low-confidence tag cannot admit a query by itself (the paper's invariant I5)."""
    if not ruling.admitted:
        return ruling
    score, floor = honesty(facts, knobs, options)
    if rounded(score) < rounded(floor):
        return Ruling(ruling.decision, Route.REVIEW, (*ruling.reasons, Reason.LOW_CONFIDENCE))
    return ruling


def honesty(facts: RelationalFacts, knobs: Knobs, options: Options) -> tuple[float, float]:
    """The score on which a direct admission depends, and its minimum.

    The first test of a capability needs the surest tags, since an error of a classifier looks new.
    """
    if options.honesty_scope == "all":
        return facts.top_score, knobs.honesty_floor
    first = not (facts.wins or facts.fills)
    return facts.evidence_score, options.first_floor if first else knobs.honesty_floor


def _review_unfamiliar(ruling: Ruling, facts: RelationalFacts) -> Ruling:
    """Gate 6: a verdict on a text that the classifier cannot judge always needs review."""
    if facts.familiar:
        return ruling
    return Ruling(ruling.decision, Route.REVIEW, (*ruling.reasons, Reason.UNFAMILIAR))
