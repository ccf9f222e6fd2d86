"""``incumbent validate``: every fault of a platform repository at once."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import json_option, print_json, repository_options, say
from bot.config import load_config
from bot.curator.store import load_regression_set
from bot.errors import InputError, Problem
from bot.report.output import ProblemOutput, ValidateOutput
from bot.snapshot import WorkingTree
from bot.submission import collect, read_package, submission_folders
from bot.taxonomy.loading import load_taxonomy, taxonomy_notes


@click.command("validate")
@repository_options
@json_option
def command(repo: Path, config_path: str, as_json: bool) -> int:
    """Check taxonomy, config, regression set and all eval sets; every fault with its file, line and fix.

    Notes are what a reader remarked (not read, sources that disagree): they stop nothing.

    \b
    Examples:
      incumbent validate
      incumbent validate --repo ../platform --json
    """
    snapshot = WorkingTree(repo, "" if repo == Path() else repo.as_posix())
    problems: list[Problem] = []
    notes: list[Problem] = []
    taxonomy = collect(lambda: load_taxonomy(snapshot), problems)
    known = frozenset(taxonomy.by_id) if taxonomy is not None else None
    config = collect(lambda: load_config(snapshot, known, config_path), problems)
    if taxonomy is not None:
        notes.extend(taxonomy_notes(snapshot, taxonomy, None if config is None else config.appraisal))
    collect(lambda: load_regression_set(snapshot, taxonomy), problems)
    if config is not None:
        for folder in collect(lambda: submission_folders(snapshot), problems) or ():
            customer, agent = folder.split("/")[1:]
            tree = WorkingTree(repo / folder, snapshot.name(folder))
            package = collect(
                lambda tree=tree, customer=customer, agent=agent, folder=folder: read_package(  # type: ignore[misc]
                    tree, customer, agent, folder, config.limits
                ),
                problems,
            )
            if package is not None:
                problems.extend(package.submission.problems)
                notes.extend(package.submission.notes)
    notes.sort(key=lambda note: note.order)
    if as_json:
        ordered = InputError(problems).problems
        print_json(
            ValidateOutput(
                problems=[ProblemOutput.of(problem) for problem in ordered],
                notes=[ProblemOutput.of(note) for note in notes],
            )
        )
        return InputError.exit_code if problems else 0
    for note in notes:
        say(f"note: {note}")
    if problems:
        raise InputError(problems)
    say("taxonomy, config, regression set and eval sets are valid")
    return 0
