"""``incumbent status``: the contents of the regression set."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import all_option, json_option, print_json, repository_options
from bot.pipeline.workspace import declared_agents, open_platform
from bot.report.console import Printer
from bot.report.status import print_status, status_overview


@click.command("status")
@repository_options
@click.option("--pairs", is_flag=True, help="List the missing pairs; reads each agent's specification.")
@click.option("--growth", is_flag=True, help="Show the set over time: entries, cost, floors and pairs.")
@all_option
@json_option
def command(repo: Path, config_path: str, pairs: bool, growth: bool, everything: bool, as_json: bool) -> None:
    """Show size against the ceiling, coverage per capability and of pairs, pins and waiting entries.

    \b
    Examples:
      incumbent status
      incumbent status --pairs
      incumbent status --growth
      incumbent status --json | jq '.capabilities[] | select(.floor_met | not)'
    """
    platform = open_platform(repo, config_path)
    agents = declared_agents(platform, repo) if pairs or growth else None
    output = status_overview(platform, agents, with_pairs=pairs, over_time=growth)
    if as_json:
        print_json(output)
    else:
        print_status(output, Printer(everything), with_pairs=pairs)
