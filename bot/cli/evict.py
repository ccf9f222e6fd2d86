"""``incumbent evict``: a person removes one entry."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import (
    at_option,
    by_option,
    dry_run_option,
    json_option,
    occasion,
    one_at_a_time,
    one_of,
    print_json,
    reason_given,
    repository_options,
    say,
    whole_text,
)
from bot.curator import file_changes as changes
from bot.curator.entry import Evicted
from bot.curator.grounds import grounds_of
from bot.curator.losses import losses
from bot.curator.prune import prune
from bot.curator.staging import Staging
from bot.errors import InputError, Problem
from bot.pipeline.review import Platform
from bot.pipeline.workspace import open_platform
from bot.report.entries import evicted as evicted_when
from bot.report.escaping import visible
from bot.report.output import AdmissionOutput
from bot.report.verdict_text import PlainStyle


@click.command("evict")
@click.argument("id")
@click.option("--reason", required=True, metavar="TEXT", callback=whole_text, help="Why the entry goes.")
@by_option
@at_option
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def command(
    id: str,
    reason: str,
    by: str | None,
    at: str | None,
    dry_run: bool,
    repo: Path,
    config_path: str,
    as_json: bool,
) -> None:
    """Remove the entry ID from the regression set and leave a tombstone in regression_set/evicted/.

    You may evict entries that `incumbent prune` does not suggest; a warning lists the coverage that is lost.

    \b
    Examples:
      incumbent evict contoso-repairs-q07-1a2b3c4d --reason "covered by contoso-repairs-q09"
      incumbent evict contoso-repairs-q07-1a2b3c4d --reason "customer left" --dry-run
    """
    platform = open_platform(repo, config_path)
    why = reason_given(reason)
    gone = platform.regression_set.tombstones.get(id)
    if gone is not None and gone.evicted.reason == why:
        # A run that was stopped before it could report its result is run again.
        _print_result(id, (), dry_run, as_json, f"{id} was evicted for this reason already, and nothing changes")
        return
    refuse_evicted(id, platform)
    one_of(id, tuple(platform.regression_set.entries), "entry")
    residents, lags = platform.regression_set.residents(platform.taxonomy)
    behind = {lag.id for lag in lags}
    pruning = prune(residents, platform.config, platform.taxonomy.major, lagging=behind)
    resident = next(item for item in residents if item.id == id)
    suggested = id in {suggestion.id for suggestion in pruning.suggestions}
    if not suggested:
        say(f"warning: the entry does not go without loss: {_loss(id, platform, behind)}", err=True)
    now = occasion(repo, at, by)
    grounds = grounds_of(resident, pruning.roles, platform.taxonomy.major)
    evicted = Evicted(
        at=now.at,
        by=now.by,
        reason=why,
        grounds=grounds.recorded if suggested else None,
    )
    plan = changes.evict(platform.regression_set.entries[id], evicted)
    if not dry_run:
        changes.apply(plan, repo)
    waiting = len(platform.regression_set.waiting)
    _print_result(
        id,
        plan,
        dry_run,
        as_json,
        f"{'would be ' if dry_run else ''}evicted: {id}; to bring it back: incumbent restore {id}",
        *([f"{waiting} waiting for a slot: incumbent admit --waiting"] if waiting else []),
    )


def _print_result(id: str, plan: tuple[changes.FileChange, ...], dry_run: bool, as_json: bool, *lines: str) -> None:
    if as_json:
        print_json(AdmissionOutput.of(Staging(admitted=(), waiting=(), file_changes=plan), dry_run=dry_run))
        return
    for line in lines:
        say(line)


def _loss(id: str, platform: Platform, behind: set[str]) -> str:
    pin = platform.regression_set.entries[id].pin
    if pin is not None:
        return f"a person pinned it: {visible(pin)}"
    if id in behind:
        return "it is stale, so its coverage is unknown"
    residents, _ = platform.regression_set.residents(platform.taxonomy)
    loss = losses({id}, residents, platform.config)
    held = {*(item.capability for item in loss.shortages), *loss.best_of}
    lost = [*sorted(held), *(" + ".join(names) for names in loss.combinations)]
    return f"it holds {', '.join(lost)}" if lost else "entries that are suggested before it would leave with it"


def refuse_evicted(id: str, platform: Platform) -> None:
    """Raise :class:`InputError` if the entry ``id`` was evicted: when, why, and how to restore it."""
    gone = platform.regression_set.tombstones.get(id)
    if gone is not None:
        message = f"it is gone already: {evicted_when(gone.evicted, PlainStyle(platform.taxonomy))}"
        raise InputError([Problem(id, None, message, f"to bring it back: incumbent restore {id}")])
