"""``incumbent pin``: a person keeps an entry, even if it becomes redundant."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.evict import refuse_evicted
from bot.cli.options import (
    dry_run_option,
    json_option,
    one_at_a_time,
    one_of,
    print_json,
    reason_given,
    repository_options,
    say,
    whole_text,
)
from bot.curator import file_changes as changes
from bot.curator.staging import Staging
from bot.curator.store import entry_path, waiting_path
from bot.pipeline.workspace import open_platform
from bot.report.escaping import visible
from bot.report.output import AdmissionOutput


@click.command("pin")
@click.argument("id")
@click.option("--reason", required=True, metavar="TEXT", callback=whole_text, help="Why the entry stays.")
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def command(id: str, reason: str, dry_run: bool, repo: Path, config_path: str, as_json: bool) -> None:
    """Keep the entry ID, whatever becomes redundant: `incumbent prune` does not suggest it while it is pinned.

    \b
    Examples:
      incumbent pin contoso-repairs-q07-1a2b3c4d --reason "the customer's acceptance test"
    """
    set_pin(id, reason, dry_run, repo, config_path, as_json)


def set_pin(id: str, reason: str | None, dry_run: bool, repo: Path, config_path: str, as_json: bool) -> None:
    """Pin the entry ``id``, in the set or on the waitlist, for this ``reason``; without a reason, unpin it."""
    platform = open_platform(repo, config_path)
    pin = None if reason is None else reason_given(reason)
    known = platform.regression_set
    refuse_evicted(id, platform)
    one_of(id, (*known.entries, *known.waiting), "entry")
    entry, path = (known.entries[id], entry_path(id)) if id in known.entries else (known.waiting[id], waiting_path(id))
    plan: tuple[changes.FileChange, ...] = ()
    if entry.pin != pin:
        text = (repo / path).read_text(encoding="utf-8")
        plan = (changes.FileChange(path, changes.edit(text, entry.model_copy(update={"pin": pin}))),)
    if not dry_run:
        changes.apply(plan, repo)
    if as_json:
        print_json(AdmissionOutput.of(Staging(admitted=(), waiting=(), file_changes=plan), dry_run=dry_run))
        return
    done = "unpinned" if pin is None else "pinned"
    if plan:
        undo = "" if pin is None else f"; to take the pin out: incumbent unpin {id}"
        was = f" (it was: {visible(entry.pin)})" if entry.pin else ""
        say(f"{'would be ' if dry_run else ''}{done}: {id}{was}{undo}")
    else:
        say(f"{id} is {done} already, and nothing changes" if pin else f"{id} is not pinned, and nothing changes")
