"""Entries: what may be compared with what, moments in UTC, and ids that are safe names of files."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from bot.classifier.model import Identity
from bot.curator.entry import Entry, EntryClassification, StaleEntry, active_identity, entry_id, resident_of
from tests.factories import make_entry, make_taxonomy

IDENTITY = Identity(backend="embedded", model="m1", prompt="p1", samples=5)
TAXONOMY = make_taxonomy("a", "b")
ENTRY = make_entry("r", {"a": 0.9, "b": 0.6})


def classified(**changes: Any) -> Entry:
    return ENTRY.model_copy(update={"classified": ENTRY.classified.model_copy(update=changes)})


# Comparability (semantics, section 2)


def test_an_entry_of_the_active_identity_and_definitions_is_wholly_comparable() -> None:
    resident, lag = resident_of(ENTRY, TAXONOMY, IDENTITY)
    assert resident.scores == {"a": 0.9, "b": 0.6}
    assert lag is None


def test_a_resident_is_the_entry_as_the_rater_sees_it() -> None:
    entry = make_entry(
        "r",
        {"a": 0.9},
        admitted=ENTRY.admitted.model_copy(update={"displaces": ("x",), "at": "2026-02-02T00:00:00Z"}),
        setup=replace(ENTRY.setup, cost=3.0),
        pin="audit",
    )
    resident, _ = resident_of(entry, TAXONOMY, None)
    seen = (resident.id, resident.turns, resident.admitted_at, resident.pin, resident.displaces, resident.setup_cost)
    assert seen == ("r", entry.turns, "2026-02-02T00:00:00Z", "audit", ("x",), 3.0)


@pytest.mark.parametrize("change", [{"backend": "openai"}, {"model": "m2"}, {"prompt": "p2"}, {"samples": 3}])
def test_scores_of_another_identity_are_not_comparable(change: dict[str, Any]) -> None:
    resident, lag = resident_of(classified(**change), TAXONOMY, IDENTITY)
    assert resident.scores == {}
    assert lag is not None
    assert (lag.id, lag.capabilities) == ("r", ("a", "b"))
    assert str(next(iter(change.values()))) in lag.reason


def test_without_an_active_identity_only_definitions_decide() -> None:
    resident, lag = resident_of(classified(model="m2"), TAXONOMY, None)
    assert resident.scores == {"a": 0.9, "b": 0.6}
    assert lag is None


def test_a_score_under_another_definition_of_its_capability_is_not_comparable() -> None:
    changed = classified(definitions=ENTRY.classified.definitions | {"b": "000000000000"})
    resident, lag = resident_of(changed, TAXONOMY, IDENTITY)
    assert resident.scores == {"a": 0.9}
    assert lag == StaleEntry("r", ("b",), "classified under taxonomy 1.0.0")


def test_a_new_version_that_redefines_nothing_voids_nothing() -> None:
    taxonomy = make_taxonomy("a", "b", "c", version="2.0.0")
    resident, lag = resident_of(ENTRY, taxonomy, IDENTITY)
    assert resident.scores == {"a": 0.9, "b": 0.6}
    assert lag is None


def test_a_retired_capability_leaves_its_score_without_meaning() -> None:
    resident, lag = resident_of(ENTRY, make_taxonomy("a", retired=("b",)), IDENTITY)
    assert resident.scores == {"a": 0.9}
    assert lag == StaleEntry("r", ("b",), "classified under taxonomy 1.0.0")


@pytest.mark.parametrize(
    ("version", "scores"), [("1.0.0", {"a": 0.9}), ("1.7.3", {"a": 0.9}), ("2.0.0", {}), ("10.0.0", {})]
)
def test_without_a_recorded_definition_the_major_version_decides(version: str, scores: dict[str, float]) -> None:
    entry = make_entry("r", {"a": 0.9}, classified=ENTRY.classified.model_copy(update={"definitions": {}}))
    resident, lag = resident_of(entry, make_taxonomy("a", version=version), IDENTITY)
    assert resident.scores == scores
    assert (lag is None) == bool(scores)


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
        {"setup": {"cost": -1}},
        {"setup": {"cost": float("inf")}},
        {"unknown": 1},
    ],
)
def test_an_entry_that_says_what_cannot_be_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Entry.model_validate(ENTRY.model_dump() | change)


def test_a_classification_needs_samples() -> None:
    with pytest.raises(ValidationError):
        EntryClassification.model_validate(ENTRY.classified.model_dump() | {"samples": 0})
