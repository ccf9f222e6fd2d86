"""What is read from GitHub, and what is to be written to it, as values (planned first, applied at the very end)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bot.ledger.model import CommentKey
from bot.ledger.store import README

CheckConclusion: TypeAlias = Literal["success", "failure", "neutral"]
Level: TypeAlias = Literal["notice", "warning", "failure"]
Reaction: TypeAlias = Literal["+1", "confused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """A pull request as it stands now; ``association`` is what GitHub states of its author with this repository.

    ``merge`` is the commit by which it was merged, if it was; then it is ``closed`` as well.  ``closed_at`` is when it
    was closed last.  ``branch`` is the head's branch where that is one of the base's own repository, and ``None`` for a
    fork's.
    """

    number: int
    head: str
    base: str
    author: str
    association: str
    labels: tuple[str, ...]
    closed: bool = False
    closed_at: str | None = None
    merge: str | None = None
    branch: str | None = None
    title: str = ""
    body: str = ""


CommentKind: TypeAlias = Literal["comment", "review", "inline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueComment:
    """A comment of a pull request; times are ISO 8601 UTC, as GitHub gives them.

    Its ``kind`` tells whether it is one of the conversation, a review, or one beside a line; ids of different kinds may
    be the same.  Of what is said in a review ``pull_request`` is where, and ``updated_at`` is empty if
    it may have been edited.
    """

    id: int
    author: str
    is_bot: bool
    body: str
    created_at: str
    updated_at: str
    kind: CommentKind = "comment"
    pull_request: int | None = None

    @property
    def key(self) -> CommentKey:
        """By which it is cited."""
        return self.id if self.kind == "comment" else f"{self.kind}:{self.pull_request}:{self.id}"

    @property
    def is_edited(self) -> bool:
        """Whether it is not as it was written, perhaps by another person."""
        return self.updated_at != self.created_at


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadComment:
    """A comment, and the number of the pull request or issue that it is on."""

    number: int
    comment: IssueComment


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """An issue as it stands now."""

    number: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """The newest check of our name on a commit."""

    conclusion: str | None
    external_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A remark on one line of a file of the head."""

    path: str
    line: int
    level: Level
    title: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateComment:
    """A new comment on the pull request."""

    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditComment:
    """Another body for a comment of ours."""

    id: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteComment:
    """Remove a comment of ours that a race doubled."""

    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class React:
    """Acknowledge a comment; reviews take no reactions."""

    comment: int
    reaction: Reaction
    inline: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AddLabels:
    """Labels that the pull request lacks."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveLabel:
    """A label of ours that no longer holds."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PostCheck:
    """The check on ``commit``; ``external_id`` digests what it says."""

    commit: str
    conclusion: CheckConclusion
    title: str
    summary: str
    annotations: tuple[Annotation, ...]
    external_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteLedger:
    """Files of the ledger branch, on top of ``parent`` (``None``: the branch does not exist yet).

    A file whose content is ``None`` goes.
    """

    parent: str | None
    files: tuple[tuple[str, str | None], ...]
    message: str

    @staticmethod
    def of(parent: str | None, files: Mapping[str, str | None], message: str) -> WriteLedger:
        """The write of ``files`` by path; a new branch says what it is."""
        said = {"README.md": README, **files} if parent is None else files
        return WriteLedger(parent=parent, files=tuple(sorted(said.items())), message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """Files as one commit makes them; one whose content is ``None`` goes."""

    files: tuple[tuple[str, str | None], ...]
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PushCommits:
    """Commits on top of ``parent``, which the branch points to; all of them or none."""

    branch: str
    parent: str
    commits: tuple[Commit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PushBranch:
    """Let ``branch`` be ``base`` with ``files`` changed, by one commit on top of ``tip``; it never loses a commit.

    ``tip`` is where the branch points to (``None``: it does not exist yet); ``parents`` are those of the commit.
    """

    branch: str
    tip: str | None
    base: str
    parents: tuple[str, ...]
    files: tuple[tuple[str, str | None], ...]
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPullRequest:
    """A pull request of ours that asks to merge ``branch`` into ``base``."""

    branch: str
    base: str
    title: str
    body: str
    draft: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EditDescription:
    """Another description for a pull request of ours."""

    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosePullRequest:
    """Close a pull request of ours; ``body`` is its description, which says by a marker that it was not refused."""

    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteBranch:
    """Remove a branch of ours whose pull request was closed, where it still points to ``tip``."""

    branch: str
    tip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateIssue:
    """The dashboard, where there is none."""

    title: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditIssue:
    """Another text for the dashboard."""

    number: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseIssue:
    """Close a dashboard that a race doubled."""

    number: int


Operation: TypeAlias = (
    CreateComment
    | EditComment
    | DeleteComment
    | React
    | AddLabels
    | RemoveLabel
    | PostCheck
    | WriteLedger
    | PushCommits
    | PushBranch
    | OpenPullRequest
    | EditDescription
    | ClosePullRequest
    | DeleteBranch
    | CreateIssue
    | EditIssue
    | CloseIssue
)


def describe(operation: Operation) -> str:
    """One line on ``operation`` for a dry run and for the log; nothing in it comes from a stranger."""
    match operation:
        case CreateComment(body=body):
            return f"create a comment of {len(body):,} characters"
        case EditComment(id=id, body=body):
            return f"edit the comment {id} to {len(body):,} characters"
        case DeleteComment(id=id):
            return f"delete the doubled comment {id}"
        case React(comment=comment, reaction=reaction):
            return f"react with {reaction} to the comment {comment}"
        case AddLabels(names=names):
            return f"add the labels {', '.join(names)}"
        case RemoveLabel(name=name):
            return f"remove the label {name}"
        case PostCheck(commit=commit, conclusion=conclusion, annotations=annotations):
            return f"post the check {conclusion} with {len(annotations)} annotations on {commit}"
        case WriteLedger(files=files):
            return f"write to the ledger: {', '.join(path for path, _ in files)}"
        case PushCommits(branch=branch, commits=commits):
            paths = [path for commit in commits for path, _ in commit.files]
            return f"push {len(commits)} commits to {branch}: {', '.join(paths)}"
        case PushBranch(branch=branch, tip=tip, files=files):
            verb = "make" if tip is None else "refresh"
            return f"{verb} the branch {branch}: {', '.join(path for path, _ in files)}"
        case OpenPullRequest(branch=branch):
            return f"open a pull request for {branch}"
        case EditDescription(body=body):
            return f"edit the description to {len(body):,} characters"
        case ClosePullRequest():
            return "close the pull request"
        case DeleteBranch(branch=branch):
            return f"delete the branch {branch}"
        case CreateIssue(body=body):
            return f"open the dashboard issue with {len(body):,} characters"
        case EditIssue(body=body):
            return f"edit the dashboard issue to {len(body):,} characters"
        case CloseIssue(number=number):
            return f"close the doubled dashboard {number}"
