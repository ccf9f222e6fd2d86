"""The first job: reads hostile data and writes one document of facts. Its token cannot write.

What may cost model calls waits for a curator, unless its author is known: each fact about that is looked up on GitHub
once, and only if the answer depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from incumbent.classifier.caching_backend import halt, known_by
from incumbent.classifier.classify import ruled_out
from incumbent.classifier.model import Backend, Classification, Progress
from incumbent.classifier.paths import declared_values, expectation
from incumbent.classifier.usage import total
from incumbent.curator.entry import Tombstone
from incumbent.curator.store import EVICTED, FOLDER
from incumbent.errors import IncumbentError, InputError, Problem
from incumbent.files.documents import parse_yaml
from incumbent.files.git import ChangedFile, CommitSnapshot
from incumbent.files.validation import validate
from incumbent.github.authority import Authority, Person, author_permission, may_write
from incumbent.github.border import impossible
from incumbent.github.client import GitHubClient, RefusedError
from incumbent.github.commands import Command, Verb, parse
from incumbent.github.events import Event
from incumbent.github.facts import (
    FORMAT,
    LONGEST_CONFIG,
    Analysis,
    ClassifierWork,
    EvictionFacts,
    JudgedFacts,
    StoppedFacts,
    SubmissionFacts,
    facts_of,
    without_secrets,
)
from incumbent.github.head_changes import (
    agent_folder_of,
    departing,
    moved_from,
    set_changes,
    touched_agents,
    touches,
)
from incumbent.github.impact_job import UNTOUCHED, Measured
from incumbent.github.models import IssueComment
from incumbent.intake.query import missing_fixtures
from incumbent.ledger.keys import key_of, with_findings, with_tool_names
from incumbent.ledger.model import PullRequestRecord
from incumbent.pipeline.matching import in_line, settle
from incumbent.pipeline.repository_paths import path_problems, refused_folders
from incumbent.pipeline.review import Platform, classify_package, fixtures_of, load_platform, unsettled
from incumbent.pipeline.submission import (
    EVAL_SETS,
    Package,
    read_package,
    refuse_shared_ids,
    submission_folders,
    with_unique_ids,
)
from incumbent.taxonomy.config import CONFIG_FILE, REVIEWED_FILES, Curation

_DATA = (".yaml", ".yml", ".json", ".jsonl", ".csv", ".tsv")


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
) -> Analysis:
    """The facts of the head's ``snapshot``: only folders in ``changes``, only undecided queries.

    ``at`` is the time of the head.  A contribution that ``release`` holds back is not read.  ``known`` are the ledger's
    classifications by key, which are reused.  ``measured`` is the impact of a change of taxonomy or config.
    """
    problems: list[Problem] = list(measured.problems)
    problems += path_problems(snapshot, {change.path for change in changes})
    touched = touches(changes)
    held = bool(touched) and release.is_held
    packages: tuple[Package, ...] = ()
    if not held:
        packages = refuse_shared_ids(_packages(platform, snapshot, changes, problems), platform.regression_set)
    fixtures = fixtures_of(platform.config, snapshot)
    if fixtures is not None:
        problems += [
            problem for package in packages for problem in missing_fixtures(package.submission.queries, fixtures)
        ]
    if any(place in touched for place in ("taxonomy", "config", "regression_set")):
        problems += _faults_of_reviewed_files(snapshot)
    found = classify_all(platform, with_unique_ids(packages), known, backend, progress)
    identity = backend.identity
    submissions = [facts.submission for facts in found.submissions]
    agents = submission_folders(snapshot)
    return Analysis(
        format=FORMAT,
        repository=event.repository,
        at=at,
        held=held,
        touches=touched,
        judged=JudgedFacts(
            pull_request=event.pull_request,
            base=base,
            head=head,
            identity=identity,
            submissions=found.submissions,
            problems=tuple(without_secrets(problem) for problem in InputError(problems).problems),
            set_changes=set_changes(changes, snapshot.paths(FOLDER), _evictions(snapshot, changes)),
            departing={} if held else departing(platform.regression_set, submissions, changes, agents),
        ),
        work=ClassifierWork(
            reused=found.reused,
            classified=found.classified,
            stopped=StoppedFacts.of(found.error or measured.stopped),
            usage=total([backend.usage, measured.usage]),
        ),
        impact=measured.impact,
        follows=measured.follows,
        config=_config_text(snapshot) if any(change.path == CONFIG_FILE for change in changes) else None,
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
        specification = package.specification
        expected = {query.id: expectation(query, specification) for query in package.submission.queries}
        declared = declared_values(platform.taxonomy, specification)
        # What somebody wrote into the ledger that no classifier says is not known.
        before: dict[str, Classification] = {}
        for query in queries:
            kept = known.get(keys[query.id])
            if kept is None:
                continue
            kept = with_tool_names(kept, specification)
            if not any(impossible(query, expected[query.id], kept, platform.taxonomy, backend, declared)):
                before[query.id] = kept
        found = classify_package(platform, package, backend, progress, before, line=line)
        findings = {query.id: known_by(backend, query.classified_turns) for query in queries}
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
    present = set(submission_folders(snapshot))
    touched = touched_agents(changes)
    refused = refused_folders(touched & present, present)
    problems += [
        Problem(path, None, "the file lies in no agent's folder", "move it to eval_sets/<customer>/<agent>/")
        for path in sorted(changed)
        if path.startswith(f"{EVAL_SETS}/")
        and agent_folder_of(path) is None
        and snapshot.exists(path)
        and path.endswith(_DATA)
    ]
    for folder in sorted(touched & present):
        if folder in refused:
            problems.append(refused[folder])
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


def _config_text(snapshot: CommitSnapshot) -> str | None:
    """The head's config, if it can be handed over as a text."""
    try:
        text = snapshot.read(CONFIG_FILE, REVIEWED_FILES).decode("utf-8")
    except (InputError, UnicodeDecodeError):
        return None
    return text if len(text) <= LONGEST_CONFIG else None


def _evictions(snapshot: CommitSnapshot, changes: Sequence[ChangedFile]) -> dict[str, EvictionFacts]:
    """What the tombstones among ``changes`` say, by path."""
    found = {change.path: _eviction(snapshot, change.path) for change in changes}
    return {path: eviction for path, eviction in found.items() if eviction is not None}


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
