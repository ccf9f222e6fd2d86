"""Accounts as GitHub writes them: apps are known as such, whatever their login looks like."""

from __future__ import annotations

from typing import Any

import pytest

from bot.github.models import account, comment_of, is_submitted, said_in_review

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
