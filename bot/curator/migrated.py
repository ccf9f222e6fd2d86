"""Entries under the ids of a new taxonomy: what a declared rename carries along, and what a split cannot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from bot.curator.entry import Entry, Tombstone
from bot.editing import rename_keys
from bot.taxonomy.migration import Migration, carried_definitions
from bot.taxonomy.model import Taxonomy

Value = TypeVar("Value")


def migrated(entry: Entry, migration: Migration, old: Taxonomy, new: Taxonomy) -> Entry:
    """``entry``, classified under ``old``, with the ids of ``new``.

    A recorded definition follows where it is that of ``old`` and the classifier sees the capability as before, but for
    ids; any other stays as it was recorded, so that the score lags until it is classified again.  The score of a split
    capability belongs to no part: it stays under the retired id, and lags likewise.  Who classified it, and under
    which version, stays what it was.
    """
    carried = carried_definitions(migration, old, new)
    definitions = {
        id: carried[id] if id in carried and recorded == old.by_id[id].definition else recorded
        for id, recorded in entry.classified.definitions.items()
    }
    classified = entry.classified.model_copy(update={"definitions": _renamed(definitions, migration)})
    return entry.model_copy(update={"scores": _renamed(entry.scores, migration), "classified": classified})


def migrated_tombstone(tombstone: Tombstone, migration: Migration, old: Taxonomy, new: Taxonomy) -> Tombstone:
    """``tombstone`` with its entry under the ids of ``new``, so that it can return; its grounds name no capability."""
    return tombstone.model_copy(update={"entry": migrated(tombstone.entry, migration, old, new)})


def _renamed(values: Mapping[str, Value], migration: Migration) -> dict[str, Value]:
    """``values`` under their new ids, in the same order; what stands under a new id already is newer, and stays."""
    found = dict(values)
    rename_keys(found, migration.renames)
    return found
