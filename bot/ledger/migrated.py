"""The ledger under the ids of a new taxonomy: it keeps what was said and shown, and readers carry that along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.ledger.events import Event, Shown, Suggested, VerdictFacts
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


def migrated_events(events: Iterable[Event], migration: Migration) -> tuple[Event, ...]:
    """``events`` with the capabilities that verdicts and suggestions rest on under their new ids.

    What was split or removed stays under its old id: nobody can tell of which part it was.
    """
    if not migration.renames:
        return tuple(events)
    found: list[Event] = []
    for event in events:
        match event:
            case Shown(facts=VerdictFacts() as facts):
                found.append(event.model_copy(update={"facts": _facts(facts, migration)}))
            case Suggested(remaining=remaining):
                update = {"remaining": {migration.renamed(name): count for name, count in remaining.items()}}
                found.append(event.model_copy(update=update))
            case _:
                found.append(event)
    return tuple(found)


def _facts(facts: VerdictFacts, migration: Migration) -> VerdictFacts:
    renamed = migration.renamed
    return facts.model_copy(
        update={
            "scores": {renamed(name): score for name, score in facts.scores.items()},
            "arbitrated": tuple(map(renamed, facts.arbitrated)),
            "new": tuple(map(renamed, facts.new)),
            "won": {renamed(name): score for name, score in facts.won.items()},
        }
    )
