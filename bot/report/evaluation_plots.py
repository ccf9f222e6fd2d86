"""The measures as drawings: how far probabilities can be trusted, and phi of each capability with its interval."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

from bot.report.escaping import visible
from bot.report.evaluation import EvaluateOutput, MeasuresOutput
from bot.report.svg import Drawing

RELIABILITY = "reliability.svg"
CAPABILITIES = "capabilities.svg"

_SIDE = 320.0  # of the square that probabilities are drawn in
_WIDTH = 400.0  # of the axis that phi is drawn on
_LETTER = 6.7  # width of a letter, about
_NAME = 28  # letters of a classifier's name
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def plots(output: EvaluateOutput) -> dict[str, str]:
    """Name → SVG of each drawing."""
    return {RELIABILITY: _reliability(output), CAPABILITIES: _capabilities(output)}


def _series(output: EvaluateOutput) -> list[tuple[str, MeasuresOutput, str, str]]:
    """Name, measures, and the styles of discs and lines of each classifier."""
    first = (_short(output.classifier.model), output, "ours", "line")
    if output.against is None:
        return [first]
    return [
        ("this", output, "ours", "line"),
        (f"against {_short(output.against.name)}", output.against.measures, "theirs", "other-line"),
    ]


def _reliability(output: EvaluateOutput) -> str:
    series = _series(output)
    left, top = 64.0, 70.0 + 20 * len(series)
    drawing = Drawing(left + _SIDE + 40, top + _SIDE + 56, "Reliability diagram")
    drawing.text(16, 26, "How often what is held for TRUE is TRUE", "title")
    drawing.text(
        16, 46, f"{output.pooled.labels:,} labels; a disc's area grows with the predictions in its bin", "muted"
    )

    def at(probability: float, share: float) -> tuple[float, float]:
        return left + probability * _SIDE, top + (1 - share) * _SIDE

    for tick in _TICKS:
        x, y = at(tick, tick)
        drawing.line(left, y, left + _SIDE, y, "grid")
        drawing.line(x, top, x, top + _SIDE, "grid")
        drawing.text(left - 8, y + 4, f"{tick:.1f}", "muted", "end")
        drawing.text(x, top + _SIDE + 18, f"{tick:.1f}", "muted", "middle")
    drawing.dashes(*at(0, 0), *at(1, 1), "axis")
    drawing.text(left + _SIDE / 2, top + _SIDE + 40, "mean probability of TRUE", anchor="middle")
    drawing.text(20, top + _SIDE / 2, "share labelled TRUE", anchor="middle", turned=True)
    for place, (name, measures, disc, line) in enumerate(series):
        bins = measures.pooled.reliability
        largest = max(item.count for item in bins)
        drawing.path([at(item.probability, item.true) for item in bins], line)
        for item in bins:
            words = f"{item.count} predictions of {item.probability:.2f}: {item.true:.2f} TRUE"
            drawing.circle(*at(item.probability, item.true), 3 + 7 * sqrt(item.count / largest), disc, words)
        y = 66.0 + 20 * place
        drawing.circle(22, y, 5, disc)
        drawing.text(34, y + 4, f"{name}: ECE {measures.pooled.ece:.3f}, Brier {measures.pooled.brier:.3f}")
    return drawing.xml


def _capabilities(output: EvaluateOutput) -> str:
    series = _series(output)
    names = list(output.capabilities)
    labels = [*names, *output.undefined, "macro phi"]
    left = 32 + _LETTER * max(map(len, labels))
    lowest = min([0.0, *(_lowest(measures) for _, measures, _, _ in series)])
    start = -1.0 if lowest < -0.5 else -0.5 if lowest < -0.2 else -0.2 if lowest < 0 else 0.0
    bar = 14.0 if len(series) == 1 else 10.0
    row = bar * len(series) + 12
    top = 62.0 + 20 * len(series)
    bottom = top + row * (len(names) + (output.macro_phi is not None))
    drawing = Drawing(left + _WIDTH + 96, bottom + 40 + 18 * len(output.undefined), "Phi of each capability")
    drawing.text(16, 26, "Phi of each capability, with 95 % intervals", "title")
    drawing.text(16, 46, f"{output.queries:,} queries; right: labelled TRUE / labelled", "muted")

    def at(phi: float) -> float:
        return left + (phi - start) / (1 - start) * _WIDTH

    for place, (name, measures, style, _) in enumerate(series):
        y = 66.0 + 20 * place
        macro = "no phi" if measures.macro_phi is None else f"macro phi {measures.macro_phi:z.2f}"
        drawing.circle(22, y, 5, style)
        drawing.text(34, y + 4, f"{name}: {macro}")
    for tick in sorted({start, *_TICKS}):
        drawing.line(at(tick), top, at(tick), bottom, "axis" if tick == 0 else "grid")
        drawing.text(at(tick), bottom + 18, f"{tick:.1f}", "muted", "middle")
    for number, name in enumerate(names):
        y = top + row * number
        drawing.text(left - 12, y + row / 2 + 4, name, anchor="end")
        for place, (_, measures, style, _) in enumerate(series):
            item = measures.capabilities[name]
            _bar(drawing, at, y + 6 + bar * place, bar, (item.phi, item.low, item.high), style)
        item = output.capabilities[name]
        drawing.text(at(1) + 12, y + row / 2 + 4, f"{item.support}/{item.labelled}", "muted")
    if output.macro_phi is not None:
        y = top + row * len(names)
        drawing.line(16, y, at(1), y, "axis")
        drawing.text(left - 12, y + row / 2 + 4, "macro phi", anchor="end")
        for place, (_, measures, style, _) in enumerate(series):
            value = measures.macro_phi or 0.0
            _bar(drawing, at, y + 6 + bar * place, bar, (value, measures.low, measures.high), style)
    for number, name in enumerate(output.undefined):
        one = output.one_class[name]
        words = f"{name}: labels of one class only ({one.support} of {one.labelled} TRUE)"
        drawing.text(16, bottom + 44 + 18 * number, words, "muted")
    return drawing.xml


def _bar(
    drawing: Drawing,
    at: Callable[[float], float],
    y: float,
    height: float,
    value: tuple[float, float | None, float | None],
    style: str,
) -> None:
    """A bar from 0 to phi, and its interval as a whisker."""
    phi, low, high = value
    begin, end = sorted((at(0), at(phi)))
    drawing.rectangle(begin, y + 1, end - begin, height - 2, style)
    if low is not None and high is not None:
        middle = y + height / 2
        drawing.line(at(low), middle, at(high), middle, "whisker")
        for bound in (low, high):
            drawing.line(at(bound), middle - 3, at(bound), middle + 3, "whisker")


def _lowest(measures: MeasuresOutput) -> float:
    return min([0.0, *(item.phi if item.low is None else item.low for item in measures.capabilities.values())])


def _short(name: str) -> str:
    """A name on one line, of which the end says most."""
    shown = visible(name)
    return shown if len(shown) <= _NAME else "…" + shown[-_NAME + 1 :]
