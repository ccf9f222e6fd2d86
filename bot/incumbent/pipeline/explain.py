"""Explains a verdict: of a query under review, or of an entry as if it came today. Nothing here writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from incumbent.classifier.model import Classification, Identity, Path
from incumbent.consolidator.counterfactuals import Change, Turn, outcome_in_cycle
from incumbent.consolidator.cycle import run_cycle
from incumbent.consolidator.explanation import Explanation, explain
from incumbent.consolidator.verdict import Verdict, VerdictOutcome
from incumbent.curator.roles import derive_roles
from incumbent.errors import InputError, Problem
from incumbent.pipeline.reclassify import query_of
from incumbent.pipeline.review import Platform, Review
from incumbent.pipeline.submission import Submission
from incumbent.text.did_you_mean import did_you_mean


@dataclass(frozen=True, kw_only=True)
class Explained:
    """The explained query or entry, its verdict, and why; ``pinned`` says what keeps an entry in the set.

    ``in_cycle`` says the outcome if the whole cycle is judged with a change, and not only its own turn.  ``origins``
    say who brought the query, and ``classification`` is the classifier's; an entry has neither.
    """

    kind: Literal["query", "entry"]
    platform: Platform
    verdict: Verdict
    explanation: Explanation
    in_cycle: Callable[[Change], VerdictOutcome]
    pinned: tuple[str, ...] = ()
    origins: Mapping[str, Submission] = field(default_factory=dict)
    classification: Classification | None = None

    def path(self, capability: str) -> Path | None:
        """What decided the value of ``capability``; ``None`` for an entry."""
        return None if self.classification is None else self.classification.judgements[capability].path


def explain_query(review: Review, name: str, tick: Callable[[], None] = lambda: None) -> Explained:
    """The verdict on the query called ``name``, at its turn in the cycle.

    Raises :class:`incumbent.errors.InputError` if there is no such query, or if it has no verdict; and what stopped the
    classifier if it has none because of that.
    """
    if name not in review.queries:
        fix = "take an id that `incumbent review` shows"
        raise InputError([Problem(name, None, f"there is no such query{did_you_mean(name, review.queries)}", fix)])
    if name in review.settled:
        entry = review.settled[name].id
        message = f"it is judged no more: the entry or tombstone {entry} settles it"
        raise InputError([Problem(name, None, message, "explain the entry, if it is in the set or waits for a slot")])
    if name not in review.scored:
        if review.stopped is not None:
            raise review.stopped
        why = review.shortfalls.get(name, "the classifier did not get to it")
        raise InputError([Problem(name, None, f"it has no verdict: {why}", "run again, or see the endpoint")])
    config, classification = review.platform.config, review.classifications[name]
    queries = tuple(review.scored.values())
    verdicts = run_cycle(queries, review.residents, config)
    turn = Turn.of(name, queries, review.residents, verdicts)
    return Explained(
        kind="query",
        platform=review.platform,
        verdict=next(verdict for verdict in verdicts if verdict.id == name),
        explanation=explain(turn, config, review.platform.taxonomy.by_id, tick=tick, fixed=classification.certain),
        in_cycle=partial(outcome_in_cycle, name, queries, review.residents, config, tick),
        origins=review.origins,
        classification=classification,
    )


def explain_entry(
    platform: Platform, id: str, identity: Identity | None = None, tick: Callable[[], None] = lambda: None
) -> Explained:
    """The verdict that the entry ``id`` would have today, against all the others.

    ``identity`` is the classifier's; stale entries do not count.  Raises :class:`incumbent.errors.InputError` if there
    is no such entry, or if it is stale itself.
    """
    known = platform.regression_set
    everybody = {**known.waiting, **known.entries}
    if id not in everybody:
        message = f"no such entry is in the set or on the waitlist{did_you_mean(id, everybody)}"
        raise InputError([Problem(id, None, message, "see `incumbent status` for the ids")])
    present, stale = known.present(platform.taxonomy, identity)
    its_own = next((item for item in stale if item.id == id), None)
    if its_own is not None:
        fix = "run `incumbent reclassify` and commit"
        raise InputError([Problem(id, None, f"the entry is stale: it was {its_own.reason}", fix)])
    own = next(item for item in present if item.id == id)
    others = tuple(item for item in present if item is not own)
    texts = query_of(everybody[id]).texts
    turn = Turn(query=replace(own.query, personal=platform.personal_in(texts, own.customer)), residents=others)
    (verdict,) = run_cycle([turn.query], others, platform.config)
    return Explained(
        kind="entry",
        platform=platform,
        verdict=verdict,
        explanation=explain(turn, platform.config, platform.taxonomy.by_id, tick=tick),
        in_cycle=partial(outcome_in_cycle, id, [turn.query], others, platform.config, tick),
        pinned=derive_roles(known.residents(platform.taxonomy, identity)[0], platform.config).pinned.get(id, ()),
    )
