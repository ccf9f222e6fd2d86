"""``incumbent reclassify``: updates the regression set after a change of classifier or taxonomy."""

from __future__ import annotations

from pathlib import Path

import click

from bot.classifier.batching import through_batches
from bot.cli.options import (
    batch_options,
    dry_run_option,
    json_option,
    one_at_a_time,
    print_json,
    progress_bar,
    report_batches,
    repository_options,
    say,
    show_usage,
)
from bot.curator.file_changes import admit, apply, let_wait
from bot.files.snapshot import WorkingTree
from bot.pipeline.preconditions import refuse_incomplete
from bot.pipeline.reclassify import Renewal, all_tasks, renew
from bot.pipeline.submission import find_specification
from bot.pipeline.workspace import entry_text, open_backend, open_platform
from bot.report.output import ReclassifyOutput
from bot.report.query_context import remarks_on
from bot.report.verdict_text import PlainStyle


@click.command("reclassify")
@dry_run_option
@batch_options
@repository_options
@json_option
@one_at_a_time
def command(dry_run: bool, batch: bool, wait: bool, repo: Path, config_path: str, as_json: bool) -> None:
    """Classify every entry again, those that wait for a slot too, and store the new scores; commit them by review.

    An entry whose agent specification is not in the repository keeps its scores, and is reported. An imported one
    for which nothing was declared is classified by its text alone again.

    \b
    Examples:
      incumbent reclassify --dry-run
      incumbent reclassify --batch --wait
    """
    platform = open_platform(repo, config_path)
    known = platform.regression_set
    backend = open_backend(platform, progress_bar, batch=batch)
    tasks = all_tasks([*known.waiting.values(), *known.entries.values()], platform.taxonomy)

    def ask() -> Renewal:
        return renew(
            tasks,
            platform.taxonomy,
            backend,
            lambda folder: find_specification(WorkingTree(repo / folder, folder), platform.config.limits),
            progress_bar("classifying"),
        )

    found, pending = through_batches(backend, ask, wait, report_batches)
    renewed = found.renewed(platform.taxonomy, backend.identity, platform.corrections)
    before = {**known.waiting, **known.entries}
    changed = [entry for id, entry in renewed.items() if entry != before[id]]
    plan = tuple(
        admit(entry, entry_text(repo, entry.id)) if entry.id in known.entries else let_wait(entry) for entry in changed
    )
    if not dry_run:
        apply(plan, repo)
    output = ReclassifyOutput(
        **dict(remarks_on(found.classifications.values())),
        changed={entry.id: dict(entry.scores) for entry in changed},
        kept=dict(found.kept),
        dry_run=dry_run,
        usage=backend.usage,
    )
    if as_json:
        print_json(output)
    else:
        for entry in changed:
            say(f"{'would be ' if dry_run else ''}classified again: {entry.id}")
        for id, why in found.kept.items():
            say(f"kept unchanged: {id}: {why}")
        for line in output.lines(PlainStyle(platform.taxonomy)):
            say(line)
        say(f"{len(changed)} changed, {len(renewed) - len(changed)} unchanged, {len(found.kept)} kept")
    show_usage(backend)
    refuse_incomplete(found.shortfalls, found.stopped or pending)
