"""``incumbent prune``: which entries could be evicted."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import all_option, json_option, print_json, repository_options, warn_of_lag
from bot.pipeline.workspace import open_platform
from bot.report.console import Printer
from bot.report.status import could_go_view, print_prune, prune_overview, status_overview


@click.command("prune")
@repository_options
@all_option
@json_option
def command(repo: Path, config_path: str, everything: bool, as_json: bool) -> None:
    """Suggest evictions and, at the ceiling, swaps; writes nothing.

    Any subset of the suggestions, confirmed in any order, leaves every floor and every pin intact.

    \b
    Examples:
      incumbent prune
      incumbent prune --json | jq -r '.suggestions[].id'
    """
    platform = open_platform(repo, config_path)
    output = prune_overview(platform)
    warn_of_lag(platform.regression_set.residents(platform.taxonomy)[1])
    if as_json:
        print_json(output)
        return
    print_prune(output, could_go_view(status_overview(platform)), Printer(everything))
