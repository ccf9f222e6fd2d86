"""Gate 7, trust: direct admissions that a person should see (semantics, section 5; pure).

It is not part of the rule cascade, since it looks at the text, its author and its history, not at what the query
covers.  A local review looks at the text alone (:func:`doubt_text`); on GitHub :class:`TrustGate` looks at all three.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.consolidator.verdict import Reason, Route, Ruling
from bot.rater.model import RelationalFacts, ScoredQuery
from bot.text.compare import rounded


def doubt_text(query: ScoredQuery, facts: RelationalFacts, ruling: Ruling, admitted: Sequence[str]) -> Ruling:
    """``ruling``, or the same on the review route, for a query whose text a person should see.

    It argues with the classifier or hides text (``ATTEMPT``), or it contains personal data (``PERSONAL_DATA``).
    """
    return _reviewed(ruling, _doubts(query)) if ruling.admitted else ruling


def _doubts(query: ScoredQuery) -> list[Reason]:
    found = [Reason.ATTEMPT] if query.attempt else []
    return [*found, Reason.PERSONAL_DATA] if query.personal else found


def _reviewed(ruling: Ruling, reasons: Sequence[Reason]) -> Ruling:
    if not reasons:
        return ruling
    return Ruling(ruling.decision, Route.REVIEW, (*ruling.reasons, *reasons))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustGate:
    """Sends direct admissions to review, with the codes of gate 7 as reasons.

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
        if not ruling.admitted:
            return ruling
        reasons = _doubts(query)
        evidence = {*facts.new_capabilities, *facts.fills, *facts.wins}
        if not self.author_trusted and not evidence & self.declared[query.id]:
            reasons.append(Reason.UNTRUSTED_AUTHOR)
        customer = self.customers[query.id]
        entering = [id for id in admitted if self.customers[id] == customer and id not in self.updates]
        slots = self.held.get(customer, 0) + len(entering) + 1
        if query.id not in self.updates and slots > rounded(self.share * self.ceiling):
            reasons.append(Reason.CUSTOMER_SHARE)
        if query.id in self.unseen:
            reasons.append(Reason.UNSEEN)
        if query.id in self.contested:
            reasons.append(Reason.CONTESTED)
        return _reviewed(ruling, reasons)
