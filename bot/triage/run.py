"""The steps of a triage in their order; each begins where it was left."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.classifier.model import Backend, Stages
from bot.errors import IncompleteError, Problem
from bot.pipeline import Platform
from bot.submission import Package
from bot.triage.classifying import Ground, Representative, settled_by
from bot.triage.cluster import Cluster
from bot.triage.eval_set import render_eval_set
from bot.triage.gathering import (
    Preparing,
    bands_of,
    write_distinct,
    write_keys,
    write_representatives,
    write_texts,
)
from bot.triage.markdown import render_triage
from bot.triage.plan import Work
from bot.triage.processes import CLASSIFIED_FOLDER, classify_shards, concerned, missing, shards
from bot.triage.reading import Columns, read_rows
from bot.triage.shortlist import Shortlist, choose
from bot.triage.summary import Summary, summarise
from bot.triage.tables import connected

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """What a triage is of: ``inputs`` with their ``columns``, asked of ``packages`` by the names that rows have.

    ``processes`` of this machine do what takes long; classifying does the ``cluster``, if there is one.
    """

    platform: Platform
    inputs: tuple[Path, ...]
    columns: Columns
    packages: Mapping[str, Package]
    processes: int
    shows: bool
    cluster: Cluster | None = None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of it; ``unreadable`` rows are counted, and the first of them listed as ``problems``."""

    rows: int
    unreadable: int
    problems: tuple[Problem, ...]
    texts: int
    summary: Summary
    shortlist: Shortlist


def triage(assignment: Assignment, backend: Backend, work: Work, out: Path, stages: Stages) -> Outcome:
    """All steps; at the end ``out`` is there as a whole, in place of an older one.

    Raises :class:`IncompleteError` where the classifier said nothing of some: the same command asks again.
    """
    platform, settings = assignment.platform, assignment.platform.config.triage
    with ExitStack() as held:
        connection = held.enter_context(connected(work.folder, settings.megabytes))
        gathered = _gather(assignment, connection, work, stages)
        ground = Ground(platform=platform, packages=assignment.packages, identity=backend.identity)
        ground = _with_settled(ground, connection, work)
        classify_shards(
            work.folder,
            ground,
            backend,
            assignment.processes,
            settings.megabytes,
            stages("shards classified"),
            assignment.cluster,
        )
        lacking = missing(connection, shards(work.folder, CLASSIFIED_FOLDER), settings.listed)
        if lacking:
            told = "; ".join(f"{id}: {why}" for id, why in lacking.items())
            raise IncompleteError(f"not classified: {told}; run again, which asks for these alone")
        shortlist = choose(connection, work.folder, ground)
        temporary = out.with_name(f"{out.name}.part")
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        summary = summarise(connection, work.folder, temporary, ground, shortlist, settings.shown)
    outcome = Outcome(
        rows=gathered["rows"],
        unreadable=gathered["unreadable"],
        problems=tuple(Problem(*each) for each in gathered["problems"]),
        texts=gathered["texts"],
        summary=summary,
        shortlist=shortlist,
    )
    _write(outcome, assignment, temporary)
    # An older result stays until there is a new one.
    if out.exists():
        shutil.rmtree(out)
    temporary.replace(out)
    return outcome


def _gather(assignment: Assignment, connection: DuckDBPyConnection, work: Work, stages: Stages) -> dict[str, Any]:
    """Steps up to the representatives; returns what was counted."""
    platform, settings = assignment.platform, assignment.platform.config.triage
    agents = frozenset(assignment.packages)
    reading = (assignment.inputs, assignment.columns, agents, platform.config.limits, settings.megabytes)
    if not work.is_done("keys"):
        shown = stages("rows read")
        counted, problems = write_keys(
            connection, work.folder, read_rows(*reading), settings.listed, lambda done: shown(done, done + 1)
        )
        kept = [[each.file, each.line, each.message, each.fix] for each in problems]
        texts = write_distinct(connection, work.folder)
        result = {"rows": counted[0], "unreadable": counted[1], "problems": kept, "texts": texts}
        work.finish("keys", result)
    gathered: dict[str, Any] = work.said("keys")
    if not work.is_done("texts"):
        personal = platform.config.personal_data
        preparing = Preparing(
            detectors={name: personal.detector(each.submission.customer) for name, each in assignment.packages.items()},
            shows=assignment.shows,
            settings=settings,
            bands=bands_of(settings),
        )
        shown = stages("texts masked")
        with ExitStack() as held:
            pool = None
            if assignment.processes > 1:
                pool = held.enter_context(ProcessPoolExecutor(assignment.processes, get_context("spawn")))
            write_texts(
                connection,
                work.folder,
                read_rows(*reading),
                preparing,
                pool,
                lambda done: shown(done, gathered["texts"]),
            )
        work.finish("texts")
    if not work.is_done("near"):
        write_representatives(connection, work.folder, settings)
        work.finish("near")
    return gathered


def _with_settled(ground: Ground, connection: DuckDBPyConnection, work: Work) -> Ground:
    found: Sequence[Representative] = list(concerned(connection, work.folder, ground))
    settled, edited = settled_by(ground.platform, ground.packages, found)
    return Ground(
        platform=ground.platform,
        packages=ground.packages,
        identity=ground.identity,
        settled=settled,
        edited=edited,
    )


def _write(outcome: Outcome, assignment: Assignment, folder: Path) -> None:
    """The eval sets, one per agent, and the report."""
    platform = assignment.platform
    for agent, package in sorted(assignment.packages.items()):
        chosen = [item for item in outcome.shortlist.chosen if item.agent == agent]
        if not chosen:
            continue
        submission = package.submission
        place = folder
        if len(assignment.packages) > 1:
            place = folder / "eval_sets" / submission.customer / submission.agent
            place.mkdir(parents=True)
        (place / "eval_set.yaml").write_text(render_eval_set(chosen), encoding="utf-8")
    reading = [
        ("rows read", outcome.rows),
        ("rows that could not be read", outcome.unreadable),
        ("exact duplicates", outcome.rows - outcome.texts),
        ("near duplicates", outcome.texts - outcome.summary.counts.representatives),
    ]
    names = {id: item.name for id, item in platform.taxonomy.by_id.items()}
    report = render_triage(outcome.summary, outcome.shortlist, names, reading, platform.config.triage.shown)
    (folder / "report.md").write_text(report, encoding="utf-8")
