"""What becomes of our suggestions, as events: opened, merged or refused by people, and opened again (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from bot.curator.grounds import EvictionKind
from bot.github.managed_pull_request import ClosedBy, was_closed
from bot.github.models import PullRequest
from bot.ledger.events import ADMISSION, Answered, Event, Reopened, Suggested
from bot.ledger.people import is_bot
from bot.reconcile.suggestion_pull_requests import SWAP, Proposal, is_about, is_offer, is_repack

Who = Callable[[int], tuple[str, str]]
"""From a pull request to who ended it, and when."""
_UNKNOWN = "unknown"


def suggested(
    open_pulls: Sequence[PullRequest], proposals: Mapping[str, Proposal], known: Sequence[Event], at: str
) -> tuple[Event, ...]:
    """The suggestions that are open and not among the ``known`` events."""
    recorded = {item.pull_request for item in known if isinstance(item, Suggested)}
    found = []
    for pull in open_pulls:
        proposal = proposals.get(pull.branch or "")
        if proposal is None or pull.number in recorded:
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
    known: Sequence[Event],
    ids: Collection[str],
    merged_by: Who,
    closed_by: ClosedBy,
) -> tuple[Event, ...]:
    """The answers that were given and that are not among the ``known`` events.

    ``closed`` are pull requests of ours that ended; what we closed ourselves is no answer.  A run that was killed may
    have opened one without recording it: it is about those of ``ids`` that its branch names.
    """
    opened = {item.pull_request: item for item in known if isinstance(item, Suggested)}
    last = _last_answers(known)
    found = []
    for pull in sorted(closed, key=lambda item: item.number):
        agrees = pull.merge is not None
        if not (agrees or was_closed(pull)) or _recorded_answer(pull, last) is not None:
            continue
        by, at = merged_by(pull.number) if agrees else closed_by(pull)
        branch, suggestion = pull.branch or "", opened.get(pull.number)
        about = tuple(sorted(id for id in ids if is_about(branch, id)))
        found.append(
            Answered(
                at=at,
                pull_request=pull.number,
                branch=branch,
                suggestion=_kind_of(pull) if suggestion is None else suggestion.suggestion,
                entries=about if suggestion is None else suggestion.entries,
                agrees=agrees,
                by=by,
                by_bot=is_bot(by),
            )
        )
    return tuple(found)


def reopened(open_pulls: Sequence[PullRequest], known: Sequence[Event], at: str) -> tuple[Event, ...]:
    """The suggestions that are open although people had closed them, by the ``known`` events."""
    last = _last_answers(known)
    counts = Counter(item.pull_request for item in known if isinstance(item, Answered))
    return tuple(
        Reopened(at=at, pull_request=pull.number, branch=pull.branch or "", answers=counts[pull.number])
        for pull in open_pulls
        if pull.number in last and not last[pull.number].agrees
    )


def remembered(known: Sequence[Event], closed_by: Who) -> ClosedBy:
    """Who closed a pull request: what the ``known`` events tell is not looked up again."""
    last = _last_answers(known)

    def find(pull: PullRequest) -> tuple[str, str]:
        answer = _recorded_answer(pull, last)
        return closed_by(pull.number) if answer is None else (answer.by, answer.at)

    return find


def _recorded_answer(pull: PullRequest, last: Mapping[int, Answered]) -> Answered | None:
    """How ``pull`` ended, if that is known: it may have been opened and closed again since, unseen by any run."""
    answer = last.get(pull.number)
    merged = pull.merge is not None
    if answer is None or answer.agrees is not merged or not (merged or answer.at == pull.closed_at):
        return None
    return answer


def _last_answers(known: Sequence[Event]) -> dict[int, Answered]:
    """What was answered last on each pull request that was not opened again since."""
    last: dict[int, Answered] = {}
    for item in known:
        if isinstance(item, Answered):
            last[item.pull_request] = item
        elif isinstance(item, Reopened):
            last.pop(item.pull_request, None)
    return last


def _kind_of(pull: PullRequest) -> str:
    """What kind of suggestion ``pull`` is, by its branch and by the title that we gave it."""
    if (pull.branch or "").startswith(SWAP):
        return "swap"
    if is_repack(pull.branch):
        return "repack"
    if is_offer(pull.branch):
        return ADMISSION
    kind = pull.title.rpartition(": ")[2]
    return kind if kind in {item.value for item in EvictionKind} else _UNKNOWN
