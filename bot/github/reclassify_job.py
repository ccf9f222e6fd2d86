"""The first job for entries that must be classified again: their facts, with what the ledger has already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.classifier.caching_backend import known_by
from bot.classifier.model import Backend, Progress
from bot.errors import IncumbentError
from bot.git import CommitSnapshot
from bot.github.classification_cache import key_of, with_findings
from bot.github.reclassified_entries import RenewalFacts, renewal_facts
from bot.ledger.model import StoredClassification
from bot.pipeline.reclassify import Task, query_of, renew
from bot.pipeline.review import Platform
from bot.pipeline.submission import find_specification
from bot.text.digests import digest


@dataclass(frozen=True, kw_only=True)
class Renewed:
    """The facts of entries, how many were classified, and why the classifier stopped, if it did."""

    facts: tuple[RenewalFacts, ...]
    classified: int
    stopped: IncumbentError | None


def renew_entries(
    tasks: Sequence[Task],
    platform: Platform,
    snapshot: CommitSnapshot,
    known: Mapping[str, StoredClassification],
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
        task.entry.id: _key(task, key_of(queries[task.entry.id], found.specifications[task.folder], platform, backend))
        for task in tasks
        if task.capabilities and task.folder in found.specifications and task.entry.id not in found.kept
    }
    findings = {id: known_by(backend, query.classified_turns) for id, query in queries.items()}
    asked = [task for task in tasks if task.capabilities and task.entry.id in found.classifications]
    return Renewed(facts=renewal_facts(found, keys, findings), classified=len(asked), stopped=found.stopped)


def _key(task: Task, key: str) -> str:
    """The ledger's key of the findings for ``task``, which are only a part of the query's classification."""
    return digest(["renewal", key, task.entry.id, task.capabilities])
