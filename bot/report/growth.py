"""How the regression set grew, told by its own files: a chart that GitHub draws (Mermaid)."""

from __future__ import annotations

from datetime import date

from bot.curator.entry import utc
from bot.curator.store import RegressionSet

CHART_POINTS = 30
"""A line of more points says no more at the width of an issue."""


def sizes(known: RegressionSet, at: str) -> tuple[date, int, tuple[int, ...]]:
    """The first day shown, the days from one point to the next, and |R| at the end of each of these days.

    The last point is R as it is now, at the moment ``at``; there are at most ``CHART_POINTS``, and one alone where
    everything happened on that day.  An entry that was evicted and came back counts from its first admission on, since
    its tombstone is gone.  Raises :class:`ValueError` where ``at`` is no ISO 8601 time.
    """
    stays = [(_day(entry.admitted.at), None) for entry in known.entries.values()]
    # An eviction that was only just merged has no time yet.
    left = [(_day(item.entry.admitted.at), _day(item.evicted.at or utc(at))) for item in known.tombstones.values()]
    days = [day for stay in (*stays, *left) for day in stay if day is not None]
    last = max([_day(utc(at)), *days])
    span = last - min([last, *days])
    # Whole days between points, so that Mermaid, which adds them up, arrives at the last one.
    step = max(1, -(-span // (CHART_POINTS - 1)))
    points = -(-span // step)
    shown = [last - step * ago for ago in range(points, -1, -1)]
    counts = tuple(sum(come <= day and (gone is None or day < gone) for come, gone in (*stays, *left)) for day in shown)
    return date.fromordinal(max(1, shown[0])), step, counts


def growth_chart(known: RegressionSet, ceiling: int, at: str) -> str | None:
    """The size of R over time under its ``ceiling``, as a Mermaid block; ``None`` where there is one day to show.

    Only numbers and dates stand in it, nothing from outside.  ``at`` as in :func:`sizes`.
    """
    first, step, counts = sizes(known, at)
    if len(counts) == 1:
        return None
    # Written as every Mermaid since version 10 reads it; newer ones know it by `xychart` as well.
    lines = (
        "```mermaid",
        "xychart-beta",
        f'  title "Entries, under the ceiling of {ceiling}"',
        f'  x-axis "Days since {first.isoformat()}" 0 --> {step * (len(counts) - 1)}',
        f'  y-axis "Entries" 0 --> {max(ceiling, *counts)}',
        f"  line [{', '.join(map(str, counts))}]",
        f"  line [{', '.join([str(ceiling)] * len(counts))}]",
        "```",
    )
    return "\n".join(lines)


def _day(moment: str) -> int:
    return date.fromisoformat(moment[:10]).toordinal()
