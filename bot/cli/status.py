"""``incumbent status``: what the regression set holds."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import json_option, print_json, repository_options, say
from bot.opening import open_platform
from bot.report.escaping import visible
from bot.report.output import StatusOutput
from bot.report.overview import status_overview


@click.command("status")
@repository_options
@json_option
def command(repo: Path, config_path: str, as_json: bool) -> None:
    """Show size against the ceiling, coverage per capability, combinations, pins and waiting entries.

    \b
    Examples:
      incumbent status
      incumbent status --json | jq '.capabilities[] | select(.floor_met | not)'
    """
    output = status_overview(open_platform(repo, config_path))
    if as_json:
        print_json(output)
    else:
        _show(output)


def _show(output: StatusOutput) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(soft_wrap=True, highlight=False)
    covered = [item for item in output.capabilities if item.coverers]
    console.print(
        f"{output.size} of {output.ceiling} slots taken; {len(covered)} of {len(output.capabilities)} capabilities "
        f"covered; {output.combinations} combinations; taxonomy {output.taxonomy}"
    )
    rows = [
        (
            item.id,
            str(len(item.coverers)),
            "met" if item.floor_met else f"short of {item.floor}",
            "–" if item.champion_score is None else f"{item.champion_score:.2f}",
            item.champion or "–",
        )
        for item in output.capabilities
    ]
    header = ("capability", "coverers", "floor", "best", "champion")
    if console.is_terminal:
        table = Table(*header, box=None, pad_edge=False)
        for row in rows:
            table.add_row(*row, style=None if row[2] == "met" else "yellow")
        console.print(table)
    else:
        for row in (header, *rows):
            say("\t".join(row))
    console.print(
        f"pinned: {len(output.pinned)}; waiting for a slot: {len(output.waiting)}; evicted: {len(output.evicted)}"
    )
    for id in output.waiting:
        console.print(f"waiting: {id}", markup=False)
    for lag in output.lagging:
        console.print(f"lags behind: {lag.id} ({visible(lag.reason)}): run `incumbent reclassify`", markup=False)
