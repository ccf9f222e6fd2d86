"""Who changed the set: people by hand, once each, and never what the bot did itself; and who confirmed evictions."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest
import yaml
from pydantic import JsonValue

from incumbent.curator import file_changes as changes
from incumbent.curator.entry import Admitted, Evicted, Tombstone
from incumbent.curator.store import entry_path, tombstone_path
from incumbent.curator.suggestions import TOP_UP as TOPPED_UP
from incumbent.files.git import ChangedFile
from incumbent.github.models import IssueComment, PullRequest
from incumbent.ledger.event_files import parsed
from incumbent.ledger.events import SET_EVENTS, Answered, ChangedByHand
from incumbent.ledger.model import BRANCH
from incumbent.reconcile.quarantine_plan import QUARANTINE
from incumbent.reconcile.set_changes import CommitLookup, changed_by_hand, changed_entries, confirmed, no_longer_true
from incumbent.reconcile.suggestion_pull_requests import ADMIT, EVICT, GROUP, REPACK, SWAP, TOP_UP, branch_of
from tests.factories import make_entry
from tests.github.scenes import make_platform
from tests.reconcile.hub import MAIN, Hub
from tests.reconcile.merges import BOT, MERGED_AT, commit, make_pull, with_set
from tests.reconcile.runs import config_text, imported, platform_files, reconcile, text_of

FILES = [
    ChangedFile("regression_set/a.yaml", "added"),
    ChangedFile("regression_set/b.yaml", "modified"),
    ChangedFile("regression_set/c.yaml", "deleted"),
]
CHANGE = (commit(1), MERGED_AT, FILES)


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
        ((make_pull(4, branch=branch_of(QUARANTINE, "x", "0" * 16)),), {}, []),
        ((make_pull(4, branch="incumbent/mine"),), {}, [("dan", 4, False)]),
    ],
    ids=[
        "pushed",
        "by an app",
        "by us",
        "merged",
        "by a queue",
        "of an open one",
        "evicted",
        "admitted",
        "quarantined",
        "like ours",
    ],
)
def test_a_change_is_whose_commit_or_merge_it_is_unless_it_is_ours(pulls: Any, more: Any, expected: Any) -> None:
    assert found(*pulls, **more) == expected


def test_a_change_is_recorded_once_and_says_what_it_did() -> None:
    (event,) = changed_by_hand([CHANGE], (), lookups())
    assert (event.added, event.changed, event.removed, event.commit) == (("a",), ("b",), ("c",), commit(1))
    assert found(known=[event]) == []


def test_a_renamed_entry_has_gone_and_another_has_come() -> None:
    moved = ChangedFile("regression_set/new.yaml", "renamed", "regression_set/old.yaml", "a", "a")
    found = changed_entries([moved, ChangedFile("README.md", "modified")])
    assert found == (("new",), (), ("old",))
    tombstone = ChangedFile("regression_set/evicted/x.yaml", "added")
    assert changed_by_hand([(commit(1), MERGED_AT, [tombstone])], (), lookups()) == ()


def recorded_changes(hub: Hub) -> list[ChangedByHand]:
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
    assert [(item.commit, item.by, item.by_bot, item.added, item.changed) for item in recorded_changes(hub)] == [
        (first, "eve", False, (), ("r0",)), (second, "app[bot]", True, ("r1",), ()),
    ]  # fmt: skip
    before = len(hub.written)
    assert reconcile(hub)
    assert hub.written[before:] == []


DIGEST = "0123456789abcdef"
WHEN = "2026-11-23T12:00:00Z"
OTHER = "fedcba9876543210"


def tombstone_file(id: str = "x", at: str | None = None, grounds: dict[str, Any] | None = None) -> Tombstone:
    usual: dict[str, Any] = {"kind": "redundant", "yields_to": [], "digest": DIGEST}
    said = usual if grounds is None else grounds
    evicted = Evicted(at=at, reason="redundant", grounds=said or None)
    return Tombstone(id=id, evicted=evicted, restore=f"incumbent restore {id}", entry=make_entry(id, {"a": 0.9}))


def merged_by(number: int) -> tuple[str, str]:
    return f"person-{number}", WHEN


def confirmations(branches: dict[int, str | None], *graves: Tombstone) -> dict[str, Any]:
    """Path → what the tombstone says of its eviction, of those that are completed."""
    texts = {tombstone_path(item.id): f"# kept by hand\n{changes.render(item)}" for item in graves}
    pulls = [make_pull(number, branch=branch) for number, branch in branches.items()]
    step = confirmed(with_set(make_platform(), gone=graves), pulls, merged_by, texts.__getitem__)
    if step is None:
        return {}
    assert step.commit.message == "Say who confirmed evictions"
    found = {path: text or "" for path, text in step.commit.files}
    assert all(text.startswith("# kept by hand\n") for text in found.values())
    return {path: yaml.safe_load(text)["evicted"] for path, text in found.items()}


def test_the_merge_of_its_eviction_says_who_and_when() -> None:
    found = confirmations({4: branch_of(EVICT, "y", DIGEST), 5: branch_of(EVICT, "x", DIGEST)}, tombstone_file())
    assert found == {
        "regression_set/evicted/x.yaml": {
            "at": WHEN,
            "by": "person-5",
            "reason": "redundant",
            "grounds": {"kind": "redundant", "yields_to": [], "digest": DIGEST},
        }
    }


def test_the_merge_of_its_group_says_who_and_when() -> None:
    grave = tombstone_file(grounds={"kind": "redundant", "yields_to": [], "digest": DIGEST, "group": f"mixed-{OTHER}"})
    found = confirmations({4: f"{GROUP}mixed-{DIGEST}", 5: f"{GROUP}mixed-{OTHER}"}, grave)
    assert [item["by"] for item in found.values()] == ["person-5"]
    assert confirmations({4: f"{GROUP}mixed-{DIGEST}"}, grave) == {}


def test_the_merge_of_a_swap_says_who_confirmed_what_yielded_to_the_newcomer() -> None:
    grave = tombstone_file(grounds={"kind": "displaced", "yields_to": ["better", "other"], "digest": DIGEST})
    found = confirmations({6: branch_of(SWAP, "other", OTHER)}, grave)
    assert [item["by"] for item in found.values()] == ["person-6"]


@pytest.mark.parametrize(("restored", "at"), [(None, WHEN), ("on no grounds", "2026-01-01T00:00:00Z")])
@pytest.mark.parametrize("kind", [SWAP, REPACK])
def test_what_a_swap_admitted_has_the_time_of_the_merge_unless_it_was_restored(
    kind: str, restored: str | None, at: str
) -> None:
    grave = tombstone_file(grounds={"kind": "redundant", "yields_to": [], "digest": DIGEST, "freed_by": "new"})
    entries = [make_entry("new", {"a": 0.9}, restored=restored), make_entry("new-too", {"a": 0.9})]
    texts = {tombstone_path("x"): changes.render(grave)} | {entry_path(e.id): changes.render(e) for e in entries}
    platform = with_set(make_platform(), *entries, gone=(grave,))
    pulls = [make_pull(6, branch=branch_of(kind, "new", OTHER))]
    step = confirmed(platform, pulls, merged_by, texts.__getitem__)
    assert step is not None
    texts |= {path: text or "" for path, text in step.commit.files}
    assert yaml.safe_load(texts["regression_set/new.yaml"])["admitted"]["at"] == at
    assert yaml.safe_load(texts["regression_set/new-too.yaml"])["admitted"]["at"] == "2026-01-01T00:00:00Z"


def test_the_merge_of_a_top_up_says_once_who_let_the_entry_in() -> None:
    excluded = Admitted(at="2026-01-01T00:00:00Z", decision="EXCLUDE", route="direct", override=TOPPED_UP)
    entries = [make_entry("new", {"a": 0.9}, admitted=excluded), make_entry("new-too", {"a": 0.9}, admitted=excluded)]
    texts = {entry_path(item.id): changes.render(item) for item in entries}
    platform = with_set(make_platform(), *entries)
    pulls = [make_pull(6, branch=branch_of(TOP_UP, "new", OTHER))]
    step = confirmed(platform, pulls, merged_by, texts.__getitem__)
    assert step is not None
    ((path, text),) = step.commit.files
    assert path == "regression_set/new.yaml"
    admitted = yaml.safe_load(text or "")["admitted"]
    assert (admitted["by"], admitted["at"]) == ("person-6", WHEN)
    known = entries[0].model_copy(update={"admitted": Admitted.model_validate(admitted)})
    assert confirmed(with_set(make_platform(), known), pulls, merged_by, texts.__getitem__) is None


def test_its_own_eviction_comes_before_a_swap() -> None:
    grave = tombstone_file(grounds={"kind": "displaced", "yields_to": ["better"], "digest": DIGEST})
    found = confirmations({6: branch_of(SWAP, "better", OTHER), 7: branch_of(EVICT, "x", DIGEST)}, grave)
    assert [item["by"] for item in found.values()] == ["person-7"]


@pytest.mark.parametrize(
    ("branch", "grave"),
    [
        (branch_of(EVICT, "x", OTHER), tombstone_file()),
        (branch_of(EVICT, "y", DIGEST), tombstone_file()),
        (branch_of(SWAP, "x", DIGEST), tombstone_file()),
        (branch_of(SWAP, "better", DIGEST), tombstone_file()),
        (branch_of(EVICT, "better", OTHER), tombstone_file(grounds={"yields_to": ["better"], "digest": DIGEST})),
        (branch_of(SWAP, "better", OTHER), tombstone_file(grounds={"yields_to": "better", "digest": DIGEST})),
        (branch_of(EVICT, "x", DIGEST), tombstone_file(grounds={})),
        (branch_of(EVICT, "x", DIGEST), tombstone_file(at=WHEN)),
        (None, tombstone_file()),
    ],
    ids=[
        "other grounds",
        "another entry",
        "a swap that let it in",
        "a swap that it did not yield to",
        "the eviction of what it yielded to",
        "a grave that names nobody in a list",
        "no grounds",
        "said already",
        "a fork's",
    ],
)
def test_what_no_merge_of_ours_left_stays_without_a_name(branch: str | None, grave: Tombstone) -> None:
    assert confirmations({5: branch}, grave) == {}


def test_all_of_them_are_one_step() -> None:
    grounds = {"kind": "redundant", "yields_to": [], "digest": OTHER}
    branches = {5: branch_of(EVICT, "x", DIGEST), 6: branch_of(EVICT, "y", OTHER)}
    found = confirmations(
        dict(branches), tombstone_file("y", grounds=grounds), tombstone_file("x"), tombstone_file("z")
    )
    assert {path: item["by"] for path, item in found.items()} == {
        "regression_set/evicted/x.yaml": "person-5",
        "regression_set/evicted/y.yaml": "person-6",
    }


# Grounds that have gone


def said(
    *graves: Tombstone,
    branches: dict[int, str],
    known: tuple[Answered, ...] = (),
    comments: tuple[IssueComment, ...] = (),
) -> dict[int, str]:
    """By pull request what is said on it; R covers a, b and c twice each."""
    pulls = [make_pull(number, branch=branch) for number, branch in branches.items()]
    platform = with_set(make_platform(redundancy_floor=2), gone=graves)
    found = no_longer_true(platform, pulls, known, BOT, lambda number: comments)
    return {number: operation.body for number, operation in found}


def lacking(id: str, *names: str) -> Tombstone:
    """The grave of an entry that covers ``names``."""
    usual: dict[str, JsonValue] = {"kind": "redundant", "yields_to": [], "digest": DIGEST}
    evicted = Evicted(reason="redundant", grounds=usual)
    entry = make_entry(id, dict.fromkeys(names, 0.6))
    return Tombstone(id=id, evicted=evicted, restore=f"incumbent restore {id}", entry=entry)


def test_an_eviction_that_was_true_is_not_spoken_of() -> None:
    assert said(lacking("x", "a"), branches={5: branch_of(EVICT, "x", DIGEST)}) == {}
    assert said(lacking("x", "d"), branches={5: branch_of(EVICT, "y", DIGEST)}) == {}


def test_an_eviction_that_is_true_no_longer_says_who_is_short_of_what() -> None:
    body = said(lacking("x", "a", "b", "d"), branches={5: branch_of(EVICT, "x", DIGEST)})[5]
    assert body.splitlines() == [
        "<!-- incumbent:no-longer-true -->",
        "**No longer true.** The regression set has changed since this was suggested:",
        "",
        "- *D* has 0 competent coverers without `x`: short of 2",
        "- `x` was the best test of *D*",
        "- no entry carries *A* + *B* and 2 other combinations, as `x` did",
        "",
        "To bring it back, a curator says `/incumbent restore x`.",
    ]


def test_a_swap_that_is_true_no_longer_is_spoken_of_once() -> None:
    swapped = {"kind": "displaced", "yields_to": ["new"], "digest": DIGEST}
    graves = [
        grave.model_copy(update={"evicted": grave.evicted.model_copy(update={"grounds": swapped})})
        for grave in (lacking("x", "d"), lacking("y", "e"))
    ]
    branches = {6: branch_of(SWAP, "new", OTHER)}
    body = said(*graves, branches=branches)[6]
    assert "without `x`" in body
    assert "without `y`" in body
    assert "To bring them back, a curator says `/incumbent restore x y`." in body
    mine = IssueComment(id=1, author=BOT, is_bot=True, body=body, created_at=WHEN, updated_at=WHEN)
    assert said(*graves, branches=branches, comments=(mine,)) == {}
    assert said(*graves, branches=branches, comments=(dataclasses.replace(mine, author="mallory"),)) != {}


def test_what_was_answered_before_is_not_spoken_of() -> None:
    answer = Answered(
        at=WHEN, pull_request=5, branch="b", suggestion="redundant", entries=("x",), agrees=True, by="p", by_bot=False
    )
    branches = {5: branch_of(EVICT, "x", DIGEST)}
    assert said(lacking("x", "d"), branches=branches, known=(answer,)) == {}
    confirmed_before = tombstone_file(at=WHEN)
    assert said(confirmed_before, branches=branches) == {}
