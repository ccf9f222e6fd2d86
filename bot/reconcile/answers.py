"""What becomes of our suggestions, as events: opened, merged or refused by people (pure)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bot.github.recording import is_bot
from bot.github.values import PullRequest
from bot.ledger.events import Answered, Event, Suggested
from bot.ledger.model import Refusal, SuggestionRecord
from bot.reconcile.proposals import Proposal, is_offer

Who = Callable[[int], tuple[str, str]]
"""From a pull request to who ended it, and when."""


def suggested(
    open_pulls: Sequence[PullRequest], proposals: Mapping[str, Proposal], before: SuggestionRecord, at: str
) -> tuple[Event, ...]:
    """The suggestions that are open and of which nothing was recorded ``before``."""
    found = []
    for pull in open_pulls:
        proposal = proposals.get(pull.branch or "")
        if proposal is None or proposal.branch in before.heads or is_offer(proposal.branch):
            continue
        found.append(
            Suggested(
                at=at,
                pull_request=pull.number,
                branch=proposal.branch,
                suggestion=proposal.kind,
                entries=proposal.entries,
                admits=proposal.admits,
                remaining=dict(proposal.remaining),
            )
        )
    return tuple(found)


def answered(
    closed: Sequence[PullRequest],
    refusals: Sequence[Refusal],
    before: SuggestionRecord,
    known: Sequence[Event],
    merged_by: Who,
    closed_by: Who,
) -> tuple[Event, ...]:
    """The answers that people gave since ``before``, of suggestions that are among the ``known`` events.

    ``closed`` are pull requests of ours that ended, ``refusals`` those of them that people closed unmerged.
    """
    opened = {item.pull_request: item for item in known if isinstance(item, Suggested)}
    told = {(item.pull_request, item.agrees) for item in known if isinstance(item, Answered)}
    refused = {item.pull_request for item in refusals} - {item.pull_request for item in before.refusals}
    found = []
    for pull in sorted(closed, key=lambda item: item.number):
        suggestion = opened.get(pull.number)
        agrees = pull.merge is not None
        if suggestion is None or (pull.number, agrees) in told or not (agrees or pull.number in refused):
            continue
        by, at = merged_by(pull.number) if agrees else closed_by(pull.number)
        found.append(
            Answered(
                at=at,
                pull_request=pull.number,
                branch=suggestion.branch,
                suggestion=suggestion.suggestion,
                entries=suggestion.entries,
                agrees=agrees,
                by=by,
                by_bot=is_bot(by),
            )
        )
    return tuple(found)
