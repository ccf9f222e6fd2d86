"""``incumbent repack``: excluded queries that do the work of several entries by now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from bot.classifier.model import Backend
from bot.cli.options import (
    all_option,
    at_option,
    by_option,
    dry_run_option,
    json_option,
    occasion,
    one_at_a_time,
    one_of,
    print_json,
    progress_bar,
    repository_options,
    say,
    show_problems,
    show_usage,
)
from bot.curator import file_changes as changes
from bot.curator.suggestions import confirm_swaps, suggest
from bot.errors import InputError, Problem
from bot.pipeline.archive import archived_entries
from bot.pipeline.preconditions import refuse_incomplete
from bot.pipeline.review import ClassifiedSubmission, Platform, classify_package
from bot.pipeline.submission import refuse_shared_ids, with_agent_in_ids
from bot.pipeline.workspace import open_backend, open_platform, read_packages
from bot.report.console import Printer
from bot.report.output import RepackOutput
from bot.report.status import print_repacks, repacks_overview


@click.command("repack")
@click.argument("ids", nargs=-1)
@by_option
@at_option
@dry_run_option
@repository_options
@all_option
@json_option
@one_at_a_time
def command(
    ids: tuple[str, ...],
    by: str | None,
    at: str | None,
    dry_run: bool,
    repo: Path,
    config_path: str,
    everything: bool,
    as_json: bool,
) -> int:
    """Look back at the queries in eval_sets/ that were excluded: by now one may do the work of several entries.

    Without IDS the command lists the repacks that would save most and writes nothing. With IDS it admits these queries
    and evicts the entries that each frees. No floor, no pin and no combination is lost.

    \b
    Examples:
      incumbent repack
      incumbent repack contoso-repairs-q07-1a2b3c4d --dry-run
      incumbent repack --json | jq -r '.repacks[] | .admit'
    """
    platform = open_platform(repo, config_path)
    backend = open_backend(platform, progress_bar)
    problems: list[Problem] = []
    classified = list(_classified(platform, repo, backend, problems))
    shortfalls = {id: why for item in classified for id, why in item.result.shortfalls.items()}
    stopped = next((item.result.stopped for item in classified if item.result.stopped is not None), None)
    show_usage(backend)
    refuse_incomplete(shortfalls, stopped)
    now = occasion(repo, at, by)
    archived = archived_entries(platform, classified, backend.identity, now)
    limits = platform.config.limits.model_copy(update={"open_repacks": len(archived)})
    config = platform.config.model_copy(update={"limits": limits})
    found = suggest(platform.regression_set, platform.taxonomy, config, archived=archived).repacks
    for id in ids:
        one_of(id, tuple(item.entering.id for item in found), "repack", "see `incumbent repack`")
    wanted = [item for item in found if item.entering.id in ids]
    plan = confirm_swaps(wanted, platform.regression_set, now).file_changes
    if not dry_run:
        changes.apply(plan, repo)
    output = RepackOutput(
        repacks=repacks_overview(wanted if ids else found, platform),
        files={item.path: item.change for item in plan},
        dry_run=dry_run,
    )
    if as_json:
        print_json(output)
    else:
        print_repacks(output, Printer(everything))
        for item in wanted:
            say(f"{'would be ' if dry_run else ''}admitted: {item.entering.id}; evicted: {', '.join(item.swap.remove)}")
    show_problems(tuple(problems))
    return InputError.exit_code if problems else 0


def _classified(
    platform: Platform, repo: Path, backend: Backend, problems: list[Problem]
) -> Iterator[ClassifiedSubmission]:
    """The eval sets of ``repo``, classified; ``problems`` gets what could not be read."""
    packages = tuple(read_packages(platform, repo, problems))
    for package in refuse_shared_ids(packages, platform.regression_set):
        problems.extend(package.submission.problems)
        progress = progress_bar(f"classifying {package.submission.folder}")
        yield classify_package(platform, with_agent_in_ids(package), backend, progress)
