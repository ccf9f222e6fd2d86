"""R over time: as charts in Markdown, and as a table on a console."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.curator.growth import Growth
from bot.report.tables import folded
from bot.report.verdict_text import figure, listed

if TYPE_CHECKING:
    # The job that writes on GitHub imports this module, and has no rich.
    from bot.report.console import Printer


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
    return f"{size}\n\n{rest}"


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
