"""Entries under the ids of a new taxonomy: what a declared rename carries over, and what a split cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from bot.curator.entry import Entry, Tombstone
from bot.files.mapping_edits import rename_keys
from bot.taxonomy.migration import NOTHING, Migration, carried_definitions, migration_between
from bot.taxonomy.model import Taxonomy

Value = TypeVar("Value")


def migrated(entry: Entry, migration: Migration, old: Taxonomy, new: Taxonomy) -> Entry:
    """``entry``, classified under ``old``, with the ids of ``new``.

    A recorded definition is renewed if it is that of ``old`` and the classifier sees the capability unchanged but for
    ids.  Any other stays as recorded, so that the score is stale until it is classified again.  The score of a split
    capability belongs to no part: it stays under the retired id and is stale, too.  The recorded classifier and
    taxonomy version do not change.
    """
    if migration.is_nothing and old is new:
        return entry
    carried = carried_definitions(migration, old, new)
    definitions = {
        id: carried[id] if id in carried and recorded == old.by_id[id].definition else recorded
        for id, recorded in entry.classified.definitions.items()
    }
    classified = entry.classified.model_copy(
        update={
            "definitions": _renamed(definitions, migration),
            "corrected": migrated_values(entry.classified.corrected, migration),
        }
    )
    return entry.model_copy(update={"scores": _renamed(entry.scores, migration), "classified": classified})


def migrated_values(values: Mapping[str, bool], migration: Migration) -> dict[str, bool]:
    """Corrected ``values`` under their new ids, by the same rule as labels.

    FALSE of a split capability is FALSE of each part; TRUE says nothing about any part.  A value recorded for a new id
    takes precedence over one recorded for the old id.
    """
    departed = {*migration.renames, *migration.splits}
    found = {name: value for name, value in values.items() if name not in departed}
    for name, value in values.items():
        if name in departed and not (value and name in migration.splits):
            for new in migration.became(name):
                found.setdefault(new, value)
    return found


def as_classified(entry: Entry, line: Sequence[Taxonomy]) -> tuple[Entry, dict[str, str]]:
    """``entry`` with the ids of the first taxonomy of ``line``, under which it was classified.

    `incumbent migrate` gives an entry the ids of a later taxonomy of ``line``, but keeps the version that it was
    classified under.  The second value maps such later ids to the original ones.
    """
    borne: dict[str, str] = {}
    definitions = dict(entry.classified.definitions)
    migration = NOTHING
    for before, after in pairwise(line):
        migration = migration.then(migration_between(before, after))
        same = carried_definitions(migration, line[0], after)
        for id, name in migration.renames.items():
            if id not in line[0].by_id or name not in entry.scores or id in entry.scores or name in line[0].by_id:
                continue
            if id in same and definitions.get(name) == same[id]:
                definitions[name] = line[0].by_id[id].definition
            borne[id] = name
    names = {name: id for id, name in borne.items()}
    classified = entry.classified.model_copy(
        update={"definitions": {names.get(name, name): item for name, item in definitions.items()}}
    )
    scores = {names.get(name, name): score for name, score in entry.scores.items()}
    return entry.model_copy(update={"scores": scores, "classified": classified}), borne


def migrated_tombstone(tombstone: Tombstone, migration: Migration, old: Taxonomy, new: Taxonomy) -> Tombstone:
    """``tombstone`` with its entry under the ids of ``new``, so that it can return; its grounds name no capability."""
    return tombstone.model_copy(update={"entry": migrated(tombstone.entry, migration, old, new)})


def _renamed(values: Mapping[str, Value], migration: Migration) -> dict[str, Value]:
    """``values`` under their new ids, in the same order; a value already recorded under a new id is newer and stays."""
    found = dict(values)
    rename_keys(found, migration.renames)
    return found
