"""From what could go to pull requests of ours: opened, refreshed, checked and closed by one plan (pure).

A branch of ours only ever gains commits, and one that holds a person's commit is left as it is.  What a plan leads to
is read again and planned again, until nothing is left to do: a run that was killed ends the same when it is repeated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bot.github.check import lasting, post_check
from bot.github.events import OWN_BRANCHES
from bot.github.models import (
    AddLabels,
    CheckConclusion,
    ClosePullRequest,
    CreateComment,
    DeleteBranch,
    EditDescription,
    OpenPullRequest,
    Operation,
    PullRequest,
    PushBranch,
    WriteLedger,
)
from bot.ledger.event_files import appended
from bot.ledger.events import ADMISSION, SET_EVENTS
from bot.ledger.model import SUGGESTIONS, SuggestionRecord
from bot.ledger.store import record_text
from bot.pipeline.review import Platform
from bot.reconcile.desired_suggestions import Branch, DesiredSuggestions, SuggestionInputs, own
from bot.reconcile.suggestion_outcomes import answered, reopened, suggested
from bot.reconcile.suggestion_pull_requests import LABEL, Proposal, is_about, is_offer, is_suggestion
from bot.report.escaping import code
from bot.report.eviction_pull_request import closing, is_as_written, was_closed_by_us
from bot.report.verdict_text import listed

_CLOSED_MARK = "<!-- incumbent:closes -->"
_SHOWN = 10
# What is reviewed with care elsewhere does not pass by the way.
_GUARDED = ("regression_set/", "eval_sets/", "taxonomy/", "config/", ".github/")


@dataclass(frozen=True, kw_only=True)
class SuggestionPlan:
    """Writes in order, each with the number of the pull request that it is on, if any.

    ``beyond`` are proposals that the limit holds back; ``left`` numbers of pull requests that hold people's commits.
    """

    operations: tuple[tuple[int | None, Operation], ...]
    beyond: tuple[Proposal, ...]
    left: tuple[int, ...]


def plan_suggestions(wanted: DesiredSuggestions, platform: Platform, scene: SuggestionInputs) -> SuggestionPlan:
    """The writes that make our pull requests match ``wanted``; where they match it there are none."""
    again = reopened(own(scene.open), scene.known, scene.at)
    if again:
        # Before anything is closed: a run that is killed must not leave a refusal that somebody took back.
        write = WriteLedger.of(scene.ledger, {SET_EVENTS: appended(scene.events, again)}, "Suggestions opened again")
        return SuggestionPlan(operations=((None, write),), beyond=(), left=())
    by_branch = {proposal.branch: proposal for proposal in wanted.proposals}
    operations: list[tuple[int | None, Operation]] = []
    heads: dict[str, str] = {}
    left: list[int] = []
    staying: set[str] = set()
    for pull in sorted(own(scene.open), key=lambda item: item.number):
        assert pull.branch is not None
        proposal, branch = by_branch.get(pull.branch), scene.branches.get(pull.branch)
        if branch is None:
            # Its branch was deleted a moment ago, and GitHub is about to close it: somebody's answer.
            staying.add(pull.branch)
            continue
        same = proposal is not None and branch.blobs == proposal.blobs
        ours = proposal is not None and same and not branch.behind & proposal.blobs.keys()
        untouched = same or scene.record.heads.get(pull.branch) == branch.commit
        if proposal is None:
            own_tip = branch.commit if untouched else None
            operations += [(pull.number, item) for item in _close(pull, _why_closed(pull, platform), own_tip, scene)]
            continue
        staying.add(pull.branch)
        if ours:
            heads[pull.branch] = branch.commit
            operations += [(pull.number, item) for item in _keep(pull, proposal, branch, scene)]
        elif untouched:
            operations.append((None, _push(proposal, branch, scene)))
        else:
            left.append(pull.number)
            operations += [(pull.number, item) for item in _leave(pull, proposal, branch, scene)]
    for pull in scene.open:
        if not is_suggestion(pull.branch):
            operations += [(pull.number, item) for item in _turn_down(pull, scene)]
    free = max(0, platform.config.limits.open_evictions - sum(1 for name in staying if not is_offer(name)))
    waiting = [item for item in wanted.proposals if item.branch not in staying and item.branch not in scene.opened]
    # A branch without a pull request that holds something else holds what somebody committed.
    held = [item for item in waiting if _is_taken(item, scene)]
    new = [item for item in waiting if item not in held]
    # Only what takes something out is limited.
    free += sum(1 for item in new if is_offer(item.branch))
    for proposal in new[:free]:
        branch = scene.branches.get(proposal.branch)
        if branch is None or branch.blobs != proposal.blobs:
            operations.append((None, _push(proposal, branch, scene)))
        if proposal.branch not in scene.barred:
            opened = OpenPullRequest(
                branch=proposal.branch, base=scene.default_branch, title=proposal.title, body=proposal.body
            )
            operations.append((None, opened))
    record = SuggestionRecord(
        heads=dict(sorted(heads.items())),
        refusals=wanted.refusals,
        offers=dict(wanted.offers),
        takes_no_commits=scene.takes_no_commits,
    )
    events = _events(by_branch, heads, platform, scene)
    if record != scene.record or events:
        files = {SUGGESTIONS: record_text(record), **events}
        operations.append((None, WriteLedger.of(scene.ledger, files, f"Suggestions on {scene.base[:12]}")))
    return SuggestionPlan(
        operations=tuple(operations),
        beyond=(*(item for item in new[:free] if item.branch in scene.barred), *new[free:], *held),
        left=tuple(left),
    )


def _events(
    proposals: Mapping[str, Proposal], heads: Collection[str], platform: Platform, scene: SuggestionInputs
) -> dict[str, str | None]:
    """The file of events with what became of our suggestions; none where nothing did."""
    known = scene.known
    shown = [pull for pull in own(scene.open) if pull.branch in heads]
    ids = (*platform.regression_set.entries, *platform.regression_set.waiting, *platform.regression_set.tombstones)
    found = (
        *suggested(shown, proposals, known, scene.at),
        *answered(own(scene.closed), known, ids, scene.merged_by, scene.closed_by),
    )
    return {SET_EVENTS: appended(scene.events, found)} if found else {}


def _is_taken(proposal: Proposal, scene: SuggestionInputs) -> bool:
    """Whether somebody committed to a branch without a pull request; what was merged is ours to move on."""
    branch = scene.branches.get(proposal.branch)
    if branch is None or branch.blobs == proposal.blobs or not branch.blobs:
        return False
    return not any(
        pull.branch == proposal.branch and pull.merge is not None and pull.head == branch.commit
        for pull in scene.closed
    )


def _keep(pull: PullRequest, proposal: Proposal, branch: Branch, scene: SuggestionInputs) -> list[Operation]:
    """Keep a pull request as it should be: its words, its label and its check."""
    found: list[Operation] = []
    # What people reopened after we had closed it may be refused again.
    if lasting(pull.body) != lasting(proposal.body) and (is_as_written(pull.body) or was_closed_by_us(pull.body)):
        found.append(EditDescription(body=proposal.body))
    if LABEL.casefold() not in {label.casefold() for label in pull.labels}:
        found.append(AddLabels(names=(LABEL,)))
    count = len(proposal.loses)
    title = (
        "What enters was derived again"
        if proposal.kind == ADMISSION
        else f"Without it {count} {'capability falls' if count == 1 else 'capabilities fall'} below the floor"
        if count
        else "Every floor and every pin holds without it"
    )
    summary = (
        f"Derived again for {code(scene.base[:12])}, as if all other open suggestions were merged as well. "
        "The description says who covers what instead."
    )
    return found + _check(branch.commit, "success", title, summary, scene)


def _leave(pull: PullRequest, proposal: Proposal, branch: Branch, scene: SuggestionInputs) -> list[Operation]:
    """Leave a branch with people's commits alone; the check tells whether it still does what was suggested."""
    of_set = {path: blob for path, blob in branch.blobs.items() if path.startswith(_GUARDED)}
    same = of_set == proposal.blobs
    body = [EditDescription(body=proposal.body)] if was_closed_by_us(pull.body) else []
    title = "Someone committed to this branch: Incumbent no longer changes it"
    summary = (
        "It still does to the regression set what was suggested."
        if same
        else "It no longer does to the regression set what was suggested: undo that, or close this pull request."
    )
    text = f"{summary} Derived again for {code(scene.base[:12])}."
    return [*body, *_check(branch.commit, "success" if same else "failure", title, text, scene)]


def _turn_down(pull: PullRequest, scene: SuggestionInputs) -> list[Operation]:
    title = f"Branches under {OWN_BRANCHES} are Incumbent's"
    return _check(pull.head, "failure", title, "Offer this change from a branch with another name.", scene)


def _check(
    commit: str, conclusion: CheckConclusion, title: str, summary: str, scene: SuggestionInputs
) -> list[Operation]:
    return post_check(commit, conclusion, title, summary, scene.checks.get(commit))


def _close(pull: PullRequest, why: str, own_tip: str | None, scene: SuggestionInputs) -> list[Operation]:
    """Close what is moot: the comment first, since the description tells in one step that this was no refusal.

    The branch goes if it is still at ``own_tip``.
    """
    text = f"{_CLOSED_MARK}\nClosed by Incumbent: {why}\n"
    said = any(item.author == scene.login and item.body.strip() == text.strip() for item in scene.comments(pull.number))
    found: list[Operation] = [] if said else [CreateComment(body=text)]
    found.append(ClosePullRequest(body=closing(pull.body, why)))
    if own_tip is not None:
        found.append(DeleteBranch(branch=pull.branch or "", tip=own_tip))
    return found


def _why_closed(pull: PullRequest, platform: Platform) -> str:
    """Why what ``pull`` suggests is not suggested any more."""
    known = platform.regression_set
    if is_offer(pull.branch):
        return "what it offers does not enter unchanged any more; the rest is in another one, or on the dashboard."
    about = [id for id in (*known.entries, *known.waiting) if is_about(pull.branch or "", id)]
    if not about:
        return "what it is about is not in the regression set any more."
    names = listed([code(id) for id in about], _SHOWN)
    pins = [known.entries[id].pin for id in about if id in known.entries and known.entries[id].pin is not None]
    if pins:
        return f"{names} was pinned by a person."
    return f"its grounds do not hold any more. What {names} covers has changed, or whom it yields to, or its text."


def _push(proposal: Proposal, branch: Branch | None, scene: SuggestionInputs) -> PushBranch:
    own_tip = () if branch is None else (branch.commit,)
    parents = own_tip if branch is not None and branch.has_base else (*own_tip, scene.base)
    return PushBranch(
        branch=proposal.branch,
        tip=None if branch is None else branch.commit,
        base=scene.base,
        parents=parents,
        files=proposal.files,
        message=f"{proposal.title}\n\nSuggested by Incumbent; the pull request says why.",
    )
