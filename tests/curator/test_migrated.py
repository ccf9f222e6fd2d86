"""Entries under new ids: what is as it was stays comparable, everything else lags, and there is a way back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.curator.entry import Entry, EntryClassification, Evicted, Tombstone, resident_of
from bot.curator.migrated import migrated, migrated_tombstone, migrated_values
from bot.taxonomy.migration import NOTHING, Migration, migration_between
from bot.taxonomy.model import Capability, Group, Taxonomy
from tests.factories import make_entry


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


def lagging(entry: Entry) -> tuple[str, ...]:
    lag = resident_of(entry, NEW, None)[1]
    return () if lag is None else lag.capabilities


@pytest.mark.parametrize(
    ("scores", "definitions", "lags"),
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
    scores: dict[str, float], definitions: dict[str, str], lags: tuple[str, ...]
) -> None:
    assert lagging(migrated(entry_under(OLD, scores, **definitions), MIGRATION, OLD, NEW)) == lags


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


def test_a_tombstone_keeps_its_grounds() -> None:
    entry = entry_under(OLD, {"a": 0.9})
    evicted = Evicted(reason="redundant", grounds={"digest": "d"})
    tombstone = Tombstone(id="e", evicted=evicted, restore="incumbent restore e", entry=entry)
    found = migrated_tombstone(tombstone, MIGRATION, OLD, NEW)
    assert found.evicted == evicted
    assert found.entry == migrated(entry, MIGRATION, OLD, NEW)


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
    back = migrated(there, migration.inverse(), new, old)
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
