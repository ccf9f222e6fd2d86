"""Whose data may cost model calls: who may write, whom a curator released, and who has committed before."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent.github.analyse_job import ReleaseInputs
from incumbent.github.authority import UNKNOWN_PERMISSION
from incumbent.github.client import GitHubClient, RefusedError
from incumbent.github.events import Event, Flow
from incumbent.github.models import IssueComment
from incumbent.ledger.model import CitedComment as Word
from incumbent.ledger.model import PullRequestRecord
from tests.factories import make_config
from tests.github.test_authority import ASSOCIATIONS, PERMISSIONS

MOMENT = "2026-11-21T10:00:00Z"


def said(author: str, body: str, updated_at: str = MOMENT, is_bot: bool = False) -> IssueComment:
    return IssueComment(id=5, author=author, is_bot=is_bot, body=body, created_at=MOMENT, updated_at=updated_at)


class Hub(GitHubClient):
    """What GitHub answers to the first job, and what it was asked."""

    def __init__(
        self, permissions: dict[str, str], comments: tuple[IssueComment, ...], committed: bool, refuses: bool
    ) -> None:
        self.permissions, self.found, self.committed, self.refuses = permissions, comments, committed, refuses
        self.asked: list[str] = []

    def permission(self, login: str) -> str:
        self.asked.append(f"permission of {login}")
        return self.permissions.get(login, "none")

    def has_committed(self, login: str) -> bool:
        self.asked.append(f"commits of {login}")
        return self.committed

    def said_on(self, number: int) -> tuple[IssueComment, ...]:
        self.asked.append(f"comments on {number}")
        if self.refuses:
            raise RefusedError("Resource not accessible by integration")
        return self.found


def release(
    association: str = "NONE",
    *comments: IssueComment,
    permissions: dict[str, str] | None = None,
    record: PullRequestRecord | None = None,
    committed: bool = False,
    refuses: bool = False,
    about: Any = None,
    **config: Any,
) -> tuple[ReleaseInputs, list[str]]:
    hub = Hub(permissions or {}, comments, committed, refuses)
    defaults = {"flow": Flow.REVIEW, "repository": "o/r", "default_branch": "main", "pull_request": 7, "author": "mara"}
    event = Event(**{**defaults, "association": association, **(about or {})})
    settings = make_config(**{"mode": "curate", "hold_first_time_contributors": True, **config})
    return ReleaseInputs(event=event, config=settings, record=record, github=lambda: hub), hub.asked


@pytest.mark.parametrize("association", ASSOCIATIONS)
@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize(("permission", "writes"), [*PERMISSIONS.items(), (UNKNOWN_PERMISSION, False)])
def test_a_first_contribution_is_held_by_what_its_author_may_do(
    association: str, committed: bool, permission: str, writes: bool
) -> None:
    found, _ = release(association, permissions={"mara": permission}, committed=committed)
    known = writes or association == "OWNER"
    # Of collaborators and members GitHub does not state whether they have committed before.
    again = association == "CONTRIBUTOR" or (association in ("COLLABORATOR", "MEMBER") and committed)
    assert found.is_vouched is known
    assert found.is_held is not (known or again)


@pytest.mark.parametrize(
    ("comment", "may", "released"),
    [
        (said("wanda", "/incumbent run"), "write", True),
        (said("wanda", "Fine.\n\n/incumbent run"), "admin", True),
        (said("wanda", "/incumbent run"), "read", False),
        (said("wanda", "/incumbent run"), UNKNOWN_PERMISSION, False),
        (said("wanda", "/incumbent run", updated_at="2026-11-21T11:00:00Z"), "write", False),
        (said("wanda", "/incumbent run now"), "write", False),
        (said("wanda", "/incumbent help"), "write", False),
        (said("wanda", "> /incumbent run"), "write", False),
        (said("wanda", "/incumbent run", is_bot=True), "write", False),
    ],
)
def test_the_word_of_somebody_who_may_write_releases(comment: IssueComment, may: str, released: bool) -> None:
    found, _ = release("NONE", comment, permissions={"wanda": may})
    assert found.is_held is not released


@pytest.mark.parametrize(("author", "released"), [("Cora", True), ("wanda", False)])
def test_where_curators_are_named_only_theirs_counts(author: str, released: bool) -> None:
    found, _ = release("NONE", said(author, "/incumbent run"), permissions={"wanda": "admin"}, curators=["cora"])
    assert found.is_held is not released


def test_what_a_token_may_not_read_releases_nobody() -> None:
    found, asked = release("NONE", said("wanda", "/incumbent run"), permissions={"wanda": "write"}, refuses=True)
    assert found.is_held
    assert asked == ["permission of mara", "comments on 7"]


RELEASED = PullRequestRecord(pull_request=7, head="1" * 40, released=Word(by="cora", comment=5, said="0" * 24))


@pytest.mark.parametrize(
    ("more", "vouched"),
    [
        ({"trusted_authors": ["MARA"]}, True),
        ({"about": {"inside": True}}, True),
        ({"record": RELEASED}, True),
        ({"about": {"pull_request": None}}, False),
    ],
)
def test_what_is_known_is_not_looked_up(more: dict[str, Any], vouched: bool) -> None:
    found, asked = release(**more)
    assert (found.is_held, found.is_vouched, asked) == (False, vouched, [])


@pytest.mark.parametrize("config", [{"mode": "observe"}, {"hold_first_time_contributors": False}])
def test_where_nothing_is_held_nobody_is_asked(config: dict[str, Any]) -> None:
    found, asked = release(**config)
    assert (found.is_held, asked) == (False, [])


def test_who_is_known_to_have_committed_is_not_looked_up() -> None:
    found, asked = release("CONTRIBUTOR")
    assert not found.is_held
    assert asked == []
