"""The files of an import: what is read of them, and the eval set of the queries that R can do without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from incumbent.classifier.model import Identity
from incumbent.curator.entry import Imported
from incumbent.curator.file_changes import FileChange, as_yaml
from incumbent.curator.prune import dispensable
from incumbent.curator.store import RegressionSet
from incumbent.errors import InputError, Problem
from incumbent.files.snapshot import Overlay, Snapshot
from incumbent.intake.agents.reading import find_specifications, read_specification
from incumbent.intake.eval_sets.folder import Named, read_eval_sets, read_files
from incumbent.intake.query import SETUP_FILE, EvalSet, Query, Setup
from incumbent.intake.specification import UNDECLARED
from incumbent.pipeline.import_plan import Bundle, ImportedAgent, ImportItem, ImportPlan, ImportStatus, Origin
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import (
    Package,
    Submission,
    agent_folder,
    collect,
    faults_of_names,
    read_package,
    refuse_shared_ids,
)
from incumbent.taxonomy.config import Limits
from incumbent.text.compare import text_key

_NAME_IT = "name the agent's folder with --agent-folder"


@dataclass(frozen=True, kw_only=True)
class Part:
    """The queries of one argument of the command line, for the set of ``customer``'s ``agent``.

    ``recorded`` is the folder as entries record it, which may be outside of the repository.
    """

    customer: str
    agent: str
    named: Named
    recorded: str
    spoken: ImportedAgent

    def eval_set(self, file: str) -> str:
        """The file that the snapshot calls ``file``, as entries record it."""
        label = self.named.snapshot.name("").rstrip("/")
        inner = file.removeprefix(f"{label}/") if label else file
        return f"{self.recorded}/{inner}" if self.recorded else inner


def read_agent(
    snapshot: Snapshot, limits: Limits, folder: str | None, *, asked: bool
) -> tuple[ImportedAgent, Problem | None]:
    """The agent in ``snapshot``, whose ``folder`` is in the repository (``None``: outside).

    Unless the folder was ``asked`` for, one with no agent, or with several, declares nothing; several are remarked on.
    Raises :class:`InputError` for a faulty specification.
    """
    shown = snapshot.name("").rstrip("/") or "."
    if not asked:
        found = find_specifications(snapshot, limits)
        if not found:
            return ImportedAgent(), None
        if len(found) > 1:
            files = ", ".join(snapshot.name(path) for path in found)
            return ImportedAgent(), Problem(
                shown, None, f"several agent specifications are here, so none is taken: {files}", _NAME_IT
            )
    specification = read_specification(snapshot, limits)
    return ImportedAgent(
        specification=specification, imported=Imported(declared=True, folder=folder), shown=shown
    ), None


def read_bundles(parts: Sequence[Part], limits: Limits, regression_set: RegressionSet) -> tuple[Bundle, ...]:
    """The queries of ``parts``, grouped by agent; raises one :class:`InputError` with every fault of every file.

    A set is imported completely or not at all: a missing row would not be noticed later.
    """
    problems: list[Problem] = []
    bundles: list[Bundle] = []
    for customer, agent in dict.fromkeys((part.customer, part.agent) for part in parts):
        own = [part for part in parts if (part.customer, part.agent) == (customer, agent)]
        problems.extend(faults_of_names(customer, agent, own[0].recorded))
        try:
            found = read_files([part.named for part in own], limits)
        except InputError as error:
            problems.extend(error.problems)
            continue
        bundles.append(_bundle(customer, agent, own, found))
    packages = [Package(submission=bundle.submission, specification=UNDECLARED) for bundle in bundles]
    checked = refuse_shared_ids(packages, regression_set)
    problems.extend(problem for package in checked for problem in package.submission.problems)
    if problems:
        raise InputError(problems)
    return tuple(bundles)


def _bundle(customer: str, agent: str, parts: Sequence[Part], found: Sequence[Sequence[EvalSet]]) -> Bundle:
    origins = {
        query.id: Origin(eval_set=part.eval_set(eval_set.file), spoken=part.spoken)
        for part, eval_sets in zip(parts, found, strict=True)
        for eval_set in eval_sets
        for query in eval_set.queries
    }
    every = [eval_set for eval_sets in found for eval_set in eval_sets]
    notes = {note: None for part in parts for note in part.spoken.specification.notes}
    submission = Submission(
        customer=customer,
        agent=agent,
        folder=parts[0].recorded,
        queries=tuple(query for eval_set in every for query in eval_set.queries),
        problems=tuple(problem for eval_set in every for problem in eval_set.problems),
        notes=tuple(notes),
    )
    return Bundle(submission=submission, origins=origins)


ARCHIVE_FILE: Final = "archived.yaml"
AGENT_FILE: Final = "agent.yaml"


def distilled(
    items: Sequence[ImportItem], plan: ImportPlan, platform: Platform, identity: Identity
) -> tuple[ImportItem, ...]:
    """``items``, with those as archived that R after ``plan`` can do without.

    Only new entries are archived: people decide on the others, by the suggestions of `incumbent prune`.
    """
    residents, stale = plan.after.residents(platform.taxonomy, identity)
    newcomers = {item.id for item in items if item.standing is ImportStatus.ADDED}
    stale_ids = {item.id for item in stale}
    gone = set(dispensable(residents, newcomers, platform.config, platform.taxonomy.major, stale_ids))
    return tuple(replace(item, standing=ImportStatus.ARCHIVED) if item.id in gone else item for item in items)


@dataclass(frozen=True, kw_only=True)
class ArchiveFolder:
    """The eval set folder ``eval_sets/<customer>/<agent>``, as the ``snapshot`` of it shows it."""

    customer: str
    agent: str
    snapshot: Snapshot

    @property
    def path(self) -> str:
        """The folder's path in the platform repository."""
        return agent_folder(self.customer, self.agent)


def plan_archive(items: Sequence[ImportItem], folder: ArchiveFolder, limits: Limits) -> tuple[FileChange, ...]:
    """The file changes after which the eval set ``folder`` holds the archived ones among ``items`` of its agent.

    Queries that another eval set of the folder holds need no second place.  Earlier archived queries stay, unless they
    are imported now.  The folder gets an agent that declares nothing if the import has none either.  Raises
    :class:`InputError` if the folder could not be read again as it is meant.
    """
    archived = [item for item in items if item.standing is ImportStatus.ARCHIVED]
    file = folder.snapshot.name(ARCHIVE_FILE)
    before = [
        query for each in collect(lambda: read_eval_sets(folder.snapshot, limits), []) or () for query in each.queries
    ]
    imported = {text_key(item.query.turns) for item in items}
    elsewhere = {text_key(query.turns) for query in before if query.file != file}
    kept = {query.id: query for query in before if query.file == file and text_key(query.turns) not in imported}
    kept |= {item.query.id: item.query for item in archived if text_key(item.query.turns) not in elsewhere}
    files: dict[str, str | None] = {}
    if kept:
        files[ARCHIVE_FILE] = as_yaml({"eval_set": 1, "queries": [_written(item) for item in kept.values()]})
        if _needs_agent(archived, folder, limits):
            files[AGENT_FILE] = _undeclared_agent(folder)
    elif folder.snapshot.exists(ARCHIVE_FILE):
        files[ARCHIVE_FILE] = None
    files = {path: text for path, text in files.items() if not _is_there(folder.snapshot, path, text, limits)}
    if kept and files:
        others = [query for query in before if query.file != file]
        _check([*others, *kept.values()], folder, files, limits)
    return tuple(FileChange(f"{folder.path}/{path}", text) for path, text in files.items())


def _written(query: Query) -> dict[str, object]:
    """``query`` as an eval set file has it."""
    found: dict[str, object] = {"id": query.id}
    found |= {"query": query.turns[0]} if len(query.turns) == 1 else {"turns": list(query.turns)}
    if query.expected is not None:
        found["expected"] = query.expected
    if query.setup != Setup():
        found["setup"] = SETUP_FILE.dump_python(query.setup, mode="json")
    return found


def _undeclared_agent(folder: ArchiveFolder) -> str:
    return as_yaml({"agent": 1, "name": folder.agent, "platform": "unknown"})


def _needs_agent(archived: Sequence[ImportItem], folder: ArchiveFolder, limits: Limits) -> bool:
    """Whether the folder must get an agent; raises :class:`InputError` if it would have another one than the import."""
    agents = find_specifications(folder.snapshot, limits)
    is_ours = _is_there(folder.snapshot, AGENT_FILE, _undeclared_agent(folder), limits)
    for imported in {item.origin.spoken.imported for item in archived}:
        if not imported.declared and agents and not is_ours:
            message = "the queries were imported without an agent, and this folder has one"
            raise InputError([Problem(folder.path, None, message, f"name it: --agent-folder {folder.path}")])
        if imported.declared and imported.folder != folder.path:
            message = "archived queries belong beside the specification of their agent, which is elsewhere"
            fix = f"move it to {folder.path}, or name the customer and the agent of its folder"
            raise InputError([Problem(folder.path, None, message, fix)])
    return not agents


def _is_there(snapshot: Snapshot, path: str, text: str | None, limits: Limits) -> bool:
    return text is not None and snapshot.exists(path) and snapshot.read(path, limits.reading) == text.encode()


def _check(meant: Sequence[Query], folder: ArchiveFolder, files: Mapping[str, str | None], limits: Limits) -> None:
    """Raise :class:`InputError` unless the folder with ``files`` reads as the queries that are ``meant``."""
    after = Overlay(folder.snapshot, files)
    found = read_package(after, folder.customer, folder.agent, folder.path, limits).submission
    if found.problems:
        raise InputError(found.problems)
    read = {query.id: text_key(query.turns) for query in found.queries}
    wrong = next((query.id for query in meant if read.get(query.id) != text_key(query.turns)), None)
    if wrong is not None:
        message = f"with the archived queries, the id {wrong} would no longer be that of the same query"
        fix = "another eval set of the folder uses the same ids: import the file under another --agent"
        raise InputError([Problem(folder.snapshot.name(ARCHIVE_FILE), None, message, fix)])
