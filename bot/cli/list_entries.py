"""``incumbent list``: the entries of the regression set."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import all_option, json_option, print_json, repository_options
from bot.errors import InputError, Problem, UsageError
from bot.pipeline.workspace import open_platform
from bot.report.console import Printer
from bot.report.entries import State, list_entries, print_list
from bot.taxonomy.model import ShortNames, UnknownCapabilityError


@click.command("list")
@click.option("--customer", metavar="NAME", help="Only entries of this customer.")
@click.option("--capability", metavar="ID", help="Only entries that exercise this capability, with their scores.")
@click.option("--pinned", is_flag=True, help="Only entries that may not go: champions, and those that a person pinned.")
@click.option("--waiting", is_flag=True, help="Entries that wait for a slot, in place of those in the set.")
@click.option("--evicted", is_flag=True, help="Entries that were evicted, in place of those in the set.")
@repository_options
@all_option
@json_option
def command(
    customer: str | None,
    capability: str | None,
    pinned: bool,
    waiting: bool,
    evicted: bool,
    repo: Path,
    config_path: str,
    everything: bool,
    as_json: bool,
) -> None:
    """List the entries of the regression set: where each comes from, when it was admitted, and what it does.

    \b
    Examples:
      incumbent list
      incumbent list --customer contoso --pinned
      incumbent list --evicted --json | jq -r '.entries[].id'
    """
    if pinned and (waiting or evicted):
        raise UsageError("--pinned speaks of entries in the set: leave out --waiting and --evicted")
    platform = open_platform(repo, config_path)
    if capability is not None:
        try:
            capability = ShortNames(platform.taxonomy).find(capability)
        except UnknownCapabilityError as error:
            fix = "see `incumbent status` for the ids"
            raise InputError([Problem(capability, None, str(error), fix)]) from error
    asked: dict[State, bool] = {"waiting": waiting, "evicted": evicted}
    states = frozenset(state for state, wanted in asked.items() if wanted) or frozenset[State](["in-set"])
    output = list_entries(platform, states, customer, capability, pinned)
    if as_json:
        print_json(output)
    else:
        print_list(output, platform.taxonomy, Printer(everything))
