"""From two states of the reviewed files to the impact of the change: reads, classifies and judges both sides."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from incumbent.classifier.caching_backend import HaltedBackend, halt
from incumbent.classifier.embedded.weights import WeightsError
from incumbent.classifier.exemplars import MeasuredBackend
from incumbent.classifier.model import Backend, Classification, Identity, Judgement, Progress
from incumbent.classifier.paths import expectation
from incumbent.consolidator.admissions import Answer
from incumbent.consolidator.verdict_engine import TrustGate
from incumbent.curator.entry import Entry
from incumbent.errors import InputError, Problem, UnreadyError
from incumbent.files.documents import Document, parse_yaml
from incumbent.files.git import ChangedFile, ObjectStore
from incumbent.files.snapshot import Overlay, Snapshot
from incumbent.intake.specification import Specification
from incumbent.ledger.keys import content_key
from incumbent.pipeline.impact.appraisal import HeldOuts, Text, appraise, nothing_measured
from incumbent.pipeline.impact.comparison import compare, config_changes
from incumbent.pipeline.impact.model import Cost, Effect, EntryAgain, Impact, VersionChange
from incumbent.pipeline.matching import settle
from incumbent.pipeline.reclassify import Former, ReclassifyTask, Renewal, renew, tasks_of
from incumbent.pipeline.review import (
    ClassifiedSubmission,
    Platform,
    Review,
    classify_package,
    judge,
    load_platform,
    unsettled,
)
from incumbent.pipeline.submission import (
    Package,
    collect,
    find_specification,
    read_package,
    refuse_shared_ids,
    submission_folders,
    with_agent_in_ids,
)
from incumbent.taxonomy.affected import affected_by
from incumbent.taxonomy.changes import TaxonomyChange as TaxonomyChange
from incumbent.taxonomy.changes import changes_between, required_version, succession_problems
from incumbent.taxonomy.config import CONFIG_FILE, REVIEWED_FILES, ClassifierSettings, Curation
from incumbent.taxonomy.exemplars import EXEMPLARS_FOLDER, is_exemplar_file
from incumbent.taxonomy.history import History
from incumbent.taxonomy.loading import TAXONOMY_FILE
from incumbent.taxonomy.migration import Migration, migration_between
from incumbent.taxonomy.model import Taxonomy

_HALF = re.compile("[\ud800-\udfff]")
_LONGEST = 4_000
"""Maximum characters of a sentence: enough for a description before and after."""


@dataclass(frozen=True, kw_only=True)
class PlatformChange:
    """The platform ``before`` a change and ``after`` it; R is the same on both sides, as written.

    ``previous`` gives the taxonomies that entries may have been classified under; ``document`` is the taxonomy's file
    after the change.
    """

    before: Platform
    after: Platform
    previous: Former
    document: Document

    @property
    def migration(self) -> Migration:
        """The renames, splits and removals of capability ids."""
        return migration_between(self.before.taxonomy, self.after.taxonomy)


@dataclass(frozen=True, kw_only=True)
class Agents:
    """Customers' contributions on the default branch: their packages, and the specification of each folder."""

    packages: tuple[Package, ...]
    specification: Callable[[str], Specification | None]


def read_agents(snapshot: Snapshot, within: Callable[[str], Snapshot], platform: Platform) -> Agents:
    """The agents of ``snapshot``; ``within`` opens a folder of it. Unreadable ones are left out."""
    limits = platform.config.limits
    packages = []
    for folder in submission_folders(snapshot):
        if _HALF.search(folder):
            continue  # Its name is not UTF-8, and no document can contain it.
        customer, agent = folder.split("/")[1:]
        try:
            packages.append(read_package(within(folder), customer, agent, folder, limits))
        except InputError:
            continue
    known = refuse_shared_ids(packages, platform.regression_set)
    return Agents(
        packages=tuple(map(with_agent_in_ids, known)),
        specification=lambda folder: find_specification(within(folder), limits),
    )


def measure(
    change: PlatformChange,
    agents: Agents,
    backends: tuple[Backend, Backend] | None,
    unmeasured: str | None,
    identity: Identity,
    progress: Progress,
    rejected: Collection[str] = (),
) -> tuple[Impact, Renewal | None]:
    """The impact of ``change``, and the new classifications of the entries.

    ``backends`` classify before and after it; without them nothing is asked, and ``unmeasured`` says why.  ``identity``
    is the classifier's after the change.  The comparison uses the version that the taxonomy must have, not the one that
    it has.  ``rejected`` are contents that people rejected (:func:`incumbent.ledger.keys.content_key`): they get no
    verdict.
    """
    version = VersionChange(
        before=change.before.taxonomy.version,
        after=change.after.taxonomy.version,
        required=required_version(change.before.taxonomy, change.after.taxonomy),
    )
    change = replace(change, after=replace(change.after, taxonomy=change.after.taxonomy.called(version.required)))
    changes = _changes(change)
    config = config_changes(change.before.config, change.after.config)
    # Entries that are already stale stay so whether or not this is merged.
    tasks = (
        tasks_of(_entries(change.before), change.after.taxonomy, identity, change.previous) if changes or config else ()
    )
    renewal: Renewal | None = None
    effect: Effect | None = None
    texts: list[Text] = []
    if not (changes or config):
        unmeasured = None
    elif backends is not None:
        first, second = backends
        renewal = renew(tasks, change.after.taxonomy, second, agents.specification, progress)
        known = change.before.regression_set.updated(renewal.renewed(change.after.taxonomy, identity))
        second = second if renewal.result.stopped is None else halt(second, renewal.result.stopped)
        before, _ = _judged(change.before, agents.packages, first, progress, rejected)
        platform = replace(change.after, regression_set=known)
        after, classified = _judged(platform, agents.packages, second, progress, rejected)
        stopped = renewal.result.stopped or before.stopped or after.stopped
        if stopped is not None or renewal.result.shortfalls or before.unclassified or after.unclassified:
            why = "a model gave no answer of use" if stopped is None else stopped.brief
            unmeasured = f"not all of it could be classified: {why}"
        effect = compare(before, after, change.migration)
        texts = judged_texts(_entries(change.after), renewal, classified)
    appraised = partial(
        appraise, change.before.taxonomy, change.after.taxonomy, change.after.config.appraisal, texts=texts
    )
    try:
        sides = (nothing_measured, nothing_measured) if backends is None else _held_out(change, backends)
        appraisals = appraised(before=sides[0], after=sides[1])
    except UnreadyError as error:
        unmeasured = unmeasured or f"not all of it could be classified: {error}"
        appraisals = appraised(before=nothing_measured, after=nothing_measured)
    return (
        Impact(
            changes=changes,
            version=version,
            config=config,
            appraisals=appraisals,
            again=_again(tasks, renewal, identity, change.after),
            cost=_cost(tasks, change, agents, identity),
            effect=effect,
            unmeasured=unmeasured,
        ),
        renewal,
    )


def _held_out(change: PlatformChange, backends: tuple[Backend, Backend]) -> tuple[HeldOuts, HeldOuts]:
    return held_out_of(backends[0], change.before.config), held_out_of(backends[1], change.after.config)


def _entries(platform: Platform) -> list[Entry]:
    return [*platform.regression_set.entries.values(), *platform.regression_set.waiting.values()]


def held_out_of(backend: Backend, config: Curation) -> HeldOuts:
    """The measurements of ``backend`` on held-out exemplars; a competent score under ``config`` counts as a tag."""
    if not isinstance(backend, MeasuredBackend):
        return nothing_measured
    return partial(backend.held_out, config.competence_bar)


def judged_texts(entries: Iterable[Entry], renewal: Renewal, classified: Sequence[ClassifiedSubmission]) -> list[Text]:
    """The texts of the platform with the classification of each, as far as it was asked.

    An entry that was not asked again has known scores: those of the capabilities that it exercises.
    """
    found = [
        Text(
            where=entry.id,
            turns=entry.turns,
            judgements=_judgements(entry, renewal.result.classifications.get(entry.id)),
        )
        for entry in entries
    ]
    for item in classified:
        submission = item.submission
        turns = {query.id: query.turns for query in submission.queries}
        found += [
            Text(
                where=f"{submission.customer}/{submission.agent}/{submission.item(id)}",
                turns=turns[id],
                judgements=known.judgements,
            )
            for id, known in item.result.classifications.items()
        ]
    return found


def _judgements(entry: Entry, found: Classification | None) -> Mapping[str, Judgement]:
    if found is not None:
        return found.judgements
    return {name: Judgement(True, score, "inference") for name, score in entry.scores.items()}


def _judged(
    platform: Platform,
    packages: Sequence[Package],
    backend: Backend,
    progress: Progress,
    rejected: Collection[str],
) -> tuple[Review, list[ClassifiedSubmission]]:
    """The queries of ``packages`` that are not in R, judged as one cycle without those that people ``rejected``.

    The second value are the classifications, without curators' corrections.
    """
    classified: list[ClassifiedSubmission] = []
    for package in packages:
        found = classify_package(platform, package, backend, progress)
        if found.result.stopped is not None and not any(item.result.stopped for item in classified):
            backend = halt(backend, found.result.stopped)
        classified.append(found)
    answers = [
        Answer(id=query.id, accepts=False, by="")
        for package in packages
        for query in package.submission.queries
        if content_key(query.classified_turns, package.specification.digest, expectation(query, package.specification))
        in rejected
    ]
    trust = _as_after_a_merge(platform, packages)
    return judge(platform, classified, backend.identity, answers, trust), classified


def _as_after_a_merge(platform: Platform, packages: Sequence[Package]) -> TrustGate:
    """No one saw merged queries outside of R as admitted: any of them that earns a slot waits for a person."""
    submissions = [package.submission for package in packages]
    customers = {query.id: item.customer for item in submissions for query in item.queries}
    return TrustGate(
        author_trusted=True,
        declared={},
        customers=customers,
        held=platform.regression_set.held,
        updates=frozenset(settle(submissions, platform.regression_set).edited),
        unseen=frozenset(customers),
        share=platform.config.limits.customer_share,
        ceiling=platform.config.ceiling,
    )


def _changes(change: PlatformChange) -> tuple[TaxonomyChange, ...]:
    return tuple(
        replace(item, sentence=_cut(item.sentence))
        for item in changes_between(change.before.taxonomy, change.after.taxonomy)
    )


def _cut(sentence: str) -> str:
    """``sentence`` cut to its maximum: a description may be as long as its file."""
    return sentence if len(sentence) <= _LONGEST else f"{sentence[: _LONGEST - 1]}…"


def _again(
    tasks: Sequence[ReclassifyTask], renewal: Renewal | None, identity: Identity, after: Platform
) -> tuple[EntryAgain, ...]:
    renewed = {} if renewal is None else renewal.renewed(after.taxonomy, identity)
    kept = {} if renewal is None else renewal.kept
    found = []
    for task in tasks:
        if not task.capabilities:
            continue  # Its ids follow a rename, and nothing is asked.
        id = task.entry.id
        now = renewed.get(id)
        first = task.carried.scores.keys() & after.taxonomy.by_id.keys()
        second = first if now is None else now.scores.keys()
        found.append(
            EntryAgain(
                entry=id,
                capabilities=task.capabilities,
                gained=tuple(sorted(second - first)),
                lost=tuple(sorted(first - second)),
                kept=task.obstacle or kept.get(id),
            )
        )
    return tuple(found)


def _cost(tasks: Sequence[ReclassifyTask], change: PlatformChange, agents: Agents, identity: Identity) -> Cost:
    """The maximum cost of asking: each query once for each sample.

    Earlier answers on queries are remembered, so that queries are asked again only if the classifier's input differs.
    """
    taxonomy = change.after.taxonomy
    entries = [task for task in tasks if task.obstacle is None and task.capabilities]
    asked = [task for task in entries if _is_asked(task.capabilities, taxonomy)]
    affected = affected_by(change.before.taxonomy, taxonomy, change.migration)
    old, new = change.before.config.classifier, change.after.config.classifier
    queries = 0
    if affected.always or affected.where_true or _heard_by(old) != _heard_by(new):
        queries = sum(len(unsettled(change.before, package.submission)) for package in agents.packages)
    free = new.backend == "embedded"
    return Cost(
        entries=len(entries),
        queries=queries,
        pairs=sum(len(task.capabilities) for task in entries),
        requests=None if free else (len(asked) + queries) * identity.samples,
    )


def _is_asked(names: Collection[str], taxonomy: Taxonomy) -> bool:
    """Whether a model may have to be asked about ``names``: rules alone cost nothing."""
    return any(
        taxonomy.by_id[name].source in ("intent", "tool")
        or taxonomy.by_id[name].exemplars.positive
        or taxonomy.by_id[name].group in taxonomy.exactly_one
        for name in names
    )


def _heard_by(settings: ClassifierSettings) -> tuple[object, ...]:
    """The ``settings`` that answers depend on, without those of cost and time."""
    if settings.openai is not None and settings.backend == "openai":
        return settings.samples, settings.openai.model, settings.openai.conditions
    return settings.samples, settings.embedded


RESTS_ON = ("taxonomy/", "config/")
"""The paths of the files that all verdicts rest on."""
_READ = (TAXONOMY_FILE, CONFIG_FILE)
ANOTHER_MODEL = "it names another language model, which is asked only once this is merged"
NOT_HERE = "the classifier before it cannot run here, so that the two cannot be compared"


def read_change(store: ObjectStore, base: str, head: str) -> tuple[PlatformChange, tuple[Problem, ...]]:
    """The changes of ``head`` to taxonomy and config since it left ``base``, applied to ``base``, and their problems.

    Raises :class:`incumbent.errors.InputError` with every fault if the files of either side cannot be read.  Raises it,
    too, if ``base`` has changed one of the files since: the result of a merge would be unknown.
    """
    snapshot = store.snapshot(base)
    over = Overlay(snapshot, changed_files(store, base, head))
    before, after = load_platform(snapshot, is_past=True), load_platform(over)
    document = parse_yaml(over.read(TAXONOMY_FILE, REVIEWED_FILES), TAXONOMY_FILE, REVIEWED_FILES)
    faults = succession_problems(before.taxonomy, after.taxonomy, document)
    change = PlatformChange(before=before, after=after, previous=History(store, base).since, document=document)
    return change, faults


def changed_files(store: ObjectStore, base: str, head: str) -> dict[str, str | bytes | None]:
    """The files of taxonomy and config that ``head`` changed since it left ``base``; ``None`` for those it removed.

    Raises :class:`incumbent.errors.InputError` as :func:`read_change` does.
    """
    snapshot, changed = store.snapshot(base), store.snapshot(head)
    touched, elsewhere = _paths(store.changes(base, head)), _paths(store.changes(head, base))
    there = {*changed.paths(EXEMPLARS_FOLDER), *changed.links(EXEMPLARS_FOLDER)}
    tables = sorted(path for path in touched if path.startswith(f"{EXEMPLARS_FOLDER}/") and is_exemplar_file(path))
    problems: list[Problem] = []
    files: dict[str, str | bytes | None] = {}
    for path in (*_READ, *tables):
        if path not in touched:
            continue
        is_gone = path in tables and path not in there
        content = None if is_gone else collect(partial(changed.read, path, REVIEWED_FILES), problems)
        if path in elsewhere and (is_gone or content is not None) and (path in tables or snapshot.exists(path)):
            now = snapshot.read(path, REVIEWED_FILES) if snapshot.exists(path) else None
            if content == now:
                continue
            message = "the file has changed on the other side as well since this one left it"
            problems.append(Problem(path, None, message, "merge the other side into this one"))
        files[path] = content
    if problems:
        raise InputError(problems)
    return files


def _paths(changes: Iterable[ChangedFile]) -> set[str]:
    """The paths of files that were added, changed or removed."""
    return {path for item in changes for path in (item.path, item.before) if path is not None}


def backends_of(
    change: PlatformChange, make: Callable[[Platform], Backend], may_ask: str | None
) -> tuple[tuple[Backend, Backend] | None, str | None]:
    """The backends before and after ``change``; or none, and why nothing is measured.

    No key is sent to an endpoint that no one has reviewed yet.  A language model, which costs money, is asked only if
    nothing forbids it: ``may_ask`` gives the reason not to (``None``: there is none).

    A change from weights that are missing here to a classifier that can run is not measured either: it is a way out.
    """
    old, new = change.before.config.classifier, change.after.config.classifier
    if new.backend == "openai" and new != old:
        return None, ANOTHER_MODEL
    if may_ask is not None and "openai" in (old.backend, new.backend):
        return None, may_ask
    before, after = make(change.before), make(change.after)
    lacks_weights = isinstance(before, HaltedBackend) and isinstance(before.stopped, WeightsError)
    if lacks_weights and not isinstance(after, HaltedBackend):
        return None, NOT_HERE
    return (before, after), None
