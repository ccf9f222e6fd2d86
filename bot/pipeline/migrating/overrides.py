"""``per_capability`` of a config under the ids of a new taxonomy."""

from __future__ import annotations

import copy
from typing import Any

from bot.files.mapping_edits import insert_key, rename_keys
from bot.taxonomy.migration import Migration


def migrate_overrides(overrides: dict[str, Any], migration: Migration) -> None:
    """Edit ``overrides`` (capability id: its knobs) so that it has the new ids.

    Each part of a split capability gets its knobs; knobs that a new id already has stay unchanged.
    """
    rename_keys(overrides, migration.renames)
    for whole, parts in migration.splits.items():
        if whole in overrides:
            for part in parts:
                if part not in overrides:
                    insert_key(overrides, whole, part, copy.deepcopy(overrides[whole]))
            del overrides[whole]
