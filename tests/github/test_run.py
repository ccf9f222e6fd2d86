"""Runs of both jobs on pull requests and merge groups, from the event to the check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from incumbent.curator.entry import Evicted
from incumbent.curator.file_changes import evict, render
from incumbent.curator.store import entry_path
from incumbent.errors import OutsideError
from incumbent.github.client import TRIES, LostRaceError
from incumbent.github.events import Event, Flow
from incumbent.github.facts import Analysis
from incumbent.github.models import CheckRun, Operation, PullRequest, WriteLedger
from incumbent.github.publication import Publication
from incumbent.github.run import analyse_event, publish_event, redirected
from incumbent.taxonomy.config import CONFIG_FILE
from incumbent.taxonomy.loading import TAXONOMY_FILE
from tests.factories import make_entry
from tests.reconcile.hub import MAIN, Hub
from tests.reconcile.runs import Reader, agent_files, config_text, platform_files, text_of, world_of

ENTRIES = tuple(make_entry(id, {"a": 0.9}, text_of(id, {"a": 0.9})) for id in ("r1", "r2"))
CHANGED = render(ENTRIES[0].model_copy(update={"pin": "an audit wants it"}))
EVICTED = {item.path: item.content for item in evict(ENTRIES[0], Evicted(reason="x"))}


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
    facts = analysed(hub, event)
    assert {problem.file for problem in facts.judged.problems} == {path}
    assert facts.touches == (path.partition("/")[0],)
    # The facts cross from one job to the other as JSON.
    assert Analysis.model_validate_json(facts.model_dump_json(), strict=False) == facts
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


# Where nothing is judged


def elsewhere(hub: Hub, **more: Any) -> Event:
    """The event of a pull request that goes to another branch."""
    head = hub.push("change", {"README.md": "x"}, start=hub.repository.branches[MAIN])
    why = "only pull requests to main are curated"
    return Event(flow=Flow.NOT_CURATED, repository="o/r", default_branch=MAIN, head=head, why=why, **more)


@pytest.mark.parametrize(
    ("state", "why", "conclusion"),
    [
        ("alone", "only pull requests to main are curated", "neutral"),
        ("checked", "only pull requests to main are curated; the check on its commit does not change", "success"),
        (
            "curated",
            "only pull requests to main are curated; the check on its commit comes from a pull request that is curated",
            None,
        ),
    ],
)
def test_elsewhere_the_check_says_so_unless_another_counts(state: str, why: str, conclusion: str | None) -> None:
    hub = Hub(platform_files(ENTRIES, config_text()))
    event = elsewhere(hub)
    assert event.head is not None
    if state == "checked":
        hub.checks[event.head] = CheckRun(conclusion="success", external_id="theirs")
    if state == "curated":
        hub.offer("change", "mara")
    found = published(hub, event, None)
    assert found.why == why
    check = hub.checks.get(event.head)
    assert (None if check is None else check.conclusion) == conclusion
    assert [type(item).__name__ for item in found.operations] == (["PostCheck"] if state == "alone" else [])
    assert (found.result is not None, found.judged) == (state == "alone", False)
    assert published(hub, event, None).operations == ()


def test_what_was_said_of_a_pull_request_is_taken_back_where_it_goes_elsewhere() -> None:
    hub = Hub(platform_files(ENTRIES, config_text()))
    event = offered(hub, agent_files(("acme", "desk"), {"q1": text_of("sonnet", {"b": 0.9})}))
    published(hub, event, analysed(hub, event))
    pull = hub.pulls[event.pull_request or 0]
    pull.labels.add("mine")
    assert "incumbent: admits" in pull.labels
    left = replace(event, flow=Flow.NOT_CURATED, why="it goes elsewhere", left=True)
    dry = publish_event(left, None, world_of(hub), hub, lambda _: None, dry_run=True)
    assert "incumbent: admits" in pull.labels
    found = published(hub, left, None)
    assert [type(item).__name__ for item in found.operations] == ["EditComment", "RemoveLabel"]
    assert dry.operations == found.operations
    assert pull.labels == {"mine"}
    assert "Not curated here: it goes elsewhere." in pull.comments[0].body
    stays = replace(left, left=False)
    assert published(hub, stays, None).operations == ()


@pytest.mark.parametrize(
    ("mode", "conclusion", "code"), [("curate", "failure", OutsideError.exit_code), ("observe", "success", 0)]
)
@pytest.mark.parametrize(
    ("absence", "title", "word"),
    [
        ("quiet", "Run all jobs again", "There was nothing to curate when"),
        ("other-version", "Run all jobs again", "another version of Incumbent"),
        ("unfinished", "The analysis did not finish", "Its log says why"),
    ],
)
@pytest.mark.parametrize("knows_head", [True, False])
def test_without_facts_the_check_says_why(
    absence: Any, title: str, word: str, mode: str, conclusion: str, code: int, knows_head: bool
) -> None:
    hub = Hub(platform_files(ENTRIES, config_text(mode=mode)))
    event = offered(hub, {"README.md": "x"})
    head = event.head or ""
    event = event if knows_head else replace(event, head=None)
    hub.checks[head] = CheckRun(conclusion="success", external_id="of an earlier run")
    found = publish_event(event, None, world_of(hub), hub, lambda _: None, dry_run=False, absence=absence)
    assert found.result is not None
    assert (found.result.title, found.result.conclusion, found.result.exit_code) == (title, conclusion, code)
    assert word in found.summary
    assert (found.why, found.result.labels, found.judged) == (found.summary, (), False)
    assert hub.checks[head].external_id != "of an earlier run"


def test_without_facts_nothing_is_said_of_what_has_moved_on() -> None:
    hub = Hub(platform_files(ENTRIES, config_text()))
    event = offered(hub, {"README.md": "x"})
    hub.push("change", {"README.md": "y"})
    assert published(hub, event, None).why.startswith("the pull request has changed since it was read")
    hub.close_pull(hub.pulls[event.pull_request or 0])
    assert published(hub, event, None).why == "the pull request is closed"
    assert hub.checks == {}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"repository": "o/other"}, "about something else than the event"),
        ({"judged": {"pull_request": 9}}, "about something else than the event"),
        ({"judged": {"base": "9" * 40}}, "files that are not on the default branch"),
    ],
)
def test_facts_that_are_foreign_are_not_used_and_the_check_says_so(change: dict[str, Any], word: str) -> None:
    hub = Hub(platform_files(ENTRIES, config_text()))
    event = offered(hub, agent_files(("acme", "desk"), {"q1": text_of("sonnet", {"b": 0.9})}))
    analysis = analysed(hub, event)
    if "judged" in change:
        change = {"judged": replace(analysis.judged, **change["judged"])}
    found = published(hub, event, analysis.model_copy(update=change))
    assert found.result is not None
    assert (found.result.conclusion, found.result.title) == ("failure", "The analysis cannot be used")
    assert word in found.summary
    assert hub.pulls[event.pull_request or 0].comments == []
    assert hub.checks[event.head or ""].conclusion == "failure"


@pytest.mark.parametrize("change", [{"base": "9" * 40}, {"head": "9" * 40}])
def test_facts_of_another_group_are_foreign(change: dict[str, Any]) -> None:
    hub = Hub(platform_files(ENTRIES, config_text()))
    event = grouped(hub, EVICTED)
    analysis = analysed(hub, event)
    found = published(hub, event, analysis.model_copy(update={"judged": replace(analysis.judged, **change)}))
    assert found.result is not None
    assert found.result.title == "The analysis cannot be used"
    assert "of other commits than the merge group's" in found.summary


# The event of a comment


def pull_of(**more: Any) -> PullRequest:
    known: dict[str, Any] = {"number": 7, "head": "1" * 40, "base": MAIN, "author": "mara", "association": "NONE"}
    return PullRequest(**{**known, "labels": (), "branch": "change", **more})


COMMENTED = Event(flow=Flow.REVIEW, repository="o/r", default_branch=MAIN, pull_request=7, commented=True)


@pytest.mark.parametrize(
    ("pull", "expected"),
    [
        (pull_of(), COMMENTED),
        (pull_of(branch=None), COMMENTED),
        (pull_of(branch="incumbent/evict/x-1"), replace(COMMENTED, flow=Flow.RECONCILE)),
        (pull_of(closed=True, merge="2" * 40), replace(COMMENTED, flow=Flow.RECONCILE)),
        (pull_of(closed=True), replace(COMMENTED, flow=Flow.NOTHING, why="the pull request is closed")),
        (
            pull_of(base="release"),
            replace(COMMENTED, flow=Flow.NOT_CURATED, head="1" * 40, why="only pull requests to main are curated"),
        ),
    ],
)
def test_the_event_of_a_comment_goes_where_its_pull_request_does(pull: PullRequest, expected: Event) -> None:
    asked: list[int] = []

    def look_up(number: int) -> PullRequest:
        asked.append(number)
        return pull

    assert redirected(COMMENTED, look_up) == expected
    assert asked == [7]


@pytest.mark.parametrize("change", [{"commented": False}, {"flow": Flow.RECONCILE}, {"pull_request": None}])
def test_nobody_looks_up_what_an_event_says_itself(change: dict[str, Any]) -> None:
    event = replace(COMMENTED, **change)
    assert redirected(event, lambda _: pull_of(base="release")) == event


@pytest.mark.parametrize("flow", [Flow.NOTHING, Flow.NOT_CURATED, Flow.RECONCILE])
def test_what_is_not_reviewed_is_not_read(flow: Flow) -> None:
    hub = Hub(platform_files(ENTRIES, config_text()))
    event = replace(offered(hub, {"README.md": "x"}), flow=flow, why="for a reason")
    assert analyse_event(event, world_of(hub), lambda *_: Reader(), lambda *_: None, lambda: hub) == "for a reason"
    if flow is Flow.NOTHING:
        assert published(hub, event, None) == Publication(why="for a reason")
