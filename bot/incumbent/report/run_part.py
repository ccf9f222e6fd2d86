"""The part of the set that an export runs: chosen by results, as JSON and in a few words."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Self

from incumbent.ledger.releases.history import histories, in_order
from incumbent.ledger.releases.record import ReleaseRecord
from incumbent.ledger.releases.selection import KeptGoals, Kind, Measure, RunnableEntry, choose_part, run_prices
from incumbent.pipeline.review import Platform
from incumbent.rater.contextualizer import LiveSet
from incumbent.report.output import PartOutput
from incumbent.report.results import estimated_words
from incumbent.report.verdict_text import counted, figure

_SECONDS: Final = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_BUDGET: Final = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?) ?(s|m|min|h)?", re.ASCII)
_NAMED: Final[dict[Kind, tuple[str, str]]] = {
    "capability": ("capability", "capabilities"),
    "combination": ("combination", "combinations"),
    "failure": ("entry that ever failed", "entries that ever failed"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBudget:
    """What a run may take: seconds, or a cost as runners state it."""

    measure: Measure
    limit: float

    @classmethod
    def of(cls, text: str) -> Self | None:
        """The budget that people wrote, such as ``20m`` or ``1.50``; ``None`` if it is none."""
        found = _BUDGET.fullmatch(text.strip())
        if found is None:
            return None
        number, unit = float(found[1]), found[2]
        return (
            cls(measure="cost", limit=number) if unit is None else cls(measure="seconds", limit=number * _SECONDS[unit])
        )


def choose_for(
    platform: Platform,
    records: Sequence[ReleaseRecord],
    ids: Collection[str],
    budget: RunBudget | None,
    changed: Sequence[str] | None,
) -> PartOutput | None:
    """The part of the entries ``ids`` for ``budget``; ``None`` if it needs measured runs, and there are none.

    Without a budget the part has the fewest seconds, as far as they are known.
    """
    known, config = platform.regression_set, platform.config
    found = histories(known.entries, in_order(records), config.results)
    measure: Measure = "seconds" if budget is None else budget.measure
    prices, missing = run_prices(found, measure)
    if not prices and budget is not None:
        return None
    residents = known.residents(platform.taxonomy)[0]
    live = LiveSet(residents, (), config)
    named = live.capabilities.named
    able = [
        RunnableEntry(
            id=member.id,
            capabilities=frozenset(named(member.caps)),
            combinations=frozenset(
                names for mask in live.capabilities.carried(member) if len(names := named(mask)) > 1
            ),
            price=prices.get(member.id, 1.0),
            failed=found[member.id].failing > 0,
            failure_rate=found[member.id].failure_rate,
        )
        for member in sorted(live.members, key=lambda member: member.id)
        if member.id in ids
    ]
    part = choose_part(able, None if budget is None else budget.limit, changed)
    chosen = set(part.ids)
    return PartOutput(
        measure=measure if prices else None,
        budget=None if budget is None else budget.limit,
        changed=None if changed is None else list(changed),
        part=part,
        estimated=[id for id in missing if id in chosen] if prices else [],
        not_chosen=[item.id for item in able if item.id not in chosen],
    )


def part_words(output: PartOutput) -> str:
    """What was chosen, in one line."""
    part = output.part
    entries = f"{len(part.ids)} of {counted(len(part.ids) + len(output.not_chosen), 'entry', 'entries')}"
    kept = ", ".join(_kept(item) for item in part.goals if item.total)
    guessed = estimated_words(len(output.estimated))
    price = "" if output.measure is None else f", {_price(part.price, part.whole, output.measure)}{guessed}"
    return f"chosen: {entries}{price}" + (f"; {kept}" if kept else "")


def _kept(item: KeptGoals) -> str:
    return f"{item.kept} of {counted(item.total, *_NAMED[item.kind])}"


def _price(part: float, whole: float, measure: Measure) -> str:
    if measure == "cost":
        return f"cost {figure(round(part, 4))} of {figure(round(whole, 4))}"
    return f"{part / 60:,.1f} of {whole / 60:,.1f} minutes"
