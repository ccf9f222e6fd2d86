"""Converts between GitHub's JSON and the values of :mod:`bot.github.models`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.github.check import NAME
from bot.github.models import CommentKind, IssueComment, PostCheck, PullRequest, ThreadComment
from bot.ledger.people import BOT, GHOST, is_bot


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
        "name": NAME,
        "head_sha": operation.commit,
        "status": "completed",
        "conclusion": operation.conclusion,
        "external_id": operation.external_id,
        "output": output,
        **({"details_url": page} if page else {}),
    }
