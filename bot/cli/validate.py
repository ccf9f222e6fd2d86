"""``incumbent validate``: every fault of a platform repository at once."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.former_taxonomy import taxonomy_at
from bot.cli.options import json_option, print_json, repository_options, say
from bot.config import REVIEWED_FILES, load_config
from bot.curator.corrections import load_corrections
from bot.curator.journal import refuse_half_written
from bot.curator.store import load_regression_set
from bot.documents import parse_yaml
from bot.errors import InputError, Problem
from bot.impact.model import Appraisal
from bot.masking import mask_by
from bot.pipeline import refuse_other_folders
from bot.report.output import ProblemOutput, ValidateOutput
from bot.snapshot import WorkingTree
from bot.submission import Package, collect, read_package, submission_folders
from bot.taxonomy.loading import TAXONOMY_FILE, load_taxonomy, taxonomy_notes


@click.command("validate")
@click.option(
    "--from",
    "since",
    metavar="COMMIT",
    help="Appraise the capabilities that the taxonomy adds or changes since this commit.",
)
@repository_options
@json_option
def command(since: str | None, repo: Path, config_path: str, as_json: bool) -> int:
    """Check taxonomy, config, corrections, regression set and all eval sets; every fault with its file, line and fix.

    Notes are what a reader remarked (not read, sources that disagree), and capabilities with few exemplars: they stop
    nothing. With --from it says what to expect of new and changed capabilities, which fits the embedded classifier; a
    language model is not asked.

    \b
    Examples:
      incumbent validate
      incumbent validate --from main
      incumbent validate --repo ../platform --json
    """
    refuse_half_written(repo)
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
    if taxonomy is not None:
        notes.extend(taxonomy_notes(snapshot, taxonomy, None if config is None else config.appraisal))
    known_set = collect(lambda: load_regression_set(snapshot, taxonomy), problems)
    collect(lambda: load_corrections(snapshot, taxonomy), problems)
    packages: list[Package] = []
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
                packages.append(package)
    appraisals: tuple[Appraisal, ...] = ()
    if old is not None and taxonomy is not None and config is not None and known_set is not None:
        from bot.cli.appraised import appraised
        from bot.impact.appraisal import trial_problems
        from bot.pipeline import Platform

        platform = Platform(taxonomy=taxonomy, config=config, regression_set=known_set)
        appraisals = appraised(old, platform, packages, repo)
        document = parse_yaml(snapshot.read(TAXONOMY_FILE, REVIEWED_FILES), TAXONOMY_FILE, REVIEWED_FILES)
        problems.extend(trial_problems(appraisals, taxonomy, document))
    notes.sort(key=lambda note: note.order)
    if as_json:
        ordered = InputError(problems).problems
        print_json(
            ValidateOutput(
                problems=[ProblemOutput.of(problem) for problem in ordered],
                notes=[ProblemOutput.of(note) for note in notes],
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
    say("taxonomy, config, regression set and eval sets are valid")
    return 0
