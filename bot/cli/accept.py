"""``incumbent accept``: a person confirms one suggested swap, or all of them."""

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
    repository_options,
    say,
)
from bot.curator.file_changes import apply
from bot.curator.suggestions import confirm_swaps, suggest
from bot.errors import InputError, Problem, UsageError
from bot.pipeline.admit import provisions_of
from bot.pipeline.workspace import open_platform
from bot.reconcile.local_refusals import refused_in
from bot.report.console import Printer
from bot.report.output import AdmissionOutput
from bot.report.review_console import print_provisions
from bot.report.verdict_text import PlainStyle, counted


@click.command("accept")
@click.argument("id", required=False)
@click.option("--suggested", is_flag=True, help="Accept every swap that `incumbent prune` suggests, in place of ID.")
@click.option("--customer", metavar="NAME", help="With --suggested: only swaps that admit an entry of this customer.")
@by_option
@at_option
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def command(
    id: str | None,
    suggested: bool,
    customer: str | None,
    by: str | None,
    at: str | None,
    dry_run: bool,
    repo: Path,
    config_path: str,
    as_json: bool,
) -> None:
    """Accept the swap that admits the waiting entry ID in the place of the entries that it frees.

    With --suggested the command accepts all suggested swaps at once. The set keeps every floor, every pin and every
    combination, whichever of them are accepted. Evicted entries leave tombstones. Look at --dry-run first. `incumbent
    admit EVAL_SET_DIR --accept all` accepts queries that need review, and `incumbent evict --suggested` evictions.

    \b
    Examples:
      incumbent accept contoso-repairs-q12-5e6f7a8b --dry-run
      incumbent accept --suggested --customer contoso
    """
    if (id is None) is not suggested:
        raise UsageError("name an entry that waits for a slot, or give --suggested")
    if id is not None and customer is not None:
        raise UsageError("--customer chooses among suggested swaps: give --suggested in place of ID")
    platform = open_platform(repo, config_path)
    known, now = platform.regression_set, occasion(repo, at, by)
    if id is not None:
        one_of(id, tuple(known.waiting), "entry that waits for a slot", "see `incumbent status` for the ids")
    if customer is not None:
        customers = sorted({entry.source.customer for entry in known.waiting.values() if entry.source})
        one_of(customer, tuple(customers), "customer with an entry that waits for a slot", "see `incumbent status`")
    refused = refused_in(repo) if suggested else frozenset()
    swaps = [
        item
        for item in suggest(known, platform.taxonomy, platform.config, refused=refused).swaps
        if id in (None, item.entering.id)
        and (customer is None or (item.entering.source is not None and item.entering.source.customer == customer))
    ]
    if id is not None and not swaps:
        message = "no swap is suggested for it: it frees no entry, or a slot is free"
        raise InputError([Problem(id, None, message, "see `incumbent prune`, and `incumbent admit --waiting`")])
    staging = confirm_swaps(swaps, known, now)
    provisions = provisions_of(staging, platform)
    if not dry_run:
        apply(staging.file_changes, repo)
    if as_json:
        print_json(AdmissionOutput.of(staging, dry_run, provisions=provisions))
        return
    verb = "would be " if dry_run else ""
    for item in swaps:
        say(f"{verb}admitted: {item.swap.admit}; {verb}evicted: {', '.join(item.swap.remove)}")
    if not swaps:
        say("no suggested swap fits, and nothing changes")
        return
    print_provisions(provisions, PlainStyle(platform.taxonomy), Printer())
    say(f"{counted(len(swaps), 'swap', 'swaps')} in all; to bring an entry back: incumbent restore ID")
