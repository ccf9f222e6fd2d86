"""Charts as Vega-Lite specifications, and as SVG: drawn when the site is made, so that pages need no script for them.

The style sheet gives their colours for light and dark: it knows a mark by the colour that is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from incumbent.curator.growth import GrowthPoint
from incumbent.extras import require_extra
from incumbent.ledger.agreement.agreement import Month
from incumbent.ledger.calibration.fit import Estimate
from incumbent.report.output import StatusOutput

Specification: TypeAlias = Mapping[str, Any]
Draw: TypeAlias = Callable[[Specification], str]
"""Draws a chart as SVG."""

_VERSION: Final = "6.4"
_WIDTH: Final = 420
_HEIGHT: Final = 150
_MAIN: Final = "#1f6feb"
_LIMIT: Final = "#bc4c00"
_SAYS: Final = {True: "enough", False: "not enough"}
_BASE: Final[Mapping[str, Any]] = {
    "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
    "width": _WIDTH,
    "height": _HEIGHT,
    "background": None,
    "config": {
        "font": "sans-serif",
        "view": {"stroke": None},
        "axis": {"grid": False, "domain": False, "ticks": False, "labelPadding": 6, "labelFontSize": 12},
        "axisY": {"grid": True, "tickCount": 3},
    },
}
_TIME: Final[Mapping[str, Any]] = {
    "field": "day",
    "type": "temporal",
    "title": None,
    "scale": {"type": "utc"},
    "axis": {"format": "%d %b %y", "tickCount": 4, "labelOverlap": True},
}


def drawing() -> Draw:
    """Draws with Vega-Lite, which needs the packages of the extra ``site``; raises :class:`UsageError` without them."""
    require_extra("site", "a page with charts")
    import vl_convert

    def draw(specification: Specification) -> str:
        # No address is allowed: a specification holds all its data.
        return str(vl_convert.vegalite_to_svg(dict(specification), vl_version=_VERSION, allowed_base_urls=[]))

    return draw


def growth_charts(status: StatusOutput, noun: str = "pairs") -> dict[str, Specification]:
    """Title → a chart of the set over time, with what it could reach at most; none where there is one day alone.

    ``noun`` is what combinations of capabilities are called.
    """
    growth = status.growth
    if growth is None or len(growth.points) < 2:
        return {}
    points = growth.points
    charts = {
        f"Entries, under the ceiling of {status.ceiling}": _line(points, "entries", status.ceiling),
        f"Capabilities at their floor, of {growth.capabilities}": _line(points, "at_floor", growth.capabilities),
    }
    if growth.possible is not None:
        charts[f"Possible {noun} carried, of {growth.possible}"] = _line(points, "pairs", growth.possible)
    if [point.cost for point in points] != [point.entries for point in points]:
        charts["Total cost of the entries"] = _line(points, "cost", None)
    return charts


def _line(points: Sequence[GrowthPoint], name: str, most: int | None) -> Specification:
    values = [{"day": point.day, "value": getattr(point, name)} for point in points]
    rules = [] if most is None else [_rule(most)]
    line = {
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2, "color": _MAIN, "aria": False},
        "encoding": {"x": _TIME, "y": _amount("value", most)},
    }
    return {**_BASE, "data": {"values": values}, "layer": [line, *rules]}


def _rule(most: float) -> Specification:
    mark = {"type": "rule", "strokeDash": [5, 4], "color": _LIMIT, "strokeWidth": 1.5, "aria": False}
    return {"mark": mark, "encoding": {"y": {"datum": most}}}


def _amount(field: str, most: float | None) -> Specification:
    scale = {"domainMin": 0} if most is None else {"domain": [0, most]}
    return {"field": field, "type": "quantitative", "title": None, "scale": scale, "axis": {"format": "~s"}}


def agreement_chart(months: Sequence[Month]) -> Specification | None:
    """The share of explicit responses that agree, by month, with its 95 % interval; ``None`` without responses."""
    values = [
        {"day": f"{item.month}-01", "share": share, "low": interval.low, "high": interval.high}
        for item in months
        if (share := item.explicit.share) is not None and (interval := item.explicit.interval) is not None
    ]
    if not values:
        return None
    time = {**_TIME, "axis": {"format": "%b %y", "tickCount": 6, "labelOverlap": True}}
    scale = {"type": "quantitative", "title": None, "scale": {"domain": [0, 1]}, "axis": {"format": ".0%"}}
    bar = {
        "mark": {"type": "rule", "strokeWidth": 2, "color": _LIMIT, "aria": False},
        "encoding": {"x": time, "y": {"field": "low", **scale}, "y2": {"field": "high"}},
    }
    point = {
        "mark": {"type": "point", "filled": True, "size": 60, "color": _MAIN, "aria": False},
        "encoding": {"x": time, "y": {"field": "share", **scale}},
    }
    return {**_BASE, "data": {"values": values}, "layer": [bar, point]}


def evidence_chart(item: Estimate) -> Specification:
    """What answers say about one knob, and its value now and the likeliest one.

    The dashed line is the present value.
    """
    values = [
        {"at": each.at, "says": _SAYS[each.met], "how": "let pass" if each.silent else "said"} for each in item.evidence
    ]
    mark = {"type": "point", "filled": True, "size": 50, "opacity": 0.7, "color": _MAIN, "aria": False}
    points = {
        "data": {"values": values},
        "mark": mark,
        "encoding": {
            "x": {"field": "at", "type": "quantitative", "title": None, "scale": {"zero": False}},
            "y": {"field": "says", "type": "nominal", "title": None, "scale": {"domain": [*_SAYS.values()]}},
            "yOffset": {"field": "how", "type": "nominal", "scale": {"domain": ["said", "let pass"]}},
        },
    }
    lines = [({"strokeDash": [5, 4]}, item.present), ({}, item.likeliest)]
    rules = [
        {
            "data": {"values": [{"at": value}]},
            "mark": {"type": "rule", "strokeWidth": 2, "color": _LIMIT, "aria": False, **style},
            "encoding": {"x": {"field": "at", "type": "quantitative"}},
        }
        for style, value in lines
        if value is not None
    ]
    return {**_BASE, "height": 90, "layer": [points, *rules]}


def releases_chart(rows: Sequence[tuple[str, int, int]]) -> Specification | None:
    """Entries that failed and passed in each release, oldest first: name, failed, passed; ``None`` without releases.

    Releases are numbered on the axis, since names are from outside and may be long; the table beside it has the names.
    """
    if not rows:
        return None
    values = [
        {"release": place, "outcome": outcome, "entries": count}
        for place, (_, failed, passed) in enumerate(rows, 1)
        for outcome, count in (("failed", failed), ("passed", passed))
    ]
    bar = {
        "mark": {"type": "bar", "aria": False},
        "encoding": {
            "x": {"field": "release", "type": "ordinal", "title": None, "axis": {"labelAngle": 0}},
            "y": {"field": "entries", "type": "quantitative", "title": None, "stack": "zero"},
            "order": {"field": "outcome", "sort": "descending"},
            "color": {
                "field": "outcome",
                "scale": {"domain": ["failed", "passed"], "range": [_LIMIT, _MAIN]},
                "legend": {"title": None, "orient": "top"},
            },
        },
    }
    return {**_BASE, "data": {"values": values}, **bar}
