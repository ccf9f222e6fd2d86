"""From what could go to the bot's pull requests, and to what the ledger remembers of them (pure).

What becomes of suggestions are events: opened, merged or refused by people, and opened again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from incumbent.curator.prune import Suggestion
from incumbent.curator.roles import EvictionKind
from incumbent.github.check import post_check
from incumbent.github.events import OWN_BRANCHES
from incumbent.github.managed_pull_request import (
    ClosedBy,
    PlannedPullRequest,
    own_heads,
    plan_pull_requests,
    was_closed,
)
from incumbent.github.models import Operation, PullRequest, WriteLedger
from incumbent.ledger.event_files import appended
from incumbent.ledger.events import ADMISSION, SET_EVENTS, Answered, LedgerEvent, Reopened, Suggested
from incumbent.ledger.model import SUGGESTIONS, Request
from incumbent.ledger.people import is_bot
from incumbent.ledger.store import record_text
from incumbent.pipeline.review import Platform
from incumbent.reconcile.desired_suggestions import DesiredSuggestions, SuggestionInputs, withdrawn
from incumbent.reconcile.suggestion_pull_requests import (
    EVICT,
    SWAP,
    Proposal,
    branch_of,
    is_about,
    is_group,
    is_offer,
    is_repack,
    looks_back,
    with_dropped,
)
from incumbent.report.escaping import code
from incumbent.report.pull_request_bodies import members_in
from incumbent.report.verdict_text import listed

_SHOWN = 10


def plan_suggestions(
    wanted: DesiredSuggestions, platform: Platform, inputs: SuggestionInputs
) -> tuple[list[tuple[int | None, Operation]], tuple[PlannedPullRequest, ...]]:
    """The writes that make our pull requests match ``wanted``, none where they do, and what becomes of each."""
    github, limits = inputs.github, platform.config.limits
    limit = limits.open_evictions + len(wanted.suggestions.repacks) + len(wanted.suggestions.top_ups)
    asked = {item.entry for item in inputs.keeps}
    # Nothing is known of these: they stay as they are.
    left = {pull.branch or "" for pull in github.open if _is_unread(pull, inputs)}
    judged = replace(
        github,
        open=tuple(pull for pull in github.open if pull.branch not in left),
        withdrawn=withdrawn(github.closed, inputs.asked),
    )
    judged = with_dropped(judged, {item.branch for item in wanted.proposals})
    planned = plan_pull_requests(wanted.proposals, judged, limit, lambda pull: _why_closed(pull, platform, asked))
    again = reopened(github.open, inputs.known, inputs.at)
    if again:
        # Before anything is closed: a run that is killed must not leave a refusal that somebody took back.
        write = WriteLedger.of(inputs.ledger, {SET_EVENTS: appended(inputs.events, again)}, "Suggestions opened again")
        return [(None, write)], planned
    writes = [write for item in planned for write in item.writes]
    for pull in inputs.misnamed:
        writes += [(pull.number, item) for item in _turn_down(pull, inputs)]
    heads = own_heads(planned, github.branches)
    heads |= {branch: head for branch, head in inputs.record.heads.items() if branch in left}
    record = inputs.record.model_copy(
        update={
            "heads": dict(sorted(heads.items())),
            "refusals": wanted.refusals,
            "offers": dict(wanted.offers),
            "archived": dict(wanted.archived),
            "takes_no_commits": inputs.takes_no_commits,
        }
    )
    events = _events({item.branch: item for item in wanted.proposals}, heads, platform, inputs)
    if record != inputs.record or events:
        files = {SUGGESTIONS: record_text(record), **events}
        writes.append((None, WriteLedger.of(inputs.ledger, files, f"Suggestions on {github.base[:12]}")))
    return writes, planned


def _events(
    proposals: Mapping[str, Proposal], heads: Collection[str], platform: Platform, inputs: SuggestionInputs
) -> dict[str, str | None]:
    """The file of events with what became of our suggestions; none where nothing did."""
    github, known = inputs.github, inputs.known
    shown = [pull for pull in github.open if pull.branch in heads]
    known_set = platform.regression_set
    ids = (*known_set.entries, *known_set.waiting, *known_set.tombstones, *inputs.archived)
    found = (
        *suggested(shown, proposals, known, inputs.at),
        *answered(github.closed, known, ids, inputs.merged_by, github.closed_by),
        *answered_in_groups(
            github.closed,
            known,
            platform.regression_set.entries,
            inputs.merged_by,
            github.closed_by,
            inputs.keeps,
        ),
    )
    return {SET_EVENTS: appended(inputs.events, found)} if found else {}


def _is_unread(pull: PullRequest, inputs: SuggestionInputs) -> bool:
    """Whether ``pull`` would admit an excluded query whose eval set was not read."""
    return looks_back(pull.branch) and any(is_about(pull.branch or "", id) for id in inputs.unread)


def _turn_down(pull: PullRequest, inputs: SuggestionInputs) -> list[Operation]:
    title = f"Branches under {OWN_BRANCHES} are Incumbent's"
    text = "Offer this change from a branch with another name."
    return post_check(pull.head, "failure", title, text, inputs.github.check(pull.head))


def _why_closed(pull: PullRequest, platform: Platform, kept: Collection[str]) -> str:
    """Why what ``pull`` suggests is not suggested any more; ``kept`` are entries that curators asked to keep."""
    known = platform.regression_set
    if is_offer(pull.branch):
        return "what it offers does not enter unchanged any more; the rest is in another one, or on the dashboard."
    if is_repack(pull.branch):
        return "the query that it admits has changed, or the set needs what it removes, or others save more."
    if looks_back(pull.branch):
        return "the query that it admits has changed, or others add more, or no slot is left for it."
    if is_group(pull.branch):
        return "nothing is left of it: people keep its entries, or their grounds do not hold any more."
    about = [id for id in (*known.entries, *known.waiting) if is_about(pull.branch or "", id)]
    if not about:
        return "what it is about is not in the regression set any more."
    names = listed([code(id) for id in about], _SHOWN)
    pins = [known.entries[id].pin for id in about if id in known.entries and known.entries[id].pin is not None]
    if pins:
        return f"{names} was pinned by a person."
    if any(id in kept for id in about):
        return f"a curator asked to keep {names}. It is not suggested again until the grounds change."
    return f"its grounds do not hold any more. What {names} covers has changed, or whom it yields to, or its text."


Who = Callable[[int], tuple[str, str]]
"""From a pull request to who ended it, and when."""
_UNKNOWN = "unknown"


def suggested(
    open_pulls: Sequence[PullRequest], proposals: Mapping[str, Proposal], known: Sequence[LedgerEvent], at: str
) -> tuple[LedgerEvent, ...]:
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
    known: Sequence[LedgerEvent],
    entries: Collection[str],
    merged_by: Who,
    closed_by: ClosedBy,
    keeps: Sequence[Request] = (),
) -> tuple[LedgerEvent, ...]:
    """The same as :func:`answered` of the groups among ``closed``: an answer for each of their entries.

    What is still among the ``entries`` of R after a merge was kept; ``keeps`` say who asked for that in a comment.
    """
    opened = {(item.pull_request, item.branch): item for item in known if isinstance(item, Suggested)}
    last = _last_answers(known)
    found: list[LedgerEvent] = []
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
    known: Sequence[LedgerEvent],
    ids: Collection[str],
    merged_by: Who,
    closed_by: ClosedBy,
) -> tuple[LedgerEvent, ...]:
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


def reopened(open_pulls: Sequence[PullRequest], known: Sequence[LedgerEvent], at: str) -> tuple[LedgerEvent, ...]:
    """The suggestions that are open although people had closed them, by the ``known`` events."""
    last = _last_answers(known)
    counts = Counter(item.pull_request for item in known if isinstance(item, Answered))
    return tuple(
        Reopened(at=at, pull_request=pull.number, branch=pull.branch or "", answers=counts[pull.number])
        for pull in open_pulls
        if pull.number in last and not last[pull.number].agrees
    )


def remembered(known: Sequence[LedgerEvent], closed_by: Who) -> ClosedBy:
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


def _last_answers(known: Sequence[LedgerEvent]) -> dict[int, Answered]:
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
    if looks_back(pull.branch):
        return "top-up"
    if is_offer(pull.branch):
        return ADMISSION
    kind = pull.title.rpartition(": ")[2]
    return kind if kind in {item.value for item in EvictionKind} else _UNKNOWN
