"""``incumbent evict``, ``restore``, ``pin``, ``unpin`` and ``quarantine``: which entries leave, stay, or do not run."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import click

from incumbent.cli.options import (
    at_option,
    by_option,
    customers_of,
    dry_run_option,
    is_of,
    json_option,
    occasion,
    one_at_a_time,
    one_of,
    reason_given,
    repository_options,
    whole_text,
)
from incumbent.cli.output import print_json, say
from incumbent.curator import file_changes as changes
from incumbent.curator.entry import Evicted
from incumbent.curator.losses import losses
from incumbent.curator.prune import prune
from incumbent.curator.roles import EvictionKind, derive_roles
from incumbent.curator.staging import AuditStamp, Staging, restoration
from incumbent.curator.store import entry_path, tombstone_path, unknown_scores, waiting_path
from incumbent.curator.suggestions import evicted_on
from incumbent.errors import InputError, Problem, UsageError
from incumbent.pipeline.review import Platform
from incumbent.pipeline.workspace import open_platform
from incumbent.report.entries import evicted as evicted_when
from incumbent.report.escaping import visible
from incumbent.report.output import AdmissionOutput
from incumbent.report.verdict_text import PlainStyle, counted

if TYPE_CHECKING:
    from incumbent.ledger.clone import LocalRefusals

_KINDS: Final = (EvictionKind.DISPLACED.value, EvictionKind.REDUNDANT.value)


@click.command("evict")
@click.argument("id", required=False)
@click.option("--suggested", is_flag=True, help="Evict every entry that `incumbent prune` suggests, in place of ID.")
@click.option("--customer", metavar="NAME", help="With --suggested: only entries of this customer.")
@click.option("--kind", type=click.Choice(_KINDS), help="With --suggested: only evictions of this kind.")
@click.option("--reason", metavar="TEXT", callback=whole_text, help="Why the entry goes. Required with ID.")
@by_option
@at_option
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def evict_command(
    id: str | None,
    suggested: bool,
    customer: str | None,
    kind: str | None,
    reason: str | None,
    by: str | None,
    at: str | None,
    dry_run: bool,
    repo: Path,
    config_path: str,
    as_json: bool,
) -> None:
    """Remove the entry ID from the regression set and leave a tombstone in regression_set/evicted/.

    You may evict entries that `incumbent prune` does not suggest; a warning lists the coverage that is lost.

    With --suggested the command evicts all suggested entries at once. The set keeps every floor, every pin and,
    unless `novelty` is `signature`, every combination. Each tombstone says why. Look at --dry-run first.

    \b
    Examples:
      incumbent evict contoso-repairs-q07-1a2b3c4d --reason "covered by contoso-repairs-q09"
      incumbent evict contoso-repairs-q07-1a2b3c4d --reason "customer left" --dry-run
      incumbent evict --suggested --customer contoso --kind redundant --dry-run
    """
    from incumbent.ledger.clone import refused_in

    if (customer is not None or kind is not None) and not suggested:
        raise UsageError("--customer and --kind choose among suggested entries: give --suggested in place of ID")
    if (id is None) is not suggested:
        raise UsageError("name an entry, or give --suggested, not both")
    if id is not None and reason is None:
        raise UsageError("missing option --reason TEXT")
    platform = open_platform(repo, config_path)
    now = occasion(repo, at, by)
    if id is None:
        plan, lines = _all_suggested(platform, customer, kind, reason, now, dry_run, refused_in(repo))
    else:
        plan, lines = _one(id, reason_given(reason or ""), platform, now, dry_run)
    gone = [Path(change.path).stem for change in plan if change.content is None]
    for warning in _caught(gone, platform, repo) if gone else ():
        say(f"warning: {warning}", err=True)
    if not dry_run:
        changes.apply(plan, repo)
    waiting = len(platform.regression_set.waiting)
    if plan and waiting:
        lines.append(f"{waiting} waiting for a slot: incumbent admit --waiting")
    _report(plan, dry_run, as_json, *lines)


def _one(
    id: str, reason: str, platform: Platform, now: AuditStamp, dry_run: bool
) -> tuple[tuple[changes.FileChange, ...], list[str]]:
    """The changes that evict the entry ``id``, and what to say."""
    gone = platform.regression_set.tombstones.get(id)
    if gone is not None and gone.evicted.reason == reason:
        # A run that was stopped before it could report its result is run again.
        return (), [f"{id} was evicted for this reason already, and nothing changes"]
    _refuse_evicted(id, platform)
    one_of(id, tuple(platform.regression_set.entries), "entry")
    residents, stale = platform.regression_set.residents(platform.taxonomy)
    stale_ids = {item.id for item in stale}
    staying = stale_ids | platform.regression_set.kept_on_trial(platform.taxonomy).keys()
    could_go = prune(residents, platform.config, platform.taxonomy.major, stale=staying)
    suggested = next((item for item in could_go if item.id == id), None)
    if suggested is None:
        say(f"warning: `incumbent prune` does not suggest this eviction: {_loss(id, platform, stale_ids)}", err=True)
    grounds = None if suggested is None else suggested.grounds.recorded
    evicted = Evicted(at=now.at, by=now.by, reason=reason, grounds=grounds)
    plan = changes.evict(platform.regression_set.entries[id], evicted)
    return plan, [f"{'would be ' if dry_run else ''}evicted: {id}; to bring it back: incumbent restore {id}"]


def _all_suggested(
    platform: Platform,
    customer: str | None,
    kind: str | None,
    reason: str | None,
    now: AuditStamp,
    dry_run: bool,
    refused: LocalRefusals,
) -> tuple[tuple[changes.FileChange, ...], list[str]]:
    """The changes that evict all suggested entries of ``customer`` and of ``kind`` (``None``: any), and what to say.

    Suggestions that people ``refused`` are left out.
    """
    from incumbent.report.refusals import refusal_remarks

    entries = platform.regression_set.entries
    if customer is not None:
        one_of(customer, customers_of(entries.values()), "customer", "see `incumbent list`")
    given = None if reason is None else reason_given(reason)
    plan: list[changes.FileChange] = []
    lines: list[str] = []
    found = refused.suggestions(platform.regression_set, platform.taxonomy, platform.config)
    for item in found.evictions:
        entry = entries[item.id]
        if kind not in (None, item.grounds.kind) or not is_of(customer, entry):
            continue
        evicted = evicted_on(item.grounds)
        evicted = evicted.model_copy(update={"at": now.at, "by": now.by, "reason": given or evicted.reason})
        plan += changes.evict(entry, evicted)
        lines.append(f"{'would be ' if dry_run else ''}evicted: {item.id}: {evicted.reason}")
    left_out = refusal_remarks(refused, found)
    if not lines:
        return (), ["no suggested eviction fits, and nothing changes", *left_out]
    lines.append(f"{counted(len(lines), 'entry', 'entries')} in all; to bring one back: incumbent restore ID")
    return tuple(plan), [*lines, *left_out]


def _caught(gone: Collection[str], platform: Platform, repo: Path) -> list[str]:
    """What of the release runs that the ledger of ``repo`` tells speaks against evicting the entries ``gone``."""
    from incumbent.ledger.releases.history import last_failing
    from incumbent.report.results import local_histories

    histories = local_histories(repo, platform)
    if not histories:
        return []
    coverers = derive_roles(platform.regression_set.residents(platform.taxonomy)[0], platform.config).coverers
    return [
        f"in release runs no entry that stays and covers {name} ever failed, and {', '.join(ids)} did"
        for name, ids in last_failing(histories, coverers, gone).items()
    ]


def _report(plan: tuple[changes.FileChange, ...], dry_run: bool, as_json: bool, *lines: str) -> None:
    """Print which files a command changes, or ``lines`` for people."""
    if as_json:
        print_json(AdmissionOutput.of(Staging(admitted=(), waiting=(), file_changes=plan), dry_run=dry_run))
        return
    for line in lines:
        say(line)


def _loss(id: str, platform: Platform, stale_ids: set[str]) -> str:
    pin = platform.regression_set.entries[id].pin
    if pin is not None:
        return f"a person pinned it: {visible(pin)}"
    if id in stale_ids:
        return "it is stale, so its coverage is unknown"
    wholes = platform.regression_set.kept_on_trial(platform.taxonomy).get(id)
    if wholes is not None:
        return f"it carried {', '.join(wholes)}, whose parts are on trial"
    residents, _ = platform.regression_set.residents(platform.taxonomy)
    loss = losses({id}, residents, platform.config)
    held = {*(item.capability for item in loss.shortages), *loss.best_of}
    lost = [*sorted(held), *(" + ".join(names) for names in loss.combinations)]
    if not lost:
        return "it suggests other entries, and without those this one is needed"
    return f"the set would lose {', '.join(lost)}"


def _refuse_evicted(id: str, platform: Platform) -> None:
    """Raise :class:`InputError` if the entry ``id`` was evicted: when, why, and how to restore it."""
    gone = platform.regression_set.tombstones.get(id)
    if gone is not None:
        message = f"it is gone already: {evicted_when(gone.evicted, PlainStyle(platform.taxonomy))}"
        raise InputError([Problem(id, None, message, f"to bring it back: incumbent restore {id}")])


@click.command("restore")
@click.argument("id")
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def restore_command(id: str, dry_run: bool, repo: Path, config_path: str, as_json: bool) -> None:
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
        where = "in the regression set" if id in known.entries else "waiting for a slot"
        _report((), dry_run, as_json, f"{id} is {where} already, and nothing changes")
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


@click.command("pin")
@click.argument("id")
@click.option("--reason", required=True, metavar="TEXT", callback=whole_text, help="Why the entry stays.")
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def pin_command(id: str, reason: str, dry_run: bool, repo: Path, config_path: str, as_json: bool) -> None:
    """Keep the entry ID, whatever becomes redundant: `incumbent prune` does not suggest it while it is pinned.

    \b
    Examples:
      incumbent pin contoso-repairs-q07-1a2b3c4d --reason "the customer's acceptance test"
    """
    _mark("pin", id, reason, f"to take the pin out: incumbent unpin {id}", dry_run, repo, config_path, as_json)


@click.command("unpin")
@click.argument("id")
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def unpin_command(id: str, dry_run: bool, repo: Path, config_path: str, as_json: bool) -> None:
    """Remove the pin of the entry ID: it may go once it is redundant. A champion stays while it is champion.

    \b
    Examples:
      incumbent unpin contoso-repairs-q07-1a2b3c4d
    """
    _mark("pin", id, None, "", dry_run, repo, config_path, as_json)


@click.command("quarantine")
@click.argument("id")
@click.option("--reason", metavar="TEXT", callback=whole_text, help="Why the entry is to block no release.")
@click.option("--end", is_flag=True, help="End the quarantine of the entry, in place of --reason.")
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def quarantine_command(
    id: str, reason: str | None, end: bool, dry_run: bool, repo: Path, config_path: str, as_json: bool
) -> None:
    """Quarantine the entry ID: `incumbent export` leaves it out, so that it blocks no release.

    It stays in the set, and no verdict changes. `incumbent export --quarantined` exports such entries alone.

    \b
    Examples:
      incumbent quarantine contoso-repairs-q07-1a2b3c4d --reason "fails at random since v1.4"
      incumbent quarantine contoso-repairs-q07-1a2b3c4d --end
    """
    if end is (reason is not None):
        raise UsageError("give either --reason or --end")
    undo = f"to end that: incumbent quarantine {id} --end"
    _mark("quarantined", id, reason, undo, dry_run, repo, config_path, as_json)


_DONE: Final = {"pin": ("pinned", "unpinned"), "quarantined": ("quarantined", "out of quarantine")}


def _mark(
    name: Literal["pin", "quarantined"],
    id: str,
    reason: str | None,
    undo: str,
    dry_run: bool,
    repo: Path,
    config_path: str,
    as_json: bool,
) -> None:
    """Write ``reason`` as the field ``name`` of the entry ``id``, in the set or on the waitlist; ``None`` removes it.

    ``undo`` says how to remove it.
    """
    platform = open_platform(repo, config_path)
    value = None if reason is None else reason_given(reason)
    known = platform.regression_set
    _refuse_evicted(id, platform)
    one_of(id, (*known.entries, *known.waiting), "entry")
    entry, path = (known.entries[id], entry_path(id)) if id in known.entries else (known.waiting[id], waiting_path(id))
    before: str | None = getattr(entry, name)
    plan: tuple[changes.FileChange, ...] = ()
    if before != value:
        text = (repo / path).read_text(encoding="utf-8")
        plan = (changes.FileChange(path, changes.edit(text, entry.model_copy(update={name: value}))),)
    if not dry_run:
        changes.apply(plan, repo)
    marked, unmarked = _DONE[name]
    if plan:
        done = unmarked if value is None else marked
        was = f" (it was: {visible(before)})" if before else ""
        line = f"{'would be ' if dry_run else ''}{done}: {id}{was}{'' if value is None else f'; {undo}'}"
    else:
        line = f"{id} is {f'{marked} already' if value else f'not {marked}'}, and nothing changes"
    _report(plan, dry_run, as_json, line)
