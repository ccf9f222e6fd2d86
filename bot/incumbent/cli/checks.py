"""``incumbent validate``, ``config`` and ``scan``: what the files of a platform repository hold, and their faults."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import click

from incumbent.cli.options import (
    FOLDER,
    all_option,
    curating,
    folder_name,
    json_option,
    open_backend,
    repository_options,
    tree_of,
)
from incumbent.cli.output import print_json, progress_bar, say, show_problems, show_usage
from incumbent.errors import InputError, Problem, UsageError
from incumbent.files.snapshot import WorkingTree
from incumbent.taxonomy.config import REVIEWED_FILES, load_config
from incumbent.text.masking import mask_by

if TYPE_CHECKING:
    from incumbent.curator.entry import Entry
    from incumbent.pipeline.impact.model import CapabilityImpact
    from incumbent.pipeline.reclassify import Renewal
    from incumbent.pipeline.review import Platform
    from incumbent.pipeline.scan import FolderScan
    from incumbent.pipeline.submission import Package
    from incumbent.report.scan_output import ScanOutput


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
def validate_command(
    since: str | None, base: str | None, processes: int | None, repo: Path, config_path: str, as_json: bool
) -> int:
    """Check taxonomy, config, corrections, regression set and all eval sets; every fault with its file, line and fix.

    Links and names that not every system can hold are faults, too.

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
    from incumbent.classifier.embedded.fitting_cost import too_many_exemplars
    from incumbent.cli.taxonomy import appraised, taxonomy_at
    from incumbent.curator.corrections import load_corrections
    from incumbent.curator.journal import refuse_half_written
    from incumbent.curator.store import load_regression_set
    from incumbent.files.documents import parse_yaml
    from incumbent.intake.query import missing_fixtures
    from incumbent.pipeline.repository_paths import path_problems, refused_folders
    from incumbent.pipeline.review import Platform, fixtures_of, refuse_other_folders
    from incumbent.pipeline.submission import PackageReader, collect, submission_folders
    from incumbent.report.output import ValidateOutput
    from incumbent.taxonomy.loading import TAXONOMY_FILE, load_taxonomy, taxonomy_notes

    refuse_half_written(repo)
    if since is not None and base is not None:
        raise UsageError("--from looks at all eval sets, and --changed at some: give one of the two")
    changed = None if base is None else _changed(repo, base)
    old = None if since is None else taxonomy_at(repo, since)[1]
    snapshot = tree_of(repo)
    refuse_other_folders(snapshot)
    problems: list[Problem] = []
    notes: list[Problem] = []
    taxonomy = collect(lambda: load_taxonomy(snapshot), problems)
    known = frozenset(taxonomy.by_id) if taxonomy is not None else None
    config = collect(lambda: load_config(snapshot, known, config_path), problems)
    if config is not None:
        mask_by(config.personal_data.shown)
        notes.extend(config.notes)
    if taxonomy is not None:
        notes.extend(taxonomy_notes(snapshot, taxonomy, None if config is None else config.appraisal))
        refused = None if config is None else too_many_exemplars(taxonomy, config)
        problems.extend(() if refused is None else (refused,))
    known_set = collect(lambda: load_regression_set(snapshot, taxonomy), problems)
    notes.extend(() if known_set is None else known_set.notes)
    collect(lambda: load_corrections(snapshot, taxonomy), problems)
    packages: list[Package] = []
    chosen = None
    if changed is not None and config is not None and not _concerns_all(changed, config_path, config.fixtures_folder):
        chosen = _folders_of(changed)
    problems.extend(collect(lambda: path_problems(snapshot, None if chosen is None else changed), problems) or ())
    if config is not None:
        folders = collect(lambda: submission_folders(snapshot), problems) or ()
        reader = PackageReader(snapshot, config)
        read = [folder for folder in folders if chosen is None or folder in chosen]
        ill_named = refused_folders(read, folders)
        read = [folder for folder in read if folder not in ill_named]
        for package, faults in reader.read_all(read, processes or _processors()):
            problems.extend(faults)
            if package is not None:
                notes.extend(package.submission.notes)
                packages.append(package)
        fixtures = fixtures_of(config, snapshot)
        if fixtures is not None:
            queries = (query for package in packages for query in package.submission.queries)
            problems.extend(missing_fixtures(queries, fixtures))
    appraisals: tuple[CapabilityImpact, ...] = ()
    if old is not None and taxonomy is not None and config is not None and known_set is not None:
        from incumbent.pipeline.impact.appraisal import trial_problems

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
        from incumbent.report.impact import appraisals_text

        say(appraisals_text(appraisals))
    if problems:
        raise InputError(problems)
    which = "eval sets" if chosen is None else f"the eval sets that differ ({len(packages)})"
    say(f"taxonomy, config, regression set and {which} are valid")
    return 0


def _changed(repo: Path, base: str) -> frozenset[str]:
    from incumbent.files.git.working_copy import read_changed, read_top

    if read_top(repo) is None:
        raise UsageError(f"{repo} is not inside a git repository, so nothing says what changed: leave --changed out")
    return read_changed(repo, base)


def _concerns_all(paths: Iterable[str], config_path: str, fixtures: str | None) -> bool:
    """Whether one of ``paths`` may make an unchanged eval set invalid: the config with its limits, or a fixture."""
    folder = None if fixtures is None else PurePosixPath(fixtures)
    return any(
        PurePosixPath(path) == PurePosixPath(config_path)
        or (folder is not None and PurePosixPath(path).is_relative_to(folder))
        for path in paths
    )


def _folders_of(paths: Iterable[str]) -> frozenset[str]:
    """The agent folders of ``paths``; a folder whose last file was removed no longer exists and cannot be read."""
    return frozenset("/".join(path.split("/")[:3]) for path in paths)


def _processors() -> int:
    """The number of cores that this process may use, if the system reports it; else the number there are."""
    if sys.platform != "linux":
        return os.cpu_count() or 1
    return len(os.sched_getaffinity(0))


@click.command("config")
@repository_options
@json_option
def config_command(repo: Path, config_path: str, as_json: bool) -> None:
    """Show the config in effect: each key, its value, and the file and line that it comes from.

    A key that the platform's file leaves out has the default that ships with Incumbent.

    \b
    Examples:
      incumbent config
      incumbent config --config config/paper.yaml
      incumbent config --json | jq '.values[] | select(.is_default | not)'
    """
    from incumbent.report.console import Printer
    from incumbent.report.effective_config import effective_config, print_config

    tree = tree_of(repo)
    # The capabilities of overrides are not checked, so that a fault of the taxonomy does not hide the config.
    config = load_config(tree, None, config_path)
    mask_by(config.personal_data.shown)
    for note in config.notes:
        say(f"note: {note}", err=True)
    output = effective_config(config, tree, config_path)
    if as_json:
        print_json(output)
    else:
        print_config(output, Printer())


@click.command("scan")
@click.argument("paths", nargs=-1, type=FOLDER, metavar="[DIR]...")
@click.option("--replace", is_flag=True, help="Write made-up values in place of personal data.")
@click.option(
    "--customer",
    metavar="NAME",
    callback=folder_name,
    help="Whose values the config allows (default: the name of the folder above).",
)
@repository_options
@all_option
@json_option
def scan_command(
    paths: tuple[Path, ...],
    replace: bool,
    customer: str | None,
    repo: Path,
    config_path: str,
    everything: bool,
    as_json: bool,
) -> int:
    """Find personal data and secrets in the eval sets of each DIR; without one, in the regression set.

    The regression set is all of it: entries, those that wait for a slot, tombstones, and corrections by hand. DIR is a
    folder of eval sets, a customer's folder, or eval_sets. Ends with 0 if nothing is found or all of it was
    replaced, and with 1 otherwise. Secrets are never replaced.

    --replace changes the values alone: the rest of a customer's file stays byte for byte. A file that would not be
    read as the same queries is not changed. Entries with another text are classified again. Replace in the regression
    set and in its eval sets in one commit, so that each query still belongs to its entry.

    \b
    Examples:
      incumbent scan
      incumbent scan eval_sets/contoso/repairs
      incumbent scan eval_sets --replace && incumbent scan --replace
    """
    from incumbent.pipeline.scan import folders_of
    from incumbent.pipeline.workspace import open_platform
    from incumbent.report.console import Printer
    from incumbent.report.scan_output import print_scan
    from incumbent.report.verdict_text import PlainStyle

    folders = list({folder.resolve(): folder for path in paths for folder in folders_of(repo, path)}.values())
    with curating(*(folders if paths else [repo])) if replace else nullcontext():
        platform = open_platform(repo, config_path)
        if paths:
            output, problems = _scan_folders(platform, folders, customer, replace)
        else:
            output, problems = _scan_set(platform, repo, replace), ()
    if as_json:
        print_json(output)
    else:
        print_scan(output, replace, PlainStyle(platform.taxonomy), Printer(everything))
    show_problems(problems)
    left = any(item.secret or item.to_do or not replace for item in output.found) or output.kept
    return InputError.exit_code if left or problems else 0


def _scan_folders(
    platform: Platform, folders: Sequence[Path], customer: str | None, replace: bool
) -> tuple[ScanOutput, tuple[Problem, ...]]:
    from incumbent.curator.file_changes import apply
    from incumbent.pipeline.scan import scan_folder
    from incumbent.pipeline.submission import faults_of_names
    from incumbent.report.scan_output import ScanOutput

    limits, personal = platform.config.limits, platform.config.personal_data
    scans: list[tuple[Path, FolderScan]] = []
    faults: list[Problem] = []
    for folder in folders:
        whose = customer or folder.resolve().parent.name
        try:
            scan = scan_folder(WorkingTree(folder, folder.as_posix()), limits, personal.detector(whose))
        except InputError as error:
            faults += error.problems
            continue
        scans.append((folder, scan))
    faults += [
        problem
        for folder in folders
        for problem in faults_of_names(folder.resolve().parent.name, folder.resolve().name, folder.as_posix())
    ]
    problems = (*faults, *(problem for _, scan in scans for each in scan.sets for problem in each.problems))
    changed: list[str] = []
    for folder, scan in scans:
        if replace:
            apply(scan.changes, folder)
            changed += [(folder / change.path).as_posix() for change in scan.changes]
    return (
        ScanOutput(
            found=[item.masked for _, scan in scans for item in scan.sightings],
            scanned=sum(len(each.queries) for _, scan in scans for each in scan.sets),
            changed=changed,
            kept={
                file: [item.masked for item in items]
                for _, scan in scans
                for file, items in (scan.kept.items() if replace else ())
            },
            reclassified=[],
            not_reclassified={},
            problems=list(problems),
            usage=None,
        ),
        problems,
    )


def _scan_set(platform: Platform, repo: Path, replace: bool) -> ScanOutput:
    from incumbent.cli.classification import classified_again
    from incumbent.curator.file_changes import apply
    from incumbent.pipeline.admit import refuse_incomplete
    from incumbent.pipeline.scan import replace_in_set, scan_set
    from incumbent.report.scan_output import ScanOutput

    tree, known = tree_of(repo), platform.regression_set
    found = scan_set(platform, tree)
    changed: list[str] = []
    entries: dict[str, Entry] = {}
    renewal: Renewal | None = None
    backend = None
    if replace and any(item.personal_data for item in found):
        replaced = replace_in_set(platform, tree)
        entries = dict(replaced.entries)
        if entries:
            backend = open_backend(platform, progress_bar)
            renewal = classified_again(entries.values(), platform, repo, backend, progress_bar("classifying"))
            refuse_incomplete(renewal.result.shortfalls, renewal.result.stopped)
            entries |= renewal.renewed(platform.taxonomy, backend.identity, {**platform.corrections, **replaced.said})
        changes = replaced.changes(known, entries, tree)
        apply(changes, repo)
        changed = [change.path for change in changes]
        if backend is not None:
            show_usage(backend)
    return ScanOutput(
        found=[item.masked for item in found],
        scanned=len(known.entries) + len(known.waiting) + len(known.tombstones) + len(platform.corrections),
        changed=changed,
        kept={},
        reclassified=[] if renewal is None else sorted(renewal.result.classifications),
        not_reclassified={} if renewal is None else dict(renewal.kept),
        problems=[],
        usage=None if backend is None else backend.usage,
    )
