"""Reclassified entries: the analyse job classifies them and hands them to the publish job (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from incumbent.classifier.caching_backend import known_by
from incumbent.classifier.corrections import Corrections
from incumbent.classifier.model import Backend, Classification, Findings, Identity, Progress
from incumbent.curator.entry import Entry, EntryId
from incumbent.errors import IncumbentError
from incumbent.files.git import CommitSnapshot
from incumbent.files.validation import Checked, Digest, FileModel, Text, Tuple
from incumbent.ledger.keys import key_of, with_findings
from incumbent.pipeline.matching import content_of
from incumbent.pipeline.reclassify import UNCORRECTED, ReclassifyTask, Renewal, query_of, renew, rescored
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import find_specification
from incumbent.taxonomy.model import Identifier, Taxonomy
from incumbent.text.digests import digest


class RenewalFacts(FileModel):
    """One entry that a change of taxonomy or classifier concerns.

    Without a ``classification`` it could not be classified (``shortfall`` says why), or need not be (``kept``).
    """

    entry: EntryId
    before: Digest = Field(description="digest of the entry that the facts are of")
    carried: dict[Identifier, Identifier] = Field(
        default_factory=dict, description="former id: the id under which its score is carried over"
    )
    asked: Tuple[Identifier] = Field(description="capabilities that it was classified on again; others stay")
    key: Digest | None = Field(default=None, description="the ledger's key of the classification")
    classification: Checked[Classification] | None = None
    shortfall: Text | None = None
    kept: Text | None = Field(default=None, description="why it is not changed although it is stale")

    @property
    def missing(self) -> bool:
        """Whether it should have been classified, and was not."""
        return self.classification is None and self.kept is None

    def is_of(self, entry: Entry) -> bool:
        """Whether ``entry`` is unchanged since it was classified again."""
        return entry_digest(entry) == self.before


def renewal_facts(
    renewal: Renewal, keys: Mapping[str, str], findings: Mapping[str, Mapping[str, Findings]]
) -> tuple[RenewalFacts, ...]:
    """``renewal`` for the document; ``keys`` and ``findings`` are from the ledger, by entry."""
    found = []
    for task in renewal.tasks:
        id = task.entry.id
        item = renewal.result.classifications.get(id)
        known = findings.get(id, {})
        found.append(
            RenewalFacts(
                entry=id,
                before=entry_digest(task.entry),
                carried=dict(task.carried_ids),
                asked=task.capabilities,
                key=keys.get(id),
                classification=None if item is None else replace(item, findings=known),
                shortfall=renewal.result.shortfalls.get(id),
                kept=renewal.kept.get(id),
            )
        )
    return tuple(found)


def renewed(
    facts: Sequence[RenewalFacts],
    entries: Mapping[str, Entry],
    taxonomy: Taxonomy,
    identity: Identity,
    corrections: Corrections = UNCORRECTED,
) -> dict[str, Entry]:
    """The ``entries`` of ``facts`` after reclassification and ``corrections``; none while one of them is missing.

    Scores of a set are comparable only if all have the same classifier: a partial reclassification is not written.
    """
    if any(item.missing for item in facts):
        return {}
    found = {}
    for item in facts:
        entry = entries.get(item.entry)
        if entry is None or item.classification is None or not item.is_of(entry):
            continue
        scores = {item.carried.get(name, name): score for name, score in entry.scores.items()}
        carried = entry.model_copy(update={"scores": scores})
        found[entry.id] = rescored(carried, item.asked, item.classification, taxonomy, identity, corrections)
    return found


def entry_digest(entry: Entry) -> str:
    """The inputs of a classification of ``entry``, and the classification that it replaces."""
    return digest([content_of(entry), entry.scores, entry.classified.model_dump(mode="json")])


@dataclass(frozen=True, kw_only=True)
class Renewed:
    """The facts of entries, how many were classified, and why the classifier stopped, if it did."""

    facts: tuple[RenewalFacts, ...]
    classified: int
    stopped: IncumbentError | None


def renew_entries(
    tasks: Sequence[ReclassifyTask],
    platform: Platform,
    snapshot: CommitSnapshot,
    known: Mapping[str, Classification],
    backend: Backend,
    progress: Progress,
) -> Renewed:
    """Classify the entries of ``tasks`` again under the taxonomy of ``platform``; ``snapshot`` has their agents.

    The findings of ``known`` classifications are reused.
    """
    if not tasks:
        return Renewed(facts=(), classified=0, stopped=None)
    backend = with_findings(backend, known)
    limits = platform.config.limits
    found = renew(
        tasks, platform.taxonomy, backend, lambda folder: find_specification(snapshot.within(folder), limits), progress
    )
    queries = {task.entry.id: query_of(task.entry) for task in tasks}
    keys = {
        task.entry.id: _key(
            task,
            key_of(queries[task.entry.id], found.specifications[task.folder], platform.taxonomy.definitions, backend),
        )
        for task in tasks
        if task.capabilities and task.folder in found.specifications and task.entry.id not in found.kept
    }
    findings = {id: known_by(backend, query.classified_turns) for id, query in queries.items()}
    asked = [task for task in tasks if task.capabilities and task.entry.id in found.result.classifications]
    return Renewed(facts=renewal_facts(found, keys, findings), classified=len(asked), stopped=found.result.stopped)


def _key(task: ReclassifyTask, key: str) -> str:
    """The ledger's key of the findings for ``task``, which are only a part of the query's classification."""
    return digest(["renewal", key, task.entry.id, task.capabilities])
