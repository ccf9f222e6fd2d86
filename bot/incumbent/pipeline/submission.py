"""What a customer brings: an agent package and its eval sets, read from a folder of a snapshot, or from many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, TypeVar

from pydantic import Field, with_config

from incumbent.curator.entry import entry_id
from incumbent.curator.store import RegressionSet
from incumbent.errors import InputError, Problem
from incumbent.files.portable_names import fault_of_name, name_faults
from incumbent.files.snapshot import ByteBudgetSnapshot, Snapshot, WorkingTree
from incumbent.files.validation import FILE_CONFIG
from incumbent.intake.query import Query
from incumbent.intake.specification import Specification
from incumbent.taxonomy.config import Curation, Limits
from incumbent.text.masking import mask_by
from incumbent.text.personal_data.detector import personal_in_name
from incumbent.text.secrets import holds_key

EVAL_SETS = "eval_sets"

Value = TypeVar("Value")


@with_config(FILE_CONFIG)
@dataclass(frozen=True, kw_only=True)
class Submission:
    """The queries of one agent of one customer; ``problems`` are unreadable rows.

    ``notes`` are the readers' remarks on the agent and on what is expected of its tools.  Queries are named by the ids
    of their eval set, after ``prefix`` if several submissions are judged as one.  ``tools`` are the names of those that
    the agent declares (``None``: no declaration).  ``moved_from`` are the customer and agent of this folder before it
    was renamed, if it was.
    """

    customer: Annotated[str, Field(min_length=1)]
    agent: Annotated[str, Field(min_length=1)]
    folder: Annotated[str, Field(max_length=4096)]
    queries: tuple[Query, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()
    tools: tuple[str, ...] | None = None
    prefix: str = ""
    moved_from: tuple[str, str] | None = None

    def item(self, name: str) -> str:
        """The id that the query called ``name`` has within its eval set."""
        return name.removeprefix(self.prefix)

    def entry_id(self, name: str) -> str:
        """The id of the entry that the query called ``name`` has or would have."""
        return entry_id(*self.source(name))

    def source(self, name: str) -> tuple[str, str, str]:
        """The source of the query called ``name``: customer, agent and item."""
        return self.customer, self.agent, self.item(name)

    def previous_source(self, name: str) -> tuple[str, str, str] | None:
        """Its source before the folder was renamed, if it was."""
        return None if self.moved_from is None else (*self.moved_from, self.item(name))


@dataclass(frozen=True, kw_only=True)
class Package:
    """A submission and the agent specification of all its queries."""

    submission: Submission
    specification: Specification


def submission_folders(snapshot: Snapshot) -> tuple[str, ...]:
    """The folders ``eval_sets/<customer>/<agent>`` of a platform repository, sorted."""
    found = {tuple(path.split("/")[:3]) for path in snapshot.paths(EVAL_SETS) if path.count("/") > 2}
    return tuple("/".join(parts) for parts in sorted(found))


def agent_folder(customer: str, agent: str) -> str:
    """The folder of an agent in a platform repository."""
    return f"{EVAL_SETS}/{customer}/{agent}"


def agent_name(folder: str) -> str:
    """The agent in ``folder`` of a platform repository, as ``customer/agent``."""
    return folder.removeprefix(f"{EVAL_SETS}/")


def read_package(snapshot: Snapshot, customer: str, agent: str, folder: str, limits: Limits) -> Package:
    """The agent specification and eval sets in ``snapshot``; raises :class:`InputError` if nothing can be judged."""
    # Imported here: most runs after a merge read no eval set, and the readers are slow to load.
    from incumbent.intake.agents.reading import read_specification
    from incumbent.intake.eval_sets.folder import read_eval_sets
    from incumbent.intake.expectation_remarks import expectation_remarks
    from incumbent.intake.placeholder_remarks import placeholder_remarks

    problems = faults_of_names(customer, agent, folder)
    problems += [
        Problem(snapshot.name(place), None, *fault)
        for place, fault in name_faults((*snapshot.paths(), *snapshot.links()), agent_folder(customer, agent)).items()
    ]
    snapshot = ByteBudgetSnapshot(snapshot, limits.package_bytes)
    eval_sets = collect(lambda: read_eval_sets(snapshot, limits), problems)
    read = {eval_set.file for eval_set in eval_sets or ()}
    specification = collect(lambda: read_specification(snapshot, limits, read), problems)
    if specification is None or eval_sets is None or problems:
        rows = () if eval_sets is None else eval_sets
        raise InputError(_each_once([*problems, *(problem for eval_set in rows for problem in eval_set.problems)]))
    queries = tuple(query for eval_set in eval_sets for query in eval_set.queries)
    submission = Submission(
        customer=customer,
        agent=agent,
        folder=folder,
        queries=queries,
        problems=tuple(problem for eval_set in eval_sets for problem in eval_set.problems),
        notes=(*specification.notes, *expectation_remarks(queries, specification), *placeholder_remarks(queries)),
        tools=None if specification.tools is None else tuple(tool.name for tool in specification.tools),
    )
    return Package(submission=submission, specification=specification)


def faults_of_names(customer: str, agent: str, folder: str) -> list[Problem]:
    """The faults of the names of a customer and an agent, which become part of entry ids and file names."""
    found = []
    for what, name in (("the customer", customer), ("the agent", agent)):
        holds = "what looks like a key" if holds_key(name) else personal_in_name(name)
        if holds:
            fix = "rename its folder, or give it another name: names become names of files"
            found.append(Problem(folder, None, f"the name of {what} holds {holds}", fix))
        if (fault := fault_of_name(name)) is not None:
            found.append(Problem(folder, None, f"the name of {what}: {fault.message}", fault.fix))
    return found


def _each_once(problems: Sequence[Problem]) -> list[Problem]:
    """``problems`` without the later ones of one place and message.

    A broken file of the agent is found by the reader of agents, and again as a data file that may be an eval set.
    """
    found: dict[tuple[str, int | None, str], Problem] = {}
    for problem in problems:
        found.setdefault((problem.file, problem.line, problem.message), problem)
    return list(found.values())


def find_specification(snapshot: Snapshot, limits: Limits) -> Specification | None:
    """The specification of the agent in ``snapshot``, for optional use; ``None`` if it cannot be read."""
    from incumbent.intake.agents.reading import read_specification

    try:
        return read_specification(snapshot, limits)
    except InputError:
        return None


def refuse_shared_ids(packages: Sequence[Package], regression_set: RegressionSet) -> tuple[Package, ...]:
    """``packages`` without queries whose entry would have another's id; each is a fault of its row.

    An id is a slug and a short hash, so that two names with the same id can be found by trying: a decision on one query
    would apply to the other.
    """
    taken = {id: place for place, id in regression_set.by_source.items()}
    found = []
    for package in packages:
        submission = package.submission
        kept, problems = [], []
        for query in submission.queries:
            place, previous = submission.source(query.id), submission.previous_source(query.id)
            if taken.setdefault(entry_id(*place), place) in (place, previous):
                kept.append(query)
            else:
                other = "/".join(taken[entry_id(*place)])
                message = f"its entry would have the same id as that of {other}"
                problems.append(Problem(query.file, query.line, message, "give the query another id"))
        submission = replace(submission, queries=tuple(kept), problems=(*submission.problems, *problems))
        found.append(replace(package, submission=submission))
    return tuple(found)


def with_unique_ids(packages: Sequence[Package]) -> tuple[Package, ...]:
    """``packages`` to be judged as one: if there are several, each query is named ``customer/agent/id``."""
    if len(packages) < 2:
        return tuple(packages)
    return tuple(map(with_agent_in_ids, packages))


def with_agent_in_ids(package: Package) -> Package:
    """``package`` with its queries named ``customer/agent/id``."""
    submission = package.submission
    prefix = f"{submission.customer}/{submission.agent}/"
    queries = tuple(replace(query, id=prefix + query.id) for query in submission.queries)
    return replace(package, submission=replace(submission, queries=queries, prefix=prefix))


def collect(read: Callable[[], Value], problems: list[Problem]) -> Value | None:
    """The result of ``read``; its faults are added to ``problems``, so that others are found in the same run."""
    try:
        return read()
    except InputError as error:
        problems.extend(error.problems)
        return None


_WORTH_A_PROCESS: Final = 100
"""The number of packages whose reading takes about as long as the start of a process."""
_AT_A_TIME: Final = 20
"""The number of packages that a process reads before it returns them, or stops."""


@dataclass(frozen=True)
class PackageReader:
    """Reads packages of the platform ``repository``, with the limits of ``config``."""

    repository: WorkingTree
    config: Curation

    def read(self, folder: str) -> tuple[Package | None, tuple[Problem, ...]]:
        """The package in ``folder``, or ``None`` where it cannot be judged, and the problems of the folder."""
        _, customer, agent = folder.split("/")
        tree = WorkingTree(self.repository.root / folder, self.repository.name(folder))
        problems: list[Problem] = []
        package = collect(lambda: read_package(tree, customer, agent, folder, self.config.limits), problems)
        if package is not None:
            problems.extend(package.submission.problems)
        return package, tuple(problems)

    def read_all(self, folders: Sequence[str], processes: int) -> list[tuple[Package | None, tuple[Problem, ...]]]:
        """The packages in ``folders``, in this order.

        It takes at most this number of ``processes``, and this process alone where there are few folders.  Raises
        :class:`OutsideError` where a process dies.
        """
        processes = min(processes, len(folders) // _WORTH_A_PROCESS)
        if processes < 2:
            return [self.read(folder) for folder in folders]
        # Imported here: few repositories have so many, and it is slow to load.
        from incumbent.pipeline.worker_pool import worker_pool

        parts = [folders[start : start + _AT_A_TIME] for start in range(0, len(folders), _AT_A_TIME)]
        fix = "run the command again, with --processes 1 if the memory was full"
        with worker_pool(processes, fix, _begin, self) as pool:
            running = [pool.submit(_read, part) for part in parts]
            return [reading for each in running for reading in each.result()]


_readers: list[PackageReader] = []


def _begin(reader: PackageReader) -> None:
    mask_by(reader.config.personal_data.shown)
    _readers.append(reader)


def _read(folders: Sequence[str]) -> list[tuple[Package | None, tuple[Problem, ...]]]:
    return [_readers[0].read(folder) for folder in folders]
