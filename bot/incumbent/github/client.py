"""The client of GitHub's REST API: reads values, applies planned operations.

PyGithub handles tokens, retries and rate limits.  Requests are made by path, so this module shows what a run costs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote

from incumbent.errors import OutsideError
from incumbent.extras import require_extra
from incumbent.github.authority import UNKNOWN_PERMISSION
from incumbent.github.commands import command_lines
from incumbent.github.managed_pull_request import parents
from incumbent.github.models import (
    CHECK,
    AddLabels,
    CheckRun,
    CloseIssue,
    ClosePullRequest,
    CommentKind,
    Commit,
    CreateComment,
    CreateIssue,
    DeleteBranch,
    DeleteComment,
    EditComment,
    EditDescription,
    EditIssue,
    Issue,
    IssueComment,
    MadeCommit,
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
    account,
    check_body,
    comment_of,
    is_submitted,
    login_of,
    makers_of,
    pull_request_of,
    remark_of,
    said_in_review,
    tree_item,
)
from incumbent.ledger.model import BRANCH, CommentKey
from incumbent.ledger.people import is_bot

PAGE = 100
SHOWN = 5
"""The most branches that an error names."""
MOST_COMMITS: Final = 250
"""The most commits that GitHub lists for a pull request."""
GONE: Mapping[int, Any] = {404: {}}
"""The thing to remove or mark is gone already, which is as good."""


_EDITS = "query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Comment { publishedAt lastEditedAt } } }"
_PROTECTED = re.compile(
    r"protected branch|rule violation|through a pull request|status check|approving review|not authorized to push",
    re.IGNORECASE,
)
"""GitHub's message if a rule of the branch refuses."""


SENT_AT_ONCE: Final = 5_000_000
"""Characters of files in one request, if they are several: GitHub may refuse a request that is much larger."""
TRIES: Final = 5
"""How often what lost a race is done again."""


class LostRaceError(OutsideError):
    """A branch moved between reading and writing: read again, plan again."""


class RefusedError(OutsideError):
    """GitHub does not allow this token to do it; a retry does not help."""


class ProtectedBranchError(OutsideError):
    """The rules of a branch accept this token's commits only through a pull request."""


class BlockedBranchError(OutsideError):
    """The bot cannot make a branch, since git cannot have it beside an existing one."""


class GitHubClient:
    """One repository with one token; ``login`` is the token's account, ``page`` the page of this run."""

    def __init__(self, repository: str, token: str, api_url: str, login: str, page: str | None = None) -> None:
        require_extra("github", "what asks GitHub")
        # Imported here: not every command that knows this class has a client, and PyGithub is slow to load.
        from github import Auth, Github

        from incumbent.github.patient_retry import PatientRetry, WaitBudget

        self.login = login
        self._page = page
        self._owner = repository.partition("/")[0]
        self._place = f"/repos/{repository}"
        self._permissions: dict[str, str] = {}
        self._reads: Callable[[IssueComment], IssueComment] = _unchanged
        self._requester = Github(
            auth=Auth.Token(token),
            base_url=api_url,
            retry=PatientRetry(WaitBudget()),
            seconds_between_requests=None,
            seconds_between_writes=None,
        ).requester

    def reading(self, reads: Callable[[IssueComment], IssueComment]) -> GitHubClient:
        """The same client, which gives each comment of a conversation as ``reads`` makes of it."""
        client = copy(self)
        client._reads = reads
        return client

    def account(self) -> str:
        """The login of the token's owner."""
        return str(self._send("GET", "/user")["login"])

    def pull_request(self, number: int) -> PullRequest:
        """The pull request ``number`` as it is now."""
        return pull_request_of(self._ask("GET", f"/pulls/{number}"))

    def find_pull_request(self, number: int) -> PullRequest | None:
        """The pull request ``number``, if there is one."""
        found = self._ask("GET", f"/pulls/{number}", instead={404: None})
        return None if found is None else pull_request_of(found)

    def open_pull_requests(self, base: str) -> tuple[PullRequest, ...]:
        """The open pull requests to the branch ``base``."""
        found = self._pages("/pulls", {"state": "open", "base": base})
        return tuple(sorted(map(pull_request_of, found), key=lambda item: item.number))

    def default_branch(self) -> str:
        """The default branch."""
        return str(self._ask("GET", "")["default_branch"])

    def pull_requests_of(self, branch: str, base: str) -> tuple[PullRequest, ...]:
        """The pull requests from ``branch`` of this repository to ``base``, open and closed."""
        found = self._pages("/pulls", {"state": "all", "head": f"{self._owner}:{branch}", "base": base})
        return tuple(map(pull_request_of, found))

    def closed_pull_requests(self, base: str) -> tuple[PullRequest, ...]:
        """The closed pull requests to ``base``, last changed first; at most a hundred."""
        query = {"state": "closed", "base": base, "sort": "updated", "direction": "desc", "per_page": PAGE}
        return tuple(map(pull_request_of, self._ask("GET", "/pulls", query)))

    def introduced_by(self, commit: str) -> tuple[PullRequest, ...]:
        """The pull requests that brought ``commit`` into the repository."""
        return tuple(map(pull_request_of, self._pages(f"/commits/{commit}/pulls")))

    def merged_by(self, number: int) -> tuple[str, str]:
        """Who merged the pull request ``number``, and when."""
        found = self._ask("GET", f"/pulls/{number}")
        return account(found.get("merged_by")), str(found["merged_at"])

    def closed_by(self, number: int) -> tuple[str, str]:
        """Who closed the pull request ``number``, and when."""
        found = self._ask("GET", f"/issues/{number}")
        return account(found.get("closed_by")), str(found["closed_at"])

    def author_of(self, commit: str) -> str:
        """The author's account of ``commit``; ``ghost`` if GitHub knows none."""
        found = self._ask("GET", f"/commits/{commit}")
        return account(found.get("author"))

    def commit_authors(self, number: int, *, proven: bool = False) -> frozenset[str] | None:
        """The logins, in lower case, of those who made the commits of the pull request ``number``.

        With ``proven`` of signed ones alone.  ``None`` if GitHub may not list all of them.
        """
        found = self._pages(f"/pulls/{number}/commits")
        return None if len(found) >= MOST_COMMITS else makers_of(found, proven=proven)

    def own_issues(self) -> tuple[Issue, ...] | None:
        """The open issues of the token's account, oldest first; ``None`` if issues are turned off."""
        query = {"state": "open", "creator": self.login, "sort": "created", "direction": "asc"}
        found = self._pages("/issues", query, instead={410: None})
        if found is None:
            return None
        own = [item for item in found if "pull_request" not in item and login_of(item) == self.login]
        issues = [Issue(number=int(item["number"]), body=item.get("body") or "") for item in own]
        return tuple(sorted(issues, key=lambda item: item.number))

    def comments(self, number: int) -> tuple[IssueComment, ...]:
        """All comments in the conversation of the issue or pull request ``number``, oldest first."""
        found = self._pages(f"/issues/{number}/comments")
        return tuple(sorted((self._reads(comment_of(item)) for item in found), key=lambda item: item.id))

    def is_reviewed(self, number: int) -> bool:
        """Whether people commented on the pull request ``number``, or reviewed it."""
        if not all(item.is_bot for item in self.comments(number)):
            return True
        reviews = self._pages(f"/pulls/{number}/reviews")
        return any(is_submitted(item) and not is_bot(account(item.get("user"))) for item in reviews)

    def said_on(self, number: int) -> tuple[IssueComment, ...]:
        """All comments of the pull request ``number``, and those texts of its reviews that have commands."""
        reviews = self._pages(f"/pulls/{number}/reviews")
        # Comments on lines belong to a review.
        inline = self._pages(f"/pulls/{number}/comments") if reviews else []
        found: list[tuple[CommentKind, Any]] = [("review", item) for item in reviews if is_submitted(item)]
        found += [("inline", item) for item in inline]
        holding = [(kind, item) for kind, item in found if command_lines(item.get("body") or "")]
        edits = self._edits([str(item["node_id"]) for _, item in holding])
        said = [said_in_review(kind, number, item, edits.get(str(item["node_id"]))) for kind, item in holding]
        return (*self.comments(number), *said)

    def _edits(self, ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """When nodes were published and last edited, by id; REST does not have this for reviews."""
        found: list[Mapping[str, Any] | None] = []
        for start in range(0, len(ids), PAGE):
            variables = {"ids": list(ids[start : start + PAGE])}
            body = {"query": _EDITS, "variables": variables}
            answer = self._send("POST", self._requester.graphql_url, body=body, instead={403: {}, 404: {}})
            found += (answer.get("data") or {}).get("nodes") or []
        return {str(item["id"]): item for item in found if item and "publishedAt" in item}

    def comments_since(self, moment: str) -> tuple[ThreadComment, ...]:
        """All comments of the repository that are new or changed since ``moment`` (ISO 8601), oldest first."""
        found = self._pages("/issues/comments", {"since": moment, "sort": "created", "direction": "asc"})
        return tuple(sorted(map(self._remark, found), key=lambda item: item.comment.id))

    def _remark(self, found: Mapping[str, Any]) -> ThreadComment:
        remark = remark_of(found)
        return replace(remark, comment=self._reads(remark.comment))

    def find_remark(self, key: CommentKey) -> ThreadComment | None:
        """The comment ``key`` with the number of its thread, if it exists."""
        if isinstance(key, int):
            found = self._ask("GET", f"/issues/comments/{key}", instead={404: None})
            return None if found is None else self._remark(found)
        said, number, id = key.split(":")
        kind: CommentKind = "review" if said == "review" else "inline"
        place = f"/pulls/{number}/reviews/{id}" if kind == "review" else f"/pulls/comments/{id}"
        found = self._ask("GET", place, instead={404: None})
        if found is None or found["pull_request_url"].rpartition("/")[2] != number:
            return None
        if kind == "review" and not is_submitted(found):
            return None
        return ThreadComment(number=int(number), comment=said_in_review(kind, int(number), found, None))

    def check(self, commit: str) -> CheckRun | None:
        """The newest check of the bot's name on ``commit``."""
        found = self._ask(
            "GET", f"/commits/{commit}/check-runs", {"check_name": CHECK, "filter": "latest", "per_page": PAGE}
        )
        runs = sorted((item for item in found["check_runs"] if item["name"] == CHECK), key=lambda item: item["id"])
        if not runs:
            return None
        return CheckRun(conclusion=runs[-1]["conclusion"], external_id=runs[-1].get("external_id") or "")

    def permission(self, login: str) -> str:
        """The permission of ``login`` on the repository, or :data:`UNKNOWN_PERMISSION` if the token may not ask.

        It is asked once for each run.
        """
        if login not in self._permissions:
            found = self._ask(
                "GET",
                f"/collaborators/{quote(login, safe='')}/permission",
                instead={404: {"permission": "none"}, 403: {"permission": UNKNOWN_PERMISSION}},
            )
            self._permissions[login] = str(found["permission"])
        return self._permissions[login]

    def has_committed(self, login: str) -> bool:
        """Whether ``login`` has a commit on the default branch; no if the token may not ask."""
        query = {"author": login, "per_page": 1}
        return bool(self._ask("GET", "/commits", query, instead={403: [], 404: [], 409: []}))

    def apply(self, number: int | None, operation: Operation, tree: str | None = None) -> MadeCommit | None:
        """Carry out ``operation`` on pull request ``number``; ``tree`` is that of the parent of commits.

        Returns the commit that was written to the ledger, if one was.  Raises :class:`LostRaceError` if the branch of
        commits has moved, and :class:`OutsideError` if GitHub refuses.
        """
        match operation:
            case CreateComment(body=body):
                made = self._ask("POST", f"/issues/{number}/comments", body={"body": body})
                self._keep_own(made)
            case EditComment(id=id, body=body):
                self._ask("PATCH", f"/issues/comments/{id}", body={"body": body})
            case DeleteComment(id=id):
                self._ask("DELETE", f"/issues/comments/{id}", instead=GONE)
            case React(comment=comment, reaction=reaction, inline=inline):
                place = f"/{'pulls' if inline else 'issues'}/comments/{comment}/reactions"
                self._ask("POST", place, body={"content": reaction}, instead=GONE)
            case AddLabels(names=names):
                self._ask("POST", f"/issues/{number}/labels", body={"labels": list(names)})
            case RemoveLabel(name=name):
                self._ask("DELETE", f"/issues/{number}/labels/{quote(name, safe='')}", instead=GONE)
            case PostCheck():
                self._ask("POST", "/check-runs", body=check_body(operation, self._page))
            case WriteLedger():
                return self.write_ledger(operation, tree)
            case PushCommits():
                self._push(operation.branch, operation.parent, operation.commits, tree)
            case PushBranch():
                tip, tree = self._commit(operation.files, operation.message, tree, operation.parents)
                for commit in operation.then:
                    tip, tree = self._commit(commit.files, commit.message, tree, (tip,))
                self._point(operation.branch, operation.tip, tip)
            case OpenPullRequest():
                self._open(operation)
            case EditDescription(body=body):
                self._ask("PATCH", f"/pulls/{number}", body={"body": body})
            case ClosePullRequest(body=body):
                self._ask("PATCH", f"/pulls/{number}", body={"state": "closed", "body": body})
            case DeleteBranch(branch=branch, tip=tip):
                # For a missing branch GitHub answers 422.
                if self._branch(branch) == tip:
                    self._ask("DELETE", f"/git/refs/heads/{quote(branch)}", instead={404: {}, 422: {}})
            case CreateIssue(title=title, body=body):
                self._ask("POST", "/issues", body={"title": title, "body": body})
            case EditIssue(number=issue, body=body):
                self._ask("PATCH", f"/issues/{issue}", body={"body": body})
            case CloseIssue(number=issue):
                self._ask("PATCH", f"/issues/{issue}", body={"state": "closed"})
        return None

    def write_ledger(self, operation: WriteLedger, tree: str | None) -> MadeCommit:
        """Carry out ``operation``, and return its commit; ``tree`` and errors are as in :meth:`apply`."""
        commit = Commit(files=operation.files, message=operation.message)
        return self._push(BRANCH, operation.parent, [commit], tree)

    def _push(self, branch: str, parent: str | None, commits: Sequence[Commit], tree: str | None) -> MadeCommit:
        """Put ``commits`` on top of ``parent``, whose tree is ``tree``; move ``branch`` to the last, and return it."""
        tip = parent
        for commit in commits:
            parents = () if tip is None else (tip,)
            tip, tree = self._commit(commit.files, commit.message, tree, parents)
        assert tip is not None
        assert tree is not None
        self._point(branch, parent, tip)
        return MadeCommit(tip, tree)

    def _commit(
        self, files: Sequence[tuple[str, str | None]], message: str, tree: str | None, parents: Sequence[str]
    ) -> MadeCommit:
        """Make a commit of ``tree`` with the changed ``files``; many are sent in several requests."""
        lots: list[list[dict[str, Any]]] = [[]]
        size = 0
        for path, text in files:
            size += len(text or "")
            if size > SENT_AT_ONCE and lots[-1]:
                lots.append([])
                size = len(text or "")
            lots[-1].append(tree_item(path, text))
        for lot in lots:
            base: dict[str, Any] = {} if tree is None else {"base_tree": tree}
            tree = str(self._ask("POST", "/git/trees", body={**base, "tree": lot})["sha"])
        assert tree is not None
        body = {"message": message, "tree": tree, "parents": list(parents)}
        return MadeCommit(str(self._ask("POST", "/git/commits", body=body)["sha"]), tree)

    def _point(self, branch: str, before: str | None, tip: str) -> None:
        """Move ``branch`` from ``before`` to ``tip``; raises :class:`LostRaceError` if it is elsewhere."""
        try:
            if before is None:
                self._ask("POST", "/git/refs", body={"ref": f"refs/heads/{branch}", "sha": tip})
            else:
                self._ask("PATCH", f"/git/refs/heads/{quote(branch)}", body={"sha": tip, "force": False})
        except OutsideError as error:
            # GitHub answers a lost race and a protected branch with the same codes.
            if self._branch(branch) != before or "not a fast forward" in str(error):
                raise LostRaceError(f"the branch {branch} has moved") from None
            if _PROTECTED.search(str(error)):
                raise ProtectedBranchError(str(error)) from None
            in_the_way = self._in_the_way(branch) if before is None else ()
            if in_the_way:
                names = " and ".join(f"`{name}`" for name in in_the_way)
                raise BlockedBranchError(
                    f"git cannot hold the branch `{branch}` beside {names}: "
                    f"delete or rename the branch {names}, and run this again"
                ) from None
            raise

    def _in_the_way(self, branch: str) -> tuple[str, ...]:
        """The branches beside which git cannot have ``branch``; none if GitHub does not list them."""
        try:
            above = [name for name in parents(branch) if self._branch(name) is not None]
            below = self._ask("GET", f"/git/matching-refs/heads/{quote(branch)}/")
        except OutsideError:
            return ()
        return (*above, *(str(item["ref"]).removeprefix("refs/heads/") for item in below[:SHOWN]))

    def _open(self, wanted: OpenPullRequest) -> None:
        """Open a pull request, if it is not open already: GitHub's list may not have shown it yet.

        If the repository's plan has no drafts, it is opened as a normal one.
        """
        words = {"title": wanted.title, "head": wanted.branch, "base": wanted.base, "body": wanted.body}
        for draft in (True, False) if wanted.draft else (False,):
            body = {**words, "maintainer_can_modify": True, **({"draft": True} if draft else {})}
            if self._ask("POST", "/pulls", body=body, instead={422: {}}):
                return
        if not self._ask("GET", "/pulls", {"head": f"{self._owner}:{wanted.branch}", "base": wanted.base}):
            raise OutsideError(f"GitHub refuses to open a pull request for {wanted.branch}")

    def _branch(self, name: str) -> str | None:
        found = self._ask("GET", f"/git/ref/heads/{quote(name)}", instead={404: None})
        return None if found is None else str(found["object"]["sha"])

    def _keep_own(self, comment: Mapping[str, Any]) -> None:
        """Delete ``comment`` if its author is not :attr:`login`: no run would find it, and each would add another."""
        login = login_of(comment)
        if login != self.login:
            self._ask("DELETE", f"/issues/comments/{comment['id']}", instead=GONE)
            raise OutsideError(
                f"the token acts as {login}, and not as {self.login}: set the action's input `login` to {login}, "
                "so that its own comments are found again"
            )

    def _pages(
        self,
        path: str,
        parameters: Mapping[str, Any] = MappingProxyType({}),
        instead: Mapping[int, Any] = MappingProxyType({}),
    ) -> Any:
        found: list[Any] = []
        page = 1
        while True:
            items = self._ask("GET", path, {**parameters, "per_page": PAGE, "page": page}, instead=instead)
            if not isinstance(items, list):
                return items
            found += items
            if len(items) < PAGE:
                return found
            page += 1

    def _ask(
        self,
        verb: str,
        path: str,
        parameters: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        instead: Mapping[int, Any] = MappingProxyType({}),
    ) -> Any:
        """GitHub's answer about the repository; ``instead`` maps status codes to answers in their place."""
        return self._send(verb, path, parameters, body, instead, self._place)

    def _send(
        self,
        verb: str,
        path: str,
        parameters: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        instead: Mapping[int, Any] = MappingProxyType({}),
        place: str = "",
    ) -> Any:
        import requests
        from github import GithubException

        from incumbent.github.patient_retry import TooLongError

        try:
            _, data = self._requester.requestJsonAndCheck(
                verb, place + path, dict(parameters) if parameters else None, input=dict(body) if body else None
            )
        except GithubException as error:
            if error.status in instead:
                return instead[error.status]
            kind = RefusedError if error.status == 403 else OutsideError
            raise kind(_refusal(verb, path, error)) from None
        except TooLongError as error:
            raise OutsideError(
                f"GitHub's rate limit for this token is used up ({verb} {path}): it asks to wait for "
                f"{error.seconds / 60:.0f} minutes, longer than a run does; run this again after that"
            ) from None
        except (requests.RequestException, OSError) as error:
            raise OutsideError(f"GitHub cannot be reached: {verb} {path}: {type(error).__name__}") from None
        return data


def _unchanged(comment: IssueComment) -> IssueComment:
    return comment


def _refusal(verb: str, path: str, error: Any) -> str:
    message = error.data.get("message") if isinstance(error.data, dict) else None
    said = " ".join(str(message or "no reason given").split())
    text = f"GitHub refuses {verb} {path} ({error.status}): {said}"
    if error.status in (401, 403):
        text += "; `incumbent doctor` says which permission or setting is missing"
    return text
