"""``incumbent migrate``: applies the taxonomy's declared renames and splits to set, config and labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from bot.cli.evaluation_sources import LABELS_FOLDER, read_label_file
from bot.cli.options import dry_run_option, json_option, one_at_a_time, print_json, repository_options, say
from bot.cli.taxonomy_change import taxonomy_at
from bot.curator.file_changes import apply
from bot.curator.journal import refuse_half_written
from bot.errors import UsageError
from bot.evaluation.labels import DOCUMENTS
from bot.files.snapshot import WorkingTree
from bot.pipeline.migrating.plan import MigrationPlan, plan_migration
from bot.report.output import MigrateOutput
from bot.report.verdict_text import counted

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("migrate")
@click.option("--from", "since", default="HEAD", show_default=True, metavar="COMMIT", help="The taxonomy before.")
@click.option("--labels", multiple=True, type=_FILE, metavar="FILE...", help="Label files (default: those in labels/).")
@click.argument("more", nargs=-1, type=_FILE, metavar="")
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def command(
    since: str,
    labels: tuple[Path, ...],
    more: tuple[Path, ...],
    dry_run: bool,
    repo: Path,
    config_path: str,
    as_json: bool,
) -> None:
    """Carry `was` and `split` of the working tree's taxonomy through overrides, entries and labels.

    The taxonomy is compared with that of a commit, and refused if its version or its declarations are wrong. Renamed
    capabilities keep their scores. Split or redefined ones become stale: refresh them with `incumbent reclassify`. A
    second run changes nothing.

    \b
    Examples:
      incumbent migrate --dry-run
      incumbent migrate --from HEAD~1 --labels labels/*.yaml
    """
    if more and not labels:
        raise UsageError(f"there is no place for {more[0].as_posix()!r}: label files come after --labels")
    refuse_half_written(repo)
    commit, old = taxonomy_at(repo, since)
    contents = {_path(path, repo): read_label_file(path) for path in _label_files((*labels, *more), repo)}
    plan = plan_migration(WorkingTree(repo, "" if repo == Path() else repo.as_posix()), old, contents, config_path)
    if not dry_run:
        apply(plan.file_changes, repo)
    output = MigrateOutput(
        commit=commit,
        from_version=plan.old.version,
        to_version=plan.new.version,
        changes=list(plan.changes),
        renames=dict(plan.migration.renames),
        splits={whole: list(parts) for whole, parts in plan.migration.splits.items()},
        files=[change.path for change in plan.file_changes],
        lagging=list(plan.lagging),
        dry_run=dry_run,
    )
    if as_json:
        print_json(output)
    else:
        _show(plan, dry_run)


def _label_files(given: Sequence[Path], repo: Path) -> list[Path]:
    """The label files ``given``, or else those in the folder ``labels/``, if any."""
    if given:
        return list(given)
    found = sorted((repo / LABELS_FOLDER).glob("*"))
    return [path for path in found if path.name.lower().endswith((".tsv", *DOCUMENTS))]


def _path(file: Path, repo: Path) -> str:
    """The path under which ``file`` is written: relative to ``repo``, or else absolute."""
    target, root = file.resolve(), repo.resolve()
    return (target.relative_to(root) if target.is_relative_to(root) else target).as_posix()


def _show(plan: MigrationPlan, dry_run: bool) -> None:
    for change in plan.changes:
        say(f"{change.step}: {change.sentence}")
    for file in plan.file_changes:
        say(f"{'would be ' if dry_run else ''}written: {file.path}")
    for lag in plan.lagging:
        say(f"to classify again: {lag.id}: {', '.join(lag.capabilities)}")
    files = counted(len(plan.file_changes), "file", "files")
    say(
        f"taxonomy {plan.old.version} → {plan.new.version}: {len(plan.migration.renames)} renamed, "
        f"{len(plan.migration.splits)} split, {files}"
    )
    if plan.lagging:
        say("run `incumbent reclassify`, and commit")
