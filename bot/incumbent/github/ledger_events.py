"""The events of the ledger, from what a run shows and reads (pure).

They are written in one commit with the record that they follow from.  An event is recorded once, and after a run that
was killed the next one records the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from incumbent.consolidator.verdict import Verdict
from incumbent.github.command_processing import CommandOutcome
from incumbent.github.decisions import Ended
from incumbent.github.judgement import ReviewJudgement
from incumbent.ledger.events import Applied, Closed, Decided, LedgerEvent, Passed, Shown, VerdictFacts, Withdrawn
from incumbent.ledger.keys import classifier_key
from incumbent.ledger.model import DecisionRecord, Displayed, PullRequestRecord
from incumbent.ledger.people import is_bot
from incumbent.pipeline.review import Review
from incumbent.report.verdict_text import leaves_out
from incumbent.text.compare import rounded
from incumbent.text.digests import digest

_ENDED: Final = {"entry", "content", "action", "comment"}
"""The fields of a decision that the event of its end contains."""


def shown_events(
    judgement: ReviewJudgement, author: str, at: str, before: PullRequestRecord | None
) -> tuple[LedgerEvent, ...]:
    """The verdicts of ``judgement`` that are shown to people, without those shown already according to ``before``.

    ``at`` is the time of the judged commit.
    """
    commit, review = judgement.facts, judgement.review
    if review is None or commit.pull_request is None:
        return ()
    seen = set() if before is None else {(entry, item.verdict) for entry, item in before.displayed.items()}
    if before is not None and before.showing is not None:
        seen |= {(entry, item.verdict) for entry, item in before.showing.verdicts.items()}
    found: list[LedgerEvent] = []
    for place, verdict in enumerate(review.verdicts):
        entry = judgement.entries[verdict.id]
        said = judgement.shown[entry]
        if (entry, said.verdict) not in seen:
            found.append(
                Shown(
                    at=at,
                    pull_request=commit.pull_request,
                    entry=entry,
                    content=judgement.contents[entry],
                    verdict=said.verdict,
                    codes=said.codes,
                    base=commit.base,
                    head=commit.head,
                    place=place,
                    author=author,
                    facts=_facts(verdict, review, judgement.entries),
                )
            )
    return tuple(found)


def _facts(verdict: Verdict, review: Review, entries: Mapping[str, str]) -> VerdictFacts:
    """The facts of ``verdict``; queries of the same review are named by their future entries, as residents are."""
    facts, query = verdict.facts, review.scored[verdict.id]
    similar = facts.most_similar
    return VerdictFacts(
        taxonomy=review.platform.taxonomy.version,
        classifier=classifier_key(review.identity),
        scores={name: rounded(score) for name, score in sorted(query.scores.items())},
        by_rule=tuple(sorted(query.by_rule)),
        arbitrated=tuple(sorted(query.arbitrated & query.scores.keys())),
        corrected=tuple(sorted(review.classifications[verdict.id].corrected)),
        attempt=query.attempt,
        familiar=query.familiar,
        customer=None if query.customer is None else digest(query.customer),
        new=facts.new_capabilities,
        fills=dict(facts.fills),
        won={name: rounded(score) for name, score in sorted(facts.champion_scores.items())},
        similarity=rounded(facts.max_similarity),
        most_similar=None if similar is None else entries.get(similar, similar),
        displaces=tuple(entries.get(name, name) for name in verdict.displaces),
    )


def decision_events(
    outcome: CommandOutcome, before: PullRequestRecord, ended: Sequence[Ended] = (), at: str = ""
) -> tuple[LedgerEvent, ...]:
    """What people decided and corrected, and which decisions and corrections ``ended``, since ``before``.

    ``at`` is when the end of a correction was noticed.
    """
    number = before.pull_request
    decided = [
        Decided(pull_request=number, **item.model_dump(exclude={"said"}))
        for item in outcome.own
        if item not in before.decisions
    ]
    withdrawn = [
        Withdrawn(at=item.at, pull_request=number, **item.model_dump(include=_ENDED))
        for item in outcome.void
        if item not in before.void
    ]
    corrected = [item.event for item in outcome.corrected]
    return (*decided, *withdrawn, *corrected, *(item.event(at) for item in ended))


def merge_events(
    record: PullRequestRecord, displayed: dict[str, Displayed], contents: dict[str, str], merged: tuple[str, str]
) -> tuple[LedgerEvent, ...]:
    """The merge of the pull request of ``record``, and the verdicts that passed with it without an answer.

    ``displayed`` is what its comment showed then; ``contents`` maps entries to digests of their content; ``merged``
    says who merged it, and when.  Excluded queries pass like admitted ones: from objections alone one would conclude
    that all exclusions are wrong.
    """
    by, at = merged
    assert record.merged is not None
    left_out = {entry: item.content for entry, item in sorted(displayed.items()) if leaves_out(item.codes)}
    closed = Closed(at=at, pull_request=record.pull_request, commit=record.merged.commit)
    passed = [
        Passed(
            at=at,
            pull_request=record.pull_request,
            entry=entry,
            content=contents[entry],
            verdict=displayed[entry].verdict,
            codes=displayed[entry].codes,
            by=by,
            by_bot=is_bot(by),
        )
        for entry, content in {**record.merged.seen, **left_out}.items()
        if contents.get(entry) == content
    ]
    return (*passed, closed)


def applied_events(decisions: Sequence[DecisionRecord], after: PullRequestRecord, at: str) -> tuple[LedgerEvent, ...]:
    """Those of ``decisions`` that are carried out, and that the record ``after`` does not keep."""
    return tuple(
        Applied(at=at, pull_request=after.pull_request, **item.model_dump(include=_ENDED))
        for item in decisions
        if item not in after.decisions
    )


def left_events(numbers: Sequence[int], at: str) -> dict[int, tuple[LedgerEvent, ...]]:
    """The pull requests that were closed unmerged."""
    return {number: (Closed(at=at, pull_request=number, commit=None),) for number in numbers}
