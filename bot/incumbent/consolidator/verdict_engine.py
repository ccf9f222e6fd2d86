"""The Verdict Engine: gates 0 to 7, in their order (paper, section 2.4 and appendix B; semantics, section 5; pure).

Gates 0 to 6 are a rule cascade over relational facts and knobs (:func:`decide`).  Gate 7 looks at the text, its author
and its history, not at what the query covers: a local review at the text alone (:func:`doubt_text`), GitHub at all
three (:class:`TrustGate`).  ``CycleState`` (``cycle.py``) composes the final ruling: it applies all of them, and looks
at queries that wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from incumbent.consolidator.verdict import GATE_7, Decision, Reason, Route, Ruling
from incumbent.rater.model import RelationalFacts, ScoredQuery
from incumbent.taxonomy.config import Knobs, Options
from incumbent.text.compare import rounded

REDUNDANT: Final = Ruling(Decision.EXCLUDE, Route.DIRECT, (Reason.REDUNDANT,))
"""The ruling on a query without merit, or whose merit waiting queries already offer."""
CLONE: Final = Ruling(Decision.EXCLUDE, Route.DIRECT, (Reason.CLONE,))
"""The ruling on a clone of an entry, or of a waiting query that offers its merit."""
OFF_TAXONOMY: Final = Ruling(Decision.EXCLUDE, Route.DIRECT, (Reason.OFF_TAXONOMY,))
"""The ruling on a query that exercises no capability of the taxonomy."""


def decide(facts: RelationalFacts, knobs: Knobs, options: Options) -> Ruling:
    """The ruling on a query with these ``facts``: gates 0 to 5, then gate 6, which may only send it to review."""
    ruling = _cascade(facts, knobs, options)
    ruling = _review_weak_scores(ruling, facts, knobs, options)
    return _review_unfamiliar(ruling, facts)


def _cascade(facts: RelationalFacts, knobs: Knobs, options: Options) -> Ruling:
    # Gate 0
    if not facts.exercised:
        return OFF_TAXONOMY
    # Gate 1
    if rounded(facts.max_similarity) >= rounded(knobs.clone_cutoff):
        if options.clone_rescue and facts.new_capabilities:
            return Ruling(Decision.INCLUDE, Route.REVIEW, (Reason.CLONE, Reason.NEW_COVERAGE))
        return CLONE
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
    """Gate 6: a low-confidence tag cannot admit a query (the paper's invariant I5)."""
    if not ruling.admitted or rounded(honesty(facts, options)) >= rounded(knobs.honesty_floor):
        return ruling
    return _reviewed(ruling, [Reason.LOW_CONFIDENCE])


def deciding(facts: RelationalFacts) -> tuple[str, ...]:
    """The evidence of the gate that admits a query: its new capabilities, else its fills, else its wins, sorted."""
    return facts.new_capabilities or tuple(facts.fills) or tuple(facts.wins)


def evidence(facts: RelationalFacts) -> Iterable[str]:
    """The same, and where a query brings combinations alone their members."""
    return deciding(facts) or chain(*facts.new_combinations)


def honesty(facts: RelationalFacts, options: Options) -> float:
    """The score that gate 6 compares with ``honesty_floor``: the weakest of the evidence of the query's own gate.

    A sure tag carries no doubtful one into coverage, and a win lifts no weak new capability.  With ``honesty_scope:
    all`` it is the paper's, the best of all.
    """
    if options.honesty_scope == "all":
        return facts.top_score
    return min([facts.scores[name] for name in deciding(facts)], default=0.0)


def _review_unfamiliar(ruling: Ruling, facts: RelationalFacts) -> Ruling:
    """Gate 6: a verdict on a text that the classifier cannot judge needs review, unless it is a clone's exclusion."""
    if facts.familiar or ruling == CLONE:
        return ruling
    return _reviewed(ruling, [Reason.UNFAMILIAR])


def doubt_text(query: ScoredQuery, facts: RelationalFacts, ruling: Ruling, admitted: Sequence[str]) -> Ruling:
    """Gate 7: ``ruling`` with the codes that hold of the query itself; with any it is on the review route.

    It argues with the classifier or hides text (``ATTEMPT``), it contains personal data (``PERSONAL_DATA``), or its
    evidence rests on a doubted expectation of calls (``CONTRADICTED``).
    """
    return _doubted(query, facts, ruling, ())


def _doubted(query: ScoredQuery, facts: RelationalFacts, ruling: Ruling, beyond: Iterable[Reason]) -> Ruling:
    """An admitting ``ruling`` with all codes of gate 7 in their order: those of the query, and those ``beyond`` it."""
    if not ruling.decision.admits:
        return ruling
    found = {*beyond}
    if query.attempt:
        found.add(Reason.ATTEMPT)
    if query.personal:
        found.add(Reason.PERSONAL_DATA)
    if query.doubted.intersection(evidence(facts)):
        found.add(Reason.CONTRADICTED)
    return _reviewed(ruling, [reason for reason in GATE_7 if reason in found])


def _reviewed(ruling: Ruling, reasons: Sequence[Reason]) -> Ruling:
    if not reasons:
        return ruling
    return Ruling(ruling.decision, Route.REVIEW, (*ruling.reasons, *reasons))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustGate:
    """Gate 7: adds its codes to admissions, and sends direct ones to review.

    ``declared`` maps each query to the capabilities that its agent's specification or a count in the query decided;
    called tools count as inferred, even if the eval set expects them.  ``customers`` maps each query to its customer,
    ``held`` each customer to its number of slots; ``updates`` are queries that need no new slot.  ``share`` is a share
    of ``ceiling``, in [0, 1].  ``unseen`` are merged queries whose admission no person has seen before; ``contested``
    are those whose rejection was withdrawn with its comment.
    """

    author_trusted: bool
    declared: Mapping[str, frozenset[str]]
    customers: Mapping[str, str]
    held: Mapping[str, int]
    updates: frozenset[str] = field(default_factory=frozenset)
    unseen: frozenset[str] = field(default_factory=frozenset)
    contested: frozenset[str] = field(default_factory=frozenset)
    share: float
    ceiling: int

    def __call__(self, query: ScoredQuery, facts: RelationalFacts, ruling: Ruling, admitted: Sequence[str]) -> Ruling:
        """``ruling``, on the review route with further codes if a person should see it."""
        if not ruling.decision.admits:
            return ruling
        reasons = []
        if not self.author_trusted and not self.declared[query.id].intersection(evidence(facts)):
            reasons.append(Reason.UNTRUSTED_AUTHOR)
        customer = self.customers[query.id]
        entering = [id for id in admitted if self.customers[id] == customer and id not in self.updates]
        slots = self.held.get(customer, 0) + len(entering) + 1
        if query.id not in self.updates and slots > rounded(self.share * self.ceiling):
            reasons.append(Reason.CUSTOMER_SHARE)
        # What people saw as a question is the same question after the merge.
        if ruling.admitted and query.id in self.unseen:
            reasons.append(Reason.UNSEEN)
        if query.id in self.contested:
            reasons.append(Reason.CONTESTED)
        return _doubted(query, facts, ruling, reasons)
