"""The steps of a triage in their order; each continues where it was interrupted."""

from __future__ import annotations

import glob
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from incumbent.classifier.caching_backend import batching, through_batches
from incumbent.classifier.embedded.backend import EmbeddedBackend
from incumbent.classifier.model import Backend, Progress, Stages
from incumbent.errors import IncompleteError, InputError, OutsideError, Problem, UsageError
from incumbent.files.process import only_command_in
from incumbent.pipeline.review import Platform
from incumbent.pipeline.submission import Package
from incumbent.pipeline.workspace import open_backend
from incumbent.text.masking import mask_by
from incumbent.triage.classifying import Ground, settled_by
from incumbent.triage.gathering import (
    Preparing,
    bands_of,
    write_distinct,
    write_keys,
    write_representatives,
    write_texts,
)
from incumbent.triage.looking_order import LookingOrder, quick_config
from incumbent.triage.outcome import TriageOutcome, render_eval_set, render_triage
from incumbent.triage.processes import FIRST, ORDERED, REPRESENTATIVES, SECOND, TriageWorkers, make_pass, pool_of
from incumbent.triage.reading import Position, TrafficColumns, read_rows, refuse_changed
from incumbent.triage.shard_reading import concerned, missing, promising
from incumbent.triage.shortlist import choose
from incumbent.triage.stopping import StoppingRule
from incumbent.triage.summary import summarise
from incumbent.triage.tables import PART, connected, row_count, shards
from incumbent.triage.work_folder import Work, writing_to

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_NEW: Final = "new"
_OLDER: Final = "older"
"""A result before it is moved to its place, and the one that was there."""


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """The input of a triage: ``inputs`` with their ``columns``, and the ``packages`` by the names that rows have for
    them.

    ``stamps`` are :func:`stamp` of each input when the work began.  ``workers`` do the long steps; a cluster among them
    estimates and classifies alone.
    """

    platform: Platform
    inputs: tuple[Path, ...]
    stamps: tuple[tuple[int, int], ...]
    columns: TrafficColumns
    packages: Mapping[str, Package]
    workers: TriageWorkers
    shows: bool


def triage(
    assignment: Assignment,
    backend: Backend,
    work: Work,
    out: Path,
    stages: Stages,
    *,
    wait: bool,
    report: Callable[[str], None],
    replaces: bool = False,
) -> TriageOutcome:
    """Run all steps; at the end ``out`` is there completely, in place of an older result if it ``replaces`` one.

    Batch requests of ``backend`` are waited for if ``wait``; ``report`` gets their state.
    Raises :class:`UsageError` if ``out`` exists by then and may not be replaced.  Raises :class:`IncompleteError` if
    the embedded classifier has no result for some.  Queries that a language model could not classify are listed in the
    report, and asked again by the next run.
    """
    settings = assignment.platform.config.triage
    fix = f"free some of its disk, or give --work {work.folder} with --out on another disk; the same command goes on"
    with writing_to(out, fix, spilling=False):
        _recover(out)
    refuse_other(out, replaces=replaces)
    with ExitStack() as held:
        connection = held.enter_context(connected(work.folder, settings.megabytes))
        gathered = _gather(assignment, connection, work, stages)
        ground = Ground(platform=assignment.platform, packages=assignment.packages, identity=backend.identity)
        known = list(concerned(connection, work.folder, ground))
        settled, edited = settled_by(ground.platform, ground.packages, known)
        ground = replace(ground, settled=settled, edited=edited)
        patience = _estimate(assignment, connection, work, ground, stages)
        progress = stages("representatives classified")

        def classify() -> int | None:
            return _look(assignment, connection, work, ground, backend, patience, progress)

        looked, pending = through_batches(backend, classify, wait, report)
        if pending is not None:
            raise pending
        lacking = missing(connection, work.folder, looked, settings.listed)
        if lacking and isinstance(backend, EmbeddedBackend):
            reasons = "; ".join(f"{id}: {why}" for id, why in lacking.items())
            raise IncompleteError(f"not classified: {reasons}; run again, which asks for these alone")
        shortlist = choose(connection, work.folder, ground, stages("with merit judged"), looked)
        with writing_to(out, fix, spilling=False), _beside(out) as temporary:
            summary = summarise(connection, work.folder, temporary, ground, shortlist, settings.shown, looked)
            outcome = TriageOutcome(
                rows=gathered["rows"],
                unreadable=gathered["unreadable"],
                problems=tuple(Problem(*each) for each in gathered["problems"]),
                texts=gathered["texts"],
                summary=summary,
                shortlist=shortlist,
                unclassified=lacking,
            )
            _write(outcome, assignment, temporary)
            refuse_other(out, replaces=replaces)
            # An older result stays until there is a new one.
            older = temporary.with_name(_OLDER)
            try:
                if out.exists():
                    out.replace(older)
                temporary.replace(out)
            except BaseException:
                if older.exists() and not out.exists():
                    older.replace(out)
                raise
    return outcome


def refuse_other(out: Path, *, replaces: bool) -> None:
    """Raise :class:`UsageError` if ``out`` exists and is not a triage result that may be replaced."""
    if out.is_symlink():
        raise UsageError(f"{out} is a symbolic link, and is not overwritten; name the folder itself with --out")
    if out.exists() and not replaces:
        raise UsageError(f"{out} exists; name another folder with --out, or use --force to overwrite it")
    if out.exists() and not (out / "shortlist.parquet").is_file():
        raise UsageError(f"{out} is not the result of a triage, and is not overwritten; name another folder with --out")


def _recover(out: Path) -> None:
    """Remove what a killed run left beside ``out``, and restore an older result that it had moved away."""
    # As a temporary folder is called.
    pattern = re.compile(rf"{re.escape(out.name)}\.[a-z0-9_]{{8}}{re.escape(PART)}")
    for folder in sorted(out.parent.glob(f"{glob.escape(out.name)}.*{PART}")):
        if not pattern.fullmatch(folder.name) or folder.is_symlink() or not folder.is_dir():
            continue
        if not {path.name for path in folder.iterdir()} <= {_NEW, _OLDER}:
            continue
        with suppress(OutsideError), only_command_in(folder, ""):
            if (folder / _OLDER).exists() and not out.exists():
                (folder / _OLDER).replace(out)
            shutil.rmtree(folder)


@contextmanager
def _beside(out: Path) -> Iterator[Path]:
    """An empty folder on the disk of ``out``, in a temporary folder; both are removed at the end."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix=f"{out.name}.", suffix=PART, dir=out.parent) as name,
        # Another command to the same folder must not take it for the rest of a killed one.
        only_command_in(Path(name), f"another command writes {out}; wait until it has ended"),
    ):
        # A temporary folder itself is readable by its user only.
        folder = Path(name) / _NEW
        folder.mkdir()
        yield folder


def _gather(assignment: Assignment, connection: DuckDBPyConnection, work: Work, stages: Stages) -> dict[str, Any]:
    """Run the steps up to the representatives; returns the counts."""
    platform, settings = assignment.platform, assignment.platform.config.triage
    agents = frozenset(assignment.packages)
    reading = (assignment.inputs, assignment.columns, agents, platform.config.limits, settings.reading_megabytes)
    if not work.is_done("keys"):
        position, shown = Position(), stages("rows read")
        size = sum(size for size, _ in assignment.stamps)
        counted, problems = write_keys(
            connection,
            work.folder,
            read_rows(*reading, position),
            settings.listed,
            # Until all are read, the total is estimated from the mean size of the rows so far.
            lambda done, total: shown(done, total or round(done * size / max(1, position()))),
        )
        refuse_changed(assignment.inputs, assignment.stamps)
        if counted == (0, 0):
            fix = "name files of production traffic"
            raise InputError([Problem(str(path), None, "there is no row in it", fix) for path in assignment.inputs])
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
        masking = stages("texts masked")
        masking(0, gathered["texts"])
        with ExitStack() as held:
            pool = None
            if assignment.workers.processes > 1:
                pool = held.enter_context(
                    pool_of(assignment.workers.processes, mask_by, platform.config.personal_data.shown)
                )
            write_texts(
                connection,
                work.folder,
                read_rows(*reading),
                preparing,
                pool,
                lambda done: masking(done, gathered["texts"]),
            )
        refuse_changed(assignment.inputs, assignment.stamps)
        work.finish("texts")
    if not work.is_done("near"):
        write_representatives(connection, work.folder, settings, assignment.workers.processes, stages("texts compared"))
        # Shards stay as they are if another number of processes goes on.
        work.finish("near", assignment.workers.processes)
    return gathered


def _estimate(
    assignment: Assignment, connection: DuckDBPyConnection, work: Work, ground: Ground, stages: Stages
) -> int | None:
    """Estimate what representatives may bring; returns how many in a row may bring nothing.

    ``None``: all are looked at, since the config says so or the classifier itself is as quick as an estimate.
    """
    platform, settings = assignment.platform, assignment.platform.config.triage
    quick = quick_config(platform.config)
    if quick is None or settings.stop_after is None:
        return None
    if not work.is_done("estimated"):
        quickly = replace(ground, platform=replace(platform, config=quick))
        backend = open_backend(quickly.platform, stages)
        every = shards(work.folder, FIRST.source)
        total = sum(row_count(connection, path) for path in every)
        show = stages("representatives estimated")
        make_pass(FIRST, work.folder, every, quickly, backend, assignment.workers, lambda done: show(done, total))
        work.finish("estimated")
    return settings.stop_after


def _look(
    assignment: Assignment,
    connection: DuckDBPyConnection,
    work: Work,
    ground: Ground,
    backend: Backend,
    patience: int | None,
    progress: Progress,
) -> int | None:
    """Classify round by round; returns how many representatives count, ``None`` for all."""
    rule = StoppingRule(ground.live(), ground.platform.config, patience)
    settings, workers = assignment.platform.config.triage, assignment.workers
    order = LookingOrder(connection, work.folder, ground, settings, work.said("near"))
    total = sum(row_count(connection, path) for path in shards(work.folder, REPRESENTATIVES))
    over = False

    def enough(shard: Path) -> bool:
        nonlocal over
        over = rule.follow(*promising(connection, shard, work.folder / ORDERED / shard.name))
        return over

    def show(done: int) -> None:
        progress(before + done, total)

    before = 0
    show(0)
    while not over and (every := order.write_round(rule.wants)):
        make_pass(SECOND, work.folder, every, ground, backend, workers, show, enough)
        before = rule.looked
        # What a batch will say decides what is looked at next.
        if batching(backend) is not None and missing(connection, work.folder, rule.looked, 1):
            return None
    return rule.looked if over else None


def _write(outcome: TriageOutcome, assignment: Assignment, folder: Path) -> None:
    """Write the eval sets, one per agent, and the report."""
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
    report = render_triage(
        outcome.summary, outcome.shortlist, names, reading, platform.config.triage.shown, outcome.unclassified
    )
    (folder / "report.md").write_text(report, encoding="utf-8")
