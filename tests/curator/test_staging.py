"""From verdicts to files: what an entry records of how it came in, and what becomes of the line and of graves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from incumbent.classifier.model import Identity
from incumbent.consolidator.admissions import AdmissionPlan, Answer, plan_admissions
from incumbent.consolidator.cycle import run_cycle
from incumbent.curator.entry import Admitted, Entry, Evicted, Source, Tombstone
from incumbent.curator.staging import (
    AdmissionCandidate,
    AuditStamp,
    SetState,
    Staging,
    classified_by,
    first_place,
    out_of_line,
    queued,
    restoration,
    stage,
    stage_waiting,
    stored,
)
from incumbent.intake.query import Query, Setup
from tests.factories import make_config, make_entry, make_taxonomy, query, resident

TAXONOMY = make_taxonomy("a", "b", "c")
IDENTITY = Identity(backend="embedded", model="m1", prompt="p1", samples=5)
NOW = AuditStamp(at="2026-11-21T10:00:00Z", commit="c" * 40, by=None)
NOTHING = SetState(ids=(), edited={}, texts={})


def make_candidate(name: str, scores: dict[str, float]) -> AdmissionCandidate:
    scored = query(name, scores)
    source = Source(customer="acme", agent="desk", eval_set="evals.yaml", item=name, pull_request=7)
    setup = Setup(cost=2.5, tenant="t", connectors=(), fixtures=())
    asked = Query(id=name, turns=scored.turns, expected={"contains": "x"}, setup=setup, file="evals.yaml", line=1)
    return AdmissionCandidate(query=asked, scored=scored, source=source, entry_id=f"entry-{name}")


def staged(
    *candidates: AdmissionCandidate,
    standing: SetState = NOTHING,
    answers: tuple[Answer, ...] = (),
    residents: tuple[Any, ...] = (),
    **config: Any,
) -> tuple[AdmissionPlan, Staging]:
    """What is staged of ``candidates`` once they were judged as one cycle."""
    knobs = make_config(**config)
    verdicts = run_cycle([item.scored for item in candidates], residents, knobs)
    accepted = frozenset(item.id for item in answers)
    plan = plan_admissions(verdicts, len(residents), knobs.ceiling, frozenset(standing.edited), accepted)
    found = {item.query.id: item for item in candidates}
    return plan, stage(plan, answers, found, standing, TAXONOMY, IDENTITY, NOW)


def written(staging: Staging) -> dict[str, bool]:
    """Path → whether a file is there afterwards, in the order of the changes."""
    return {item.path: item.content is not None for item in staging.file_changes}


def test_scores_are_stored_sorted_and_with_the_decimals_that_are_compared() -> None:
    assert list(stored({"b": 0.3500000000001, "a": 0.5}).items()) == [("a", 0.5), ("b", 0.35)]


def test_a_classification_names_who_gave_it_and_what_the_capabilities_said() -> None:
    found = classified_by(IDENTITY, TAXONOMY, ("b", "a"))
    assert found.identity == IDENTITY
    assert found.taxonomy == TAXONOMY.version
    assert found.definitions == {name: TAXONOMY.by_id[name].definition for name in ("a", "b")}
    assert found.corrected == {}
    # Values for what the taxonomy no longer has say nothing.
    corrected = classified_by(IDENTITY, TAXONOMY, (), {"c": False, "a": True, "gone": True}).corrected
    assert list(corrected.items()) == [("a", True), ("c", False)]


def test_what_is_admitted_records_where_it_came_from_and_on_which_verdict() -> None:
    candidate = replace(make_candidate("q1", {"a": 0.9}), corrected={"b": False})
    _, staging = staged(candidate)
    (entry,) = staging.admitted
    assert entry.id == "entry-q1"
    assert (entry.turns, entry.expected) == (candidate.query.turns, {"contains": "x"})
    assert (entry.source, entry.setup) == (candidate.source, candidate.query.setup)
    assert entry.scores == {"a": 0.9}
    assert entry.classified == classified_by(IDENTITY, TAXONOMY, ("a",), {"b": False})
    assert entry.admitted == Admitted(at=NOW.at, decision="INCLUDE", route="direct", reasons=("NEW_COVERAGE",))
    assert (entry.pin, entry.is_wanted) == (None, False)
    assert written(staging) == {"regression_set/entry-q1.yaml": True}


def test_past_the_ceiling_it_waits_in_a_file_of_its_own() -> None:
    _, staging = staged(make_candidate("q1", {"a": 0.9}), residents=(resident("r", {"b": 0.9}),), ceiling=1)
    assert staging.admitted == ()
    assert [entry.id for entry in staging.waiting] == ["entry-q1"]
    assert written(staging) == {"regression_set/waiting/entry-q1.yaml": True}


def test_what_comes_in_leaves_no_file_in_the_line_and_no_grave() -> None:
    standing = SetState(ids=(), edited={}, texts={}, waiting=("entry-q1",), tombstones=("entry-q1", "entry-q2"))
    _, staging = staged(
        make_candidate("q1", {"a": 0.9}), make_candidate("q2", {"b": 0.9}), standing=standing, ceiling=1
    )
    assert written(staging) == {
        "regression_set/entry-q1.yaml": True,
        "regression_set/waiting/entry-q1.yaml": False,
        "regression_set/waiting/entry-q2.yaml": True,
        "regression_set/evicted/entry-q1.yaml": False,
        "regression_set/evicted/entry-q2.yaml": False,
    }


@pytest.mark.parametrize(
    ("scores", "override"), [({"c": 0.9, "a": 0.9}, None), ({"a": 0.3}, "we sell this")], ids=["admitted", "excluded"]
)
def test_what_a_person_accepted_records_who_and_a_reason_where_it_was_excluded(
    scores: dict[str, float], override: str | None
) -> None:
    crowd = tuple(resident(f"r{copy}", {"a": 0.95}) for copy in range(3))
    answer = Answer(id="q1", accepts=True, by="cora", reason="we sell this", insists=True)
    _, staging = staged(make_candidate("q1", scores), residents=crowd, answers=(answer,))
    (entry,) = staging.admitted
    assert (entry.admitted.by, entry.admitted.override) == ("cora", override)
    assert entry.is_wanted


def test_what_takes_over_its_own_entry_keeps_its_time_what_people_say_of_it_and_whom_it_displaced() -> None:
    before = make_entry(
        "entry-q1",
        {"a": 0.6},
        pin="an audit",
        quarantined="it flaps",
        admitted=Admitted(at="2025-01-01T00:00:00Z", decision="REPLACE", route="direct", displaces=("older",)),
    )
    text = "# ours\nid: entry-q1\nturns: [before]\n"
    standing = SetState(ids=("older",), edited={"q1": before}, texts={"entry-q1": text})
    _, staging = staged(make_candidate("q1", {"a": 0.9}), standing=standing)
    (entry,) = staging.admitted
    assert entry.admitted.at == "2025-01-01T00:00:00Z"
    assert (entry.pin, entry.quarantined) == ("an audit", "it flaps")
    assert entry.admitted.displaces == ("older",)
    assert (staging.file_changes[0].content or "").startswith("# ours\nid: entry-q1\n")


def test_whom_it_displaces_is_named_by_the_entry_also_where_that_enters_with_it() -> None:
    first, better = make_candidate("q1", {"a": 0.6}), make_candidate("q2", {"a": 0.9})
    config = make_config(redundancy_floor=1)
    old = resident("weak", {"a": 0.55})
    present = (old, resident("q1", {"a": 0.6}, first.query.turns[0]))
    verdicts = (*run_cycle([first.scored], (), config), *run_cycle([better.scored], present, config))
    assert set(verdicts[1].displaces) == {"q1"}
    standing = SetState(ids=("weak",), edited={}, texts={})
    plan = plan_admissions(verdicts, 1, config.ceiling)
    staging = stage(plan, (), {"q1": first, "q2": better}, standing, TAXONOMY, IDENTITY, NOW)
    assert [entry.admitted.displaces for entry in staging.admitted] == [(), ("entry-q1",)]


@pytest.mark.parametrize("ids", [("q2",), ()], ids=["in the set", "in line"])
@pytest.mark.parametrize("others", [(), ("q2",)], ids=["alone", "beside a query of that name"])
def test_whom_it_displaces_in_the_set_is_named_by_its_id(ids: tuple[str, ...], others: tuple[str, ...]) -> None:
    better = make_candidate("q1", {"a": 0.9})
    verdicts = run_cycle([better.scored], (resident("q2", {"a": 0.6}),), make_config(redundancy_floor=1))
    plan = plan_admissions(verdicts, 0, make_config().ceiling)
    candidates = {"q1": better, **{id: make_candidate(id, {"b": 0.9}) for id in others}}
    staging = stage(plan, (), candidates, SetState(ids=ids, edited={}, texts={}), TAXONOMY, IDENTITY, NOW)
    # A query that has become an entry in this cycle is named by its entry; one that is in the set already is not it.
    named = "entry-q2" if others and not ids else "q2"
    assert [entry.admitted.displaces for entry in staging.admitted] == [(named,)]


def waiting_entry(id: str, scores: dict[str, float], **admitted: Any) -> Entry:
    said = Admitted(**{"at": "2026-01-01T00:00:00Z", "decision": "INCLUDE", "route": "direct"} | admitted)
    return make_entry(id, scores, admitted=said)


def let_in(*waiting: Entry, residents: tuple[Any, ...] = (), **config: Any) -> Staging:
    return stage_waiting(waiting, residents, make_config(**config), TAXONOMY, NOW)


def test_what_enters_at_the_moment_of_others_comes_after_them() -> None:
    there = tuple(resident(name, {"a": 0.9}, admitted_at=NOW.at, order=place) for place, name in enumerate("rs"))
    assert first_place([(item.admitted_at, item.order) for item in there], NOW.at) == 2
    assert first_place([("2025-01-01T00:00:00Z", 5)], NOW.at) == 0
    candidates = (make_candidate("q1", {"b": 0.9}), make_candidate("q2", {"c": 0.8}))
    _, staging = staged(*candidates, standing=SetState(ids=("r", "s"), edited={}, texts={}, order=2), residents=there)
    assert [entry.admitted.order for entry in staging.admitted] == [2, 3]
    (entry,) = let_in(waiting_entry("w", {"b": 0.9}), residents=there).admitted
    assert entry.admitted.order == 2


def test_a_free_slot_goes_to_what_earns_it_on_the_verdict_of_now() -> None:
    then = {"decision": "REPLACE", "route": "review", "reasons": ("CONCENTRATION",), "displaces": ("r",)}
    staging = let_in(waiting_entry("w1", {"a": 0.9}, **then), waiting_entry("w2", {"b": 0.8}), ceiling=1)
    (entry,) = staging.admitted
    assert entry.id == "w1"
    assert entry.admitted == Admitted(at=NOW.at, decision="INCLUDE", route="direct", reasons=("NEW_COVERAGE",))
    assert [item.id for item in staging.waiting] == ["w2"]
    assert written(staging) == {"regression_set/w1.yaml": True, "regression_set/waiting/w1.yaml": False}


def test_what_no_longer_earns_a_slot_leaves_the_line() -> None:
    crowd = tuple(resident(f"r{copy}", {"a": 0.95}) for copy in range(3))
    staging = let_in(waiting_entry("w1", {"a": 0.6}), residents=crowd)
    assert [item.id for item in staging.leaving] == ["w1"]
    assert (staging.admitted, staging.waiting) == ((), ())
    assert written(staging) == {"regression_set/waiting/w1.yaml": False}


def test_what_a_person_wanted_enters_with_their_verdict_whatever_has_become_of_it() -> None:
    crowd = tuple(resident(f"r{copy}", {"a": 0.95}) for copy in range(3))
    staging = let_in(waiting_entry("w1", {"a": 0.6}, by="cora", reasons=("NEW_COVERAGE",)), residents=crowd)
    (entry,) = staging.admitted
    assert (entry.admitted.at, entry.admitted.by) == (NOW.at, "cora")
    assert (entry.admitted.decision, entry.admitted.reasons) == ("INCLUDE", ("NEW_COVERAGE",))


def test_what_needs_a_person_by_now_goes_on_waiting() -> None:
    crowd = (*(resident(f"a{copy}", {"a": 0.9}) for copy in "12"), *(resident(f"b{copy}", {"b": 0.9}) for copy in "12"))
    staging = let_in(waiting_entry("w1", {"a": 0.8, "b": 0.8}), residents=crowd)
    assert [item.id for item in staging.waiting] == ["w1"]
    assert (staging.admitted, staging.leaving, staging.file_changes) == ((), (), ())


def test_what_leaves_the_line_leaves_no_file_there() -> None:
    entry = waiting_entry("w1", {"a": 0.6})
    staging = out_of_line([entry])
    assert (staging.admitted, staging.waiting, staging.leaving) == ((), (), (entry,))
    assert written(staging) == {"regression_set/waiting/w1.yaml": False}


def test_a_waiting_entry_is_judged_by_its_comparable_scores() -> None:
    stale = make_entry("w1", {"a": 0.9, "zz": 0.9})
    assert queued(stale, TAXONOMY).scores == {"a": 0.9}


def buried(entry: Entry, grounds: str | None) -> Tombstone:
    refused: dict[str, Any] | None = None if grounds is None else {"kind": "redundant", "digest": grounds}
    evicted = Evicted(at=NOW.at, by="cora", reason="x", grounds=refused)
    return Tombstone(id=entry.id, evicted=evicted, restore="x", entry=entry)


@pytest.mark.parametrize("grounds", ["abc", None])
def test_what_is_restored_comes_back_as_it_was_and_remembers_its_grounds(grounds: str | None) -> None:
    entry = make_entry("x", {"a": 0.9})
    staging = restoration(buried(entry, grounds), full=False)
    (back,) = staging.admitted
    assert staging.waiting == ()
    assert back == entry.model_copy(update={"restored": grounds})
    assert back.admitted.at == entry.admitted.at
    assert written(staging) == {"regression_set/x.yaml": True, "regression_set/evicted/x.yaml": False}


@pytest.mark.parametrize(("grounds", "remembered"), [("abc", "abc"), (None, "on no grounds")])
def test_at_the_ceiling_what_is_restored_waits_as_what_somebody_wants(grounds: str | None, remembered: str) -> None:
    staging = restoration(buried(make_entry("x", {"a": 0.9}), grounds), full=True)
    (back,) = staging.waiting
    assert staging.admitted == ()
    assert back.restored == remembered
    assert back.is_wanted
    assert written(staging) == {"regression_set/waiting/x.yaml": True, "regression_set/evicted/x.yaml": False}


def test_who_accepted_it_is_why_what_is_restored_waits() -> None:
    staging = restoration(buried(waiting_entry("x", {"a": 0.9}, by="cora"), None), full=True)
    assert [(item.restored, item.admitted.by) for item in staging.waiting] == [(None, "cora")]
