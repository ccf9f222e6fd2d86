"""The bot's pull requests and branches: what is wanted, what GitHub shows, and the writes from one to the other (pure).

Every kind is a value of :class:`DesiredPullRequest`.  A branch only ever gains commits, and one with a person's commit
stays as it is.  What a plan leads to is read again and planned again, until nothing is left to do, so that a run that
was killed ends the same when it is repeated.  A plan writes nothing; it looks up who closed a pull request, a check or
comments through functions of the state, and only where that decides something.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from incumbent.files.git import blob_id
from incumbent.github.check import lasting, post_check
from incumbent.github.models import (
    AddLabels,
    CheckConclusion,
    CheckRun,
    ClosePullRequest,
    Commit,
    CreateComment,
    DeleteBranch,
    EditDescription,
    IssueComment,
    OpenPullRequest,
    Operation,
    PullRequest,
    PullRequestText,
    PushBranch,
)
from incumbent.ledger.model import BRANCH
from incumbent.ledger.people import is_bot
from incumbent.report.escaping import code
from incumbent.report.pull_request_bodies import closing, is_as_written, was_closed_by_us
from incumbent.report.verdict_text import listed

if TYPE_CHECKING:
    from incumbent.ledger.calibration.calibrate import ConfigEdit

ClosedBy: TypeAlias = Callable[[PullRequest], tuple[str, str]]
"""Looks up who closed a pull request, and when."""
Action: TypeAlias = Literal["open", "barred", "refresh", "keep", "leave", "close", "wait", "refused"]
"""What becomes of a pull request.

- ``open``: it is opened; ``barred``: its branch is there for a person to open it, where GitHub does not let the bot.
- ``refresh``: its branch gets a commit; ``keep``: it stays as it is; ``leave``: likewise, as people committed to it.
- ``close``: it is not wanted any more.
- ``wait``: it is held back, by the limit or because someone committed to its branch.
- ``refused``: people closed it; the bot does not ask again.
"""

MOST_COMMITS = 300
"""The most commits with which a run begins new branches: the token of a job has 1,000 requests an hour, and a commit
takes two.  The next run goes on."""
_CLOSED_MARK = "<!-- incumbent:closes -->"
# Changes of these files by people must not pass unnoticed.
_GUARDED = ("regression_set/", "eval_sets/", "taxonomy/", "config/", ".github/")


@dataclass(frozen=True, kw_only=True)
class DesiredPullRequest(PullRequestText):
    """A change that people are asked to merge: ``files`` are all that its branch changes, ``None`` for deleted ones.

    The branch's name identifies the change: closing the pull request refuses exactly this change.  ``reason`` ends the
    commit's message.  A ``followed`` branch stays the bot's: the bot refreshes it, with the description, the ``label``
    and the ``check`` (title and text).  Any other belongs to people once it is pushed.  Only so many ``limited`` ones
    are open at a time.

    A change in ``parts`` has a commit for each, which people may drop: together they are all ``files``.  ``former``
    are the paths of parts that it had before.  ``lasts`` is a part of the description that the bot writes again,
    whoever edited it.
    """

    branch: str
    files: tuple[tuple[str, str | None], ...]
    reason: str = ""
    followed: bool = False
    limited: bool = True
    label: str = ""
    check: tuple[str, str] = ("", "")
    parts: tuple[Commit, ...] = ()
    former: frozenset[str] = frozenset()
    lasts: str = ""

    @cached_property
    def part_blobs(self) -> tuple[dict[str, str | None], ...]:
        """The same as ``blobs``, of each part."""
        return tuple({path: self.blobs[path] for path, _ in part.files} for part in self.parts)

    def unwanted(self, blobs: Mapping[str, str | None]) -> tuple[str, ...]:
        """The paths by which the changes ``blobs`` differ from what is wanted: all, or of parts any that are whole."""
        if not self.parts:
            found = {path for path, _ in blobs.items() ^ self.blobs.items()}
        else:
            whole = [part for part in self.part_blobs if part.items() <= blobs.items()]
            found = set(blobs) - {path for part in whole for path in part}
        return tuple(sorted(found))

    @cached_property
    def blobs(self) -> dict[str, str | None]:
        """Path → git's id of its content, ``None`` for a deleted file."""
        return {path: None if text is None else blob_id(text) for path, text in self.files}


@dataclass(frozen=True, kw_only=True)
class Branch:
    """A branch of the bot: its commit, and the ids of files that differ from the default branch.

    ``has_base``: the default branch's commit is among its ancestors; ``behind`` are paths that the default branch has
    changed since.
    """

    commit: str
    blobs: Mapping[str, str | None]
    has_base: bool
    behind: frozenset[str] = frozenset()

    def contains(self, desired: DesiredPullRequest) -> bool:
        """Whether it is as ``desired``, on the present files of the default branch."""
        return self.blobs == desired.blobs and not self.behind & desired.blobs.keys()


@dataclass(frozen=True, kw_only=True)
class PullRequestState:
    """The pull requests of one kind on GitHub, and their branches by name; ``base`` is the default branch's commit.

    ``check`` reads the bot's check on a commit, ``comments`` those of a pull request, ``author_of`` the author of a
    commit.  ``heads`` are the commits that
    the bot pushed, by branch, from the ledger.  For ``barred`` branches GitHub does not let the bot open a pull
    request.  For ``opened`` ones this run opened one, which the lists may not show yet.  ``pushed`` is how many commits
    it pushed to branches so far.  People took back that they closed the pull requests ``withdrawn``.
    """

    login: str
    default_branch: str
    base: str
    open: tuple[PullRequest, ...]
    closed: tuple[PullRequest, ...]
    branches: Mapping[str, Branch]
    closed_by: ClosedBy
    check: Callable[[str], CheckRun | None]
    comments: Callable[[int], tuple[IssueComment, ...]]
    author_of: Callable[[str], str]
    heads: Mapping[str, str] = field(default_factory=dict)
    barred: frozenset[str] = frozenset()
    opened: frozenset[str] = frozenset()
    pushed: int = 0
    withdrawn: frozenset[int] = frozenset()

    def is_own(self, branch: str) -> bool:
        """Whether the last commit of ``branch`` is the bot's."""
        commit = self.branches[branch].commit
        return self.heads.get(branch) == commit or self.author_of(commit) == self.login

    def was_refused(self, pull: PullRequest) -> bool:
        """Whether people closed ``pull``, unmerged."""
        return was_refused(pull, self.closed_by)

    def was_answered(self, pull: PullRequest) -> bool:
        """Whether people merged or closed ``pull``."""
        return pull.merge is not None or self.was_refused(pull)

    def answer_on(self, branch: str) -> PullRequest | None:
        """The last pull request from ``branch`` that people answered."""
        ended = sorted((pull for pull in self.closed if pull.branch == branch), key=lambda pull: -pull.number)
        return next(filter(self.was_answered, ended), None)


@dataclass(frozen=True, kw_only=True)
class PlannedPullRequest:
    """The plan for the pull request from ``branch``; ``number`` is that of the open or the refused one."""

    branch: str
    action: Action
    number: int | None = None
    operations: tuple[Operation, ...] = ()

    @property
    def writes(self) -> list[tuple[int | None, Operation]]:
        """The operations in order, each with the pull request that it is on, if any."""
        return [(self.number, item) for item in self.operations]


def own_heads(planned: Iterable[PlannedPullRequest], branches: Mapping[str, Branch]) -> dict[str, str]:
    """Branch → commit of those ``branches`` that GitHub shows as they were ``planned``: what the bot left there."""
    return {
        item.branch: branches[item.branch].commit
        for item in planned
        if ((item.action == "keep" and item.number is not None) or item.action == "barred") and item.branch in branches
    }


def was_closed(pull: PullRequest) -> bool:
    """Whether someone other than the bot closed ``pull``, unmerged."""
    return pull.closed and pull.merge is None and not was_closed_by_us(pull.body)


def was_refused(pull: PullRequest, closed_by: ClosedBy) -> bool:
    """Whether people closed ``pull``, unmerged; closing by another bot, such as one for stale issues, is no answer."""
    return was_closed(pull) and not is_bot(closed_by(pull)[0])


def plan_pull_requests(
    wanted: Sequence[DesiredPullRequest],
    state: PullRequestState,
    limit: int,
    why_closed: Callable[[PullRequest], str] | None = None,
) -> tuple[PlannedPullRequest, ...]:
    """The plans for open pull requests, by number, and then for the others that are ``wanted``, most urgent first.

    At most ``limit`` are open at a time.  ``why_closed`` gives the reason for closing one that is no longer wanted;
    without it, such a one stays.
    """
    planned = [plan_pull_request(item, state) for item in wanted]
    if why_closed is not None:
        known = {item.branch for item in wanted}
        planned += [_close(pull, why_closed(pull), state) for pull in state.open if pull.branch not in known]
    unlimited = {item.branch for item in wanted if not item.limited}
    gone = {item.branch for item in planned if item.action == "close"}
    # What this run opened counts before GitHub's list shows it.  What an earlier run opened and the list does not show
    # yet is not known here: it is asked for again, most urgent first, and GitHub opens none twice.  The limit is passed
    # only if others have become more urgent meanwhile.
    unlisted = {item.branch for item in planned if item.branch in state.opened} - {pull.branch for pull in state.open}
    room = limit - len(unlisted - unlimited)
    room -= sum(1 for pull in state.open if pull.branch not in unlimited | gone)
    found, pushed = [], state.pushed
    for item in planned:
        takes_room = item.action in ("open", "barred") and item.branch not in unlimited
        commits = sum(1 + len(each.then) for each in item.operations if isinstance(each, PushBranch))
        is_too_much = bool(pushed) and pushed + commits > MOST_COMMITS
        if takes_room and (room <= 0 or is_too_much):
            found.append(replace(item, action="wait", operations=()))
            continue
        found.append(item)
        room -= takes_room
        pushed += commits
    return tuple(sorted(found, key=lambda item: (item.number is None, item.number or 0)))


def plan_pull_request(desired: DesiredPullRequest, state: PullRequestState) -> PlannedPullRequest:
    """The plan that makes GitHub show ``desired``, once for each branch."""
    name, branch = desired.branch, state.branches.get(desired.branch)
    for pull in state.open:
        if pull.branch == name:
            action, operations = _keep(pull, desired, branch, state) if desired.followed else ("keep", [])
            return PlannedPullRequest(branch=name, action=action, number=pull.number, operations=tuple(operations))
    if name in state.opened:
        return PlannedPullRequest(branch=name, action="keep")
    answer = state.answer_on(name)
    if answer is not None and answer.merge is None and answer.number not in state.withdrawn:
        return PlannedPullRequest(branch=name, action="refused", number=answer.number)
    moved_on = branch is not None and answer is not None and answer.head == branch.commit
    changed = branch is not None and bool(branch.blobs) and branch.blobs != desired.blobs
    if changed and not moved_on and not (desired.parts and state.is_own(name)):
        # Someone committed to it; a branch that was merged unchanged is still the bot's.
        return PlannedPullRequest(branch=name, action="wait")
    found: list[Operation] = []
    if branch is None or not branch.contains(desired):
        found.append(_push(desired, branch, state))
    if name in state.barred:
        return PlannedPullRequest(branch=name, action="barred", operations=tuple(found))
    base, title, body, draft = state.default_branch, desired.title, desired.body, desired.draft
    found.append(OpenPullRequest(branch=name, base=base, title=title, body=body, draft=draft))
    return PlannedPullRequest(branch=name, action="open", operations=tuple(found))


def labelled(pull: PullRequest, label: str) -> list[Operation]:
    """Put ``label`` on ``pull``, unless it is there."""
    return [] if label.casefold() in {name.casefold() for name in pull.labels} else [AddLabels(names=(label,))]


def _keep(
    pull: PullRequest, desired: DesiredPullRequest, branch: Branch | None, state: PullRequestState
) -> tuple[Action, list[Operation]]:
    """Keep an open pull request up to date: its branch, description, label and check."""
    if branch is None:
        # It was just deleted, and GitHub is about to close the pull request: a person's answer.
        return "keep", []
    if not branch.contains(desired):
        # People may drop parts of what they saw, some of which is not wanted any more by now.
        left = {path: blob for path, blob in branch.blobs.items() if path not in desired.former}
        own = desired.parts and (not desired.unwanted(left) or state.is_own(desired.branch))
        if own or branch.blobs == desired.blobs or state.heads.get(desired.branch) == branch.commit:
            push = _push(desired, branch, state)
            # What people dropped by a commit is written down first: by a push the last commit is the bot's.
            dropped = desired.lasts and not (_is_in(desired.lasts, pull.body) or state.is_own(desired.branch))
            return "refresh", [EditDescription(body=desired.body), push] if dropped else [push]
        return "leave", _leave(pull, desired, branch, state)
    found: list[Operation] = []
    # A pull request that the bot closed and people reopened may be refused again.
    ours = is_as_written(pull.body) or was_closed_by_us(pull.body)
    if lasting(pull.body) != lasting(desired.body) and (ours or not _is_in(desired.lasts, pull.body)):
        found.append(EditDescription(body=desired.body))
    title, text = desired.check
    derived = f"Derived again for {code(state.base[:12])}, as if all other open suggestions were merged as well."
    check = post_check(branch.commit, "success", title, f"{derived} {text}", state.check(branch.commit))
    return "keep", [*found, *labelled(pull, desired.label), *check]


def _is_in(part: str, body: str) -> bool:
    return part in body.replace("\r\n", "\n")


def _leave(pull: PullRequest, desired: DesiredPullRequest, branch: Branch, state: PullRequestState) -> list[Operation]:
    """Leave a branch with people's commits unchanged; the check says whether it still does what was suggested."""
    unwanted = desired.unwanted({path: blob for path, blob in branch.blobs.items() if path.startswith(_GUARDED)})
    summary = (
        f"It no longer does to the regression set what was suggested ({listed(list(map(code, unwanted)))}): undo that, "
        "or close this pull request."
        if unwanted
        else "It still does to the regression set what was suggested."
    )
    title = "Someone committed to this branch: Incumbent no longer changes it"
    text = f"{summary} Derived again for {code(state.base[:12])}."
    found: list[Operation] = [EditDescription(body=desired.body)] if was_closed_by_us(pull.body) else []
    conclusion: CheckConclusion = "failure" if unwanted else "success"
    return [*found, *post_check(branch.commit, conclusion, title, text, state.check(branch.commit))]


def _close(pull: PullRequest, why: str, state: PullRequestState) -> PlannedPullRequest:
    """Close a pull request that is no longer wanted; a mark in its description says so.  The comment comes first.

    The branch is deleted if it has only the bot's commits.
    """
    name = pull.branch or ""
    branch = state.branches.get(name)
    if branch is None:
        return PlannedPullRequest(branch=name, action="keep", number=pull.number)
    text = f"{_CLOSED_MARK}\nClosed by Incumbent: {why}\n"
    said = any(item.author == state.login and item.body.strip() == text.strip() for item in state.comments(pull.number))
    found: list[Operation] = [] if said else [CreateComment(body=text)]
    found.append(ClosePullRequest(body=closing(pull.body, why)))
    if state.heads.get(name) == branch.commit:
        found.append(DeleteBranch(branch=name, tip=branch.commit))
    return PlannedPullRequest(branch=name, action="close", number=pull.number, operations=tuple(found))


def _push(desired: DesiredPullRequest, branch: Branch | None, state: PullRequestState) -> PushBranch:
    tip = () if branch is None else (branch.commit,)
    files, message, then = _in_parts(desired, branch) if desired.parts else (desired.files, desired.title, ())
    return PushBranch(
        branch=desired.branch,
        tip=None if branch is None else branch.commit,
        base=state.base,
        parents=tip if branch is not None and branch.has_base else (*tip, state.base),
        files=files,
        message=f"{message}\n\n{desired.reason}" if desired.reason else message,
        then=then,
    )


def _in_parts(
    desired: DesiredPullRequest, branch: Branch | None
) -> tuple[tuple[tuple[str, str | None], ...], str, tuple[Commit, ...]]:
    """The files and the message of the first commit, and the commits that follow: one for each part that is new."""
    known = {} if branch is None else branch.blobs
    new = [
        part
        for part, blobs in zip(desired.parts, desired.part_blobs, strict=True)
        if not blobs.items() <= known.items()
    ]
    files = tuple(sorted(file for part in desired.parts if part not in new for file in part.files))
    if branch is None or (new and branch.has_base and known == {path: desired.blobs[path] for path, _ in files}):
        return tuple(sorted((*files, *new[0].files))), new[0].message, tuple(new[1:])
    return files, f"{desired.title} (brought up to date)", tuple(new)


BEGINNING: Final = "incumbent"
"""The prefix of the bot's branches."""
FOLDERS: Final = (
    "incumbent/evict/",
    "incumbent/group/",
    "incumbent/swap/",
    "incumbent/repack/",
    "incumbent/top-up/",
    "incumbent/admit/",
    "incumbent/quarantine/",
    "incumbent-candidates/",
    "incumbent-calibration/",
    "incumbent-chat/",
)
"""The folders of the bot's branches, apart from the ledger."""


def excludes(name: str, wanted: str) -> bool:
    """Whether git cannot have both branches, ``name`` and ``wanted``: one would be a folder of the other."""
    return wanted.startswith(f"{name}/") or name.startswith(f"{wanted}/")


def in_the_way(names: Collection[str]) -> tuple[str, ...]:
    """The branches among ``names`` that prevent branches of the bot, sorted."""
    found = {name for name in names if excludes(name, BRANCH) or any(place.startswith(f"{name}/") for place in FOLDERS)}
    return tuple(sorted(found))


def parents(name: str) -> tuple[str, ...]:
    """The folders of the branch ``name``, shortest first."""
    parts = name.split("/")
    return tuple("/".join(parts[:length]) for length in range(1, len(parts)))


BRANCHES: Final = "incumbent-calibration/"
"""The prefix of the branches of these pull requests; reconcile takes those with ``incumbent/`` for its own."""


def calibration_offer(edit: ConfigEdit, body: str) -> DesiredPullRequest:
    """The pull request that offers the calibrated config ``edit``; equal evidence leads to the same branch.

    Its branch is outside of the bot's prefix, so that the bot treats it like any other pull request: its impact is
    reviewed, and people merge or close it.
    """
    return DesiredPullRequest(
        branch=f"{BRANCHES}{edit.name}",
        title="Calibrate per-capability knobs from validated overrides",
        body=body,
        files=((edit.path, edit.text),),
        reason="Proposed by incumbent calibrate; the pull request says why.",
    )
