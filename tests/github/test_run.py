"""Runs of both jobs on pull requests and merge groups, from the event to the check."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.config import CONFIG_FILE
from bot.curator.entry import Evicted
from bot.curator.file_changes import evict, render
from bot.curator.store import entry_path
from bot.github.client import TRIES, LostRaceError
from bot.github.events import Event, Flow
from bot.github.facts import Analysis
from bot.github.git_state import World
from bot.github.models import CheckRun, Operation, WriteLedger
from bot.github.publication import Publication
from bot.github.run import analyse_event, publish_event
from bot.taxonomy.loading import TAXONOMY_FILE
from tests.factories import make_entry
from tests.reconcile.hub import MAIN, Hub
from tests.reconcile.runs import Reader, agent_files, config_text, platform_files, text_of

ENTRIES = tuple(make_entry(id, {"a": 0.9}, text_of(id, {"a": 0.9})) for id in ("r1", "r2"))
CHANGED = render(ENTRIES[0].model_copy(update={"pin": "an audit wants it"}))
EVICTED = {item.path: item.content for item in evict(ENTRIES[0], Evicted(reason="x"))}


def world_of(hub: Hub) -> World:
    return World(store=hub.repository, url="https://github.example/o/r", token=None, run=None)


def analysed(hub: Hub, event: Event) -> Analysis:
    found = analyse_event(event, world_of(hub), lambda *_: Reader(), lambda *_: None, lambda: hub)
    assert isinstance(found, Analysis)
    return found


def published(hub: Hub, event: Event, analysis: Analysis | None) -> Publication:
    return publish_event(event, analysis, world_of(hub), hub, lambda _: None, dry_run=False)


def offered(hub: Hub, files: Mapping[str, str | None]) -> Event:
    """The event of a new pull request that changes ``files``."""
    head = hub.push("change", files, start=hub.repository.branches[MAIN])
    number = hub.offer("change", "mara").number
    hub.repository.branches[f"refs/pull/{number}/head"] = head
    return Event(flow=Flow.REVIEW, repository="o/r", default_branch=MAIN, pull_request=number, head=head, author="mara")


def grouped(hub: Hub, files: Mapping[str, str | None]) -> Event:
    """The event of a merge group that changes ``files``."""
    base = hub.repository.branches[MAIN]
    head = hub.push("group", files, start=base)
    return Event(flow=Flow.GROUP, repository="o/r", default_branch=MAIN, head=head, group_base=base)


@pytest.mark.parametrize(
    ("files", "conclusion"),
    [
        ({entry_path("r1"): CHANGED}, "success"),
        (EVICTED, "success"),
        ({entry_path("r1"): None}, "failure"),
        ({entry_path("r1"): None, entry_path("r2"): CHANGED.replace("r1", "r2")}, "failure"),
    ],
    ids=["edited", "evicted", "removed", "removed beside an edit"],
)
def test_in_a_merge_group_a_change_by_hand_was_decided_before_and_a_removal_never_passes(
    files: dict[str, str | None], conclusion: str
) -> None:
    hub = Hub(platform_files(ENTRIES, config_text()))
    event = grouped(hub, files)
    found = published(hub, event, analysed(hub, event))
    assert event.head is not None
    assert hub.checks[event.head].conclusion == conclusion
    assert found.result is not None
    assert ("removed without a tombstone" in found.result.title) is (conclusion == "failure")


@pytest.mark.parametrize("path", [entry_path("r1"), TAXONOMY_FILE, CONFIG_FILE])
def test_reviewed_files_at_fault_fail_the_check_whichever_they_are(path: str) -> None:
    hub = Hub(platform_files(ENTRIES, config_text()))
    event = offered(hub, {path: "id: ["})
    found = published(hub, event, analysed(hub, event))
    assert {problem.file for problem in analysed(hub, event).judged.problems} == {path}
    assert found.result is not None
    assert (found.result.conclusion, found.result.exit_code) == ("failure", 1)


class Beaten(Hub):
    """Another run writes to the ledger first each time, and posts the check of the commit that ``posts`` names."""

    posts: str | None = None
    tries = 0

    def apply(self, number: int | None, operation: Operation, tree: str | None = None) -> None:
        if isinstance(operation, WriteLedger):
            self.tries += 1
            if self.posts is not None:
                self.checks[self.posts] = CheckRun(conclusion="success", external_id="theirs")
            raise LostRaceError("the branch has moved")
        super().apply(number, operation, tree)


@pytest.mark.parametrize("posted", [True, False])
def test_a_run_that_lost_every_race_leaves_the_check_of_the_winner(posted: bool) -> None:
    hub = Beaten(platform_files(ENTRIES, config_text()))
    event = offered(hub, agent_files(("acme", "desk"), {"q1": text_of("sonnet", {"b": 0.9})}))
    hub.posts = event.head if posted else None
    with pytest.raises(LostRaceError, match="run this one again"):
        published(hub, event, analysed(hub, event))
    assert hub.tries == TRIES
    assert event.head is not None
    assert hub.checks[event.head].conclusion == ("success" if posted else "failure")
