"""``incumbent scan``: personal data and secrets that are already in the repository, and how to remove them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import click

from bot.cli.options import (
    all_option,
    curating,
    folder_name,
    json_option,
    print_json,
    progress_bar,
    repository_options,
    show_problems,
    show_usage,
)
from bot.curator.entry import Entry
from bot.curator.file_changes import apply
from bot.errors import InputError, Problem
from bot.files.snapshot import WorkingTree
from bot.pipeline.preconditions import refuse_incomplete
from bot.pipeline.reclassify import Renewal, all_tasks, renew
from bot.pipeline.review import Platform
from bot.pipeline.scan import FolderScan, folders_of, replace_in_set, scan_folder, scan_set
from bot.pipeline.submission import faults_of_names, find_specification
from bot.pipeline.workspace import open_backend, open_platform
from bot.report.console import Printer
from bot.report.scan_output import ScanOutput, print_scan
from bot.report.verdict_text import PlainStyle


@click.command("scan")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="[DIR]...")
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
def command(
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
    tree, known = WorkingTree(repo, "" if repo == Path() else repo.as_posix()), platform.regression_set
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
            renewal = renew(
                all_tasks(entries.values(), platform.taxonomy),
                platform.taxonomy,
                backend,
                lambda folder: find_specification(WorkingTree(repo / folder, folder), platform.config.limits),
                progress_bar("classifying"),
            )
            refuse_incomplete(renewal.shortfalls, renewal.stopped)
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
        reclassified=[] if renewal is None else sorted(renewal.classifications),
        not_reclassified={} if renewal is None else dict(renewal.kept),
        problems=[],
        usage=None if backend is None else backend.usage,
    )
