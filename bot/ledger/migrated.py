"""Corrections under the ids of a new taxonomy: the ledger keeps what people said, and readers carry it along."""

from __future__ import annotations

from collections.abc import Mapping

from bot.ledger.model import Correction, CorrectionRecord
from bot.taxonomy.migration import Migration


def migrated_corrections(record: CorrectionRecord, migration: Migration) -> CorrectionRecord:
    """``record`` under the new ids, by the rule of labels.

    FALSE of a capability that was split is FALSE of each part; with anything else nobody can tell of which part it
    was.  What was said of a new id itself counts before what was said of the old one.
    """
    return record.model_copy(
        update={"texts": {text: _migrated(tags, migration) for text, tags in record.texts.items()}}
    )


def _migrated(tags: Mapping[str, Correction], migration: Migration) -> dict[str, Correction]:
    departed = {*migration.renames, *migration.splits}
    found = {name: item for name, item in tags.items() if name not in departed}
    for name, item in tags.items():
        if name in migration.splits and item.value:
            item = item.model_copy(update={"value": None})
        if name in departed:
            for new in migration.became(name):
                found.setdefault(new, item)
    return found
