"""Entries follow taxonomy and classifier: what becomes a task, what is carried over, and what stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from incumbent.classifier.corrections import Correction, Corrections
from incumbent.classifier.model import Consensus, Finding, Identity
from incumbent.curator.entry import Entry, Imported, migrated
from incumbent.curator.staging import classified_by
from incumbent.curator.store import RegressionSet
from incumbent.errors import OutsideError
from incumbent.intake.specification import UNDECLARED, Specification
from incumbent.pipeline.reclassify import ReclassifyTask, Renewal, _Partly, all_tasks, renew, tasks_of
from incumbent.taxonomy.migration import migration_between
from incumbent.taxonomy.model import Capability, Exemplars, Taxonomy
from incumbent.text.compare import text_key
from tests.classifier.factories import (
    ScriptedBackend,
    declared,
    intent,
    of_tools,
    says,
    silent,
    specification,
    taxonomy,
    tool,
)
from tests.factories import make_entry
from tests.reconcile.merges import source

IDENTITY = ScriptedBackend({}).identity
OTHER = Identity(backend="other", model="m", prompt="p", samples=1)


def at(version: str, *capabilities: Capability) -> Taxonomy:
    return taxonomy(*capabilities).model_copy(update={"version": version})


OLD = at("1.0.0", intent("a"), intent("b"), intent("gone"))
NEW = at("1.1.0", intent("b"), intent("n").model_copy(update={"was": "a", "description": "about a"}), intent("gone"))


def entry(id: str, under: Taxonomy = OLD, identity: Identity = IDENTITY, **scores: float) -> Entry:
    classified = classified_by(identity, under, tuple(scores))
    return make_entry(id, scores, classified=classified, source=source(id))


def renamed(name: str, now: str) -> Capability:
    before = intent(name).model_dump() | {"id": now, "was": name}
    return Capability.model_validate(before, strict=False)


LATER = at("1.1.0", renamed("a", "n"), intent("b"), intent("gone"))


def tasks(entries: Sequence[Entry], new: Taxonomy, *line: Taxonomy) -> tuple[ReclassifyTask, ...]:
    return tasks_of(entries, new, IDENTITY, lambda version: [item for item in line if item.version >= version])


def run(
    found: Sequence[ReclassifyTask], new: Taxonomy, spec: Specification | None = UNDECLARED, **answers: Finding
) -> Renewal:
    return renew(found, new, ScriptedBackend(answers), lambda folder: spec, silent)


def test_entries_that_stand_under_all_that_is_now_are_no_tasks() -> None:
    assert tasks([entry("q", a=0.9)], OLD) == ()
    assert tasks([entry("q", a=0.9)], OLD.model_copy(update={"version": "1.0.1"}), OLD) == ()


@pytest.mark.parametrize(
    ("entries", "asked"),
    [
        ([entry("q", identity=OTHER, a=0.9)], {"q": ("a", "b", "gone")}),
        ([entry("q", at("0.9.0", intent("a")), a=0.9)], {"q": ("a", "b", "gone")}),
        ([entry("z", a=0.9), entry("c", b=0.9, identity=OTHER)], {"c": ("a", "b", "gone")}),
    ],
    ids=["another classifier", "a version that nobody knows", "one of two"],
)
def test_of_what_nobody_can_compare_everything_is_asked(entries: list[Entry], asked: dict[str, Any]) -> None:
    assert {task.entry.id: task.capabilities for task in tasks(entries, OLD)} == asked


def test_ids_that_were_used_again_mean_nothing() -> None:
    middle = at("1.1.0", renamed("a", "n"), intent("b"))
    last = at(
        "1.2.0", renamed("b", "m"), Capability.model_validate(intent("a").model_dump() | {"was": "n"}, strict=False)
    )
    again = at(
        "1.3.0", *last.capabilities, Capability.model_validate(intent("n").model_dump() | {"was": "gone"}, strict=False)
    )
    (task,) = tasks([entry("q", a=0.9, b=0.8)], again, OLD, middle, last)
    assert set(task.capabilities) >= {"n"}
    doubled = at("1.2.0", Capability.model_validate(intent("n").model_dump() | {"was": "b"}, strict=False), intent("z"))
    halfway = at("1.1.0", renamed("a", "n"), intent("b"))
    without = at("1.1.1", intent("b"), intent("z"))
    (task,) = tasks([entry("q", a=0.9)], doubled, OLD, halfway, without)
    assert (task.capabilities, dict(task.carried_ids)) == (("n", "z"), {})


def test_a_score_whose_definition_is_not_that_of_now_is_asked_again_whatever_the_version() -> None:
    odd = entry("q", a=0.9, b=0.8)
    classified = odd.classified.model_copy(update={"definitions": {**odd.classified.definitions, "a": "0" * 12}})
    (task,) = tasks([odd.model_copy(update={"classified": classified})], OLD)
    assert task.capabilities == ("a",)


def test_a_score_without_a_definition_lasts_as_long_as_the_major_version() -> None:
    bare = entry("q", a=0.9)
    bare = bare.model_copy(update={"classified": bare.classified.model_copy(update={"definitions": {}})})
    assert tasks([bare], OLD.model_copy(update={"version": "1.5.0"}), OLD) == ()
    (task,) = tasks([bare], OLD.model_copy(update={"version": "2.0.0"}), OLD)
    assert task.capabilities == ("a",)


def test_the_score_of_what_was_removed_goes_without_asking_anybody() -> None:
    found = tasks([entry("q", a=0.9, gone=0.8)], at("2.0.0", intent("a"), intent("b")), OLD)
    new = run(found, at("2.0.0", intent("a"), intent("b")), None).renewed(
        at("2.0.0", intent("a"), intent("b")), IDENTITY
    )
    assert dict(new["q"].scores) == {"a": 0.9}
    assert new["q"].classified.taxonomy == "2.0.0"


@pytest.mark.parametrize("placed", [source("q"), None, source("q", imported=Imported(folder=None, declared=True))])
def test_a_rename_is_carried_over_wherever_the_agent_is(placed: Any) -> None:
    before = entry("q", a=0.9).model_copy(update={"source": placed})
    found = tasks([before], LATER, OLD)
    assert [(task.capabilities, dict(task.carried_ids)) for task in found] == [((), {"a": "n"})]
    renewal = run(found, LATER, None)
    assert (renewal.kept, renewal.specifications) == ({}, {})
    assert dict(renewal.renewed(LATER, IDENTITY)["q"].scores) == {"n": 0.9}


LAST = at("1.2.0", renamed("a", "n").model_copy(update={"id": "m", "was": "n"}), intent("b"), intent("gone"))
PARTED = at("2.0.0", *(intent(name).model_copy(update={"split": "n"}) for name in "xy"), intent("b"), intent("gone"))


@pytest.mark.parametrize("new", [LATER, LAST, PARTED], ids=["nothing more", "another rename", "a split"])
@pytest.mark.parametrize("recorded", [True, False], ids=["with definitions", "without"])
def test_who_was_carried_over_by_hand_goes_on_as_who_was_not(new: Taxonomy, recorded: bool) -> None:
    left = entry("q", a=0.9, b=0.8)
    if not recorded:
        left = left.model_copy(update={"classified": left.classified.model_copy(update={"definitions": {}})})
    moved = migrated(left, migration_between(OLD, LATER), OLD, LATER)
    assert moved.scores == {"n": 0.9, "b": 0.8}
    line = (OLD, LATER) if new is LATER else (OLD, LATER, new)
    (alone,) = tasks([left], new, *line)
    by_hand = tasks([moved], new, *line)
    if new is LATER and recorded:
        assert by_hand == ()
        return
    assert [(task.carried.scores, task.capabilities) for task in by_hand] in (
        [(alone.carried.scores, alone.capabilities)],
        [],
    )
    for task in by_hand:
        again = {task.carried_ids.get(name, name): score for name, score in moved.scores.items()}
        assert {name: again[name] for name in again if name in new.by_id} == {
            name: score for name, score in task.carried.scores.items() if name in new.by_id
        }


TRIED = at(
    "2.0.0", *(intent(name).model_copy(update={"split": "a", "trial": name == "x"}) for name in "xy"), intent("b")
)
COUNTING = at("2.1.0", *(intent(name).model_copy(update={"split": "a"}) for name in "xy"), intent("b"))


def test_what_carried_a_split_capability_says_so_until_all_parts_count() -> None:
    old = at("1.0.0", intent("a"), intent("b"))
    whole, other = entry("q", old, a=0.9, b=0.8), entry("other", old, b=0.8)

    def carried(items: list[Entry], new: Taxonomy, *line: Taxonomy) -> dict[str, Entry]:
        renewed = run(tasks(items, new, *line), new, q=says(x=0.2, y=0.1), other=says(x=0.2, y=0.1)).renewed(
            new, IDENTITY
        )
        return {item.id: renewed.get(item.id, item) for item in items}

    # As long as it is not classified again, it is stale, and carries the whole under its retired id.
    assert RegressionSet({"q": whole}, {}, {}).kept_on_trial(TRIED) == {"q": ("a",)}
    tried = carried([whole, other], TRIED, old)
    assert "a" not in tried["q"].scores
    assert {id: item.classified.wholes for id, item in tried.items()} == {"q": ("a",), "other": ()}
    known = RegressionSet(tried, {}, {})
    assert known.kept_on_trial(TRIED) == {"q": ("a",)}
    assert known.kept_on_trial(COUNTING) == {}
    (kept,) = carried([tried["q"]], at("2.0.1", *TRIED.capabilities), TRIED).values()
    assert kept.classified.wholes == ("a",)


def test_what_bears_both_names_keeps_the_newer_score() -> None:
    both = entry("q", at("1.0.0", intent("a"), renamed("a", "n")), a=0.9, n=0.2)
    (task,) = tasks([both], LATER, OLD, LATER)
    assert task.carried.scores == {"n": 0.2}


def test_a_name_that_led_to_nothing_is_not_carried() -> None:
    last = at("2.0.0", intent("b"), intent("gone"))
    (task,) = tasks([entry("q", a=0.9, b=0.8)], last, OLD, LATER)
    assert (task.capabilities, dict(task.carried_ids)) == ((), {})


def test_what_has_the_new_name_already_is_newer() -> None:
    both = entry("q", a=0.9)
    both = both.model_copy(update={"scores": {"a": 0.9, "n": 0.4}})
    (task,) = tasks([both], LATER, OLD)
    assert (dict(task.carried.scores), dict(task.carried_ids)) == ({"n": 0.4}, {})


@pytest.mark.parametrize(
    ("update", "why"),
    [
        ({"source": None}, "names no source"),
        ({"source": source("q", imported=Imported(folder=None, declared=True))}, "is outside of the repository"),
        ({}, "cannot be read"),
    ],
)
def test_an_entry_whose_agent_is_not_known_stays_as_it_is_with_the_reason(update: dict[str, Any], why: str) -> None:
    found = all_tasks([entry("q", a=0.9).model_copy(update=update)], OLD)
    renewal = run(found, OLD, None)
    assert why in renewal.kept["q"]
    assert renewal.renewed(OLD, IDENTITY) == {}


def test_what_was_imported_without_an_agent_is_classified_by_its_text() -> None:
    placed = source("q", imported=Imported(folder=None, declared=False))
    found = all_tasks([entry("q", a=0.9).model_copy(update={"source": placed})], OLD)
    renewal = run(found, OLD, None, q=says(a=0.2, b=0.7, gone=0.1))
    assert dict(renewal.renewed(OLD, IDENTITY)["q"].scores) == {"b": 0.7}


def test_what_is_not_asked_about_stays_to_the_last_decimal_and_is_not_asked() -> None:
    new = at("1.1.0", intent("a"), intent("b"), intent("gone"), intent("added"))
    found = tasks([entry("q", a=0.123456789)], new, OLD)
    backend = ScriptedBackend({"q": says(added=0.8)})
    renewal = renew(found, new, backend, lambda folder: UNDECLARED, silent)
    assert [item.capabilities for item in backend.asked] == [("added",)]
    after = renewal.renewed(new, backend.identity)["q"]
    assert (dict(after.scores), after.classified.taxonomy) == ({"a": 0.123456789, "added": 0.8}, "1.1.0")


RULES = (
    declared("oauth", "contains(auth_modes, 'oauth')", "one.auth"),
    declared("key", "contains(auth_modes, 'api-key')", "one.auth"),
    intent("a"),
)
TOOLS = specification([tool("parts", "oauth"), tool("fares", "api-key")])


def test_a_rule_that_changed_asks_nobody_and_the_tool_only_where_it_decides() -> None:
    old, new = at("1.0.0", *RULES), at("1.1.0", *RULES, intent("b"))
    backend = ScriptedBackend({"q": says(b=0.9)})
    renew(tasks([entry("q", old, oauth=1.0)], new, old), new, backend, lambda folder: TOOLS, silent)
    assert [(item.capabilities, item.tools) for item in backend.asked] == [(("b",), ())]
    other = at("1.1.0", RULES[0], declared("key", "length(auth_modes) > `1`", "one.auth"), RULES[2])
    backend = ScriptedBackend({"q": says("fares", 0.7)})
    renewal = renew(tasks([entry("q", old, oauth=1.0)], other, old), other, backend, lambda folder: TOOLS, silent)
    assert [(item.capabilities, [each.name for each in item.tools]) for item in backend.asked] == [
        ((), ["parts", "fares"])
    ]
    alone = specification([tool("parts", "oauth")])
    backend = ScriptedBackend({})
    renewal = renew(
        tasks([entry("q", old, a=0.9, oauth=1.0)], other, old), other, backend, lambda folder: alone, silent
    )
    assert backend.asked == []
    assert dict(renewal.renewed(other, backend.identity)["q"].scores) == {"a": 0.9, "oauth": 1.0}


CALLS = (
    of_tools("call", "`true`", exemplars=Exemplars(positive=("do it",))),
    of_tools("write", "effect == 'write'"),
    intent("a"),
)
ADDING = specification([tool("get"), tool("add", effect="write")])


def test_the_tools_are_asked_for_where_a_capability_of_tools_is_asked_about() -> None:
    old, new = at("1.0.0", *CALLS), at("1.1.0", *CALLS, intent("b"))
    backend = ScriptedBackend({"q": says(b=0.9)})
    renewal = renew(tasks([entry("q", old, write=0.7)], new, old), new, backend, lambda folder: ADDING, silent)
    assert [(item.capabilities, item.tools) for item in backend.asked] == [(("b",), ())]
    assert dict(renewal.renewed(new, backend.identity)["q"].scores) == {"write": 0.7, "b": 0.9}
    other = at("1.1.0", CALLS[0], of_tools("write", "effect != 'read'"), CALLS[2])
    backend = ScriptedBackend({"q": says("add", 0.8)})
    renewal = renew(tasks([entry("q", old, write=0.7)], other, old), other, backend, lambda folder: ADDING, silent)
    assert [(item.capabilities, [each.name for each in item.tools]) for item in backend.asked] == [((), ["get", "add"])]
    assert dict(renewal.renewed(other, backend.identity)["q"].scores) == {"write": 0.8}


def test_what_the_eval_set_expects_of_an_entry_decides_again() -> None:
    old = at("1.0.0", *CALLS)
    held = entry("q", old, write=0.7).model_copy(update={"expected": {"expected_tools": ["get"]}})
    backend = ScriptedBackend({"q": says("add", 0.8, a=0.1)})
    renewal = renew(all_tasks([held], old), old, backend, lambda folder: ADDING, silent)
    assert dict(renewal.renewed(old, backend.identity)["q"].scores) == {"call": 1.0}


def test_what_stopped_the_classifier_stops_it_for_all_and_the_rest_is_told() -> None:
    entries = [
        entry(id).model_copy(update={"source": source(id, eval_set=f"eval_sets/{id}/evals.yaml")}) for id in "xyz"
    ]
    backend = ScriptedBackend({"x": says(a=0.9, b=0.1, gone=0.1)}, fails=OutsideError("the budget is used up"))
    renewal = renew(all_tasks(entries, OLD), OLD, backend, lambda folder: UNDECLARED, silent)
    assert isinstance(renewal.result.stopped, OutsideError)
    assert list(renewal.renewed(OLD, IDENTITY)) == ["x"]
    assert set(renewal.result.shortfalls) == {"y", "z"}


def test_a_query_without_valid_samples_is_told() -> None:
    renewal = run(all_tasks([entry("q")], OLD), OLD, q=Finding(shortfall="0 of 5 samples are valid"))
    assert (dict(renewal.result.shortfalls), renewal.result.classifications) == ({"q": "0 of 5 samples are valid"}, {})


def test_what_it_requires_counts_as_it_was_found_before() -> None:
    old = at("1.0.0", intent("a"))
    new = at("1.1.0", intent("a"), intent("c", requires="a"))
    known = [entry("yes", old, a=0.9), entry("no", old)]
    found = {id: Finding(consensus={"c": Consensus(True, 0.8)}) for id in ("yes", "no")}
    renewal = run(tasks(known, new, old), new, UNDECLARED, **found)
    assert {id: dict(item.scores) for id, item in renewal.renewed(new, IDENTITY).items()} == {
        "no": {}, "yes": {"a": 0.9, "c": 0.8},
    }  # fmt: skip


def test_a_part_of_the_questions_is_asked_of_the_same_backend() -> None:
    backend = ScriptedBackend({})
    partly = _Partly.of((), OLD, backend)
    assert (partly.identity, partly.usage) == (backend.identity, backend.usage)


# -- Corrections -------------------------------------------------------------------------------------------------------


def said_of(item: Entry, **values: bool) -> Corrections:
    tags = {name: Correction(value=value, by="cora", at="2026-11-01T10:00:00Z") for name, value in values.items()}
    return {text_key(item.turns): tags}


def corrected(item: Entry, **values: bool) -> Entry:
    return item.model_copy(update={"classified": item.classified.model_copy(update={"corrected": values})})


def test_an_entry_that_does_not_say_what_was_corrected_is_a_task() -> None:
    one = entry("q", a=0.9)

    def asked(item: Entry, **values: bool) -> list[tuple[str, ...]]:
        found = tasks_of([item], OLD, IDENTITY, lambda _: [OLD], said_of(item, **values))
        return [task.capabilities for task in found]

    assert asked(one, b=True, nothing=True) == [("b",)]
    assert asked(corrected(one, b=True), b=True) == []
    assert asked(corrected(one, b=True), b=False) == [("b",)]
    assert asked(corrected(one, b=True)) == []


def test_what_was_corrected_holds_under_any_classifier_and_all_else_follows() -> None:
    one = corrected(entry("q", identity=OTHER, a=0.9, b=1.0), b=True, gone=False)
    found = run(tasks([one], OLD), OLD, q=says(a=0.3, b=0.2, gone=0.9))
    (renewed,) = found.renewed(OLD, IDENTITY).values()
    assert renewed.scores == {"b": 1.0}
    assert renewed.classified.corrected == {"b": True, "gone": False}
    assert renewed.classified.identity == IDENTITY
    (renewed,) = found.renewed(OLD, IDENTITY, said_of(one, b=False, a=True)).values()
    assert renewed.scores == {"a": 1.0}
    assert renewed.classified.corrected == {"a": True, "b": False, "gone": False}


def test_what_was_corrected_follows_a_rename() -> None:
    one = corrected(entry("q", a=1.0), a=True, b=False)
    (renewed,) = run(tasks([one], LATER, OLD), LATER).renewed(LATER, IDENTITY).values()
    assert renewed.scores == {"n": 1.0}
    assert renewed.classified.corrected == {"b": False, "n": True}
