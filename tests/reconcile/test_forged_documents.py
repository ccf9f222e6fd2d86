"""A first job that somebody has taken over: the honest second job over documents in which each field is forged.

What it writes on other pull requests, in the ledger's other records and in the regression set is what the honest
document gives, or it refuses; and the next honest run ends as if nothing had been.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Any

import pytest

from incumbent.errors import InputError, OutsideError
from incumbent.files.documents import parse_json
from incumbent.files.snapshot import ReadingLimits
from incumbent.files.validation import FileModel, validate
from incumbent.github.events import Event, Flow
from incumbent.github.facts import Analysis
from incumbent.github.git_state import record_of
from incumbent.github.run import analyse_event, publish_event
from incumbent.ledger.classifications import shard_folder
from incumbent.ledger.model import BRANCH, record_path
from incumbent.pipeline.migrate import migrate_set
from incumbent.reconcile.inventory import Inventory
from incumbent.reconcile.run import reconcile_event, survey_event
from incumbent.taxonomy.loading import TAXONOMY_FILE
from incumbent.taxonomy.migration import Migration
from tests.reconcile.hub import MAIN, Hub, Pull
from tests.reconcile.runs import (
    TAXONOMY,
    Reader,
    agent_files,
    config_text,
    imported,
    no_race,
    platform_files,
    platform_of,
    reconcile,
    review,
    silent,
    text_of,
    world_of,
)
from tests.variants import one_in

ACME, UMBRA, MAL = ("acme", "desk"), ("umbra", "desk"), ("mal", "desk")
LIMITS = ReadingLimits(file_bytes=10_000_000, nesting_depth=50, nodes=1_000_000)
HELLO = "hello there, hello there, hello"
SHOWN = text_of("three", {"d": 0.9})


@dataclass
class Desk:
    """A repository with two customers' reviewed pull requests, and a third one, whose first job is not honest."""

    hub: Hub
    theirs: Pull
    mine: Pull

    def event(self) -> Event:
        return Event(
            flow=Flow.REVIEW, repository="o/r", default_branch=MAIN, pull_request=self.mine.number, head=self.mine.head
        )

    def analysis(self) -> dict[str, Any]:
        self.hub.repository.branches[f"refs/pull/{self.mine.number}/head"] = self.mine.head
        found = analyse_event(self.event(), world_of(self.hub), lambda *_: Reader(), silent, lambda: self.hub)
        assert isinstance(found, Analysis)
        return dict(json.loads(found.model_dump_json()))

    def publish(self, document: Mapping[str, Any]) -> str:
        """What becomes of a pull request with this ``document``: the conclusion of its check."""
        facts = parsed(Analysis, document)
        publish_event(self.event(), facts, world_of(self.hub), self.hub, no_race, dry_run=False)
        check = self.hub.checks.get(self.mine.head)
        return "none" if check is None else str(check.conclusion)

    def keys_of(self, pull: Pull) -> list[str]:
        """The keys of what the review of ``pull`` classified."""
        record = record_of(self.hub.repository.snapshot(self.hub.repository.branches[BRANCH]), pull.number)
        assert record is not None
        return list(record.classifications)

    def inventory(self) -> dict[str, Any]:
        event = Event(flow=Flow.RECONCILE, repository="o/r", default_branch=MAIN)
        found = survey_event(event, world_of(self.hub), lambda *_: Reader(), silent)
        assert isinstance(found, Inventory)
        return dict(json.loads(found.model_dump_json()))

    def reconcile(self, document: Mapping[str, Any]) -> None:
        event = Event(flow=Flow.RECONCILE, repository="o/r", default_branch=MAIN)
        reconcile_event(event, parsed(Inventory, document), world_of(self.hub), self.hub, no_race, dry_run=False)

    def untouched(self) -> tuple[object, ...]:
        """All that is none of the business of a job on my pull request."""
        other = [
            (number, pull.comments, pull.labels, pull.open)
            for number, pull in self.hub.pulls.items()
            if number != self.mine.number
        ]
        record = record_path(self.mine.number)
        mine = (record, f"events/{self.mine.number}.", f"{shard_folder(record)}/")
        ledger = {path: text for path, text in self.hub.repository.files(BRANCH).items() if not path.startswith(mine)}
        checks = {commit: item for commit, item in self.hub.checks.items() if commit != self.mine.head}
        return other, ledger, checks, self.hub.repository.files(MAIN)

    def rated(self) -> dict[str, str]:
        """The regression set, file by file."""
        files = self.hub.repository.files(MAIN)
        return {path: text for path, text in files.items() if path.startswith("regression_set/")}


def parsed(model: type[FileModel], document: Mapping[str, Any]) -> Any:
    """``document`` as the second job reads it; raises :class:`InputError` where it does not fit the schema."""
    return validate(model, parse_json(json.dumps(document).encode(), "analysis.json", LIMITS))


def desk(files: Mapping[str, str | None]) -> Desk:
    hub = Hub(platform_files([imported("r0", text_of("zero", {"a": 0.9}), "2026-01-01T00:00:00Z")], config_text()))
    assert reconcile(hub)
    hub.push("umbra", agent_files(UMBRA, {"u1": text_of("one", {"b": 0.9})}), hub.repository.branches[MAIN])
    before = hub.offer("umbra", "ursula")
    review(hub, before.number)
    hub.merge(before, "cora", squash=False)
    assert reconcile(hub)
    hub.push("acme", agent_files(ACME, {"q1": text_of("two", {"c": 0.9})}), hub.repository.branches[MAIN])
    theirs = hub.offer("acme", "alice")
    review(hub, theirs.number)
    hub.push("mal", files, hub.repository.branches[MAIN], author="mallory")
    return Desk(hub, theirs, hub.offer("mal", "mallory"))


PARTS = 5
"""A part of the forgeries after a merge has every fifth of them, of each field in other ways."""
FAR = "9999-12-31T23:59:59Z"


def forged(document: Mapping[str, Any], more: Sequence[object] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """``document`` with one field after the other forged, in each way that may do harm, and where."""
    for path, value in leaves(document):
        others: list[object] = [*more, None, [], {}]
        match value:
            case bool():
                others.append(not value)
            case int() | float():
                others += [0, 1, 999_999, -1, 1.0]
            case str():
                others += ["", "x", "0" * len(value), FAR, "a", "structure", "corrected", "specification", "expected"]
            case list():
                others += [[*value, *value], value[1:]]
        for number, other in enumerate(others):
            if other != value or type(other) is not type(value):
                changed = deepcopy(dict(document))
                place: Any = changed
                for step in path[:-1]:
                    place = place[step]
                place[path[-1]] = other
                yield f"{'.'.join(map(str, path))} #{number}: {other!r:.40}", changed


def leaves(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], object]]:
    if path:
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, below in items:
        yield from leaves(below, (*path, step))


def all_tags(document: dict[str, Any], value: bool, path: str, confidence: float = 1.0) -> dict[str, Any]:
    """``document`` in which each query exercises everything, or nothing."""
    changed = deepcopy(document)
    for submission in changed.get("judged", changed)["submissions"]:
        for query in submission["queries"]:
            for judgement in (query["classification"] or {"judgements": {}})["judgements"].values():
                judgement |= {"value": value, "path": path, "confidence": confidence}
    return changed


# Before the merge


@cache
def by_hand() -> tuple[Desk, dict[str, Any]]:
    """A pull request that brings a query, empties an entry of another customer's, and changes who decides."""
    taken = "regression_set/r0.yaml"
    found = desk(
        {
            **agent_files(MAL, {"m1": SHOWN}),
            taken: "turns: [mine]\n",
            "config/curation.yaml": config_text(curators=["mallory"]),
        }
    )
    return found, found.analysis()


@pytest.mark.untraced
def test_no_forged_field_turns_the_check_green_or_writes_elsewhere() -> None:
    model, honest = by_hand()
    first = deepcopy(model)
    assert first.publish(honest) == "failure"
    keys = first.keys_of(first.theirs)[:1]
    tried = 0
    for where, document in forged(honest, [first.theirs.number, *keys]):
        here = deepcopy(model)
        before = here.untouched()
        try:
            conclusion = here.publish(document)
        except InputError:
            continue
        tried += 1
        assert conclusion != "success", where
        assert here.untouched() == before, where
    assert tried > 100


@pytest.mark.parametrize(
    "change",
    [
        {"touches": []},
        {"judged": {"set_changes": [], "submissions": [], "problems": []}, "touches": [], "impact": None},
        {"held": True},
        {"judged": {"base": "old"}},
    ],
    ids=["nothing is touched", "nothing is changed", "held", "an old base"],
)
def test_what_changed_is_no_fact_of_the_first_job(change: dict[str, Any]) -> None:
    model, honest = by_hand()
    here = deepcopy(model)
    document = deepcopy(honest)
    judged = dict(change.get("judged", {}))
    if judged.get("base"):
        judged["base"] = here.hub.repository.commits[here.mine.head].parents[0]
    document |= {name: value for name, value in change.items() if name != "judged"}
    document["judged"] |= judged
    assert here.publish(document) == "failure"


def test_no_migration_hides_a_change_of_the_set() -> None:
    claimed: dict[str, Any] = {"renames": {"a": "b", "b": "a"}, "splits": {}, "definitions": {}}
    hub = desk({}).hub
    platform, reviewed = platform_of(hub), hub.repository.snapshot(hub.repository.branches[MAIN])
    swapped = migrate_set(reviewed, platform.regression_set, Migration(renames=claimed["renames"]), TAXONOMY, {}, [])
    here = desk({change.path: change.content for change in swapped})
    document = here.analysis()
    document["follows"] = claimed
    document["judged"]["set_changes"] = []
    assert here.publish(document) == "failure"


@pytest.mark.parametrize("squash", [True, False])
def test_what_was_merged_meanwhile_is_no_contradiction(squash: bool) -> None:
    here = desk(agent_files(MAL, {"m1": SHOWN}))
    document = here.analysis()
    here.hub.merge(here.mine, "cora", squash)
    assert here.publish(document) == "none"


# What a forged review leads to after the merge


@pytest.mark.parametrize("path", ["inference", "structure", "specification", "corrected", "expected", "arbitration"])
@pytest.mark.parametrize("value", [True, False])
def test_forged_tags_of_a_review_do_not_enter(value: bool, path: str) -> None:
    here = desk(agent_files(MAL, {"m1": HELLO}))
    honest = deepcopy(here)
    honest.publish(honest.analysis())
    document = all_tags(here.analysis(), value, path)
    here.publish(document)
    for each in (honest, here):
        each.hub.merge(each.mine, "cora", squash=False)
        assert reconcile(each.hub)
    assert here.rated() == honest.rated()


def test_nobody_decides_about_another_pull_request() -> None:
    here = desk(agent_files(MAL, {"m1": HELLO}))
    honest = deepcopy(here)
    document = here.analysis()
    keys = here.keys_of(here.theirs)
    no = {name: {"value": False, "confidence": 0.0, "path": "inference"} for name in "abcde"}
    (query,) = document["judged"]["submissions"][0]["queries"]
    document["remembered"] = {key: query["classification"] | {"judgements": no} for key in keys}
    query["key"] = keys[0]
    here.publish(document)
    honest.publish(honest.analysis())
    for each in (honest, here):
        each.hub.merge(each.theirs, "cora", squash=False)
        assert reconcile(each.hub)
    assert here.rated() == honest.rated()
    assert len(here.rated()) == 3, "what was honestly reviewed has entered"


# After the merge


@cache
def merged() -> tuple[Desk, dict[str, Any], Desk]:
    """My pull request was reviewed and merged; the honest document, and what it leads to."""
    found = desk(agent_files(MAL, {"m1": SHOWN, "m2": HELLO}))
    found.publish(found.analysis())
    found.hub.merge(found.mine, "cora", squash=False)
    document = found.inventory()
    honest = deepcopy(found)
    honest.reconcile(document)
    return found, document, honest


@pytest.mark.untraced
@pytest.mark.parametrize("part", one_in(PARTS, range(PARTS)))
def test_no_forged_field_after_a_merge_changes_what_enters_or_loses_it(part: int) -> None:
    model, document, honest = merged()
    assert len(honest.rated()) == len(model.rated()) + 1
    tried = refused = 0
    for where, each in islice(forged(document, [model.theirs.number]), part, None, PARTS):
        here = deepcopy(model)
        before = here.rated()
        try:
            here.reconcile(each)
        except InputError:
            continue
        except OutsideError:
            refused += 1
        tried += 1
        assert here.rated() in (before, honest.rated()), where
        assert reconcile(here.hub)
        assert here.rated() == honest.rated(), where
    assert tried > 30
    assert refused


@pytest.mark.parametrize(
    "document",
    [
        lambda found: all_tags(found, True, "inference"),
        lambda found: all_tags(found, False, "inference", 0.0),
        lambda found: found | {"submissions": []},
        lambda found: found | {"merges": [], "submissions": []},
        lambda found: (
            found | {"unread": [facts["about"]["folder"] for facts in found["submissions"]], "submissions": []}
        ),
    ],
    ids=["all TRUE", "all FALSE", "no submissions", "no merges", "nothing could be read"],
)
def test_no_forged_whole_loses_or_adds_anything(document: Any) -> None:
    model, found, honest = merged()
    here = deepcopy(model)
    before = here.rated()
    here.reconcile(document(deepcopy(found)))
    assert here.rated() == before, "two jobs disagree, or one says nothing: no verdict"
    assert reconcile(here.hub)
    assert here.rated() == honest.rated()


def test_a_text_that_is_in_no_eval_set_does_not_enter() -> None:
    model, found, honest = merged()
    here = deepcopy(model)
    for submission in found["submissions"]:
        for query in submission["queries"]:
            assert query["query"]["turns"]
    document = deepcopy(found)
    document["submissions"][0]["queries"][0]["query"]["turns"] = ["never merged by anybody"]
    here.reconcile(document)
    assert here.rated() == honest.rated()


def test_entries_are_scored_again_only_where_that_is_due() -> None:
    model, found, honest = merged()
    here = deepcopy(model)
    judgements = {name: {"value": True, "confidence": 0.99, "path": "inference"} for name in "abcde"}
    bare = {"judgements": judgements, "off_taxonomy": [], "arbitrated": [], "attempt": False, "findings": {}}
    renewals = [
        {"entry": path.split("/")[1].removesuffix(".yaml"), "before": "0" * 24, "asked": list("abcde"),
         "classification": bare}
        for path in here.rated()
    ]  # fmt: skip
    here.reconcile({**found, "renewals": renewals})
    assert here.rated() == honest.rated()


# What changes between the jobs, and what lasts


@pytest.mark.parametrize("value", [True, False])
def test_of_what_another_version_reviewed_a_forged_word_needs_a_person(
    value: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, found, _ = merged()
    here = deepcopy(model)
    before = here.rated()
    of_now = world_of
    monkeypatch.setattr(
        "tests.reconcile.test_forged_documents.world_of", lambda hub: replace(of_now(hub), version="f" * 64)
    )
    here.reconcile(all_tags(found, value, "inference", 1.0 if value else 0.0))
    assert here.rated() == before


def test_of_another_taxonomy_than_the_review_saw_a_forged_word_needs_a_person() -> None:
    model, _, _ = merged()
    here = deepcopy(model)
    before = here.rated()
    text = here.hub.repository.files(MAIN)[TAXONOMY_FILE]
    here.hub.push(MAIN, {TAXONOMY_FILE: text.replace("version: 1.0.0", "version: 1.0.1")})
    here.reconcile(all_tags(here.inventory(), True, "inference"))
    assert set(here.rated()) == set(before)


@pytest.mark.parametrize("value", [True, False])
def test_a_query_whose_review_was_forged_waits_for_a_person_in_the_end(value: bool) -> None:
    here = desk(agent_files(MAL, {"m1": SHOWN}))
    before = here.rated()
    here.publish(all_tags(here.analysis(), value, "inference", 1.0 if value else 0.0))
    here.hub.merge(here.mine, "cora", squash=False)
    comments = []
    for number in range(3):
        assert reconcile(here.hub, page=f"https://github.example/o/r/actions/runs/{number}")
        comments.append(here.hub.comments(here.mine.number)[0].body)
    assert here.rated() == before
    assert "says something else of it than the review did" in comments[0]
    assert "has no verdict" not in comments[-1]
    assert "UNSEEN" in comments[-1]
