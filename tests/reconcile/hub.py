"""A GitHub made of values: branches, pull requests, comments, labels and checks of one repository, and its clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from incumbent.github.client import GitHubClient, LostRaceError
from incumbent.github.models import (
    AddLabels,
    CheckRun,
    CloseIssue,
    ClosePullRequest,
    CreateComment,
    CreateIssue,
    DeleteBranch,
    DeleteComment,
    EditComment,
    EditDescription,
    EditIssue,
    Issue,
    IssueComment,
    OpenPullRequest,
    Operation,
    PostCheck,
    PullRequest,
    PushBranch,
    PushCommits,
    React,
    RemoveLabel,
    ThreadComment,
    WriteLedger,
)
from incumbent.ledger.model import BRANCH, CommentKey
from tests.reconcile.repository import Files, Repository

BOT = "github-actions[bot]"
MAIN = "main"
_START = datetime(2026, 11, 21, 10, tzinfo=UTC)


class KilledError(Exception):
    """A run ends here, in the middle of what it was about to write."""


@dataclass
class Pull:
    """A pull request; ``head`` is kept here once its branch may be gone.  ``changed`` orders by the last change."""

    number: int
    branch: str
    head: str
    author: str
    title: str = ""
    body: str = ""
    open: bool = True
    labels: set[str] = field(default_factory=set)
    comments: list[IssueComment] = field(default_factory=list)
    merge: str | None = None
    merged_by: str = ""
    merged_at: str = ""
    closed_by: str = ""
    closed_at: str = ""
    changed: int = 0


class Hub(GitHubClient):
    """The repository on GitHub as the bot sees it, with what people do there; a run may write ``allowed`` times."""

    def __init__(self, files: Files) -> None:
        self.login = BOT
        self.seconds = 0
        self.repository = Repository()
        self.repository.branches[MAIN] = self.repository.commit(files, (), self.now)
        self.pulls: dict[int, Pull] = {}
        self.made: dict[int, frozenset[str]] = {}
        self.issues: dict[int, str] = {}
        self.checks: dict[str, CheckRun] = {}
        self.reactions: dict[int, list[str]] = {}
        self.written: list[Operation] = []
        self.allowed: int | None = None
        self.reads: Callable[[IssueComment], IssueComment] = replace
        self.permissions: dict[str, str] = {}
        self.committed: set[str] = set()
        self._numbers = 0
        self._comments = 100

    @property
    def now(self) -> str:
        """GitHub's clock."""
        return (_START + timedelta(seconds=self.seconds)).isoformat().replace("+00:00", "Z")

    def wait(self, seconds: int) -> None:
        """Let time pass."""
        self.seconds += seconds

    # What people do

    def push(self, branch: str, files: Mapping[str, str | None], start: str | None = None, author: str = "cora") -> str:
        """Somebody commits to ``branch``, which begins at ``start`` where it is new; the commit."""
        self.wait(1)
        tip = start or self.repository.branches[branch]
        commit = self.repository.commit(_with(self.repository.commits[tip].files, files), (tip,), self.now)
        self.repository.authors[commit] = author
        self._advance(branch, commit)
        return commit

    def offer(self, branch: str, author: str) -> Pull:
        """Somebody opens a pull request."""
        self.wait(1)
        number = self._number()
        self.pulls[number] = Pull(number, branch, self.repository.branches[branch], author, changed=self.seconds)
        return self.pulls[number]

    def say(self, number: int, author: str, body: str) -> int:
        """Somebody comments on a pull request; the comment's id."""
        self.wait(1)
        self._comments += 1
        comment = IssueComment(
            id=self._comments,
            author=author,
            is_bot=author == BOT,
            body=body,
            created_at=self.now,
            updated_at=self.now,
        )
        self.pulls[number].comments.append(comment)
        return comment.id

    def can_merge(self, pull: Pull) -> bool:
        """Whether GitHub would offer the merge."""
        return self.repository.merged(self.repository.branches[MAIN], pull.head) is not None

    def merge(self, pull: Pull, by: str, squash: bool) -> None:
        """Somebody merges a pull request."""
        self.wait(1)
        tip = self.repository.branches[MAIN]
        files = self.repository.merged(tip, pull.head)
        assert files is not None
        parents = (tip,) if squash else (tip, pull.head)
        pull.merge = self.repository.branches[MAIN] = self.repository.commit(files, parents, self.now)
        pull.merged_by, pull.merged_at = by, self.now
        self._end(pull)

    def close_pull(self, pull: Pull, by: str = "cora") -> None:
        """Somebody closes a pull request unmerged."""
        self.wait(1)
        pull.closed_by, pull.closed_at = by, self.now
        self._end(pull)

    def reopen(self, pull: Pull) -> None:
        """Somebody opens a pull request again."""
        self.wait(1)
        pull.open, pull.changed = True, self.seconds

    # What the product reads

    def reading(self, reads: Callable[[IssueComment], IssueComment]) -> Hub:
        self.reads = reads
        return self

    def pull_request(self, number: int) -> PullRequest:
        return self._value(self.pulls[number])

    def find_pull_request(self, number: int) -> PullRequest | None:
        return self._value(self.pulls[number]) if number in self.pulls else None

    def open_pull_requests(self, base: str) -> tuple[PullRequest, ...]:
        return tuple(self._value(pull) for _, pull in sorted(self.pulls.items()) if pull.open)

    def closed_pull_requests(self, base: str) -> tuple[PullRequest, ...]:
        closed = [pull for pull in self.pulls.values() if not pull.open]
        return tuple(map(self._value, sorted(closed, key=lambda pull: (-pull.changed, pull.number))))[:100]

    def merged_by(self, number: int) -> tuple[str, str]:
        return self.pulls[number].merged_by, self.pulls[number].merged_at

    def closed_by(self, number: int) -> tuple[str, str]:
        return self.pulls[number].closed_by, self.pulls[number].closed_at

    def author_of(self, commit: str) -> str:
        return self.repository.authors.get(commit, "ghost")

    def commit_authors(self, number: int, *, proven: bool = False) -> frozenset[str]:
        return self.made.get(number, frozenset())

    def own_issues(self) -> tuple[Issue, ...] | None:
        return tuple(Issue(number=number, body=body) for number, body in sorted(self.issues.items()))

    def comments(self, number: int) -> tuple[IssueComment, ...]:
        return tuple(sorted(map(self.reads, self.pulls[number].comments), key=lambda item: item.id))

    def permission(self, login: str) -> str:
        return self.permissions.get(login, "write")

    def has_committed(self, login: str) -> bool:
        return login in self.committed

    def said_on(self, number: int) -> tuple[IssueComment, ...]:
        return self.comments(number)

    def is_reviewed(self, number: int) -> bool:
        return any(not item.is_bot for item in self.comments(number))

    def introduced_by(self, commit: str) -> tuple[PullRequest, ...]:
        return tuple(self._value(pull) for _, pull in sorted(self.pulls.items()) if pull.merge == commit)

    def comments_since(self, moment: str) -> tuple[ThreadComment, ...]:
        found = [
            ThreadComment(number=number, comment=self.reads(item))
            for number, pull in self.pulls.items()
            for item in pull.comments
        ]
        return tuple(sorted((item for item in found if item.comment.updated_at >= moment), key=_age))

    def find_remark(self, key: CommentKey) -> ThreadComment | None:
        return next((item for item in self.comments_since("") if item.comment.id == key), None)

    def check(self, commit: str) -> CheckRun | None:
        return self.checks.get(commit)

    # What the product writes

    def apply(self, number: int | None, operation: Operation, tree: str | None = None) -> None:
        if self.allowed is not None:
            if not self.allowed:
                raise KilledError
            self.allowed -= 1
        self.wait(1)
        self.written.append(operation)
        match operation:
            case WriteLedger(parent=parent, files=files):
                self._put(BRANCH, parent, [files], tree)
            case PushCommits(branch=branch, parent=parent, commits=commits):
                self._put(branch, parent, [commit.files for commit in commits], tree)
            case PushBranch():
                self._push_branch(operation, tree)
            case OpenPullRequest(branch=branch):
                assert not [pull for pull in self.pulls.values() if pull.open and pull.branch == branch], branch
                self.offer(branch, BOT)
                self.pulls[self._numbers].title, self.pulls[self._numbers].body = operation.title, operation.body
            case DeleteBranch(branch=branch):
                self.repository.branches.pop(branch, None)
                assert not [pull for pull in self.pulls.values() if pull.open and pull.branch == branch], branch
            case PostCheck(commit=commit):
                self.checks[commit] = CheckRun(conclusion=operation.conclusion, external_id=operation.external_id)
            case React(comment=comment, reaction=reaction):
                self.reactions.setdefault(comment, []).append(reaction)
            case CreateIssue(body=body):
                self.issues[self._number()] = body
            case EditIssue(number=issue, body=body):
                self.issues[issue] = body
            case CloseIssue(number=issue):
                del self.issues[issue]
            case _:
                assert number is not None
                self._on_pull(self.pulls[number], operation)

    def _on_pull(self, pull: Pull, operation: Operation) -> None:
        pull.changed = self.seconds
        match operation:
            case CreateComment(body=body):
                self.say(pull.number, BOT, body)
            case EditComment(id=id, body=body):
                assert id in {item.id for item in pull.comments if item.author == BOT}
                pull.comments = [
                    replace(item, body=body, updated_at=self.now) if item.id == id else item for item in pull.comments
                ]
            case DeleteComment(id=id):
                pull.comments = [item for item in pull.comments if item.id != id]
            case AddLabels(names=names):
                pull.labels |= set(names)
            case RemoveLabel(name=name):
                pull.labels.discard(name)
            case EditDescription(body=body):
                pull.body = body
            case ClosePullRequest(body=body):
                assert pull.open
                pull.body, pull.closed_by, pull.closed_at = body, BOT, self.now
                self._end(pull)
            case _:
                raise AssertionError(f"nobody knows {operation}")

    def _put(
        self, branch: str, parent: str | None, commits: list[tuple[tuple[str, str | None], ...]], tree: str | None
    ) -> None:
        if self.repository.branches.get(branch) != parent:
            raise LostRaceError(f"the branch {branch} has moved")
        assert tree == (None if parent is None else self.repository.tree(parent))
        for files in commits:
            before = {} if parent is None else self.repository.commits[parent].files
            parent = self.repository.commit(_with(before, dict(files)), () if parent is None else (parent,), self.now)
            self.repository.authors[parent] = BOT
        assert parent is not None
        self._advance(branch, parent)

    def _push_branch(self, operation: PushBranch, tree: str | None) -> None:
        if self.repository.branches.get(operation.branch) != operation.tip:
            raise LostRaceError(f"the branch {operation.branch} has moved")
        assert tree == self.repository.tree(operation.base)
        assert operation.tip is None or operation.tip in operation.parents, "a branch only ever gains commits"
        files = _with(self.repository.commits[operation.base].files, dict(operation.files))
        commit = self.repository.commit(files, operation.parents, self.now)
        for then in operation.then:
            files = _with(files, dict(then.files))
            commit = self.repository.commit(files, (commit,), self.now)
        self.repository.authors[commit] = BOT
        self._advance(operation.branch, commit)

    def _advance(self, branch: str, commit: str) -> None:
        self.repository.branches[branch] = commit
        for pull in self.pulls.values():
            if pull.open and pull.branch == branch:
                pull.head, pull.changed = commit, self.seconds

    def _end(self, pull: Pull) -> None:
        pull.open, pull.changed = False, self.seconds

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers

    def _value(self, pull: Pull) -> PullRequest:
        return PullRequest(
            number=pull.number,
            head=pull.head,
            base=MAIN,
            author=pull.author,
            association="NONE",
            labels=tuple(sorted(pull.labels)),
            closed=not pull.open,
            closed_at=None if pull.open else pull.closed_at or pull.merged_at,
            merge=pull.merge,
            branch=pull.branch,
            title=pull.title,
            body=pull.body,
        )


def _age(remark: ThreadComment) -> int:
    return remark.comment.id


def _with(files: Files, changed: Mapping[str, str | None]) -> dict[str, str]:
    found = {**files, **{path: text for path, text in changed.items() if text is not None}}
    return {path: text for path, text in found.items() if path not in changed or changed[path] is not None}
