"""``incumbent list``, ``show``, ``status`` and ``prune``: what is in the regression set; write nothing."""

from __future__ import annotations

from pathlib import Path

import click

from incumbent.cli.options import all_option, json_option, one_of, repository_options
from incumbent.cli.output import print_json, say, warn_of_stale
from incumbent.curator.store import State
from incumbent.errors import InputError, Problem, UsageError
from incumbent.pipeline.declared_agents import declared_agents
from incumbent.pipeline.workspace import open_platform, set_history
from incumbent.report.console import Printer


@click.command("list")
@click.option("--customer", metavar="NAME", help="Only entries of this customer.")
@click.option("--capability", metavar="ID", help="Only entries that exercise this capability, with their scores.")
@click.option("--pinned", is_flag=True, help="Only entries that may not go: champions, and those that a person pinned.")
@click.option("--quarantined", is_flag=True, help="Only entries that exports leave out in quarantine.")
@click.option("--waiting", is_flag=True, help="Entries that wait for a slot, in place of those in the set.")
@click.option("--evicted", is_flag=True, help="Entries that were evicted, in place of those in the set.")
@repository_options
@all_option
@json_option
def list_command(
    customer: str | None,
    capability: str | None,
    pinned: bool,
    quarantined: bool,
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
    from incumbent.report.entries import list_entries, print_list
    from incumbent.taxonomy.model import ShortNames, UnknownCapabilityError

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
    output = list_entries(platform, states, customer, capability, pinned, quarantined)
    if as_json:
        print_json(output)
    else:
        print_list(output, platform.taxonomy, Printer(everything))


@click.command("show")
@click.argument("id")
@repository_options
@json_option
def show_command(id: str, repo: Path, config_path: str, as_json: bool) -> None:
    """Show the entry ID: its turns and scores, why it is in, its roles, and who else covers what it covers.

    Of an entry that was evicted it says when, by whom and why, and how to bring it back.

    \b
    Examples:
      incumbent show contoso-repairs-q07-1a2b3c4d
    """
    from incumbent.report.entries import print_entry, show_entries

    platform = open_platform(repo, config_path)
    one_of(id, tuple(platform.regression_set.states), "entry")
    output = show_entries(platform, id)[id]
    if as_json:
        print_json(output)
    else:
        print_entry(output, platform.taxonomy, Printer())


@click.command("status")
@repository_options
@click.option("--pairs", is_flag=True, help="List the missing pairs, and the agents that could bring them.")
@click.option("--growth", is_flag=True, help="Show the set over time: entries, cost, floors and pairs.")
@all_option
@json_option
def status_command(repo: Path, config_path: str, pairs: bool, growth: bool, everything: bool, as_json: bool) -> None:
    """Show size against the ceiling, coverage per capability and of pairs, pins and waiting entries.

    \b
    Examples:
      incumbent status
      incumbent status --pairs
      incumbent status --growth
      incumbent status --json | jq '.capabilities[] | select(.floor_met | not)'
    """
    from incumbent.ledger.clone import recorded_scores
    from incumbent.report.results import shown_results
    from incumbent.report.status import print_status, status_overview

    platform = open_platform(repo, config_path)
    agents = declared_agents(platform, repo)
    results = shown_results(repo, platform)
    history = set_history(repo, ("A", "D")) if growth else None
    output = status_overview(
        platform,
        agents,
        results,
        with_pairs=pairs,
        over_time=growth,
        history=history,
        on_record=recorded_scores(repo, platform.taxonomy),
    )
    if as_json:
        print_json(output)
    else:
        print_status(output, Printer(everything), with_pairs=pairs)


@click.command("prune")
@repository_options
@all_option
@json_option
def prune_command(repo: Path, config_path: str, everything: bool, as_json: bool) -> None:
    """Suggest evictions and, at the ceiling, swaps, without what people refused; writes nothing.

    Any subset of the suggestions, confirmed in any order, leaves every floor and every pin intact.

    \b
    Examples:
      incumbent prune
      incumbent prune --json | jq -r '.suggestions[].id'
    """
    from incumbent.ledger.clone import refused_in
    from incumbent.report.refusals import refusal_remarks
    from incumbent.report.results import local_histories
    from incumbent.report.status import could_go_view, print_prune, prune_overview

    platform = open_platform(repo, config_path)
    refused = refused_in(repo)
    found = refused.suggestions(platform.regression_set, platform.taxonomy, platform.config)
    output = prune_overview(platform, found, refused, local_histories(repo, platform))
    warn_of_stale(platform.regression_set.residents(platform.taxonomy)[1])
    if as_json:
        print_json(output)
        return
    print_prune(output, could_go_view(platform, found), Printer(everything))
    for line in refusal_remarks(refused, found):
        say(line)
