"""What GitHub says, as values: apps are known as such, and what is written is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from incumbent.github.models import (
    AddLabels,
    CloseIssue,
    ClosePullRequest,
    Commit,
    CreateComment,
    CreateIssue,
    DeleteBranch,
    DeleteComment,
    EditComment,
    EditDescription,
    EditIssue,
    OpenPullRequest,
    Operation,
    PostCheck,
    PushBranch,
    PushCommits,
    React,
    RemoveLabel,
    WriteLedger,
    account,
    comment_of,
    describe,
    is_submitted,
    said_in_review,
)

COMMIT = Commit(files=(("a.yaml", "x"), ("b.yaml", None)), message="m")
BRANCH = PushBranch(
    branch="x", tip=None, base="p", parents=("p",), files=(("c.yaml", "x"),), message="m", then=(COMMIT,)
)
COMMENT = {"id": 1, "body": None, "created_at": "2026-11-21T10:00:00Z", "updated_at": "2026-11-21T10:00:00Z"}


@pytest.mark.parametrize(
    ("user", "login", "bot"),
    [
        ({"login": "cora", "type": "User"}, "cora", False),
        ({"login": "Copilot", "type": "Bot"}, "Copilot[bot]", True),
        ({"login": "stale[bot]", "type": "Bot"}, "stale[bot]", True),
        ({"login": "stale[bot]"}, "stale[bot]", True),
        ({"login": None}, "ghost", False),
        (None, "ghost", False),
    ],
)
def test_an_app_is_known_by_its_type_or_by_its_login(user: Any, login: str, bot: bool) -> None:
    assert account(user) == login
    found = comment_of({**COMMENT, "user": user})
    assert found.is_bot is bot
    assert found.author == ((user or {}).get("login") or "ghost")


REVIEW = {"id": 9, "body": "/incumbent run", "user": {"login": "cora"}, "state": "APPROVED"}
SUBMITTED, LATER, EARLIER = (f"2026-11-21T10:0{minute}:00Z" for minute in (5, 6, 4))


@pytest.mark.parametrize(
    ("edits", "edited"),
    [
        ({"publishedAt": SUBMITTED, "lastEditedAt": None}, False),
        # What is changed in a draft nobody else could change.
        ({"publishedAt": SUBMITTED, "lastEditedAt": EARLIER}, False),
        ({"publishedAt": SUBMITTED, "lastEditedAt": SUBMITTED}, True),
        ({"publishedAt": SUBMITTED, "lastEditedAt": LATER}, True),
        ({"publishedAt": None, "lastEditedAt": LATER}, True),
        # Nobody says.
        (None, True),
    ],
)
@pytest.mark.parametrize(("kind", "written"), [("review", SUBMITTED), ("inline", EARLIER)])
def test_what_is_said_in_a_review_counts_as_edited_unless_github_says_otherwise(
    kind: Any, written: str, edits: Any, edited: bool
) -> None:
    found = said_in_review(kind, 7, REVIEW | {"submitted_at": SUBMITTED, "created_at": EARLIER}, edits)
    assert (found.created_at, found.is_edited) == (written, edited)
    assert (found.key, found.author) == (f"{kind}:7:9", "cora")


@pytest.mark.parametrize(
    ("state", "at", "counts"),
    [
        ("APPROVED", SUBMITTED, True),
        ("COMMENTED", SUBMITTED, True),
        ("CHANGES_REQUESTED", SUBMITTED, True),
        ("DISMISSED", SUBMITTED, False),
        ("PENDING", None, False),
    ],
)
def test_drafts_and_dismissed_reviews_do_not_count(state: str, at: str | None, counts: bool) -> None:
    assert is_submitted({"state": state, "submitted_at": at}) is counts


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        (CreateComment(body="x" * 1_234), "create a comment of 1,234 characters"),
        (EditComment(id=9, body="x" * 1_234), "edit the comment 9 to 1,234 characters"),
        (DeleteComment(id=9), "delete the doubled comment 9"),
        (React(comment=9, reaction="+1"), "react with +1 to the comment 9"),
        (AddLabels(names=("x", "y")), "add the labels x, y"),
        (RemoveLabel(name="x"), "remove the label x"),
        (
            PostCheck(commit="abc", conclusion="neutral", title="t", summary="s", annotations=(), external_id="e"),
            "post the check neutral with 0 annotations on abc",
        ),
        (WriteLedger(parent=None, files=(("a", "x"), ("b", None)), message="m"), "write to the ledger: a, b"),
        (
            PushCommits(branch="main", parent="p", commits=(COMMIT, COMMIT)),
            "push 2 commits to main: a.yaml, b.yaml, a.yaml, b.yaml",
        ),
        (BRANCH, "make the branch x: c.yaml, a.yaml, b.yaml"),
        (replace(BRANCH, tip="t"), "refresh the branch x: c.yaml, a.yaml, b.yaml"),
        (OpenPullRequest(branch="x", base="main", title="t", body="b"), "open a pull request for x"),
        (EditDescription(body="x" * 1_234), "edit the description to 1,234 characters"),
        (ClosePullRequest(body="b"), "close the pull request"),
        (DeleteBranch(branch="x", tip="t"), "delete the branch x"),
        (CreateIssue(title="t", body="x" * 1_234), "open the dashboard issue with 1,234 characters"),
        (EditIssue(number=3, body="x" * 1_234), "edit the dashboard issue to 1,234 characters"),
        (CloseIssue(number=3), "close the doubled dashboard 3"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_dry_run_says_what_would_be_written_without_its_words(operation: Operation, said: str) -> None:
    assert describe(operation) == said


def test_a_new_ledger_explains_itself() -> None:
    first = WriteLedger.of(None, {"b": "1", "a": None}, "m")
    assert [path for path, _ in first.files] == ["README.md", "a", "b", "format.json"]
    assert WriteLedger.of("p", {"b": "1", "a": None}, "m").files == (("a", None), ("b", "1"))
