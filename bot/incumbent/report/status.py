"""The state of a regression set, its growth and its pairs: for JSON, on a console, and on the dashboard."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from incumbent.curator.entry import Entry, total
from incumbent.curator.growth import Growth, growth
from incumbent.curator.losses import Loss, least_loss
from incumbent.curator.prune import Suggestion
from incumbent.curator.roles import roles_in
from incumbent.curator.suggestions import Suggestions, SwapSuggestion, earning, newcomers_of
from incumbent.files.git.file_history import FileHistory
from incumbent.ledger.clone import LocalRefusals
from incumbent.ledger.releases.history import EntryHistory, only_failing
from incumbent.pipeline.review import Platform
from incumbent.rater.contextualizer import LiveSet
from incumbent.rater.pair_coverage import MissingPair, PairCoverage, RuledOut, pair_coverage
from incumbent.report.detection import Scores, detection_of
from incumbent.report.escaping import visible
from incumbent.report.output import (
    CapabilityStatus,
    PruneOutput,
    Repack,
    RepackOutput,
    StatusOutput,
    TopUp,
)
from incumbent.report.results import ResultsOutput
from incumbent.report.tables import TableSection, folded
from incumbent.report.verdict_text import MarkdownStyle, counted, figure, listed

if TYPE_CHECKING:
    # The job that writes on GitHub imports this module, and has no rich.
    from incumbent.report.console import Printer


def status_overview(
    platform: Platform,
    agents: RuledOut | None = None,
    results: ResultsOutput | None = None,
    *,
    with_pairs: bool = True,
    over_time: bool = False,
    history: FileHistory | None = None,
    on_record: Collection[Scores] = (),
) -> StatusOutput:
    """The state of the platform's regression set, roles derived live.

    With ``agents`` it lists the missing pairs, and who could bring them, unless not ``with_pairs``; without, the
    taxonomy alone decides which pairs are possible.  ``over_time``: the set up to its last change is shown, too, by the
    ``history`` of its files (:func:`incumbent.curator.growth.growth`).  ``results`` say which capabilities are covered
    in name alone.  ``on_record`` are the scores of queries outside of R and its waitlist, for expected detection.
    """
    residents, stale = platform.regression_set.residents(platform.taxonomy)
    live = LiveSet(residents, (), platform.config)
    roles = roles_in(live)
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
    quarantined = {id for id, entry in known.entries.items() if entry.quarantined is not None}
    growing = growth(known, platform.taxonomy, platform.config, agents, None, history) if over_time else None
    return StatusOutput(
        size=len(residents),
        ceiling=platform.config.ceiling,
        cost=platform.regression_set.cost,
        detection=detection_of(platform, on_record),
        taxonomy=platform.taxonomy.version,
        capabilities=capabilities,
        in_name_alone=results.in_name_alone
        if results is not None and results.releases
        else [item.id for item in capabilities if item.coverers and quarantined.issuperset(item.coverers)]
        if quarantined
        else None,
        combinations=len(frozenset().union(*(member.combinations for member in live.members))),
        pairs=pairs,
        missing_pairs=list(pairs.missing) if pairs is not None and is_listed else None,
        unexpected_pairs=list(pairs.unexpected) if pairs is not None and is_listed else None,
        growth=growing,
        pinned={id: list(reasons) for id, reasons in roles.pinned.items()},
        quarantined=sorted(quarantined),
        waiting=list(platform.regression_set.waiting),
        evicted=list(platform.regression_set.tombstones),
        stale=list(stale),
    )


def prune_overview(
    platform: Platform,
    found: Suggestions,
    refused: LocalRefusals,
    histories: Mapping[str, EntryHistory] = MappingProxyType({}),
) -> PruneOutput:
    """The suggestions ``found`` for the platform's regression set, made without what people ``refused``.

    By their ``histories`` it shows which of them alone ever failed.
    """
    known, config = platform.regression_set, platform.config
    swapped = {item.swap.admit for item in found.swaps}
    leaving = {*(item.id for item in found.evictions), *(id for item in found.swaps for id in item.swap.remove)}
    alone = only_failing(histories, found.roles.coverers)
    return PruneOutput(
        pinned={id: list(reasons) for id, reasons in found.roles.pinned.items()},
        suggestions=list(found.evictions),
        swaps=[item.swap for item in found.swaps],
        least_loss=[] if found.evictions else losses_overview(platform, refused.grounds, swapped),
        over_ceiling=max(0, len(known.entries) - config.ceiling),
        refused=refused.left_out(found),
        only_failing={id: list(alone[id]) for id in sorted(leaving & alone.keys())},
    )


def losses_overview(platform: Platform, refused: Collection[str] = (), swapped: Collection[str] = ()) -> list[Loss]:
    """With which entry R would lose least for each entry that waits for a slot and is not ``swapped``; in the cycle's
    order, and empty while slots are free.  Entries whose eviction people ``refused`` (digests of grounds) are left out.
    """
    known, config, taxonomy = platform.regression_set, platform.config, platform.taxonomy
    residents, stale = known.residents(taxonomy)
    if len(residents) < config.ceiling or not known.waiting:
        return []
    earn = [entry for entry in earning(known, residents, taxonomy, config) if entry.id not in swapped]
    waiting = [*newcomers_of(earn, known, taxonomy).values()]
    refused = known.restored.union(refused)
    staying = {item.id for item in stale} | known.kept_on_trial(taxonomy).keys()
    return list(least_loss(waiting, residents, config, taxonomy.major, staying, refused))


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
    out.line(f"expected detection: {output.detection}")
    if output.waiting:
        out.lines("Waiting for a slot: `incumbent admit --waiting`", output.waiting)
    if output.quarantined:
        out.lines("Quarantined: `incumbent list --quarantined`", output.quarantined)
    if output.in_name_alone:
        why = "since all their entries flap or are quarantined: `incumbent results`"
        out.lines(f"Covered in name alone, {why}", output.in_name_alone)
    out.lines("Stale: `incumbent reclassify`", [f"{item.id} ({visible(item.reason)})" for item in output.stale])
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
    swaps = [(swap.admit, ", ".join(swap.remove), ", ".join(swap.rests_on) or "–") for swap in output.swaps]
    out.table(f"Swaps ({len(swaps)}): `incumbent accept ID`", ("admit", "remove", "rests on"), swaps)
    losses = [(loss.admit, loss.id, _cost(loss)) for loss in output.least_loss]
    out.table(f"Least loss ({len(losses)})", ("waits", "would yield", "would cost"), losses)
    rows = [(item.id, _grounds(item), _left(item, short=out.is_terminal)) for item in output.suggestions]
    title = f"Could go ({len(rows)}): `incumbent evict ID --reason TEXT`"
    out.table(title, ("entry", "grounds", "coverers left"), rows)
    caught = [f"{id}: {', '.join(names)}" for id, names in output.only_failing.items()]
    out.lines("In release runs no other entry that covers these ever failed", caught)


def repacks_overview(repacks: Iterable[SwapSuggestion], platform: Platform) -> list[Repack]:
    """``repacks`` with what their set-ups cost."""
    known = platform.regression_set

    def cost(entry: Entry) -> float:
        return known.cost_of(entry.turns, entry.setup)

    return [
        Repack(
            admit=item.entering.id,
            remove=item.swap.remove,
            rests_on=item.rests_on,
            cost_needed=cost(item.entering),
            cost_freed=total(cost(known.entries[id]) for id in item.swap.remove),
        )
        for item in repacks
    ]


def top_ups_overview(top_ups: Iterable[SwapSuggestion], platform: Platform) -> list[TopUp]:
    """``top_ups`` with what their set-ups cost."""
    known = platform.regression_set
    return [
        TopUp(
            admit=item.entering.id,
            rests_on=item.rests_on,
            gain=item.gain,
            cost_needed=known.cost_of(item.entering.turns, item.entering.setup),
        )
        for item in top_ups
    ]


def print_repacks(output: RepackOutput, out: Printer) -> None:
    """Print a table of repacks, and one of top-ups if there are any."""
    rows = [
        (item.admit, ", ".join(item.remove), figure(item.cost_freed), figure(item.cost_needed))
        for item in output.repacks
    ]
    title = f"Repacks ({len(rows)}): `incumbent repack ID`"
    out.table(title, ("admit", "remove", "cost freed", "cost needed"), rows, right=("cost freed", "cost needed"))
    if not rows:
        out.line("no excluded query does the work of several entries")
    if output.top_ups:
        added = [(item.admit, f"{item.gain:.3f}", figure(item.cost_needed)) for item in output.top_ups]
        header = ("admit", "adds", "cost needed")
        out.table(f"Top-ups ({len(added)}): `incumbent repack ID`", header, added, right=header[1:])


def _cost(loss: Loss) -> str:
    return ", ".join([*loss.capabilities, *(" + ".join(names) for names in loss.combinations)]) or "nothing"


def could_go_view(platform: Platform, found: Suggestions) -> str:
    """What “could go” rests on: of entries that test something else, the taxonomy knows nothing."""
    known = platform.taxonomy.by_id
    seen = sum(bool(found.roles.coverers.get(name)) for name in known)
    return view(seen, len(known), len(platform.regression_set.entries))


def view(seen: int, known: int, entries: int) -> str:
    """The same, where ``seen`` of ``known`` capabilities are covered by ``entries``."""
    return (
        f"The taxonomy sees {seen} of its {known} capabilities in {counted(entries, 'entry', 'entries')}. It does not "
        "know what else they test: read an entry before you evict it."
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


def growth_charts(growth: Growth, ceiling: int) -> str | None:
    """The curves as Mermaid blocks: the size under its ``ceiling``, and folded what the entries do and cost.

    ``None`` if there is one day alone.  It contains only numbers and dates, nothing from outside.  Where each entry
    costs 1, the cost is the size and is left out.
    """
    points = growth.points
    if len(points) == 1:
        return None
    sizes = [point.entries for point in points]
    costs = [point.cost for point in points]
    top = max(ceiling, *sizes)
    title = f"Entries, under the ceiling of {ceiling}"
    size = _chart(growth, title, "Entries", str(top), [sizes, [ceiling] * len(points)])
    reached = [point.at_floor for point in points]
    title = f"Capabilities at their floor, of {growth.capabilities}"
    folding = ["Floors"]
    more = [_chart(growth, title, "Capabilities", str(max(1, growth.capabilities)), [reached])]
    if growth.possible is not None:
        carried = [point.pairs or 0 for point in points]
        title = f"Possible pairs carried, of {growth.possible}"
        folding.append("pairs")
        more.append(_chart(growth, title, "Pairs", str(max(1, growth.possible)), [carried]))
    if costs != sizes:
        folding.append("cost")
        more.append(_chart(growth, "Total cost of the entries", "Cost", figure(max(1, *costs)), [costs]))
    rest = folded(f"{listed(folding)} over time", "\n\n".join(more))
    return "\n\n".join([size, rest, *([] if growth.history != "shallow" else [history_words(growth)])])


def history_words(growth: Growth) -> str:
    """What the curves do not show for want of git's history; empty if it is whole."""
    if growth.history == "whole":
        return ""
    why = "The clone is shallow" if growth.history == "shallow" else "There is no history of git here"
    return f"{why}: entries that were evicted and restored may count as if they had never been gone."


def _chart(growth: Growth, title: str, axis: str, top: str, lines: Sequence[Sequence[float]]) -> str:
    days = growth.step * (len(growth.points) - 1)
    # Written as every Mermaid since version 10 reads it; newer ones know it by `xychart` as well.
    return "\n".join(
        [
            "```mermaid",
            "xychart-beta",
            f'  title "{title}"',
            f'  x-axis "Days since {growth.points[0].day}" 0 --> {days}',
            f'  y-axis "{axis}" 0 --> {top}',
            *(f"  line [{', '.join(map(figure, line))}]" for line in lines),
            "```",
        ]
    )


def print_growth(growth: Growth, out: Printer) -> None:
    """Print a table with a row for each day that is shown."""
    rows = [
        (
            point.day,
            str(point.entries),
            figure(point.cost),
            f"{point.at_floor} of {growth.capabilities}",
            "–" if point.pairs is None else f"{point.pairs} of {growth.possible}",
        )
        for point in growth.points
    ]
    header = ("day", "entries", "cost", "at their floor", "pairs carried")
    out.table(f"Over time ({len(rows)})", header, rows, right=header[1:])
    if words := history_words(growth):
        out.line(words)


SHOWN_PAIRS: Final = 20
"""Maximum number of missing pairs that the dashboard lists."""

_NOUNS: Final = {1: "single capabilities", 2: "pairs", 3: "triples"}
_COMMAND: Final = "`incumbent status --pairs`"


def carried_words(status: StatusOutput) -> str:
    """How many of the possible pairs are carried; where a combination is a whole signature, how many of these are."""
    if status.pairs is None:
        return f"{counted(status.combinations, 'combination', 'combinations')} carried"
    noun = _NOUNS[status.pairs.strength]
    possible = f"possible {noun}" if status.pairs.agents else noun
    return f"{status.pairs.carried} of {status.pairs.possible} {possible} carried"


def basis(coverage: PairCoverage) -> str:
    """What decides which pairs are possible."""
    if not coverage.agents:
        return "Possible by the taxonomy alone: no agent's specification is known."
    return f"Possible by the taxonomy and the specifications of {counted(coverage.agents, 'agent', 'agents')}."


def print_pairs(status: StatusOutput, out: Printer) -> None:
    """Print the missing pairs, and those that are carried although they count as impossible."""
    if status.pairs is None:
        out.line("`novelty: signature` has no pairs: a combination is a whole signature.")
        return
    out.line(basis(status.pairs))
    rows = [
        (" + ".join(item.capabilities), str(item.agents), _first(item), ", ".join(item.waiting) or "–")
        for item in status.missing_pairs or ()
    ]
    header = ("missing", "agents", "such as", "waiting")
    out.table(f"Missing ({len(rows)})", header, rows, right=("agents",))
    unexpected = [" + ".join(names) for names in status.unexpected_pairs or ()]
    out.lines(f"Carried, though counted as impossible ({len(unexpected)})", unexpected)


def _first(item: MissingPair) -> str:
    """One agent in a column; the JSON has more."""
    return visible(item.first_agents[0]) if item.first_agents else "–"


def missing_section(coverage: PairCoverage, style: MarkdownStyle) -> TableSection:
    """The missing pairs, as far as the dashboard lists them, and who could bring them."""
    count = len(coverage.missing)
    rows = tuple(
        (
            " + ".join(style.capability(name) for name in item.capabilities),
            listed([style.quote(name) for name in item.first_agents], total=item.agents) if item.agents else "–",
            listed([style.name(id) for id in item.waiting]) if item.waiting else "–",
        )
        for item in coverage.missing[:SHOWN_PAIRS]
    )
    about = [basis(coverage)]
    if coverage.unexpected:
        about.append(f"Carried, though counted as impossible: {len(coverage.unexpected)}.")
    if count > len(rows):
        about.append(f"The table has the first {len(rows)}; {_COMMAND} lists all.")
    return TableSection(
        title=f"Missing {_NOUNS[coverage.strength]} ({count})",
        about=(" ".join(about),),
        header=("Missing", "Agents that could bring it", "On the waitlist"),
        rows=rows,
        more=_COMMAND,
        fold=f"{len(rows)} of {count}",
    )
