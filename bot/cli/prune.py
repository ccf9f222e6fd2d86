"""``incumbent prune``: which entries could go."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import json_option, print_json, repository_options, say, warn_of_lag
from bot.opening import open_platform
from bot.report.overview import prune_overview


@click.command("prune")
@repository_options
@json_option
def command(repo: Path, config_path: str, as_json: bool) -> None:
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
    for suggestion in output.suggestions:
        grounds = suggestion.grounds
        why = f"displaced by {_names(grounds['yields_to'])}" if grounds["yields_to"] else "redundant"
        say(f"evict {suggestion.id}: {why}; coverers left: {_counts(suggestion.remaining)}")
    for swap in output.swaps:
        say(f"swap: admit {swap.admit}, remove {', '.join(swap.remove)}")
    for loss in output.least_loss:
        lost = [*loss.capabilities, *(" + ".join(names) for names in loss.combinations)]
        say(f"least loss: {loss.id} would cost {', '.join(lost) or 'nothing'}")
    say(
        f"{len(output.suggestions)} suggestion(s), {len(output.swaps)} swap(s), {len(output.pinned)} pinned, "
        f"{output.over_ceiling} over the ceiling"
    )


def _names(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else ""


def _counts(remaining: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in remaining.items()) or "it covers nothing competently"
