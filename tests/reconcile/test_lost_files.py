"""A file of the ledger that cannot be read is lost, people are told, and nothing else is lost with it."""

from __future__ import annotations

import pytest

from incumbent.files.snapshot import ReadingLimits
from incumbent.github import git_state
from incumbent.github.notices import LOST
from incumbent.ledger import store
from incumbent.ledger.classifications import shard_folder
from incumbent.ledger.model import BRANCH, RECONCILED, folder_path, record_path
from incumbent.taxonomy.config import LEDGER_FILES
from tests.reconcile.hub import MAIN, Hub, Pull
from tests.reconcile.runs import agent_files, config_text, imported, platform_files, reconcile, review, text_of

QUERIES = {name: text_of(word, {name: 0.9}) for name, word in (("b", "one"), ("c", "two"), ("d", "three"))}
LOW = {"low": text_of("four", {"a": 0.5})}


@pytest.fixture
def hub() -> Hub:
    entry = imported("r0", text_of("zero", {"a": 0.9}), "2026-01-01T00:00:00Z")
    found = Hub(platform_files([entry], config_text(curators=["cora"])))
    assert reconcile(found)
    return found


def bring(hub: Hub, customer: str, queries: dict[str, str]) -> Pull:
    """A customer's pull request, reviewed, of which each admission needs a person."""
    branch = f"work-{customer}-{len(hub.repository.commits)}"
    hub.permissions.setdefault(customer, "none")
    hub.push(branch, dict(agent_files((customer, "desk"), queries)), hub.repository.branches[MAIN], author=customer)
    pull = hub.offer(branch, customer)
    review(hub, pull.number)
    return pull


def mangle(hub: Hub, path: str) -> None:
    assert path in hub.repository.files(BRANCH)
    hub.push(BRANCH, {path: "{"})


def body(hub: Hub, pull: Pull) -> str:
    return hub.comments(pull.number)[0].body


def entries(hub: Hub) -> int:
    return len([path for path in hub.repository.files(MAIN) if path.startswith("regression_set/")])


def test_decisions_of_a_lost_record_are_asked_for_again(hub: Hub) -> None:
    pull = bring(hub, "acme", QUERIES)
    hub.say(pull.number, "cora", "/incumbent accept all")
    review(hub, pull.number)
    assert "Accepted by `cora`" in body(hub, pull)
    mangle(hub, record_path(pull.number))
    review(hub, pull.number)
    assert LOST in body(hub, pull)
    assert "Accepted by" not in body(hub, pull)
    hub.say(pull.number, "cora", "/incumbent accept all")
    review(hub, pull.number)
    assert LOST not in body(hub, pull)
    assert "Accepted by `cora`" in body(hub, pull)


def test_a_command_after_the_record_was_lost_is_answered_so(hub: Hub) -> None:
    pull = bring(hub, "acme", QUERIES)
    mangle(hub, record_path(pull.number))
    hub.say(pull.number, "cora", "/incumbent accept b")
    review(hub, pull.number)
    assert "the ledger lost which verdict was displayed" in hub.comments(pull.number)[-1].body


def test_a_lost_record_of_what_was_merged_ends_with_words_and_stops_no_other(
    hub: Hub, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = bring(hub, "acme", QUERIES), bring(hub, "bolt", {"e": text_of("five", {"e": 0.9})})
    for pull in (first, second):
        hub.merge(pull, "cora", False)
        assert reconcile(hub)
    mangle(hub, record_path(first.number))
    hub.say(second.number, "cora", "/incumbent accept e")
    assert reconcile(hub)
    assert f"the ledger lost {record_path(first.number)}" in caplog.text
    assert "The ledger lost its record of this pull request" in body(hub, first)
    assert hub.pulls[first.number].labels == set()
    assert record_path(first.number) not in hub.repository.files(BRANCH)
    assert entries(hub) == 2
    caplog.clear()
    assert reconcile(hub)
    assert "lost" not in caplog.text
    assert "The ledger lost its record of this pull request" in body(hub, first)
    # They come again with the next pull request that changes their eval set.
    again = bring(hub, "acme", {**QUERIES, "f": text_of("six", {"a": 0.5})})
    assert all(f"`{name}`" in body(hub, again) for name in QUERIES)


def test_a_record_that_is_lost_before_the_merge_lets_nothing_in(hub: Hub) -> None:
    pull = bring(hub, "acme", QUERIES)
    hub.say(pull.number, "cora", "/incumbent accept b")
    mangle(hub, record_path(pull.number))
    hub.merge(pull, "cora", False)
    assert reconcile(hub)
    assert entries(hub) == 1
    assert "the ledger lost which verdict was displayed" in hub.comments(pull.number)[-1].body
    hub.say(pull.number, "cora", "/incumbent accept b")
    assert reconcile(hub)
    assert entries(hub) == 2


def test_a_lost_record_of_what_was_closed_goes(hub: Hub) -> None:
    pull = bring(hub, "acme", QUERIES)
    mangle(hub, record_path(pull.number))
    hub.close_pull(pull)
    assert reconcile(hub)
    left = [path for path in hub.repository.files(BRANCH) if str(pull.number) in path and "events" not in path]
    assert all(path.startswith("damaged/") for path in left)


@pytest.mark.parametrize("part", ["record", "shard", "reconciled"])
def test_of_a_folder_what_cannot_be_read_is_found_again(hub: Hub, part: str) -> None:
    pull = bring(hub, "acme", LOW)
    hub.merge(pull, "cora", False)
    assert reconcile(hub)
    files = dict(hub.repository.files(BRANCH))
    record = folder_path("eval_sets/acme/desk")
    shard = f"{shard_folder(record)}/0.json"
    mangle(hub, {"record": record, "shard": shard, "reconciled": RECONCILED}[part])
    hub.push(MAIN, {"config/curation.yaml": config_text(curators=["cora"], ceiling=99)})
    assert reconcile(hub)
    assert hub.repository.files(BRANCH)[shard] == files[shard]


def test_a_file_that_is_too_large_is_lost_as_any_other(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    pull, other = bring(hub, "acme", QUERIES), bring(hub, "bolt", {"e": text_of("five", {"e": 0.9})})
    for each in (pull, other):
        hub.merge(each, "cora", False)
    size = len(hub.repository.files(BRANCH)[record_path(pull.number)])
    small = ReadingLimits(file_bytes=size - 1, nesting_depth=LEDGER_FILES.nesting_depth, nodes=LEDGER_FILES.nodes)
    for module in (store, git_state):
        monkeypatch.setattr(module, "LEDGER_FILES", small)
    assert record_path(pull.number) in hub.repository.files(BRANCH)
    assert git_state.record_of(hub.repository.snapshot(hub.repository.branches[BRANCH]), pull.number) is None
    assert git_state.record_of(hub.repository.snapshot(hub.repository.branches[BRANCH]), other.number) is not None
    monkeypatch.undo()
    assert reconcile(hub)
