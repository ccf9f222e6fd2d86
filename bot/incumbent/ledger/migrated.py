"""The ledger under the ids of a new taxonomy: files stay as they were written, and readers translate the ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from incumbent.classifier.corrections import Correction as Word
from incumbent.ledger.events import Corrected, LedgerEvent, Shown, Suggested, VerdictFacts
from incumbent.ledger.model import CorrectionRecord, StoredCorrection
from incumbent.taxonomy.migration import Lineage, Migration


def migrated_corrections(record: CorrectionRecord, lineage: Lineage) -> CorrectionRecord:
    """``record`` under the new ids, by the same rule as labels.

    FALSE of a split capability is FALSE of each part; anything else is dropped, since its part is unknown.  A
    correction of a new id takes precedence over one of the old id.
    """
    for step in lineage.steps:
        texts = {text: _migrated(tags, step) for text, tags in record.texts.items()}
        record = record.model_copy(update={"texts": texts})
    return record


def _migrated(tags: Mapping[str, StoredCorrection], migration: Migration) -> dict[str, StoredCorrection]:
    departed = {*migration.renames, *migration.splits}
    found = {name: item for name, item in tags.items() if name not in departed}
    for name, item in tags.items():
        if name in migration.splits and item.value:
            item = item.model_copy(update={"value": None})
        if name in departed:
            for new in migration.became(name):
                found.setdefault(new, item)
    return found


def corrections_in(record: CorrectionRecord, lineage: Lineage) -> dict[str, dict[str, Word]]:
    """The corrections of ``record`` under the new ids, whether or not their comments still exist; unknown parts are
    left out.
    """
    return {
        text: {
            name: Word(value=item.value, by=item.by, at=item.at or "")
            for name, item in tags.items()
            if item.value is not None
        }
        for text, tags in migrated_corrections(record, lineage).texts.items()
    }


def capabilities_in(events: Iterable[LedgerEvent]) -> frozenset[str]:
    """The capabilities that verdicts and suggestions rest on, by their ids at that time."""
    found: set[str] = set()
    for event in events:
        match event:
            case Shown(facts=VerdictFacts() as facts):
                found |= {*facts.scores, *facts.corrected}
            case Suggested(remaining=remaining):
                found |= remaining.keys()
            case Corrected(capability=capability):
                found.add(capability)
            case _:
                pass
    return frozenset(found)


def migrated_events(events: Iterable[LedgerEvent], lineage: Lineage) -> tuple[LedgerEvent, ...]:
    """``events`` with the new ids of the capabilities that verdicts and suggestions rest on.

    A split or removed capability keeps its old id: which part it was is unknown.
    """
    if not any(step.renames for step in lineage.steps):
        return tuple(events)
    found: list[LedgerEvent] = []
    for event in events:
        match event:
            case Shown(facts=VerdictFacts() as facts):
                found.append(event.model_copy(update={"facts": _facts(facts, lineage)}))
            case Suggested(remaining=remaining):
                update = {"remaining": {lineage.renamed(name): count for name, count in remaining.items()}}
                found.append(event.model_copy(update=update))
            case Corrected(capability=capability):
                found.append(event.model_copy(update={"capability": lineage.renamed(capability)}))
            case _:
                found.append(event)
    return tuple(found)


def _facts(facts: VerdictFacts, lineage: Lineage) -> VerdictFacts:
    renamed = lineage.renamed
    return facts.model_copy(
        update={
            "scores": {renamed(name): score for name, score in facts.scores.items()},
            "by_rule": tuple(map(renamed, facts.by_rule)),
            "arbitrated": tuple(map(renamed, facts.arbitrated)),
            "corrected": tuple(map(renamed, facts.corrected)),
            "new": tuple(map(renamed, facts.new)),
            "won": {renamed(name): score for name, score in facts.won.items()},
        }
    )
