"""From the files that people name to queries by agent, each with its specification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.config import Limits
from bot.curator.entry import Imported
from bot.curator.store import RegressionSet
from bot.errors import InputError, Problem
from bot.files.snapshot import Snapshot
from bot.intake.agents import read_specification
from bot.intake.agents.reading import find_specifications
from bot.intake.eval_sets.folder import Named, read_files
from bot.intake.query import EvalSet
from bot.intake.specification import UNDECLARED, Specification
from bot.pipeline.submission import Package, Submission, faults_of_names, refuse_shared_ids

NOT_DECLARED = Imported(declared=False)
_NAME_IT = "name the agent's folder with --agent-folder"


@dataclass(frozen=True, kw_only=True)
class ImportedAgent:
    """An agent's declaration, and how entries record its place; ``shown`` is the folder's name for people."""

    specification: Specification = UNDECLARED
    imported: Imported = NOT_DECLARED
    shown: str | None = None


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


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The place of an imported query, as its entry records it, and its specification."""

    eval_set: str
    spoken: ImportedAgent


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """The imports of one agent; ``origins`` are by query."""

    submission: Submission
    origins: Mapping[str, Origin]

    @property
    def eval_sets(self) -> tuple[str, ...]:
        """The files as entries record them, sorted."""
        return tuple(sorted({origin.eval_set for origin in self.origins.values()}))

    @property
    def specifications(self) -> tuple[str, ...]:
        """The folders of the agent's specification; none: nothing is declared."""
        return tuple(sorted({shown for item in self.origins.values() if (shown := item.spoken.shown) is not None}))

    @property
    def undeclared(self) -> int:
        """Queries that no specification speaks for."""
        return sum(item.spoken.shown is None for item in self.origins.values())


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
