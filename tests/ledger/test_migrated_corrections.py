"""Corrections under new ids, by the rule of labels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.ledger.migrated import migrated_corrections
from bot.ledger.model import CorrectionRecord, StoredCorrection
from bot.taxonomy.migration import NOTHING, Lineage, Migration

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
    assert carried(carried(tags, renaming), renaming.inverse()) == tags


@given(TAGS)
def test_where_nothing_is_declared_nothing_changes(tags: dict[str, StoredCorrection]) -> None:
    assert carried(tags, NOTHING) == tags
