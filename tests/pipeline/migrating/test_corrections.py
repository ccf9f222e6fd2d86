"""What curators corrected, in files, under the ids of a new taxonomy."""

from __future__ import annotations

from typing import Any

import pytest

from bot.curator.migrated import migrated_values
from bot.pipeline.migrating.plan import _move_values
from bot.taxonomy.migration import Migration

MIGRATION = Migration(renames={"old": "new"}, splits={"whole": ("half", "rest")})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"old": True, "a": False}, {"new": True, "a": False}),
        ({"whole": False, "a": True}, {"a": True, "half": False, "rest": False}),
        ({"whole": True, "a": True}, {"a": True}),
        ({"whole": False, "half": True}, {"half": True, "rest": False}),
    ],
)
def test_values_in_a_file_move_as_those_of_the_model_do(before: dict[str, bool], after: dict[str, bool]) -> None:
    assert migrated_values(before, MIGRATION) == after
    mapping: dict[str, Any] = dict(before)
    _move_values(mapping, after, MIGRATION)
    assert mapping == after
