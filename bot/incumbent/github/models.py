"""What is read from GitHub and what is written to it, as values, and how they are in GitHub's JSON.

Writes are planned first and applied at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from incumbent.files.snapshot import Snapshot
from incumbent.github.read_back import kept_aside, read_back
from incumbent.ledger.model import CommentKey
from incumbent.ledger.people import BOT, GHOST, is_bot
from incumbent.ledger.store import README, format_file

CHECK = "Incumbent"
"""The name of the check, the same on every pull request and merge group, so that it can be required."""
CheckConclusion: TypeAlias = Literal["success", "failure", "neutral"]
Level: TypeAlias = Literal["notice", "warning", "failure"]
Reaction: TypeAlias = Literal["+1", "confused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """A pull request as it is now; ``association`` is GitHub's word on its author's relation to the repository.

    ``merge`` is the commit of its merge, if merged; then it is ``closed`` too.  ``closed_at`` is when it was last
    closed.  ``branch`` is the head's branch in the repository of the base, and ``None`` for a fork's.
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

    Its ``kind``: one of the conversation, a review, or one on a line; comments of different kinds may have the same id.
    For reviews and their comments, ``pull_request`` is set, and ``updated_at`` is empty if it may have been edited.
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
        """Its key in records."""
        return self.id if self.kind == "comment" else f"{self.kind}:{self.pull_request}:{self.id}"

    @property
    def is_edited(self) -> bool:
        """Whether it was edited, perhaps by another person."""
        return self.updated_at != self.created_at


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadComment:
    """A comment, and the number of the pull request or issue that it is on."""

    number: int
    comment: IssueComment


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """An issue as it is now."""

    number: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """The newest check of the bot's name on a commit."""

    conclusion: str | None
    external_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A remark on a line of a file of the head."""

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
    """A new body for a comment of the bot."""

    id: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteComment:
    """Delete a comment of the bot that a race duplicated."""

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
    """A label of the bot that no longer applies."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PostCheck:
    """The check on ``commit``; ``external_id`` is a digest of its text."""

    commit: str
    conclusion: CheckConclusion
    title: str
    summary: str
    annotations: tuple[Annotation, ...]
    external_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteLedger:
    """Files of the ledger branch, on top of ``parent`` (``None``: the branch does not exist yet).

    A file whose content is ``None`` is deleted.
    """

    parent: str | None
    files: tuple[tuple[str, str | None], ...]
    message: str

    def on(self, ledger: Snapshot | None) -> WriteLedger:
        """The same write on top of the ``ledger``, with its format if that is not there yet.

        Files that it replaces and that cannot be read are kept in it.
        """
        if ledger is None:
            return self
        files = dict(self.files)
        more = kept_aside(files, ledger) | format_file(ledger)
        return replace(self, files=tuple(sorted((files | more).items())))

    @staticmethod
    def of(parent: str | None, files: Mapping[str, str | None], message: str) -> WriteLedger:
        """The write of ``files`` by path; a new branch gets its format, and a file that explains it.

        Raises :class:`incumbent.errors.OutsideError` if later runs could not read one of them.
        """
        read_back(files)
        said = {"README.md": README, **format_file(None), **files} if parent is None else files
        return WriteLedger(parent=parent, files=tuple(sorted(said.items())), message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """The files of one commit; one whose content is ``None`` is deleted."""

    files: tuple[tuple[str, str | None], ...]
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PushCommits:
    """Commits on top of ``parent``, the head of the branch; all of them or none."""

    branch: str
    parent: str
    commits: tuple[Commit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PushBranch:
    """Make ``branch`` equal to ``base`` with the changed ``files``, by one commit on top of ``tip``; no commit is lost.

    ``tip`` is the head of the branch (``None``: it does not exist yet); ``parents`` are those of the commit.  Commits
    in ``then`` follow on it.
    """

    branch: str
    tip: str | None
    base: str
    parents: tuple[str, ...]
    files: tuple[tuple[str, str | None], ...]
    message: str
    then: tuple[Commit, ...] = ()

    @property
    def all_files(self) -> dict[str, str | None]:
        """The files that differ from those of ``base`` in the end."""
        return dict(self.files) | {path: text for commit in self.then for path, text in commit.files}


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequestText:
    """What a new pull request of the bot is called and says; a ``draft`` cannot be merged yet."""

    title: str
    body: str
    draft: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPullRequest(PullRequestText):
    """A pull request of the bot to merge ``branch`` into ``base``."""

    branch: str
    base: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditDescription:
    """A new description for a pull request of the bot."""

    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosePullRequest:
    """Close a pull request of the bot; a marker in the description ``body`` says that people did not refuse it."""

    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteBranch:
    """Delete a branch of the bot whose pull request was closed, if its head is still ``tip``."""

    branch: str
    tip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateIssue:
    """A new dashboard."""

    title: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditIssue:
    """A new text for the dashboard."""

    number: int
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseIssue:
    """Close a dashboard that a race duplicated."""

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
    """A line on ``operation`` for a dry run and the log; it has no untrusted text."""
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
        case PushBranch(branch=branch, tip=tip):
            verb = "make" if tip is None else "refresh"
            return f"{verb} the branch {branch}: {', '.join(operation.all_files)}"
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


class MadeCommit(NamedTuple):
    """The ids of a commit that GitHub made, and of its tree."""

    commit: str
    tree: str


def tree_item(path: str, text: str | None) -> dict[str, Any]:
    """A file as an item of a tree; one without text is deleted."""
    place = {"path": path, "mode": "100644", "type": "blob"}
    return {**place, "sha": None} if text is None else {**place, "content": text}


def account(user: Mapping[str, Any] | None) -> str:
    """The login of ``user``, and ``ghost`` for a deleted account.

    Some apps' logins do not show that they are apps (such as `Copilot`): they get the suffix of all other apps.
    """
    login = str((user or {}).get("login") or GHOST)
    return f"{login}{BOT}" if (user or {}).get("type") == "Bot" and not is_bot(login) else login


def comment_of(found: Mapping[str, Any]) -> IssueComment:
    """A comment as a value."""
    login = login_of(found)
    return IssueComment(
        id=found["id"],
        author=login,
        is_bot=is_bot(account(found.get("user"))),
        body=found.get("body") or "",
        created_at=found["created_at"],
        updated_at=found["updated_at"],
    )


def is_submitted(review: Mapping[str, Any]) -> bool:
    """Whether ``review`` counts: it is neither a draft nor dismissed."""
    return bool(review.get("submitted_at")) and review.get("state") not in ("PENDING", "DISMISSED")


def said_in_review(
    kind: CommentKind, number: int, found: Mapping[str, Any], edits: Mapping[str, Any] | None
) -> IssueComment:
    """A comment in a review of the pull request ``number``: the review's text, or a comment on a line.

    ``edits`` has the times of its publication and last edit.  A change to a draft is no edit.  If it is not known
    whether it was edited, it counts as edited.
    """
    created = str(found["submitted_at"] if kind == "review" else found["created_at"])
    edited = None if edits is None else edits.get("lastEditedAt")
    as_written = edits is not None and (edited is None or str(edited) < str(edits.get("publishedAt") or ""))
    return IssueComment(
        id=found["id"],
        author=login_of(found),
        is_bot=is_bot(account(found.get("user"))),
        body=found.get("body") or "",
        created_at=created,
        updated_at=created if as_written else "",
        kind=kind,
        pull_request=number,
    )


def remark_of(found: Mapping[str, Any]) -> ThreadComment:
    """A comment with the number of its thread."""
    return ThreadComment(number=int(found["issue_url"].rpartition("/")[2]), comment=comment_of(found))


def pull_request_of(found: Mapping[str, Any]) -> PullRequest:
    """A pull request as a value."""
    return PullRequest(
        number=int(found["number"]),
        head=found["head"]["sha"],
        base=found["base"]["ref"],
        author=login_of(found),
        association=str(found.get("author_association") or ""),
        labels=tuple(sorted(label["name"] for label in found.get("labels") or ())),
        branch=found["head"]["ref"] if _same_repository(found) else None,
        title=str(found.get("title") or ""),
        body=str(found.get("body") or ""),
        closed=found.get("state") == "closed",
        closed_at=found.get("closed_at"),
        merge=found["merge_commit_sha"] if found.get("merged_at") else None,
    )


def _same_repository(found: Mapping[str, Any]) -> bool:
    """Whether the branch of a pull request is in the repository itself; a fork may have been deleted since."""
    head = found["head"].get("repo") or {}
    return bool(head) and head.get("full_name") == (found["base"].get("repo") or {}).get("full_name")


def login_of(item: Mapping[str, Any]) -> str:
    """The author's login; ``ghost`` for a deleted account."""
    return str((item.get("user") or {}).get("login") or GHOST)


GITHUB_ITSELF: Final = "web-flow"
"""The committer of what people do on GitHub's pages."""
_CO_AUTHOR = re.compile(
    r"^co-authored-by:[^<\n]*<(?:[0-9]+\+)?([a-z0-9_-]+)@users\.noreply\.github\.com>", re.IGNORECASE | re.MULTILINE
)


def makers_of(commits: Iterable[Mapping[str, Any]], *, proven: bool = False) -> frozenset[str]:
    """The logins, in lower case, of authors, committers and co-authors of ``commits``, as far as GitHub knows them.

    A merge that GitHub made and signed does not count: it is how people bring a branch up to date.  With ``proven``
    only authors of signed commits count: anybody can write another's name into a commit.
    """
    found: set[str] = set()
    for item in commits:
        people = [str((item.get(role) or {}).get("login") or "").casefold() for role in ("author", "committer")]
        is_signed = bool((item["commit"].get("verification") or {}).get("verified"))
        if len(item["parents"]) > 1 and people[1] == GITHUB_ITSELF and is_signed:
            continue
        if proven:
            found.update(people[:1] if is_signed else ())
            continue
        found.update(people, (name.casefold() for name in _CO_AUTHOR.findall(str(item["commit"]["message"]))))
    return frozenset(found - {"", GITHUB_ITSELF})


def check_body(operation: PostCheck, page: str | None = None) -> dict[str, Any]:
    """The body of a request that posts a check; it links to ``page``, as GitHub lists checks under any workflow."""
    output: dict[str, Any] = {"title": operation.title, "summary": operation.summary}
    if operation.annotations:
        output["annotations"] = [
            {
                "path": item.path,
                "start_line": item.line,
                "end_line": item.line,
                "annotation_level": item.level,
                "title": item.title,
                "message": item.message,
            }
            for item in operation.annotations
        ]
    return {
        "name": CHECK,
        "head_sha": operation.commit,
        "status": "completed",
        "conclusion": operation.conclusion,
        "external_id": operation.external_id,
        "output": output,
        **({"details_url": page} if page else {}),
    }
