"""Corrections and events under the ids of a new taxonomy: corrections follow the rule of labels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incumbent.ledger.events import Shown, Suggested
from incumbent.ledger.migrated import capabilities_in, migrated_corrections, migrated_events
from incumbent.ledger.model import CorrectionRecord, StoredCorrection
from incumbent.taxonomy.migration import NOTHING, Lineage, Migration
from tests.agreement.factories import corrected, day, decided, facts, shown
from tests.taxonomy.lives import inverse

TEXT, SAID = "1" * 24, "0" * 24
MIGRATION = Migration(renames={"a": "a2"}, splits={"c": ("c1", "c2")})


def correction(value: bool | None, by: str = "robin") -> StoredCorrection:
    return StoredCorrection(value=value, by=by, comment=1, said=SAID)


def carried(tags: dict[str, StoredCorrection], migration: Migration) -> dict[str, StoredCorrection]:
    return migrated_corrections(CorrectionRecord(texts={TEXT: tags}), Lineage((migration,))).texts[TEXT]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a": True, "b": False}, {"b": False, "a2": True}),
        ({"c": False}, {"c1": False, "c2": False}),
        ({"c": True}, {"c1": None, "c2": None}),
        ({"c": None}, {"c1": None, "c2": None}),
        # The last word was on the new id.
        ({"a": True, "a2": False}, {"a2": False}),
        ({"c": False, "c1": True}, {"c1": True, "c2": False}),
    ],
)
def test_a_correction_follows_its_capability(before: dict[str, bool | None], after: dict[str, bool | None]) -> None:
    found = carried({name: correction(value) for name, value in before.items()}, MIGRATION)
    assert {name: item.value for name, item in found.items()} == after
    assert all(item.said == SAID for item in found.values())


TAGS = st.dictionaries(st.sampled_from("abc"), st.sampled_from([True, False, None]).map(correction))


@given(TAGS)
def test_a_renaming_has_a_way_back(tags: dict[str, StoredCorrection]) -> None:
    renaming = Migration(renames={"a": "b", "b": "a", "c": "d"})
    assert carried(carried(tags, renaming), inverse(renaming)) == tags


@given(TAGS)
def test_where_nothing_is_declared_nothing_changes(tags: dict[str, StoredCorrection]) -> None:
    assert carried(tags, NOTHING) == tags


TOLD = shown(facts=facts(new=("a",), won={"b": 0.5}, arbitrated=("a",), corrected=("a", "d")))
SUGGESTED = Suggested(
    at=day(3), pull_request=9, branch="b", suggestion="redundant", entries=("x",), remaining={"a": 2, "c": 1}
)


def test_a_rename_is_followed_by_all_that_a_verdict_rests_on() -> None:
    migration = Migration(renames={"a": "z"}, splits={"b": ("y", "x")})
    first, second, third, fourth, fifth = migrated_events(
        [TOLD, SUGGESTED, decided(), shown(facts=None), corrected()], Lineage((migration,))
    )
    assert isinstance(first, Shown)
    assert first.facts is not None
    assert first.facts.scores == {"z": 0.9, "b": 0.6}
    assert (first.facts.new, first.facts.won, first.facts.arbitrated) == (("z",), {"b": 0.5}, ("z",))
    assert first.facts.corrected == ("z", "d")
    assert fifth == corrected(capability="z")
    assert isinstance(second, Suggested)
    assert second.remaining == {"z": 2, "c": 1}
    assert (third, fourth) == (decided(), shown(facts=None))


def test_where_nothing_is_renamed_all_stays() -> None:
    assert migrated_events([TOLD, SUGGESTED], Lineage((NOTHING,))) == (TOLD, SUGGESTED)
    there, back = Lineage((Migration(renames={"a": "z"}),)), Lineage((Migration(renames={"z": "a"}),))
    assert migrated_events(migrated_events([TOLD, SUGGESTED], there), back) == (TOLD, SUGGESTED)


def test_who_was_renamed_twice_is_found_from_either_id() -> None:
    twice = Lineage((Migration(renames={"a": "z"}), Migration(renames={"z": "y"})))
    between = shown("q2", facts=facts(scores={"z": 0.4}))
    found = migrated_events([TOLD, between], twice)
    assert [item.facts.scores for item in found if isinstance(item, Shown) and item.facts is not None] == [
        {"y": 0.9, "b": 0.6},
        {"y": 0.4},
    ]


def test_the_capabilities_that_events_rest_on_are_told() -> None:
    assert capabilities_in([TOLD, SUGGESTED, decided(), shown(facts=None), corrected(capability="e")]) == {*"abcde"}
