"""Updates entries after a change of taxonomy or classifier: what is classified again, and what is carried over.

Only the pairs of entry and capability that a change affects are asked about (:mod:`incumbent.taxonomy.affected`); all
other scores stay exactly equal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from incumbent.classifier.caching_backend import halt
from incumbent.classifier.classify import ClassifierResult, classify
from incumbent.classifier.corrections import Corrections, corrected, overlaid, unheeded, values_of
from incumbent.classifier.model import (
    Backend,
    Classification,
    Consensus,
    Finding,
    Identity,
    InferenceRequest,
    Judgement,
    Progress,
)
from incumbent.classifier.usage import Usage
from incumbent.curator.entry import Entry, as_classified, migrated, migrated_values, rule_values
from incumbent.curator.staging import classified_by, stored
from incumbent.errors import IncumbentError
from incumbent.intake.query import Query
from incumbent.intake.specification import UNDECLARED, Specification
from incumbent.rater.adapter import by_rule
from incumbent.taxonomy.affected import Affected, affected_along, everything
from incumbent.taxonomy.migration import NOTHING, Migration, carried_questions, declared, migration_between
from incumbent.taxonomy.model import Taxonomy
from incumbent.text.compare import text_key

UNCORRECTED: Final[Corrections] = MappingProxyType({})
Former = Callable[[str], Sequence[Taxonomy]]
"""From a version to the taxonomies since that version, oldest first; none if the version is unknown."""


@dataclass(frozen=True, kw_only=True)
class ReclassifyTask:
    """An ``entry`` that a change affects, ``carried`` over to the present ids, and what to ask about it again.

    ``folder`` contains its agent's specification (``None``: nothing was declared); ``obstacle`` says why it is not
    known.  ``carried_ids`` maps former ids to those under which scores were carried over.
    """

    entry: Entry
    carried: Entry
    capabilities: tuple[str, ...]
    folder: str | None = None
    obstacle: str | None = None
    carried_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Renewal:
    """The classifier's ``result`` for ``tasks``, by the ids of their entries.

    ``specifications`` are those of the readable folders.  ``kept`` says why entries stay unchanged although they are
    stale.
    """

    tasks: tuple[ReclassifyTask, ...]
    specifications: Mapping[str | None, Specification]
    result: ClassifierResult
    kept: Mapping[str, str]

    def renewed(
        self, taxonomy: Taxonomy, identity: Identity, corrections: Corrections = UNCORRECTED
    ) -> dict[str, Entry]:
        """The entries that change, in their new form, under those ``corrections`` and their own."""
        found = self.result.classifications
        return {
            task.entry.id: rescored(
                task.carried, task.capabilities, found[task.entry.id], taxonomy, identity, corrections
            )
            for task in self.tasks
            if task.entry.id in found
        }


def tasks_of(
    entries: Iterable[Entry],
    taxonomy: Taxonomy,
    identity: Identity,
    previous: Former,
    corrections: Corrections = UNCORRECTED,
) -> tuple[ReclassifyTask, ...]:
    """The work that brings all ``entries`` to ``taxonomy``, ``identity`` and ``corrections``, sorted by id.

    Entries that need no work are left out.
    """
    change = cache(lambda version: _change(previous(version), taxonomy))
    found = []
    for entry in sorted(entries, key=lambda item: item.id):
        classified = entry.classified
        before, borne = entry, dict[str, str]()
        if classified.identity != identity:
            affected, migration, old = everything(taxonomy), NOTHING, taxonomy
        elif classified.taxonomy == taxonomy.version:
            affected, migration, old = Affected.nothing(taxonomy), NOTHING, taxonomy
        else:
            affected, migration, old = change(classified.taxonomy)
            if old is not taxonomy:
                before, borne = as_classified(entry, previous(classified.taxonomy))
        carried = migrated(before, migration, old, taxonomy)
        stale = [name for name in carried.scores if _is_stale(carried, name, taxonomy)]
        new = unheeded(corrections.get(text_key(entry.turns), {}), carried.classified.corrected, taxonomy)
        capabilities = affected.of(before.scores, [*stale, *new])
        # The score of a capability that no longer exists would otherwise stay stale forever.
        if capabilities or carried != entry or not carried.scores.keys() <= taxonomy.by_id.keys():
            folder, obstacle = place_of(entry)
            found.append(
                ReclassifyTask(
                    entry=entry,
                    carried=carried,
                    capabilities=capabilities,
                    folder=folder,
                    obstacle=obstacle,
                    carried_ids=_carried_ids(before, borne, migration, taxonomy),
                )
            )
    return tuple(found)


def questions_since(versions: Collection[str], previous: Former) -> dict[str, str]:
    """Former question → the present one, after renames since ``versions``: the answers are the same."""
    steps: dict[str, str] = {}
    for version in sorted(versions):
        for before, after in pairwise(previous(version)):
            steps |= carried_questions(migration_between(before, after), before, after)
    found = {}
    for question in steps:
        last = question
        for _ in steps:
            last = steps.get(last, last)
        found[question] = last
    return found


def all_tasks(entries: Iterable[Entry], taxonomy: Taxonomy) -> tuple[ReclassifyTask, ...]:
    """All questions about ``entries`` again, whatever has changed; sorted by id."""
    found = []
    for entry in sorted(entries, key=lambda item: item.id):
        folder, obstacle = place_of(entry)
        names = tuple(taxonomy.by_id)
        found.append(ReclassifyTask(entry=entry, carried=entry, capabilities=names, folder=folder, obstacle=obstacle))
    return tuple(found)


def renew(
    tasks: Sequence[ReclassifyTask],
    taxonomy: Taxonomy,
    backend: Backend,
    specification: Callable[[str], Specification | None],
    progress: Progress,
) -> Renewal:
    """Classify the entries of ``tasks`` on the questions that they need answered again.

    ``specification`` reads that of the agent in a folder, ``None`` if it cannot be read.  Scores are carried over
    without one.
    """
    by_folder: dict[str | None, list[ReclassifyTask]] = defaultdict(list)
    kept: dict[str, str] = {}
    classifications: dict[str, Classification] = {}
    for task in tasks:
        if not task.capabilities:
            classifications[task.entry.id] = _carried_over(task, taxonomy)
        elif task.obstacle is None:
            by_folder[task.folder].append(task)
        else:
            kept[task.entry.id] = task.obstacle
    specifications: dict[str | None, Specification] = {}
    shortfalls: dict[str, str] = {}
    stopped: IncumbentError | None = None
    for folder, mine in sorted(by_folder.items(), key=lambda item: item[0] or ""):
        found = UNDECLARED if folder is None else specification(folder)
        if found is None:
            kept.update({task.entry.id: f"the agent specification in {folder} cannot be read" for task in mine})
            continue
        specifications[folder] = found
        queries = [query_of(task.entry) for task in mine]
        result = classify(queries, found, taxonomy, _Partly.of(mine, taxonomy, backend), progress)
        classifications |= result.classifications
        shortfalls |= result.shortfalls
        if stopped is None and result.stopped is not None:
            stopped = result.stopped
            backend = halt(backend, stopped)
    return Renewal(
        tasks=tuple(tasks),
        specifications=specifications,
        result=ClassifierResult(
            classifications=dict(sorted(classifications.items())),
            shortfalls=dict(sorted(shortfalls.items())),
            stopped=stopped,
        ),
        kept=dict(sorted(kept.items())),
    )


def rescored(
    carried: Entry,
    asked: Sequence[str],
    found: Classification,
    taxonomy: Taxonomy,
    identity: Identity,
    corrections: Corrections = UNCORRECTED,
) -> Entry:
    """``carried`` with the scores ``found`` for the capabilities that were ``asked`` about; all else stays.

    Curators' corrections apply: those of the text (``corrections``) take precedence over those in the entry.
    """
    own = migrated_values(carried.classified.corrected, declared(taxonomy))
    values = overlaid(taxonomy, own, values_of(corrections.get(text_key(carried.turns), {})))
    found = corrected(found, taxonomy, values)
    scores = {name: score for name, score in carried.scores.items() if name in taxonomy.by_id and name not in asked}
    scores |= {name: found.judgements[name].confidence for name in asked if found.judgements[name].value}
    names = tuple(scores)
    wholes = {*carried.classified.wholes, *carried.scores} & taxonomy.split_on_trial
    classified = classified_by(identity, taxonomy, names, values).model_copy(update={"wholes": tuple(sorted(wholes))})
    # A value that was not asked about stays what it was.
    kept = rule_values(carried, [name for name in names if name not in asked], taxonomy)
    ruled = kept | (by_rule(found, taxonomy) & set(asked))
    return carried.model_copy(
        update={"scores": stored(scores), "by_rule": tuple(sorted(ruled)), "classified": classified}
    )


def query_of(entry: Entry) -> Query:
    """The query of ``entry`` for the classifier."""
    return Query(id=entry.id, turns=entry.turns, expected=entry.expected, setup=entry.setup, file="", line=None)


def _change(line: Sequence[Taxonomy], taxonomy: Taxonomy) -> tuple[Affected, Migration, Taxonomy]:
    if not line:
        return everything(taxonomy), NOTHING, taxonomy
    whole = (*line, taxonomy)
    steps = [migration_between(before, after) for before, after in pairwise(whole)]
    try:
        return affected_along(whole, steps), reduce(Migration.then, steps, NOTHING), line[0]
    except ValueError:
        # Ids were reused in between, so that their meaning is unknown.
        return everything(taxonomy), NOTHING, taxonomy


def _carried_ids(entry: Entry, borne: Mapping[str, str], migration: Migration, taxonomy: Taxonomy) -> dict[str, str]:
    """Id in the entry → present id, of the scores that are carried over; a score under the new id is newer.

    ``entry`` has the original ids; ``borne`` maps them to those that it has by now.
    """
    taken = entry.scores.keys() - migration.renames.keys()
    return {
        borne.get(name, name): new
        for name, new in migration.renames.items()
        if name in entry.scores and new in taxonomy.by_id and new not in taken and borne.get(name, name) != new
    }


def _carried_over(task: ReclassifyTask, taxonomy: Taxonomy) -> Classification:
    """The scores of ``task`` under the present ids."""
    scores = task.carried.scores
    judgements = {name: Judgement(name in scores, scores.get(name, 0.0), "inference") for name in taxonomy.by_id}
    return Classification(judgements=judgements)


def _is_stale(entry: Entry, name: str, taxonomy: Taxonomy) -> bool:
    """Whether a score of ``entry`` was given under another definition of its capability."""
    capability = taxonomy.by_id.get(name)
    recorded = entry.classified.definitions.get(name)
    if capability is None:
        return False
    if recorded is None:
        return entry.classified.taxonomy.split(".")[0] != str(taxonomy.major)
    return recorded != capability.definition


def place_of(entry: Entry) -> tuple[str | None, str | None]:
    """The folder of the agent's specification (``None``: nothing was declared), or why it is not known."""
    if entry.source is None:
        return None, "it names no source, so its agent is not known"
    imported = entry.source.imported
    if imported is None:
        return entry.source.eval_set.rpartition("/")[0], None
    if imported.declared and imported.folder is None:
        return None, "its agent's specification is outside of the repository: import it again with one inside"
    return imported.folder, None


@dataclass(frozen=True)
class _Partly:
    """A backend that asks ``inner`` only the questions of the tasks, and takes all other answers from the entries."""

    inner: Backend
    taxonomy: Taxonomy
    tasks: Mapping[str, ReclassifyTask]

    @staticmethod
    def of(tasks: Sequence[ReclassifyTask], taxonomy: Taxonomy, inner: Backend) -> _Partly:
        return _Partly(inner, taxonomy, {task.entry.id: task for task in tasks})

    @property
    def identity(self) -> Identity:
        return self.inner.identity

    @property
    def usage(self) -> Usage | None:
        return self.inner.usage

    def infer(self, requests: Sequence[InferenceRequest]) -> Iterator[tuple[int, Finding]]:
        asked: list[int] = []
        smaller: list[InferenceRequest] = []
        for place, request in enumerate(requests):
            task = self.tasks[request.query_id]
            names = tuple(name for name in request.capabilities if name in task.capabilities)
            tools = request.tools if self._asks_for_tools(task) else ()
            if names or tools:
                asked.append(place)
                smaller.append(replace(request, capabilities=names, tools=tools))
            else:
                yield place, Finding(consensus=self._known(request, task))
        for number, finding in self.inner.infer(smaller):
            place = asked[number]
            request = requests[place]
            known = self._known(request, self.tasks[request.query_id])
            yield place, finding if finding.shortfall else replace(finding, consensus={**known, **finding.consensus})

    def _asks_for_tools(self, task: ReclassifyTask) -> bool:
        """Whether called tools matter for a question of ``task``: a ``tool`` capability, or an exactly-one group."""
        one = self.taxonomy.exactly_one
        asked = [self.taxonomy.by_id[name] for name in task.capabilities]
        return any(item.source == "tool" or item.group in one for item in asked)

    @staticmethod
    def _known(request: InferenceRequest, task: ReclassifyTask) -> dict[str, Consensus]:
        scores = task.carried.scores
        return {
            name: Consensus(name in scores, scores.get(name, 0.0))
            for name in request.capabilities
            if name not in task.capabilities
        }
