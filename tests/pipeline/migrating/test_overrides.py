"""Overrides under new ids."""

from __future__ import annotations

from typing import Any

import pytest

from bot.config import REVIEWED_FILES
from bot.files.yaml_writer import edited
from bot.pipeline.migrating.overrides import migrate_overrides
from bot.taxonomy.migration import NOTHING, Migration

MIGRATION = Migration(renames={"a": "a2"}, splits={"c": ("c1", "c2")})
BAR, FLOOR = {"competence_bar": 0.9}, {"redundancy_floor": 3}


@pytest.mark.parametrize(
    ("before", "migration", "after"),
    [
        ({"a": BAR, "b": FLOOR}, NOTHING, {"a": BAR, "b": FLOOR}),
        ({"a": BAR, "b": FLOOR}, MIGRATION, {"a2": BAR, "b": FLOOR}),
        ({"a": BAR, "a2": FLOOR}, MIGRATION, {"a2": FLOOR}),
        ({"b": BAR, "c": FLOOR}, MIGRATION, {"b": BAR, "c1": FLOOR, "c2": FLOOR}),
        ({"c": FLOOR, "c1": BAR}, MIGRATION, {"c2": FLOOR, "c1": BAR}),
        ({"a": BAR, "b": FLOOR}, Migration(renames={"a": "b", "b": "a"}), {"b": BAR, "a": FLOOR}),
        ({}, MIGRATION, {}),
    ],
)
def test_overrides_follow_their_capability(before: Any, migration: Migration, after: Any) -> None:
    migrate_overrides(before, migration)
    assert before == after
    assert list(before) == list(after)


def test_the_file_keeps_its_comments() -> None:
    text = "# Overrides.\nper_capability:\n  a: {competence_bar: 0.90} # a\n"
    text += "  # The whole.\n  c:\n    redundancy_floor: 3\n"
    found = edited(
        text.encode(), "c.yaml", REVIEWED_FILES, lambda data: migrate_overrides(data["per_capability"], MIGRATION)
    )
    assert found.startswith("# Overrides.\nper_capability:\n  a2: {competence_bar: 0.90} # a\n")
    assert "# The whole." in found
    assert found.endswith("  c1:\n    redundancy_floor: 3\n  c2:\n    redundancy_floor: 3\n")
