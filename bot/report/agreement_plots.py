"""Agreement as drawings: explicit agreement with its intervals by decision and reason, and from month to month."""

from __future__ import annotations

from typing import Final

from bot.report.agreement import AgreementOutput, RowOutput, ShareOutput
from bot.report.escaping import shortened, visible
from bot.report.svg import Drawing

AGREEMENT: Final = "agreement.svg"
TREND: Final = "trend.svg"

_WIDTH: Final = 400.0  # of the axis that shares are drawn on
_HEIGHT: Final = 220.0  # of the trend
_STEP: Final = 56.0  # from one month to the next
_LETTER: Final = 6.7  # width of a letter, about
_NAME: Final = 28  # letters of a name
_ROW: Final = 26.0
_TICKS: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def plots(output: AgreementOutput) -> dict[str, str]:
    """Name → SVG of each drawing; without any response, drawings that say so."""
    return {AGREEMENT: _agreement(output), TREND: _trend(output)}


def _agreement(output: AgreementOutput) -> str:
    groups = [(name, _drawn(rows)) for name, rows in (("Decisions", output.decisions), ("Reasons", output.reasons))]
    names = [visible(name) for _, rows in groups for name in rows]
    left = 32 + _LETTER * max([len("Decisions"), *(len(shortened(name, _NAME)) for name in names)])
    top = 70.0
    bottom = top + _ROW * sum(len(rows) + 1 for _, rows in groups if rows)
    drawing = Drawing(left + _WIDTH + 96, bottom + 40, "Explicit agreement by decision and reason")
    drawing.text(16, 26, "Explicit agreement with verdicts and suggestions, with 95 % intervals", "title")
    drawing.text(16, 46, _about(output), "muted")

    def at(share: float) -> float:
        return left + share * _WIDTH

    for tick in _TICKS:
        drawing.line(at(tick), top, at(tick), bottom, "axis" if tick == 0 else "grid")
        drawing.text(at(tick), bottom + 18, f"{tick:.0%}", "muted", "middle")
    y = top
    for title, rows in groups:
        if not rows:
            continue
        drawing.text(16, y + _ROW / 2 + 4, title, "muted")
        y += _ROW
        for name, item in rows.items():
            middle = y + _ROW / 2
            drawing.text(left - 12, middle + 4, shortened(visible(name), _NAME), anchor="end")
            drawing.rectangle(left, middle - 7, at(item.share or 0.0) - left, 14, "ours")
            if item.low is not None and item.high is not None:
                drawing.line(at(item.low), middle, at(item.high), middle, "whisker")
                for bound in (item.low, item.high):
                    drawing.line(at(bound), middle - 3, at(bound), middle + 3, "whisker")
            drawing.text(at(1) + 12, middle + 4, f"{item.agreed}/{item.count}", "muted")
            y += _ROW
    return drawing.xml


def _drawn(rows: dict[str, RowOutput]) -> dict[str, ShareOutput]:
    """Those of ``rows`` that have explicit responses: of the others there is nothing to draw."""
    return {name: item.explicit for name, item in rows.items() if item.explicit.count}


def _trend(output: AgreementOutput) -> str:
    months = {name: item.explicit for name, item in output.months.items() if item.explicit.count}
    places = {name: _ordinal(name) for name in months}
    first = min(places.values(), default=0)
    span = max(places.values(), default=0) - first
    left, top = 64.0, 70.0
    # As wide as its title, at the least.
    drawing = Drawing(max(left + _STEP * (span + 1), 420.0) + 24, top + _HEIGHT + 56, "Explicit agreement by month")
    drawing.text(16, 26, "Explicit agreement by month, with 95 % intervals", "title")
    drawing.text(16, 46, _about(output), "muted")
    right = left + _STEP * (span + 1)

    def at(month: str, share: float) -> tuple[float, float]:
        return left + _STEP * (places[month] - first + 0.5), top + (1 - share) * _HEIGHT

    for tick in _TICKS:
        y = top + (1 - tick) * _HEIGHT
        drawing.line(left, y, right, y, "axis" if tick == 0 else "grid")
        drawing.text(left - 8, y + 4, f"{tick:.0%}", "muted", "end")
    drawing.path([at(name, item.share or 0.0) for name, item in months.items()], "line")
    for name, item in months.items():
        x, y = at(name, item.share or 0.0)
        if item.low is not None and item.high is not None:
            drawing.line(x, at(name, item.low)[1], x, at(name, item.high)[1], "whisker")
        drawing.circle(x, y, 4, "ours", f"{name}: {item.agreed} of {item.count}")
        drawing.text(x, top + _HEIGHT + 18, name, "muted", "middle")
        drawing.text(x, top + _HEIGHT + 34, f"{item.agreed}/{item.count}", "muted", "middle")
    return drawing.xml


def _ordinal(month: str) -> int:
    """Months since year 0, so that one without responses leaves a gap."""
    return int(month[:4]) * 12 + int(month[5:])


def _about(output: AgreementOutput) -> str:
    overall = output.overall
    return f"{overall.explicit.count:,} explicit responses; not drawn: {overall.implicit.count:,} let pass by a merge"
