"""Entries: what may be compared with what, moments in UTC, and ids that are safe names of files."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from incumbent.classifier.model import Identity
from incumbent.curator.entry import (
    Entry,
    EntryClassification,
    Source,
    StaleEntry,
    active_identity,
    as_classified,
    entry_id,
    migrated,
    migrated_values,
    resident_of,
)
from incumbent.rater.model import RatedEntry
from incumbent.taxonomy.migration import NOTHING, Migration, migration_between
from incumbent.taxonomy.model import Capability, Group, Taxonomy
from tests.factories import make_entry, make_taxonomy
from tests.taxonomy.lives import inverse

IDENTITY = Identity(backend="embedded", model="m1", prompt="p1", samples=5)
TAXONOMY = make_taxonomy("a", "b")
ENTRY = make_entry("r", {"a": 0.9, "b": 0.6})


def classified(**changes: Any) -> Entry:
    return ENTRY.model_copy(update={"classified": ENTRY.classified.model_copy(update=changes)})


# Comparability (semantics, section 2)


def test_an_entry_of_the_active_identity_and_definitions_is_wholly_comparable() -> None:
    resident, stale = resident_of(ENTRY, TAXONOMY, IDENTITY)
    assert resident.scores == {"a": 0.9, "b": 0.6}
    assert stale is None


def test_a_resident_is_the_entry_as_the_rater_sees_it() -> None:
    entry = make_entry(
        "r",
        {"a": 0.9},
        admitted=ENTRY.admitted.model_copy(update={"displaces": ("x",), "at": "2026-02-02T00:00:00Z"}),
        setup=replace(ENTRY.setup, cost=3.0),
        pin="audit",
        source=Source(customer="acme", agent="desk", eval_set="evals.yaml", item="q"),
    )
    assert resident_of(entry, TAXONOMY, None)[0] == RatedEntry(
        id="r",
        turns=entry.turns,
        scores={"a": 0.9},
        admitted_at="2026-02-02T00:00:00Z",
        customer="acme",
        pin="audit",
        displaces=("x",),
        setup_cost=3.0,
    )


def test_what_a_rule_or_a_curator_decided_is_a_rule_value() -> None:
    sources: dict[str, Any] = {
        "intent": {},
        "tool": {"source": "tool"},
        "spec": {"source": "spec", "when": "true"},
        "bound": {"source": "spec", "when": "true", "requires": "intent"},
        "said": {},
    }
    known = taxonomy(*(capability(id, **more) for id, more in sources.items()))
    entry = entry_under(known, dict.fromkeys(sources, 0.9))
    classified = entry.classified.model_copy(update={"corrected": {"said": True}})
    entry = entry.model_copy(update={"classified": classified, "by_rule": None})
    resident, stale = resident_of(entry, known, None)
    assert (resident.customer, resident.by_rule, stale) == (None, frozenset({"tool", "spec", "said"}), None)
    # What the entry says comes first.
    said = entry.model_copy(update={"by_rule": ("intent",)})
    assert resident_of(said, known, None)[0].by_rule == {"intent"}


@pytest.mark.parametrize("change", [{"backend": "openai"}, {"model": "m2"}, {"prompt": "p2"}, {"samples": 3}])
def test_scores_of_another_identity_are_not_comparable(change: dict[str, Any]) -> None:
    resident, stale = resident_of(classified(**change), TAXONOMY, IDENTITY)
    assert resident.scores == {}
    assert stale is not None
    assert (stale.id, stale.capabilities) == ("r", ("a", "b"))
    assert str(next(iter(change.values()))) in stale.reason
    assert stale.reason.startswith("classified by ")


def test_without_an_active_identity_only_definitions_decide() -> None:
    resident, stale = resident_of(classified(model="m2"), TAXONOMY, None)
    assert resident.scores == {"a": 0.9, "b": 0.6}
    assert stale is None


def test_a_score_under_another_definition_of_its_capability_is_not_comparable() -> None:
    changed = classified(definitions=ENTRY.classified.definitions | {"b": "000000000000"})
    resident, stale = resident_of(changed, TAXONOMY, IDENTITY)
    assert resident.scores == {"a": 0.9}
    assert stale == StaleEntry("r", ("b",), "classified under taxonomy 1.0.0")


def test_a_new_version_that_redefines_nothing_voids_nothing() -> None:
    taxonomy = make_taxonomy("a", "b", "c", version="2.0.0")
    resident, stale = resident_of(ENTRY, taxonomy, IDENTITY)
    assert resident.scores == {"a": 0.9, "b": 0.6}
    assert stale is None


def test_a_retired_capability_leaves_its_score_without_meaning() -> None:
    resident, stale = resident_of(ENTRY, make_taxonomy("a", retired=("b",)), IDENTITY)
    assert resident.scores == {"a": 0.9}
    assert stale == StaleEntry("r", ("b",), "classified under taxonomy 1.0.0")


@pytest.mark.parametrize(
    ("version", "scores"), [("1.0.0", {"a": 0.9}), ("1.7.3", {"a": 0.9}), ("2.0.0", {}), ("10.0.0", {})]
)
def test_without_a_recorded_definition_the_major_version_decides(version: str, scores: dict[str, float]) -> None:
    entry = make_entry("r", {"a": 0.9}, classified=ENTRY.classified.model_copy(update={"definitions": {}}))
    resident, stale = resident_of(entry, make_taxonomy("a", version=version), IDENTITY)
    assert resident.scores == scores
    assert (stale is None) == bool(scores)


def test_an_entry_without_scores_never_lags_by_definition() -> None:
    assert resident_of(make_entry("r", {}), TAXONOMY, IDENTITY)[1] is None


def test_the_active_identity_is_that_of_most_entries() -> None:
    others = [classified(model="m2"), classified(model="m2"), ENTRY]
    assert active_identity(others) == Identity(backend="embedded", model="m2", prompt="p1", samples=5)
    assert active_identity([]) is None


def test_of_equally_frequent_identities_the_smaller_is_active() -> None:
    for entries in ([classified(model="m2"), ENTRY], [ENTRY, classified(model="m2")]):
        assert active_identity(entries) == IDENTITY


# Ids

names = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["..", "/", "\\", "a/b", "~", "CON", "nul", ".git", "-rf", "a b", "A", "é", "漢字", "\x00", "\udcff"]
    ),
)
sources = st.tuples(names, names, names)


@given(sources)
@example(("../../etc", "passwd", "\0"))
@example(("", "", ""))
@example(("x" * 500, "y" * 500, "z" * 500))
@example((".git", "..", "~/.ssh"))
def test_an_id_is_a_safe_file_name_whatever_the_names(source: tuple[str, str, str]) -> None:
    id = entry_id(*source)
    assert re.fullmatch(r"([a-z0-9]+-)*[a-z0-9]+", id)
    assert len(id) <= 100
    assert Path(id).name == id
    assert make_entry(id, {}).id == id
    assert entry_id(*source) == id


@given(sources, sources)
@example(("a", "b c", "d"), ("a b", "c", "d"))
@example(("a", "b", "c"), ("A", "b", "c"))
@example(("a-b", "c", "d"), ("a", "b-c", "d"))
@example(("é", "", ""), ("", "é", ""))
def test_different_sources_have_different_ids(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    assert (entry_id(*one) == entry_id(*other)) == (one == other)


def test_an_id_shows_where_the_entry_comes_from() -> None:
    assert entry_id("Contoso Ltd.", "Repairs", "q07").startswith("contoso-ltd-repairs-q07-")


# Models


@pytest.mark.parametrize(
    "id", ["", "..", ".hidden", "-x", "a/b", "a\\b", "a b", "é", "a\n", "a\0", "x" * 151, "a:b", "~", "_x"]
)
def test_an_id_that_is_no_safe_file_name_is_refused(id: str) -> None:
    with pytest.raises(ValidationError):
        make_entry(id, {})


@pytest.mark.parametrize(
    "change",
    [
        {"turns": ()},
        {"turns": ("",)},
        {"turns": (" \n",)},
        {"scores": {"a": 1.1}},
        {"scores": {"a": -0.1}},
        {"scores": {"a": float("nan")}},
        {"scores": {"a": "high"}},
        {"pin": ""},
        {"quarantined": " "},
        {"quarantined": True},
        {"setup": {"cost": -1}},
        {"setup": {"cost": float("inf")}},
    ],
)
def test_an_entry_that_says_what_cannot_be_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Entry.model_validate(ENTRY.model_dump() | change)


def test_a_classification_needs_samples() -> None:
    with pytest.raises(ValidationError):
        EntryClassification.model_validate(ENTRY.classified.model_dump() | {"samples": 0})


def capability(id: str, **more: Any) -> Capability:
    defaults: dict[str, Any] = {"name": "Name", "group": "all", "description": "About it.", "source": "intent"}
    return Capability(id=id, **defaults | more)


def taxonomy(*capabilities: Capability, **more: Any) -> Taxonomy:
    defaults: dict[str, Any] = {"version": "1.0.0", "groups": (Group(id="all", name="All"),)}
    return Taxonomy(capabilities=capabilities, **defaults | more)


def entry_under(known: Taxonomy, scores: dict[str, float], **definitions: str) -> Entry:
    """An entry with these scores under ``known``; ``definitions`` are those that it recorded otherwise."""
    entry = make_entry("e", scores)
    recorded = {id: known.by_id[id].definition for id in scores} | definitions
    return entry.model_copy(update={"classified": entry.classified.model_copy(update={"definitions": recorded})})


OLD = taxonomy(
    capability("a"),
    capability("b"),
    capability("tool", source="spec", when="true", requires="a"),
    capability("whole"),
)
NEW = taxonomy(
    capability("a2", was="a"),
    capability("b2", was="b", description="Something else."),
    capability("tool", source="spec", when="true", requires="a2"),
    capability("half", split="whole"),
    capability("rest", split="whole"),
    retired=("a", "b", "whole"),
    version="2.0.0",
)
MIGRATION = migration_between(OLD, NEW)


def test_a_rename_carries_score_and_definition() -> None:
    entry = entry_under(OLD, {"a": 0.9, "tool": 0.8})
    found = migrated(entry, MIGRATION, OLD, NEW)
    assert found.scores == {"a2": 0.9, "tool": 0.8}
    assert resident_of(found, NEW, None)[0].scores == found.scores
    assert found.classified.definitions == {id: NEW.by_id[id].definition for id in found.scores}


def stale_in(entry: Entry) -> tuple[str, ...]:
    stale = resident_of(entry, NEW, None)[1]
    return () if stale is None else stale.capabilities


@pytest.mark.parametrize(
    ("scores", "definitions", "stale"),
    [
        ({"a": 0.9}, {}, ()),
        ({"a": 0.9}, {"a": "of-long-ago"}, ("a2",)),
        ({"b": 0.9}, {}, ("b2",)),
        ({"tool": 0.9}, {}, ()),
        ({"tool": 0.9}, {"tool": "of-long-ago"}, ("tool",)),
        ({"whole": 0.9, "a": 0.8}, {}, ("whole",)),
    ],
)
def test_what_lags_after_a_migration(
    scores: dict[str, float], definitions: dict[str, str], stale: tuple[str, ...]
) -> None:
    assert stale_in(migrated(entry_under(OLD, scores, **definitions), MIGRATION, OLD, NEW)) == stale


def test_under_the_same_taxonomy_an_entry_stays_as_it_is() -> None:
    entry = entry_under(OLD, {"a": 0.9, "b": 0.8}, b="stale")
    assert migrated(entry, NOTHING, OLD, OLD) == entry


def test_what_never_recorded_definitions_is_carried_by_id_alone() -> None:
    entry = make_entry("e", {"a": 0.9})
    entry = entry.model_copy(update={"classified": entry.classified.model_copy(update={"definitions": {}})})
    found = migrated(entry, MIGRATION, OLD, NEW)
    assert found.scores == {"a2": 0.9}
    assert found.classified == entry.classified


def test_what_stands_under_the_new_id_is_newer() -> None:
    entry = make_entry("e", {"a": 0.9, "a2": 0.4})
    assert migrated(entry, MIGRATION, OLD, NEW).scores == {"a2": 0.4}


def test_an_entry_that_was_migrated_is_known_by_the_ids_it_was_classified_under() -> None:
    line = [
        taxonomy(*map(capability, ("a", "b", "c"))),
        taxonomy(capability("a1", was="a"), capability("b"), capability("c1", was="c"), version="1.1.0"),
        taxonomy(
            capability("a2", was="a1"),
            capability("b", description="Something else."),
            capability("c2", was="c1", description="Something else."),
            version="1.2.0",
        ),
    ]
    entry = entry_under(line[0], {"b": 0.8, "c": 0.7})
    here = entry
    for before, after in pairwise(line):
        here = migrated(here, migration_between(before, after), before, after)
        assert set(here.scores) == {"b", "c1" if "c1" in after.by_id else "c2"}
    found, borne = as_classified(here, line)
    assert (found.scores, borne) == (entry.scores, {"c": "c2"})
    assert found.classified.definitions == {"b": line[0].by_id["b"].definition, "c": line[1].by_id["c1"].definition}
    whole = entry_under(line[0], {"a": 0.9, "b": 0.8})
    carried = migrated(whole, migration_between(line[0], line[1]), line[0], line[1])
    assert as_classified(carried, line[:2]) == (whole, {"a": "a1"})
    # What is scored under both ids, or under an id that stood for something else then, is left as it is.
    for scores in ({"a": 0.9, "a1": 0.8}, {"d": 0.9}):
        assert as_classified(make_entry("e", scores), line[:2]) == (make_entry("e", scores), {})


def test_scores_keep_their_order() -> None:
    known = taxonomy(capability("b"), capability("a"), capability("c"))
    entry = make_entry("e", {"b": 0.1, "a": 0.2, "c": 0.3})
    found = migrated(entry, Migration(renames={"a": "z"}), known, known)
    assert list(found.scores) == ["b", "z", "c"]


IDS = [f"c{number}" for number in range(6)]
FRESH = [f"d{number}" for number in range(6)]


@st.composite
def renamings(draw: st.DrawFn) -> tuple[Taxonomy, Taxonomy, Migration]:
    """A taxonomy before and after a renaming, with names that are swapped, passed on and made up."""
    moving = draw(st.lists(st.sampled_from(IDS), unique=True))
    targets = draw(st.permutations([*moving, *FRESH]))[: len(moving)]
    migration = Migration(renames={id: name for id, name in zip(moving, targets, strict=True) if id != name})
    before, after = [], []
    for place, id in enumerate(IDS):
        fields: dict[str, Any] = {"description": f"About {place}."}
        required = draw(st.none() | st.sampled_from(IDS))
        before.append(capability(id, requires=required, **fields))
        if draw(st.booleans()):
            fields["description"] = "Something else."
        after.append(capability(migration.renamed(id), requires=required and migration.renamed(required), **fields))
    return taxonomy(*before), taxonomy(*draw(st.permutations(after))), migration


@st.composite
def entries(draw: st.DrawFn, known: Taxonomy) -> Entry:
    scores = draw(st.dictionaries(st.sampled_from(IDS), st.floats(0, 1)))
    entry = make_entry("e", scores)
    recorded = {
        id: draw(st.sampled_from([known.by_id[id].definition, "of-long-ago"])) for id in scores if draw(st.booleans())
    }
    classified: EntryClassification = entry.classified.model_copy(update={"definitions": recorded})
    return entry.model_copy(update={"classified": classified})


@given(renamings(), st.data())
def test_a_migration_and_its_inverse_restore_an_entry(
    renaming: tuple[Taxonomy, Taxonomy, Migration], data: st.DataObject
) -> None:
    old, new, migration = renaming
    entry = data.draw(entries(old))
    there = migrated(entry, migration, old, new)
    back = migrated(there, inverse(migration), new, old)
    assert back == entry
    assert list(back.scores) == list(entry.scores)
    assert set(there.scores) == {migration.renamed(id) for id in entry.scores}


@given(renamings(), st.data())
def test_what_is_comparable_is_what_the_classifier_sees_as_before(
    renaming: tuple[Taxonomy, Taxonomy, Migration], data: st.DataObject
) -> None:
    old, new, migration = renaming
    entry = data.draw(entries(old))
    before = resident_of(entry, old, None)[0].scores
    after = resident_of(migrated(entry, migration, old, new), new, None)[0].scores
    same = {id for id in IDS if old.by_id[id].description == new.by_id[migration.renamed(id)].description}
    undated = entry.scores.keys() - entry.classified.definitions.keys()
    assert after == {migration.renamed(id): score for id, score in before.items() if id in same | undated}


@given(renamings(), st.data())
def test_where_nothing_is_declared_a_migration_done_is_done(
    renaming: tuple[Taxonomy, Taxonomy, Migration], data: st.DataObject
) -> None:
    old, new, _ = renaming
    entry = data.draw(entries(old))
    assert migrated(entry, NOTHING, old, old) == entry
    once = migrated(entry, NOTHING, old, new)
    assert migrated(once, NOTHING, old, new) == once


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a": True, "b": False}, {"a2": True, "b2": False}),
        ({"whole": False, "tool": True}, {"tool": True, "half": False, "rest": False}),
        ({"whole": True}, {}),
        ({"whole": False, "half": True}, {"half": True, "rest": False}),
        ({}, {}),
    ],
)
def test_corrected_values_follow_by_the_rule_of_labels(before: dict[str, bool], after: dict[str, bool]) -> None:
    assert migrated_values(before, MIGRATION) == after
    entry = entry_under(OLD, {"a": 0.9})
    entry = entry.model_copy(update={"classified": entry.classified.model_copy(update={"corrected": before})})
    assert migrated(entry, MIGRATION, OLD, NEW).classified.corrected == after
