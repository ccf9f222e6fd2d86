"""``incumbent restore``: restores an evicted entry."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import (
    dry_run_option,
    json_option,
    one_at_a_time,
    one_of,
    print_json,
    repository_options,
    say,
)
from bot.curator import file_changes as changes
from bot.curator.staging import Staging, restoration
from bot.curator.store import tombstone_path, unknown_scores
from bot.errors import InputError, Problem
from bot.pipeline.workspace import open_platform
from bot.report.output import AdmissionOutput


@click.command("restore")
@click.argument("id")
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def command(id: str, dry_run: bool, repo: Path, config_path: str, as_json: bool) -> None:
    """Bring the evicted entry ID back, with its history and its first admission time.

    At the ceiling it waits for a slot.

    \b
    Examples:
      incumbent restore contoso-repairs-q07-1a2b3c4d
    """
    platform = open_platform(repo, config_path)
    known = platform.regression_set
    if id not in known.tombstones and (id in known.entries or id in known.waiting):
        # A run that was stopped before it could report its result is run again.
        if as_json:
            print_json(AdmissionOutput.of(Staging(admitted=(), waiting=(), file_changes=()), dry_run=dry_run))
        else:
            where = "in the regression set" if id in known.entries else "waiting for a slot"
            say(f"{id} is {where} already, and nothing changes")
        return
    one_of(id, tuple(known.tombstones), "tombstone", "see `incumbent list --evicted` for the ids")
    unknown = unknown_scores(known.tombstones[id].entry, platform.taxonomy)
    if unknown:
        fix = "list them under `retired` in taxonomy/taxonomy.yaml"
        raise InputError([Problem(tombstone_path(id), None, f"it scores unknown {', '.join(unknown)}", fix)])
    full = len(known.entries) >= platform.config.ceiling
    staging = restoration(known.tombstones[id], full)
    if not dry_run:
        changes.apply(staging.file_changes, repo)
    if as_json:
        print_json(AdmissionOutput.of(staging, dry_run=dry_run))
    else:
        verb = "would be " if dry_run else ""
        say(f"{verb}restored: {id}" + (", waiting for a slot since the set is full" if full else ""))
