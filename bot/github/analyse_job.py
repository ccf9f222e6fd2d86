"""The first job: reads hostile data and writes one document of facts. Its token cannot write.

What may cost model calls waits for a curator, unless its author is known: each fact about that is looked up on GitHub
once, and only if the answer depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from bot.classifier.caching_backend import halt, known_by
from bot.classifier.classify import ruled_out
from bot.classifier.model import Backend, Classification, Progress
from bot.classifier.paths import expectation
from bot.classifier.usage import total
from bot.config import REVIEWED_FILES, Curation, Limits
from bot.curator.entry import Tombstone
from bot.curator.store import EVICTED, RegressionSet, is_part
from bot.errors import IncumbentError, InputError, Problem
from bot.files.documents import parse_yaml
from bot.files.validation import validate
from bot.git import ChangedFile, CommitSnapshot
from bot.github.authority import Authority, Person, author_permission, may_write
from bot.github.client import GitHubClient, RefusedError
from bot.github.commands import Command, Verb, parse
from bot.github.events import Event
from bot.github.facts import (
    Analysis,
    ChangedEntryFile,
    ClassifierWork,
    EvictionFacts,
    JudgedFacts,
    StoppedFacts,
    SubmissionFacts,
    facts_of,
    whole,
    without_secrets,
)
from bot.github.impact_job import UNTOUCHED, Measured
from bot.github.models import IssueComment
from bot.intake.query import missing_fixtures
from bot.ledger.keys import key_of, with_findings
from bot.ledger.model import PullRequestRecord
from bot.pipeline.matching import in_line, settle
from bot.pipeline.review import Platform, classify_package, fixtures_of, load_platform, unsettled
from bot.pipeline.submission import (
    EVAL_SETS,
    Package,
    agent_folder,
    read_package,
    refuse_shared_ids,
    submission_folders,
    with_agent_in_ids,
    with_unique_ids,
)

Touched = Literal["eval_sets", "regression_set", "taxonomy", "config"]
_DATA = (".yaml", ".yml", ".json", ".jsonl", ".csv", ".tsv")
_PLACES: tuple[Touched, ...] = ("eval_sets", "regression_set", "taxonomy", "config")


def analyse(
    event: Event,
    *,
    base: str,
    head: str,
    at: str,
    platform: Platform,
    snapshot: CommitSnapshot,
    changes: Sequence[ChangedFile],
    release: ReleaseInputs,
    known: Mapping[str, Classification],
    backend: Backend,
    progress: Progress,
    measured: Measured = UNTOUCHED,
    previous: CommitSnapshot | None = None,
) -> Analysis:
    """The facts of the head's ``snapshot``: only folders in ``changes``, only undecided queries.

    ``previous`` are the files at the merge base of head and base, if there is one; ``at`` is the time of the head.  A
    contribution that ``release`` holds back is not read.  ``known`` are the ledger's classifications by key, which are
    reused.  ``measured`` is the impact of a change of taxonomy or config.
    """
    problems: list[Problem] = list(measured.problems)
    touches = tuple(place for place in _PLACES if any(_inside(change, place) for change in changes))
    held = bool(touches) and release.is_held
    packages: tuple[Package, ...] = ()
    if not held:
        packages = refuse_shared_ids(_packages(platform, snapshot, changes, problems), platform.regression_set)
    fixtures = fixtures_of(platform.config, snapshot)
    if fixtures is not None:
        problems += [
            problem for package in packages for problem in missing_fixtures(package.submission.queries, fixtures)
        ]
    if any(place in touches for place in ("taxonomy", "config", "regression_set")):
        problems += _faults_of_reviewed_files(snapshot)
    departing = {}
    if previous is not None and not held:
        folders = _touched(changes)
        departing = departing_entries(
            platform.regression_set, previous, snapshot, packages, folders, platform.config.limits
        )
    found = classify_all(platform, with_unique_ids(packages), known, backend, progress)
    identity = backend.identity
    return Analysis(
        repository=event.repository,
        at=at,
        held=held,
        touches=touches,
        judged=JudgedFacts(
            pull_request=event.pull_request,
            base=base,
            head=head,
            identity=identity,
            submissions=found.submissions,
            problems=tuple(without_secrets(problem) for problem in InputError(problems).problems),
            set_changes=tuple(
                item
                for item in _set_changes(snapshot, changes)
                if measured.follows.get(item.file.path) != (item.file.object_after or "")
            ),
            departing=departing,
        ),
        work=ClassifierWork(
            reused=found.reused,
            classified=found.classified,
            stopped=StoppedFacts.of(found.error or measured.stopped),
            usage=total([backend.usage, measured.usage]),
        ),
        impact=measured.impact,
        remembered=dict(measured.remembered),
    )


@dataclass(frozen=True, kw_only=True)
class ClassifiedPackages:
    """The facts of packages, with the numbers of reused and of new classifications.

    ``error`` stopped the classifier, if any did.
    """

    submissions: tuple[SubmissionFacts, ...]
    reused: int
    classified: int
    error: IncumbentError | None

    def joined(self, other: ClassifiedPackages) -> ClassifiedPackages:
        """These facts and the ``other`` ones, by folder."""
        return ClassifiedPackages(
            submissions=tuple(sorted((*self.submissions, *other.submissions), key=lambda facts: facts.about.folder)),
            reused=self.reused + other.reused,
            classified=self.classified + other.classified,
            error=self.error or other.error,
        )


def classify_all(
    platform: Platform,
    packages: Sequence[Package],
    known: Mapping[str, Classification],
    backend: Backend,
    progress: Progress,
    *,
    line: bool = False,
) -> ClassifiedPackages:
    """Classify the undecided queries of ``packages``, except those whose classification is ``known`` by its key.

    With ``line``, so are queries whose entry is on the waitlist, since it may leave the waitlist again.
    """
    submissions: list[SubmissionFacts] = []
    reused = classified = 0
    stopped: IncumbentError | None = None
    backend = with_findings(backend, known)
    for package in packages:
        queries = unsettled(platform, package.submission, line=line)
        waits = in_line(settle([package.submission], platform.regression_set), platform.regression_set) if line else {}
        keys = {
            query.id: key_of(query, package.specification, platform.taxonomy.definitions, backend) for query in queries
        }
        before = {
            id: known[key] for id, key in keys.items() if key in known and known[key].fits(platform.taxonomy.by_id)
        }
        found = classify_package(platform, package, backend, progress, before, line=line)
        findings = {query.id: known_by(backend, query.classified_turns) for query in queries}
        expected = {query.id: expectation(query, package.specification) for query in package.submission.queries}
        specification = package.specification
        denied = ruled_out(platform.taxonomy, specification)
        submissions.append(facts_of(found, specification.digest, keys, findings, expected, waits, denied))
        reused += len(before)
        classified += len(found.result.classifications) - len(before)
        if stopped is None and found.result.stopped is not None:
            stopped = found.result.stopped
            # A backend that failed or used up its budget is not asked again for the next package.
            backend = halt(backend, stopped)
    return ClassifiedPackages(submissions=tuple(submissions), reused=reused, classified=classified, error=stopped)


def _packages(
    platform: Platform, snapshot: CommitSnapshot, changes: Sequence[ChangedFile], problems: list[Problem]
) -> list[Package]:
    packages = []
    changed = {change.path for change in changes}
    problems += [
        Problem(path, None, "the path is a symbolic link or a submodule", "commit the files themselves in its place")
        for path in snapshot.links(EVAL_SETS)
        if path in changed
    ]
    present = {folder for path in snapshot.paths(EVAL_SETS) if (folder := _folder(path)) is not None}
    touched = _touched(changes)
    problems += [
        Problem(path, None, "the file lies in no agent's folder", "move it to eval_sets/<customer>/<agent>/")
        for path in sorted(changed)
        if path.startswith(f"{EVAL_SETS}/") and _folder(path) is None and snapshot.exists(path) and path.endswith(_DATA)
    ]
    for folder in sorted(touched & present):
        if whole(folder) != folder:
            problems.append(Problem(whole(folder), None, "the folder's name is not UTF-8", "rename the folder"))
            continue
        customer, agent = folder.split("/")[1:]
        try:
            package = read_package(snapshot.within(folder), customer, agent, folder, platform.config.limits)
        except InputError as error:
            problems.extend(error.problems)
            continue
        moved = moved_from(folder, present, changes)
        packages.append(replace(package, submission=replace(package.submission, moved_from=moved)))
    return packages


def _touched(changes: Sequence[ChangedFile]) -> set[str]:
    """The agents' folders with a change, or from which files are moved away."""
    found = {_folder(path) for change in changes for path in (change.path, change.before or "")}
    return {folder for folder in found if folder is not None}


def _folder(path: str) -> str | None:
    parts = path.split("/")
    return "/".join(parts[:3]) if len(parts) > 3 and parts[0] == EVAL_SETS else None


def moved_from(folder: str, present: Collection[str | None], changes: Sequence[ChangedFile]) -> tuple[str, str] | None:
    """The customer and agent whose folder became ``folder``: it is gone, and all renames came from it."""
    previous = {_folder(change.before) for change in changes if change.before and _folder(change.path) == folder}
    gone = sorted(place for place in previous if place is not None and place != folder and place not in present)
    if len(gone) != 1:
        return None
    customer, agent = gone[0].split("/")[1:]
    return customer, agent


def _inside(change: ChangedFile, place: str) -> bool:
    return any(path.startswith(f"{place}/") for path in (change.path, change.before or ""))


def _set_changes(snapshot: CommitSnapshot, changes: Sequence[ChangedFile]) -> tuple[ChangedEntryFile, ...]:
    found = []
    for change in changes:
        if not any(is_part(path) for path in (change.path, change.before or "")):
            continue
        lost = change.path if change.kind == "deleted" else change.before or ""
        tombstone = f"{EVICTED}/{lost.rpartition('/')[2]}"
        found.append(
            ChangedEntryFile(
                file=replace(
                    change,
                    path=whole(change.path),
                    before=None if change.before is None else whole(change.before),
                    object_before=None,
                ),
                buried=snapshot.exists(tombstone),
                eviction=_eviction(snapshot, change.path),
            )
        )
    return tuple(found)


def _eviction(snapshot: CommitSnapshot, path: str) -> EvictionFacts | None:
    """What the tombstone at ``path`` says; ``None`` for another or a faulty file, which is reported elsewhere."""
    if not path.startswith(f"{EVICTED}/") or not snapshot.exists(path):
        return None
    try:
        found = validate(Tombstone, parse_yaml(snapshot.read(path, REVIEWED_FILES), path, REVIEWED_FILES))
    except InputError:
        return None
    return EvictionFacts(entry=found.id, evicted=found.evicted)


def _faults_of_reviewed_files(snapshot: CommitSnapshot) -> list[Problem]:
    try:
        load_platform(snapshot)
    except InputError as error:
        return list(error.problems)
    return []


def departing_entries(
    known: RegressionSet,
    before: CommitSnapshot,
    after: CommitSnapshot,
    packages: Sequence[Package],
    folders: Collection[str],
    limits: Limits,
) -> dict[str, Literal["source-deleted", "customer-left"]]:
    """The entries whose query is in ``before`` and not in ``after``, in the ``folders`` that differ.

    ``packages`` are those of ``after``, without shared ids; folders that cannot be read, or have faults, are left out.
    """
    there = set(submission_folders(after))
    read = {package.submission.folder for package in packages if not package.submission.problems}
    moved = {package.submission.moved_from for package in packages if package.submission.problems}
    there |= {agent_folder(*place) for place in moved if place is not None}
    sources = {
        id: agent_folder(entry.source.customer, entry.source.agent)
        for id, entry in known.entries.items()
        if entry.source is not None
    }
    concerned = {folder for folder in sources.values() if folder in folders and (folder in read or folder not in there)}
    previous = []
    for folder in sorted(concerned.intersection(submission_folders(before))):
        customer, agent = folder.split("/")[1:]
        try:
            previous.append(read_package(before.within(folder), customer, agent, folder, limits))
        except InputError:
            continue
    if not previous:
        return {}
    gone = _present(refuse_shared_ids(previous, known), known) - _present(packages, known)
    customers = {folder.split("/")[1] for folder in submission_folders(after)}
    return {
        id: "source-deleted" if source.split("/")[1] in customers else "customer-left"
        for id, source in sorted(sources.items())
        if id in gone
    }


def _present(packages: Sequence[Package], known: RegressionSet) -> set[str]:
    """The entries of the queries in ``packages``, and the entries that these edit."""
    found = settle([with_agent_in_ids(item).submission for item in packages], known)
    return {item.id for item in (*found.settled.values(), *found.edited.values())}


CONTRIBUTED = "CONTRIBUTOR"
"""GitHub's association of someone who has committed to the repository and has no other role."""
UNCLEAR = frozenset({"COLLABORATOR", "MEMBER"})
"""Associations that hide whether someone has committed before."""


@dataclass(frozen=True, kw_only=True)
class ReleaseInputs:
    """The pull request of ``event`` and its author; ``record`` is the ledger's record of it.

    What the token may not look up counts as missing: a curator has to release it.
    """

    event: Event
    config: Curation
    record: PullRequestRecord | None
    github: Callable[[], GitHubClient]

    @cached_property
    def is_vouched(self) -> bool:
        """Whether a person with write permission opened, pushed or released it."""
        event = self.event
        if event.pull_request is None:
            return False
        known = event.inside or event.author.casefold() in {login.casefold() for login in self.config.trusted_authors}
        return (
            known
            or (self.record is not None and self.record.released is not None)
            or may_write(author_permission(event.author, event.association, self.github().permission))
            or any(map(self._releases, self._comments(event.pull_request)))
        )

    @property
    def is_held(self) -> bool:
        """Whether it is a first contribution that waits for a curator."""
        config = self.config
        if config.mode == "observe" or not config.hold_first_time_contributors or self.event.pull_request is None:
            return False
        return self._is_first and not self.is_vouched

    @property
    def _is_first(self) -> bool:
        event = self.event
        if event.association in UNCLEAR:
            return not self.github().has_committed(event.author)
        return event.association != CONTRIBUTED

    def _comments(self, number: int) -> tuple[IssueComment, ...]:
        try:
            return self.github().said_on(number)
        except RefusedError:
            return ()

    def _releases(self, comment: IssueComment) -> bool:
        """Whether ``comment`` is a curator's `/incumbent run`, by the same rules as in the publish job."""
        if comment.is_edited or not any(
            isinstance(item, Command) and item.verb is Verb.RUN for item in parse(comment.body, ())
        ):
            return False
        person = Person(login=comment.author, is_bot=comment.is_bot)
        authority = Authority(curators=self.config.curators, permission=self.github().permission)
        return authority.refusal(Verb.RUN, person, None) is None
