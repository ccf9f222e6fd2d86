"""Entries follow the taxonomy and the classifier: one commit, and all that rests on scores is derived anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
import yaml

from incumbent.classifier.caching_backend import FindingsInMemory, RememberingBackend
from incumbent.classifier.model import Finding, InferenceRequest
from incumbent.curator.entry import Entry, Imported
from incumbent.errors import IncompleteError
from incumbent.github.git_state import reconciled_of
from incumbent.github.models import PushBranch, PushCommits
from incumbent.ledger.model import BRANCH
from incumbent.taxonomy.loading import TAXONOMY_FILE
from incumbent.taxonomy.model import Capability, Taxonomy
from tests.factories import make_taxonomy
from tests.reconcile import runs
from tests.reconcile.checks import open_suggestions
from tests.reconcile.hub import MAIN, Hub
from tests.reconcile.merges import source
from tests.reconcile.runs import (
    CAPABILITIES,
    Reader,
    agent_files,
    config_text,
    imported,
    platform_files,
    platform_of,
    reconcile,
    review,
    text_of,
)

TEXTS = {
    "r0": text_of("zero", {"a": 0.9}),
    "r1": text_of("one", {"a": 0.8}),
    "r2": text_of("two", {"a": 0.6, "f": 0.9}),
}
LATER = make_taxonomy(*CAPABILITIES, "f", version="1.1.0")
LATEST = make_taxonomy(*CAPABILITIES, "f", "g", version="1.2.0")


class Counting(Reader):
    """Remembers what it was asked, over all runs, and answers until its budget is used up."""

    asked: list[tuple[str, ...]]
    budget: int

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        for place, finding in super().infer(requests):
            if type(self).budget == 0:
                raise IncompleteError("the budget is used up")
            type(self).budget -= 1
            self.asked.append(requests[place].capabilities)
            yield place, finding


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> type[Counting]:
    found = type("Counted", (Counting,), {"asked": [], "budget": 1_000})
    monkeypatch.setattr(runs, "Reader", found)
    return found


def before(entry: Entry) -> Entry:
    """An entry of no declared agent, as it was before anybody knew of ``f``."""
    placed = source(entry.id, imported=Imported(folder=None, declared=False))
    scores = {name: score for name, score in entry.scores.items() if name != "f"}
    return entry.model_copy(update={"scores": scores, "source": placed})


def make_hub(**config: object) -> Hub:
    """Three entries that share a capability; two of them could go."""
    entries = [imported(id, text, f"2026-01-0{n}T00:00:00Z") for n, (id, text) in enumerate(TEXTS.items(), 1)]
    hub = Hub(
        platform_files(
            [before(item) for item in entries], config_text(**{"redundancy_floor": 1, "curators": ["cora"]} | config)
        )
    )
    assert reconcile(hub)
    return hub


def adopt(hub: Hub, taxonomy: Taxonomy) -> None:
    hub.push(MAIN, {TAXONOMY_FILE: yaml.safe_dump(taxonomy.model_dump(mode="json"), sort_keys=False)})


def commits(hub: Hub, since: int = 0) -> list[str]:
    pushes = [item for item in hub.written[since:] if isinstance(item, PushCommits)]
    return [commit.message for push in pushes for commit in push.commits]


def scores(hub: Hub) -> dict[str, dict[str, float]]:
    known = platform_of(hub).regression_set
    return {id: dict(item.scores) for id, item in {**known.waiting, **known.entries}.items()}


def run_to_rest(hub: Hub) -> None:
    """A run, and a second one that writes nothing."""
    assert reconcile(hub)
    before = len(hub.written)
    assert reconcile(hub)
    assert hub.written[before:] == []


def test_all_entries_follow_in_one_commit_and_only_what_is_new_is_asked(reader: type[Counting]) -> None:
    hub = make_hub()
    adopt(hub, LATER)
    run_to_rest(hub)
    assert commits(hub) == ["Classify 3 entries again under taxonomy 1.1.0"]
    assert reader.asked == [("f",)] * 3
    assert scores(hub) == {"r0": {"a": 0.9}, "r1": {"a": 0.8}, "r2": {"a": 0.6, "f": 0.9}}


def test_roles_are_derived_anew(reader: type[Counting]) -> None:
    hub = make_hub()
    assert {pull.title for pull in open_suggestions(hub)} == {"Evict r1: redundant", "Evict r2: redundant"}
    adopt(hub, LATER)
    run_to_rest(hub)
    assert {pull.title for pull in open_suggestions(hub)} == {"Evict r1: redundant"}


def test_entries_in_line_follow_as_well(reader: type[Counting]) -> None:
    hub = make_hub(ceiling=3)
    waiting = imported("w", text_of("three", {"b": 0.9, "f": 0.7}), "2026-01-09T00:00:00Z")
    path = "regression_set/waiting/w.yaml"
    files = platform_files([before(waiting)], "")
    hub.push(MAIN, {path: files["regression_set/w.yaml"]})
    adopt(hub, LATER)
    run_to_rest(hub)
    assert scores(hub)["w"] == {"b": 0.9, "f": 0.7}
    assert commits(hub) == ["Classify 4 entries again under taxonomy 1.1.0"]


def test_a_wording_that_no_classifier_sees_changes_nothing(reader: type[Counting]) -> None:
    hub = make_hub()
    named = [item.model_copy(update={"name": f"The {item.name}"}) for item in make_taxonomy(*CAPABILITIES).capabilities]
    adopt(hub, make_taxonomy(version="1.0.1").model_copy(update={"capabilities": tuple(named)}))
    run_to_rest(hub)
    assert (commits(hub), reader.asked) == ([], [])


def test_a_rename_asks_nobody_and_what_led_to_nothing_goes(reader: type[Counting]) -> None:
    hub = make_hub()
    a, *rest = make_taxonomy(*CAPABILITIES).capabilities
    n = Capability.model_validate(a.model_dump() | {"id": "n", "was": "a"}, strict=False)
    adopt(hub, Taxonomy(version="2.0.0", retired=("a",), groups=LATER.groups, capabilities=(n, *rest)))
    run_to_rest(hub)
    assert (scores(hub)["r0"], reader.asked) == ({"n": 0.9}, [])
    adopt(hub, Taxonomy(version="3.0.0", retired=("a", "n"), groups=LATER.groups, capabilities=tuple(rest)))
    run_to_rest(hub)
    assert (scores(hub)["r0"], reader.asked) == ({}, [])


def test_two_versions_between_two_runs_are_one_step(reader: type[Counting]) -> None:
    hub = make_hub()
    a, *rest = make_taxonomy(*CAPABILITIES).capabilities
    n = Capability.model_validate(a.model_dump() | {"id": "n", "was": "a"}, strict=False)
    adopt(hub, Taxonomy(version="2.0.0", retired=("a",), groups=LATER.groups, capabilities=(n, *rest)))
    adopt(hub, Taxonomy(version="3.0.0", retired=("a", "n"), groups=LATER.groups, capabilities=tuple(rest)))
    run_to_rest(hub)
    assert commits(hub) == ["Classify 3 entries again under taxonomy 3.0.0"]
    assert scores(hub) == {"r0": {}, "r1": {}, "r2": {}}


@pytest.mark.untraced
def test_a_query_that_was_left_out_and_has_merit_now_is_asked_about(reader: type[Counting]) -> None:
    hub = make_hub()
    hub.push(
        "topic",
        agent_files(("acme", "desk"), {"q1": text_of("parcel", {"a": 0.5, "g": 0.9})}),
        hub.repository.branches[MAIN],
    )
    pull = hub.offer("topic", "mara")
    review(hub, pull.number)
    hub.merge(pull, "cora", False)
    run_to_rest(hub)
    assert "incumbent: needs a curator" not in pull.labels
    adopt(hub, LATEST)
    run_to_rest(hub)
    assert "incumbent: needs a curator" in pull.labels
    assert commits(hub) == ["Classify 3 entries again under taxonomy 1.2.0"]


def test_another_classifier_classifies_all_again(reader: type[Counting]) -> None:
    hub = make_hub()
    reader.identity = replace(Reader.identity, model="m2")
    run_to_rest(hub)
    assert commits(hub) == ["Classify 3 entries again under taxonomy 1.0.0"]
    assert reader.asked == [CAPABILITIES] * 3
    assert {item.classified.model for item in platform_of(hub).regression_set.entries.values()} == {"m2"}


@pytest.fixture
def remembering(reader: type[Counting], monkeypatch: pytest.MonkeyPatch) -> type[Counting]:
    """The same behind a memory that lasts as long as a run: what lasts longer is the ledger's."""
    monkeypatch.setattr(runs, "Reader", lambda: RememberingBackend(reader(), LATEST, FindingsInMemory({}, None)))
    return reader


def test_a_budget_that_ends_midway_writes_nothing_and_loses_nothing(remembering: type[Counting]) -> None:
    hub = make_hub()
    remembering.budget = 2
    adopt(hub, LATER)
    run_to_rest(hub)
    assert (commits(hub), len(remembering.asked)) == ([], 2)
    remembering.budget = 1
    run_to_rest(hub)
    assert len(remembering.asked) == 3, "nobody is asked twice"
    assert commits(hub) == ["Classify 3 entries again under taxonomy 1.1.0"]
    known = reconciled_of(hub.repository.snapshot(hub.repository.branches[BRANCH]))
    assert known is not None
    assert known.classifications == {}, "what is written need not be remembered"


@pytest.mark.untraced
def test_where_people_merge_it_is_offered_once_and_a_refusal_holds_for_that_version(
    remembering: type[Counting],
) -> None:
    hub = make_hub(admissions="pull-request", redundancy_floor=3)
    adopt(hub, LATER)
    run_to_rest(hub)
    (offer,) = open_suggestions(hub)
    assert commits(hub) == []
    assert len(remembering.asked) == 3, "nobody is asked twice while people think about it"
    hub.close_pull(offer)
    run_to_rest(hub)
    assert open_suggestions(hub) == []
    adopt(hub, LATEST)
    run_to_rest(hub)
    (again,) = open_suggestions(hub)
    assert again.branch != offer.branch
    assert remembering.asked[3:] == [("g",)] * 3
    hub.merge(again, "cora", True)
    run_to_rest(hub)
    assert scores(hub)["r2"] == {"a": 0.6, "f": 0.9}
    assert open_suggestions(hub) == []
    assert len([item for item in hub.written if isinstance(item, PushBranch)]) == 2


def test_where_nothing_enters_but_by_hand_nobody_is_asked(reader: type[Counting]) -> None:
    hub = make_hub(admissions="by-hand")
    adopt(hub, LATER)
    run_to_rest(hub)
    assert (commits(hub), reader.asked) == ([], [])
