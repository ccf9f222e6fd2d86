"""The state of a regression set: as JSON's parts, and on a console."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from bot.curator.entry import Entry, total
from bot.curator.growth import growth
from bot.curator.losses import Loss, least_loss
from bot.curator.prune import Suggestion
from bot.curator.roles import derive_roles
from bot.curator.suggestions import SwapSuggestion, earning, newcomers_of, suggest
from bot.pipeline.review import Platform
from bot.rater.contextualizer import LiveSet
from bot.rater.pair_coverage import RuledOut, pair_coverage
from bot.report.escaping import visible
from bot.report.growth import print_growth
from bot.report.output import (
    CapabilityStatus,
    PruneOutput,
    Repack,
    RepackOutput,
    StatusOutput,
)
from bot.report.pairs import carried_words, print_pairs
from bot.report.verdict_text import counted, figure, listed

if TYPE_CHECKING:
    # The job that writes on GitHub imports this module, and has no rich.
    from bot.report.console import Printer


def status_overview(
    platform: Platform, agents: RuledOut | None = None, *, with_pairs: bool = True, over_time: bool = False
) -> StatusOutput:
    """The state of the platform's regression set, roles derived live.

    With ``agents`` it lists the missing pairs, and who could bring them, unless not ``with_pairs``; without, the
    taxonomy alone decides which pairs are possible.  ``over_time``: the set up to its last change is shown, too.
    """
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
    pairs = pair_coverage(
        residents, platform.regression_set.in_line(platform.taxonomy)[0], platform.taxonomy, platform.config, agents
    )
    is_listed = pairs is not None and agents is not None and with_pairs
    known = platform.regression_set
    growing = growth(known, platform.taxonomy, platform.config, agents) if over_time else None
    return StatusOutput(
        size=len(residents),
        ceiling=platform.config.ceiling,
        cost=platform.regression_set.cost,
        taxonomy=platform.taxonomy.version,
        capabilities=capabilities,
        combinations=len(frozenset().union(*(member.combinations for member in live.members))),
        pairs=pairs,
        missing_pairs=list(pairs.missing) if pairs is not None and is_listed else None,
        unexpected_pairs=list(pairs.unexpected) if pairs is not None and is_listed else None,
        growth=growing,
        pinned={id: list(reasons) for id, reasons in roles.pinned.items()},
        waiting=list(platform.regression_set.waiting),
        evicted=list(platform.regression_set.tombstones),
        lagging=list(lags),
    )


def prune_overview(platform: Platform) -> PruneOutput:
    """The suggestions of one prune over the platform's regression set."""
    known, config = platform.regression_set, platform.config
    found = suggest(known, platform.taxonomy, config)
    return PruneOutput(
        pinned={id: list(reasons) for id, reasons in found.roles.pinned.items()},
        suggestions=list(found.evictions),
        swaps=[item.swap for item in found.swaps],
        least_loss=[] if found.evictions else losses_overview(platform, {item.swap.admit for item in found.swaps}),
        over_ceiling=max(0, len(known.entries) - config.ceiling),
    )


def losses_overview(platform: Platform, swapped: Collection[str] = ()) -> list[Loss]:
    """With which entry R would lose least for each entry that waits for a slot and is not ``swapped``; in the cycle's
    order, and empty while slots are free.
    """
    known, config, taxonomy = platform.regression_set, platform.config, platform.taxonomy
    residents, lags = known.residents(taxonomy)
    if len(residents) < config.ceiling or not known.waiting:
        return []
    earn = [entry for entry in earning(known, residents, taxonomy, config) if entry.id not in swapped]
    waiting = [*newcomers_of(earn, known, taxonomy).values()]
    return list(least_loss(waiting, residents, config, taxonomy.major, {lag.id for lag in lags}, known.restored))


def print_status(output: StatusOutput, out: Printer, *, with_pairs: bool = False) -> None:
    """Print size, who waits, and coverage: on a terminal what is short first, in a pipe in the taxonomy's order.

    ``with_pairs``: the missing pairs in the place of the capabilities.  So is the set over time, if it was asked for.
    """
    covered = [item for item in output.capabilities if item.coverers]
    out.line(
        f"{output.size} of {output.ceiling} slots taken; taxonomy {output.taxonomy}: {len(covered)} of "
        f"{len(output.capabilities)} capabilities covered, {carried_words(output)}",
        "bold",
    )
    out.line(
        f"total cost: {figure(output.cost)}; pinned: {len(output.pinned)}; waiting for a slot: {len(output.waiting)}; "
        f"evicted: {len(output.evicted)}"
    )
    if output.waiting:
        out.lines("Waiting for a slot: `incumbent admit --waiting`", output.waiting)
    out.lines("Stale: `incumbent reclassify`", [f"{lag.id} ({visible(lag.reason)})" for lag in output.lagging])
    if output.growth is not None:
        print_growth(output.growth, out)
    if with_pairs:
        print_pairs(output, out)
    elif output.growth is not None:
        pass
    elif not out.is_terminal:
        _print_capabilities("Capabilities", output.capabilities, out)
    else:
        _print_capabilities("Short of their floor", [item for item in covered if not item.floor_met], out)
        _print_capabilities("Covered", [item for item in covered if item.floor_met], out)
        _print_capabilities("Covered by no entry", [item for item in output.capabilities if not item.coverers], out)


def _print_capabilities(title: str, items: list[CapabilityStatus], out: Printer) -> None:
    rows = [
        (
            item.id,
            str(len(item.coverers)),
            "on trial" if item.on_trial else "met" if item.floor_met else f"short of {item.floor}",
            "–" if item.champion_score is None else f"{item.champion_score:.2f}",
            item.champion or "–",
        )
        for item in items
    ]
    header = ("capability", "coverers", "floor", "best", "champion")
    out.table(f"{title} ({len(items)})", header, rows, right=("coverers", "best"))


def print_prune(output: PruneOutput, view: str, out: Printer) -> None:
    """Print what could go, swaps, and what would be lost least; ``view`` says what that is judged by."""
    out.line(
        f"{counted(len(output.suggestions), 'suggestion', 'suggestions')}, "
        f"{counted(len(output.swaps), 'swap', 'swaps')}, {len(output.pinned)} pinned, "
        f"{output.over_ceiling} over the ceiling",
        "bold",
    )
    if output.suggestions:
        out.line(view)
    swaps = [(swap.admit, ", ".join(swap.remove)) for swap in output.swaps]
    out.table(f"Swaps ({len(swaps)}): `incumbent accept ID`", ("admit", "remove"), swaps)
    losses = [(loss.admit, loss.id, _cost(loss)) for loss in output.least_loss]
    out.table(f"Least loss ({len(losses)})", ("waits", "would yield", "would cost"), losses)
    rows = [(item.id, _grounds(item), _left(item, short=out.is_terminal)) for item in output.suggestions]
    title = f"Could go ({len(rows)}): `incumbent evict ID --reason TEXT`"
    out.table(title, ("entry", "grounds", "coverers left"), rows)


def repacks_overview(repacks: Iterable[SwapSuggestion], platform: Platform) -> list[Repack]:
    """``repacks`` with what their set-ups cost."""
    known = platform.regression_set

    def cost(entry: Entry) -> float:
        return known.cost_of(entry.turns, entry.setup)

    return [
        Repack(
            admit=item.entering.id,
            remove=item.swap.remove,
            cost_needed=cost(item.entering),
            cost_freed=total(cost(known.entries[id]) for id in item.swap.remove),
        )
        for item in repacks
    ]


def print_repacks(output: RepackOutput, out: Printer) -> None:
    """Print a table of repacks."""
    rows = [
        (item.admit, ", ".join(item.remove), figure(item.cost_freed), figure(item.cost_needed))
        for item in output.repacks
    ]
    title = f"Repacks ({len(rows)}): `incumbent repack ID`"
    out.table(title, ("admit", "remove", "cost freed", "cost needed"), rows, right=("cost freed", "cost needed"))
    if not rows:
        out.line("no excluded query does the work of several entries, or of one at a lower cost")


def _cost(loss: Loss) -> str:
    return ", ".join([*loss.capabilities, *(" + ".join(names) for names in loss.combinations)]) or "nothing"


def could_go_view(status: StatusOutput) -> str:
    """What “could go” rests on: of entries that test something else, the taxonomy knows nothing."""
    seen = sum(bool(item.coverers) for item in status.capabilities)
    return view(seen, len(status.capabilities), status.size)


def view(seen: int, known: int, entries: int) -> str:
    """The same, where ``seen`` of ``known`` capabilities are covered by ``entries``."""
    return (
        f"In {counted(entries, 'entry', 'entries')} the taxonomy sees {seen} of its {known} capabilities, and is blind "
        "to the rest of what they test: read an entry before it goes."
    )


def _grounds(item: Suggestion) -> str:
    names = ", ".join(item.grounds.yields_to)
    return f"displaced by {names}" if names else "redundant"


def _left(item: Suggestion, *, short: bool) -> str:
    """How many cover what the entry covers once all suggestions are followed; the fewest first."""
    counts = sorted(item.remaining.items(), key=lambda pair: (pair[1], pair[0]) if short else (0, ""))
    counted_names = [f"{name} {count}" for name, count in counts]
    if not counted_names:
        return "it covers nothing competently"
    return listed(counted_names, most=1) if short else ", ".join(counted_names)
