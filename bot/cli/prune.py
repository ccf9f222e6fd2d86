"""``incumbent prune``: which entries could go."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import json_option, open_platform, print_json, repository_options
from bot.consolidator.cycle import run_cycle
from bot.curator.admission import least_loss, suggest_swaps
from bot.curator.prune import prune
from bot.pipeline import Platform
from bot.rater.model import Resident, ScoredQuery
from bot.report.output import LossOutput, PruneOutput, SwapOutput, grounds_output


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
    output = plan(open_platform(repo, config_path))
    if as_json:
        print_json(output)
        return
    for suggestion in output.suggestions:
        grounds = suggestion.grounds
        why = f"displaced by {_names(grounds['yields_to'])}" if grounds["yields_to"] else "redundant"
        click.echo(f"evict {suggestion.id}: {why}; coverers left: {_counts(suggestion.remaining)}")
    for swap in output.swaps:
        click.echo(f"swap: admit {swap.admit}, remove {', '.join(swap.remove)}")
    for loss in output.least_loss:
        lost = [*loss.capabilities, *(" + ".join(names) for names in loss.combinations)]
        click.echo(f"least loss: {loss.id} would cost {', '.join(lost) or 'nothing'}")
    click.echo(
        f"{len(output.suggestions)} suggestion(s), {len(output.swaps)} swap(s), {len(output.pinned)} pinned, "
        f"{output.over_ceiling} over the ceiling"
    )


def plan(platform: Platform) -> PruneOutput:
    """The suggestions of one prune over the platform's regression set."""
    residents, lags = platform.regression_set.residents(platform.taxonomy)
    behind = {lag.id for lag in lags}
    pruning = prune(residents, platform.config, platform.taxonomy.major, lagging=behind)
    swaps = _swaps(platform, residents)
    stuck = platform.regression_set.waiting and not pruning.suggestions and not swaps
    losses = least_loss(residents, platform.config) if stuck else ()
    return PruneOutput(
        pinned={id: list(reasons) for id, reasons in pruning.roles.pinned.items()},
        suggestions=grounds_output(pruning),
        swaps=swaps,
        least_loss=[
            LossOutput(
                id=loss.id,
                capabilities=list(loss.capabilities),
                combinations=[list(names) for names in loss.combinations],
            )
            for loss in losses[: len(platform.regression_set.waiting)]
        ],
        over_ceiling=max(0, len(residents) - platform.config.ceiling),
    )


def _swaps(platform: Platform, residents: tuple[Resident, ...]) -> list[SwapOutput]:
    if len(residents) < platform.config.ceiling:
        return []
    queries = {
        entry.id: ScoredQuery(id=entry.id, turns=entry.turns, scores=entry.scores)
        for entry in platform.regression_set.waiting.values()
    }
    verdicts = run_cycle(tuple(queries.values()), residents, platform.config)
    pairs = [(queries[verdict.id], verdict) for verdict in verdicts if verdict.admitted]
    return [
        SwapOutput(admit=swap.admit, remove=list(swap.remove))
        for swap in suggest_swaps(pairs, residents, platform.config)
    ]


def _names(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else ""


def _counts(remaining: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in remaining.items()) or "it covers nothing competently"
