"""Who changed the set by hand: people, once each, and never what the bot did itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from bot.git import ChangedFile
from bot.github.models import PullRequest
from bot.ledger.event_files import parsed
from bot.ledger.events import SET_EVENTS, ChangedByHand
from bot.ledger.model import BRANCH
from bot.reconcile.manual_changes import CommitLookup, SetCommit, changed_by_hand, set_change
from bot.reconcile.suggestion_pull_requests import ADMIT, EVICT, branch_of
from tests.reconcile.hub import MAIN, Hub
from tests.reconcile.merges import BOT, MERGED_AT, commit, make_pull
from tests.reconcile.runs import config_text, imported, platform_files, reconcile, text_of

CHANGE = SetCommit(commit=commit(1), at=MERGED_AT, added=("a",), changed=("b",), removed=("c",))


def lookups(*pulls: PullRequest, author: str = "eve", merged_by: str = "dan") -> CommitLookup:
    return CommitLookup(
        login=BOT,
        introduced_by=lambda commit: pulls,
        merged_by=lambda number: (merged_by, MERGED_AT),
        author_of=lambda commit: author,
    )


def found(*pulls: PullRequest, known: Sequence[Any] = (), **more: str) -> list[tuple[str, int | None, bool]]:
    events = changed_by_hand([CHANGE], known, lookups(*pulls, **more))
    return [(item.by, item.pull_request, item.by_bot) for item in events]


@pytest.mark.parametrize(
    ("pulls", "more", "expected"),
    [
        ((), {}, [("eve", None, False)]),
        ((), {"author": "renovate[bot]"}, [("renovate[bot]", None, True)]),
        ((), {"author": BOT}, []),
        ((make_pull(9), make_pull(4)), {}, [("dan", 4, False)]),
        ((make_pull(4),), {"merged_by": "merge-queue[bot]"}, [("merge-queue[bot]", 4, True)]),
        ((make_pull(4, merge=None),), {}, [("eve", None, False)]),
        ((make_pull(4, branch=branch_of(EVICT, "x", "0" * 16)),), {}, []),
        ((make_pull(4, branch=branch_of(ADMIT, "set", "0" * 16)),), {}, []),
        ((make_pull(4, branch="incumbent/mine"),), {}, [("dan", 4, False)]),
    ],
    ids=["pushed", "by an app", "by us", "merged", "by a queue", "of an open one", "evicted", "admitted", "like ours"],
)
def test_a_change_is_whose_commit_or_merge_it_is_unless_it_is_ours(pulls: Any, more: Any, expected: Any) -> None:
    assert found(*pulls, **more) == expected


def test_a_change_is_recorded_once_and_says_what_it_did() -> None:
    (event,) = changed_by_hand([CHANGE], (), lookups())
    assert (event.added, event.changed, event.removed, event.commit) == (("a",), ("b",), ("c",), CHANGE.commit)
    assert found(known=[event]) == []


def test_a_renamed_entry_has_gone_and_another_has_come() -> None:
    moved = ChangedFile("regression_set/new.yaml", "renamed", "regression_set/old.yaml", "a", "a")
    found = set_change(commit(1), MERGED_AT, [moved, ChangedFile("README.md", "modified")])
    assert found is not None
    assert (found.added, found.changed, found.removed) == (("new",), (), ("old",))
    assert set_change(commit(1), MERGED_AT, [ChangedFile("regression_set/evicted/x.yaml", "added")]) is None


def changes(hub: Hub) -> list[ChangedByHand]:
    return [item for item in parsed(hub.repository.files(BRANCH).get(SET_EVENTS)) if isinstance(item, ChangedByHand)]


def test_through_a_whole_run_people_are_told_from_the_bot() -> None:
    entry = imported("r0", text_of("zero", {"a": 0.9}), "2026-01-01T00:00:00Z")
    hub = Hub(platform_files([entry], config_text()))
    assert reconcile(hub)
    path, other = "regression_set/r0.yaml", "regression_set/r1.yaml"
    text = hub.repository.files(MAIN)[path]
    first = hub.push(MAIN, {path: text.replace("pin: null", "pin: an audit")}, author="eve")
    second = hub.push(MAIN, {other: text.replace("r0", "r1").replace("zero", "nine")}, author="app[bot]")
    hub.push(MAIN, {"regression_set/README.md": "a remark", "other.txt": "x"})
    assert reconcile(hub)
    assert [(item.commit, item.by, item.by_bot, item.added, item.changed) for item in changes(hub)] == [
        (first, "eve", False, (), ("r0",)), (second, "app[bot]", True, ("r1",), ()),
    ]  # fmt: skip
    before = len(hub.written)
    assert reconcile(hub)
    assert hub.written[before:] == []
