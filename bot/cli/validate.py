"""``incumbent validate``: every fault of a platform repository at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from bot.cli.options import json_option, print_json, repository_options, say
from bot.cli.taxonomy_change import taxonomy_at
from bot.config import REVIEWED_FILES, config_notes, load_config
from bot.curator.corrections import load_corrections
from bot.curator.journal import refuse_half_written
from bot.curator.store import load_regression_set
from bot.errors import InputError, Problem, UsageError
from bot.files.documents import parse_yaml
from bot.files.snapshot import WorkingTree
from bot.git.working_copy import read_changed, read_top
from bot.intake.fixtures import missing_fixtures
from bot.pipeline.impact.model import CapabilityImpact
from bot.pipeline.package_reading import PackageReader
from bot.pipeline.review import fixtures_of, refuse_other_folders
from bot.pipeline.submission import Package, collect, submission_folders
from bot.report.output import ValidateOutput
from bot.taxonomy.loading import TAXONOMY_FILE, load_taxonomy, taxonomy_notes
from bot.text.masking import mask_by


@click.command("validate")
@click.option(
    "--from",
    "since",
    metavar="COMMIT",
    help="Appraise the capabilities that the taxonomy adds or changes since this commit.",
)
@click.option(
    "--changed",
    "base",
    metavar="COMMIT",
    help="Read only those eval sets that differ from where this branch left COMMIT, as in origin/main.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Processes that read eval sets (default: one per core; few eval sets take one).",
)
@repository_options
@json_option
def command(
    since: str | None, base: str | None, processes: int | None, repo: Path, config_path: str, as_json: bool
) -> int:
    """Check taxonomy, config, corrections, regression set and all eval sets; every fault with its file, line and fix.

    Notes stop nothing: what a reader remarked (not read, sources that disagree), capabilities with few exemplars, and
    keys of the config that have no effect. With --from it says what to expect of new and changed capabilities, which
    fits the embedded classifier; a language model is not asked. With --changed the time does not grow with the number
    of customers; taxonomy, config and regression set are checked whole.

    \b
    Examples:
      incumbent validate
      incumbent validate --from main
      incumbent validate --changed origin/main
      incumbent validate --repo ../platform --json
    """
    refuse_half_written(repo)
    if since is not None and base is not None:
        raise UsageError("--from looks at all eval sets, and --changed at some: give one of the two")
    chosen = None if base is None else _folders_of(_changed(repo, base))
    old = None if since is None else taxonomy_at(repo, since)[1]
    snapshot = WorkingTree(repo, "" if repo == Path() else repo.as_posix())
    refuse_other_folders(snapshot)
    problems: list[Problem] = []
    notes: list[Problem] = []
    taxonomy = collect(lambda: load_taxonomy(snapshot), problems)
    known = frozenset(taxonomy.by_id) if taxonomy is not None else None
    config = collect(lambda: load_config(snapshot, known, config_path), problems)
    if config is not None:
        mask_by(config.personal_data.shown)
        notes.extend(config_notes(snapshot, config_path))
    if taxonomy is not None:
        notes.extend(taxonomy_notes(snapshot, taxonomy, None if config is None else config.appraisal))
    known_set = collect(lambda: load_regression_set(snapshot, taxonomy), problems)
    collect(lambda: load_corrections(snapshot, taxonomy), problems)
    packages: list[Package] = []
    if config is not None:
        folders = collect(lambda: submission_folders(snapshot), problems) or ()
        reader = PackageReader(snapshot, config)
        read = [folder for folder in folders if chosen is None or folder in chosen]
        for reading in reader.read_all(read, processes or _processors()):
            problems.extend(reading.problems)
            if reading.package is not None:
                notes.extend(reading.package.submission.notes)
                packages.append(reading.package)
        fixtures = fixtures_of(config, snapshot)
        if fixtures is not None:
            queries = (query for package in packages for query in package.submission.queries)
            problems.extend(missing_fixtures(queries, fixtures))
    appraisals: tuple[CapabilityImpact, ...] = ()
    if old is not None and taxonomy is not None and config is not None and known_set is not None:
        from bot.cli.taxonomy_change import appraised
        from bot.pipeline.impact.appraisal import trial_problems
        from bot.pipeline.review import Platform

        platform = Platform(taxonomy=taxonomy, config=config, regression_set=known_set)
        appraisals = appraised(old, platform, packages, repo)
        document = parse_yaml(snapshot.read(TAXONOMY_FILE, REVIEWED_FILES), TAXONOMY_FILE, REVIEWED_FILES)
        problems.extend(trial_problems(appraisals, taxonomy, document))
    notes.sort(key=lambda note: note.order)
    if as_json:
        ordered = InputError(problems).problems
        print_json(
            ValidateOutput(
                problems=list(ordered),
                notes=list(notes),
                appraisals=list(appraisals),
            )
        )
        return InputError.exit_code if problems else 0
    for note in notes:
        say(f"note: {note}")
    if appraisals:
        from bot.report.impact_text import appraisals_text

        say(appraisals_text(appraisals))
    if problems:
        raise InputError(problems)
    which = "eval sets" if chosen is None else f"the eval sets that differ ({len(packages)})"
    say(f"taxonomy, config, regression set and {which} are valid")
    return 0


def _changed(repo: Path, base: str) -> frozenset[str]:
    if read_top(repo) is None:
        raise UsageError(f"{repo} is not inside a git repository, so nothing says what changed: leave --changed out")
    return read_changed(repo, base)


def _folders_of(paths: Iterable[str]) -> frozenset[str]:
    """The agent folders of ``paths``; a folder whose last file was removed no longer exists and cannot be read."""
    return frozenset("/".join(path.split("/")[:3]) for path in paths)


def _processors() -> int:
    """The number of cores that this process may use, if the system reports it; else the number there are."""
    if sys.platform != "linux":
        return os.cpu_count() or 1
    return len(os.sched_getaffinity(0))
