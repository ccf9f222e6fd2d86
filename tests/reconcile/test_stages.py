"""What a run on the default branch does beside admitting: candidates, quarantines, and boxes that people ticked."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from incumbent.curator.entry import Source
from incumbent.curator.file_changes import admit, render
from incumbent.curator.store import entry_path
from incumbent.github.models import CreateComment, IssueComment, Operation, ThreadComment, WriteLedger
from incumbent.ledger.counted import AgreementRecord
from incumbent.ledger.events import SET_EVENTS
from incumbent.ledger.model import (
    AGREEMENT,
    BRANCH,
    CANDIDATES,
    QUARANTINES,
    REQUESTS,
    RUNS,
    Request,
    RequestRecord,
    RunRecord,
)
from incumbent.ledger.releases.ledger_records import with_results
from incumbent.ledger.store import record_text
from incumbent.reconcile.candidate_plan import LABEL, is_candidate
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.quarantine_plan import is_quarantine
from incumbent.reconcile.run import reconcile_event
from incumbent.reconcile.suggestion_pull_requests import is_offer, is_suggestion
from incumbent.report.task_list import Ticks, boxes_in
from tests.extension.builders import make_candidate
from tests.github.scenes import make_releases
from tests.reconcile.hub import BOT, MAIN, Hub, Pull
from tests.reconcile.runs import (
    agent_files,
    config_text,
    folder_of,
    imported,
    platform_files,
    platform_of,
    review,
    text_of,
    world_of,
)
from tests.reconcile.test_run import EVENT, reconciled, surveyed

SCORES = {"sonnet": 0.9, "ballad": 0.8, "ditty": 0.7}
TEXTS = {f"r{place}": text_of(word, {"a": score}) for place, (word, score) in enumerate(SCORES.items(), 1)}
ENTRIES = tuple(imported(id, text, "2026-01-01T00:00:00Z") for id, text in TEXTS.items())


def pulls(hub: Hub, kind: Any) -> list[Pull]:
    return [pull for pull in hub.pulls.values() if kind(pull.branch)]


def with_candidates(hub: Hub, *found: Any) -> Inventory:
    return surveyed(hub).model_copy(update={"candidates": found})


def test_a_candidate_is_raised_once_and_kept_true_when_it_is_found_no_more() -> None:
    hub = Hub(platform_files(ENTRIES, config_text()))
    candidate = make_candidate(id="zigzag", group="all", negative=())
    reconciled(hub, with_candidates(hub))
    assert CANDIDATES not in hub.repository.files(BRANCH)
    reconciled(hub, with_candidates(hub, candidate))
    assert pulls(hub, is_candidate) == [], "they are looked for once a week alone"
    reconciled(hub, with_candidates(hub, candidate), seeks=True)
    (pull,) = pulls(hub, is_candidate)
    assert (pull.author, pull.labels, pull.open) == (BOT, {LABEL}, True)
    pull.labels.clear()
    reconciled(hub, with_candidates(hub))
    assert pull.labels == {LABEL}
    hub.close_pull(pull)
    reconciled(hub, with_candidates(hub))
    reconciled(hub, with_candidates(hub, candidate), seeks=True)
    assert pulls(hub, is_candidate) == [pull]


def flapping(hub: Hub, marks: str) -> None:
    """Releases are counted on the ledger, in which the first entry did so."""
    for record in make_releases({"r1": ENTRIES[0]}, {"r1": marks}):
        hub.push(BRANCH, {path: text for path, text in with_results(record, {}).files.items() if text})


@pytest.mark.parametrize(("marks", "limit", "offers"), [("+-+-", 1, 1), ("++++", 1, 0), ("+-+-", 0, 0)])
def test_what_flaps_is_offered_for_quarantine_where_the_config_says_so(marks: str, limit: int, offers: int) -> None:
    config = config_text()
    assert "open_quarantines: 0" in config
    hub = Hub(platform_files(ENTRIES, config.replace("open_quarantines: 0", f"open_quarantines: {limit}")))
    reconciled(hub, surveyed(hub))
    flapping(hub, marks)
    reconciled(hub, surveyed(hub))
    found = pulls(hub, is_quarantine)
    assert [pull.title for pull in found] == ["Quarantine r1: it flaps"][:offers]
    assert (QUARANTINES in hub.repository.files(BRANCH)) is bool(offers)


def requests_in(hub: Hub) -> list[Request]:
    """What is noted of what people asked."""
    return list(RequestRecord.model_validate_json(hub.repository.files(BRANCH)[REQUESTS], strict=False).requests)


def kept(hub: Hub) -> list[tuple[str, str]]:
    """What is noted to be kept, and by whom."""
    return [(item.entry, item.by) for item in requests_in(hub) if item.action == "keep"]


class Discussed(Hub):
    """A repository whose issues have comments, too."""

    def __init__(self, files: Any) -> None:
        super().__init__(files)
        self.said: dict[int, Pull] = {}

    def apply(self, number: int | None, operation: Operation, tree: str | None = None) -> None:
        if number not in self.issues or not isinstance(operation, CreateComment):
            super().apply(number, operation, tree)
            return
        self.wait(1)
        self._comments += 1
        said = IssueComment(
            id=self._comments, author=BOT, is_bot=True, body=operation.body, created_at=self.now, updated_at=self.now
        )
        self.said.setdefault(number, Pull(number, "", "", BOT)).comments.append(said)

    def comments(self, number: int) -> tuple[IssueComment, ...]:
        if number not in self.issues:
            return super().comments(number)
        return tuple(map(self.reads, self.said[number].comments)) if number in self.said else ()

    def comments_since(self, moment: str) -> tuple[ThreadComment, ...]:
        said = [ThreadComment(number=number, comment=item) for number in self.said for item in self.comments(number)]
        return (*super().comments_since(moment), *(item for item in said if item.comment.updated_at >= moment))


def test_a_box_of_the_dashboard_is_the_word_of_who_ticked_it() -> None:
    config = config_text(redundancy_floor=1, curators=["cora"], open_evictions=1, group=1)
    hub = Discussed(platform_files(ENTRIES, config))

    def run(number: int, dry_run: bool = False) -> list[type]:
        event = replace(EVENT, ticks=Ticks(by="cora", at="2026-11-21T11:00:00Z", number=number, tasks=(task,)))
        done = reconcile_event(event, surveyed(hub), world_of(hub), hub, lambda _: None, dry_run)
        return [type(item) for item in done.operations]

    reconciled(hub, surveyed(hub))
    ((number, body),) = hub.issues.items()
    (task,) = [task for task in boxes_in(body) if task.action == "keep"]
    assert task.entry in ("r2", "r3")
    # Of what is no dashboard nothing is recorded: it may be another bot's.
    hub.issues[99] = "about something else"
    for other in (99, 98):
        run(other)
        assert (kept(hub), hub.said) == ([], {})
    assert run(number, dry_run=True)[:2] == [WriteLedger, CreateComment]
    assert hub.said == {}
    assert run(number)[:2] == [WriteLedger, CreateComment]
    assert kept(hub) == [(task.entry, "cora")]
    assert not [task for task in boxes_in(hub.issues[number]) if task.action == "keep"]
    # A run that is repeated says nothing twice.
    assert CreateComment not in run(number)
    assert len(hub.said[number].comments) == 1


def test_what_was_asked_and_has_happened_is_forgotten_and_confirmed() -> None:
    hub = Hub(platform_files(ENTRIES, config_text(redundancy_floor=3, curators=["cora"])))
    hub.push("docs", {"README.md": "x"}, start=hub.repository.branches[MAIN])
    thread = hub.offer("docs", "mara")
    hub.close_pull(thread)
    reconciled(hub, surveyed(hub))
    hub.say(thread.number, "cora", "/incumbent undo r2")
    reconciled(hub, surveyed(hub))
    assert [item.action for item in requests_in(hub)] == ["undo"]
    (pull,) = [pull for pull in hub.pulls.values() if (pull.branch or "").startswith("incumbent/evict/r2-")]
    hub.merge(pull, "dana", squash=True)
    reconciled(hub, surveyed(hub))
    assert requests_in(hub) == []
    events = [json.loads(line) for line in hub.repository.files(BRANCH)[SET_EVENTS].splitlines()]
    (settled,) = [item for item in events if item["kind"] == "settled"]
    assert (settled["entry"], settled["action"]) == ("r2", "undo")
    grave = platform_of(hub).regression_set.tombstones["r2"]
    assert (grave.evicted.by, grave.evicted.at) == ("dana", pull.merged_at)
    # What the same run does is forgotten in it as well.
    hub.say(thread.number, "cora", "/incumbent restore r2")
    reconciled(hub, surveyed(hub))
    assert "r2" in platform_of(hub).regression_set.entries
    assert requests_in(hub) == []
    last = json.loads(hub.repository.files(BRANCH)[SET_EVENTS].splitlines()[-1])
    assert (last["kind"], last["entry"], last["action"]) == ("settled", "r2", "restore")


def test_what_people_made_of_verdicts_is_counted_once_and_told() -> None:
    hub = Hub(platform_files(ENTRIES, config_text(redundancy_floor=3, curators=["cora"])))
    reconciled(hub, surveyed(hub))
    ((_, before),) = hub.issues.items()
    assert AGREEMENT not in hub.repository.files(BRANCH)
    queries = {"q1": text_of("limerick", {"b": 0.9}), "q2": text_of("haiku", {"a": 0.9})}
    hub.push("change", agent_files(("acme", "desk"), queries), start=hub.repository.branches[MAIN])
    pull = hub.offer("change", "acme")
    review(hub, pull.number)
    hub.say(pull.number, "cora", "/incumbent reject q1 it is none of ours")
    review(hub, pull.number)
    hub.merge(pull, "dana", squash=False)
    reconciled(hub, surveyed(hub))
    record = AgreementRecord.model_validate_json(hub.repository.files(BRANCH)[AGREEMENT], strict=False)
    assert record.people == {"cora": 1, "dana": 1}
    assert sum(record.answers.values()) == 2
    ((_, after),) = hub.issues.items()
    assert after != before
    counted = hub.repository.files(BRANCH)[AGREEMENT]
    reconciled(hub, surveyed(hub))
    assert hub.repository.files(BRANCH)[AGREEMENT] == counted


DESK = ("acme", "desk")
OURS = {"q1": text_of("limerick", {"b": 0.9}), "q2": text_of("haiku", {"c": 0.9})}


@pytest.mark.parametrize(
    ("files", "suggested"),
    [
        (agent_files(DESK, {"q1": OURS["q1"]}), ["Evict q2: source-deleted"]),
        # Of what has faults nobody knows what is in it, wherever it is by now.
        ({f"{folder_of(DESK)}/evals.yaml": "eval_set: ["}, []),
        ({f"{folder_of(DESK)}/evals.yaml": "eval_set: 1\nqueries:\n- id: q1\n  query: 5\n"}, []),
        ({f"{folder_of(DESK)}/agent.yaml": None, f"{folder_of(DESK)}/evals.yaml": None}, ["Evict", "Evict"]),
    ],
)
def test_what_left_its_eval_set_is_suggested_unless_that_has_faults(
    files: dict[str, str | None], suggested: list[str]
) -> None:
    hub = Hub({**platform_files([], config_text()), **agent_files(DESK, OURS)})
    commit = hub.repository.branches[MAIN]
    entries = [
        imported(item, text, "2026-01-01T00:00:00Z").model_copy(
            update={
                "source": Source(
                    customer="acme", agent="desk", eval_set=f"{folder_of(DESK)}/evals.yaml", item=item, commit=commit
                )
            }
        )
        for item, text in OURS.items()
    ]
    hub.push(MAIN, {change.path: change.content for change in map(admit, entries)})
    reconciled(hub, surveyed(hub))
    assert hub.pulls == {}
    hub.push(MAIN, files)
    reconciled(hub, surveyed(hub))
    titles = sorted(pull.title for pull in hub.pulls.values())
    assert [title.startswith(words) for title, words in zip(titles, suggested, strict=True)] == [True] * len(suggested)


@pytest.mark.parametrize(("admissions", "pushes"), [("commit", True), ("pull-request", False), ("by-hand", False)])
def test_a_tombstone_is_confirmed_by_a_push_where_the_bot_may(admissions: str, pushes: bool) -> None:
    """No pull request is opened for this alone."""
    hub = Hub(platform_files(ENTRIES, config_text(redundancy_floor=1, admissions=admissions)))
    reconciled(hub, surveyed(hub))
    (pull, *_) = pulls(hub, is_suggestion)
    hub.merge(pull, "dana", squash=True)
    before = hub.repository.branches[MAIN]
    reconciled(hub, surveyed(hub))
    graves = platform_of(hub).regression_set.tombstones.values()
    assert [grave.evicted.by for grave in graves] == [("dana" if pushes else None)] * len(graves)
    assert len(graves) > 0
    assert (hub.repository.branches[MAIN] != before) is pushes
    assert pulls(hub, is_offer) == []


@pytest.mark.parametrize("noted", ["as it is", "a commit that is gone", None])
def test_who_changes_the_set_by_hand_is_noted_once_whatever_was_noted_before(noted: str | None) -> None:
    hub = Hub(platform_files(ENTRIES, config_text(redundancy_floor=3)))
    reconciled(hub, surveyed(hub))
    if noted != "as it is":
        runs = RunRecord(noted=None if noted is None else "9" * 40)
        hub.push(BRANCH, {RUNS: record_text(runs)})
    pinned = render(ENTRIES[0].model_copy(update={"pin": "an audit wants it"}))
    commit = hub.push(MAIN, {entry_path("r1"): pinned, entry_path("r3"): None}, author="dana")
    for _ in range(2):
        reconciled(hub, surveyed(hub))
        lines = hub.repository.files(BRANCH)[SET_EVENTS].splitlines()
        (event,) = [item for item in map(json.loads, lines) if item["kind"] == "changed-by-hand"]
        assert (event["by"], event["commit"], event["changed"], event["removed"]) == ("dana", commit, ["r1"], ["r3"])
