"""The state of a regression set as people ask for it: what it holds, and what could go."""

from __future__ import annotations

from bot.curator.admission import least_loss
from bot.curator.prune import prune
from bot.curator.roles import derive_roles
from bot.curator.suggestions import swaps_of
from bot.pipeline.review import Platform
from bot.rater.contextualizer import LiveSet
from bot.report.output import (
    CapabilityStatus,
    LagOutput,
    LossOutput,
    PruneOutput,
    StatusOutput,
    SwapOutput,
    grounds_output,
)


def status_overview(platform: Platform) -> StatusOutput:
    """The state of the platform's regression set, roles derived live."""
    residents, lags = platform.regression_set.residents(platform.taxonomy)
    roles = derive_roles(residents, platform.config)
    live = LiveSet(residents, (), platform.config)
    scores = {resident.id: resident.scores for resident in residents}
    capabilities = []
    for name in platform.taxonomy.by_id:
        champion = roles.champions.get(name)
        coverers = roles.coverers.get(name, ())
        floor = platform.config.redundancy_floor(name)
        capabilities.append(
            CapabilityStatus(
                id=name,
                champion=champion,
                champion_score=None if champion is None else scores[champion][name],
                coverers=list(coverers),
                floor=floor,
                floor_met=len(coverers) >= floor,
                on_trial=name in platform.taxonomy.trial,
            )
        )
    return StatusOutput(
        size=len(residents),
        ceiling=platform.config.ceiling,
        taxonomy=platform.taxonomy.version,
        capabilities=capabilities,
        combinations=len(frozenset().union(*(member.combinations for member in live.members))),
        pinned={id: list(reasons) for id, reasons in roles.pinned.items()},
        waiting=list(platform.regression_set.waiting),
        evicted=list(platform.regression_set.tombstones),
        lagging=[LagOutput.of(lag) for lag in lags],
    )


def prune_overview(platform: Platform) -> PruneOutput:
    """The suggestions of one prune over the platform's regression set."""
    residents, lags = platform.regression_set.residents(platform.taxonomy)
    behind = {lag.id for lag in lags}
    pruning = prune(
        residents,
        platform.config,
        platform.taxonomy.major,
        refused=platform.regression_set.restored,
        lagging=behind,
    )
    known, config = platform.regression_set, platform.config
    swaps = swaps_of(known, residents, residents, platform.taxonomy, config, behind)
    stuck = platform.regression_set.waiting and not pruning.suggestions and not swaps
    return PruneOutput(
        pinned={id: list(reasons) for id, reasons in pruning.roles.pinned.items()},
        suggestions=grounds_output(pruning),
        swaps=[SwapOutput(admit=swap.admit, remove=list(swap.remove)) for swap in swaps],
        least_loss=losses_overview(platform) if stuck else [],
        over_ceiling=max(0, len(residents) - platform.config.ceiling),
    )


def losses_overview(platform: Platform) -> list[LossOutput]:
    """The entries with which R would lose least, as many as wait for a slot, least first."""
    residents, lags = platform.regression_set.residents(platform.taxonomy)
    losses = least_loss(residents, platform.config, {lag.id for lag in lags})
    return [
        LossOutput(
            id=loss.id,
            capabilities=list(loss.capabilities),
            combinations=[list(names) for names in loss.combinations],
        )
        for loss in losses[: len(platform.regression_set.waiting)]
    ]
