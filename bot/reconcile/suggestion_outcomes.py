"""What becomes of our suggestions, as events: opened, merged or refused by people, and opened again (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from bot.curator.grounds import EvictionKind
from bot.curator.prune import Suggestion
from bot.github.managed_pull_request import ClosedBy, was_closed
from bot.github.models import PullRequest
from bot.ledger.events import ADMISSION, Answered, Event, Reopened, Suggested
from bot.ledger.model import Request
from bot.ledger.people import is_bot
from bot.reconcile.suggestion_pull_requests import (
    EVICT,
    SWAP,
    Proposal,
    branch_of,
    is_about,
    is_group,
    is_offer,
    is_repack,
)
from bot.report.eviction_group import members_in

Who = Callable[[int], tuple[str, str]]
"""From a pull request to who ended it, and when."""
_UNKNOWN = "unknown"


def suggested(
    open_pulls: Sequence[PullRequest], proposals: Mapping[str, Proposal], known: Sequence[Event], at: str
) -> tuple[Event, ...]:
    """The suggestions that are open and not among the ``known`` events."""
    recorded = {(item.pull_request, item.branch) for item in known if isinstance(item, Suggested)}
    found = []
    for pull in open_pulls:
        proposal = proposals.get(pull.branch or "")
        if proposal is None or (pull.number, proposal.branch) in recorded:
            continue
        if proposal.members:
            alone = [_alone(item, pull.number, at) for item in proposal.members]
            found += [item for item in alone if (item.pull_request, item.branch) not in recorded]
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


def _alone(item: Suggestion, pull_request: int, at: str) -> Suggested:
    """The event that ``item`` would have in a pull request of its own."""
    return Suggested(
        at=at,
        pull_request=pull_request,
        branch=branch_of(EVICT, item.id, item.grounds.digest),
        suggestion=item.grounds.kind.value,
        entries=(item.id,),
        remaining=dict(item.remaining),
    )


def answered_in_groups(
    closed: Sequence[PullRequest],
    known: Sequence[Event],
    entries: Collection[str],
    merged_by: Who,
    closed_by: ClosedBy,
    keeps: Sequence[Request] = (),
) -> tuple[Event, ...]:
    """The same as :func:`answered` of the groups among ``closed``: an answer for each of their entries.

    What is still among the ``entries`` of R after a merge was kept; ``keeps`` say who asked for that in a comment.
    """
    opened = {(item.pull_request, item.branch): item for item in known if isinstance(item, Suggested)}
    last = _last_answers(known)
    found: list[Event] = []
    for pull in sorted((pull for pull in closed if is_group(pull.branch)), key=lambda item: item.number):
        members = members_in(pull.body)
        ended = pull.merge is not None or was_closed(pull)
        kept = {**members.kept, **(members.suggests if ended else {})}
        asked = {item.grounds: item for item in keeps if item.pull_request == pull.number}
        kept |= {item.entry: item.grounds for item in asked.values() if item.grounds is not None}
        branches = {branch_of(EVICT, id, digest): (id, digest) for id, digest in sorted(kept.items())}
        answer = last.get(pull.number)
        if not branches or (answer is not None and (pull.merge is not None or answer.at == pull.closed_at)):
            continue
        by, at = merged_by(pull.number) if pull.merge is not None else closed_by(pull)
        answers: list[Answered] = []
        for branch, (id, digest) in branches.items():
            request, suggestion = asked.get(digest), opened.get((pull.number, branch))
            agrees = pull.merge is not None and id not in entries
            who = by if request is None else request.by
            answers.append(
                Answered(
                    at=at,
                    pull_request=pull.number,
                    branch=branch,
                    suggestion=_UNKNOWN if suggestion is None else suggestion.suggestion,
                    entries=(id,),
                    agrees=agrees,
                    by=who,
                    by_bot=is_bot(who),
                )
            )
        # The last answer on a pull request says how it ended, and who ended it.
        found += _in_order(answers, by)
    return tuple(found)


def _in_order(answers: Sequence[Answered], ended_by: str) -> list[Answered]:
    return sorted(answers, key=lambda item: (item.agrees, item.by == ended_by))


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
    for pull in sorted((pull for pull in closed if not is_group(pull.branch)), key=lambda item: item.number):
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
