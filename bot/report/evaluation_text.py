"""The measures on a console: a table and colour on a terminal, plain lines in a pipe."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from bot.report.escaping import visible
from bot.report.evaluation_output import (
    AgainstOutput,
    CapabilityOutput,
    DifferenceOutput,
    EvaluateOutput,
    MeasuresOutput,
)

_MEASURES = ("capability", "phi", "95 %", "TRUE", "accuracy", "all FALSE", "precision", "recall", "Brier", "ECE")
_DIFFERENCES = ("capability", "phi", "other", "difference", "95 %", "told apart")


def print_evaluation(output: EvaluateOutput, console: Console | None = None) -> None:
    """Print the report; a terminal gets colour and tables, anything else one line per capability."""
    out = console or Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    out.print(_headline(output), style="bold")
    rows = [(_measures(name, item), _style(item)) for name, item in output.capabilities.items()]
    if rows:
        out.print()
        _print_table(_MEASURES, rows, out)
    if output.undefined:
        out.print()
        out.print("No correlation, since the labels have one class only:")
        for name, item in output.one_class.items():
            out.print(f"  {name}: {item.support} of {item.labelled} TRUE, accuracy {item.accuracy:.2f}")
    pooled = output.pooled
    out.print()
    out.print(
        f"Calibration over all {pooled.labels:,} labels: "
        f"Brier {pooled.brier:.3f}, ECE {pooled.ece:.3f} ({pooled.bins} bins)"
    )
    if output.against is not None:
        _print_comparison(output, output.against, out)
    out.print()
    out.print(f"classifier {_classifier(output)}; taxonomy {output.taxonomy}")
    out.print(
        f"intervals by a bootstrap over queries: {output.bootstrap.resamples:,} resamples, seed {output.bootstrap.seed}"
    )


def _headline(output: EvaluateOutput) -> str:
    count = len(output.capabilities)
    words = (
        "no capability has a phi"
        if output.macro_phi is None
        else f"macro phi {output.macro_phi:z.2f} {_bounds(output.low, output.high)}"
    )
    capabilities = f"{count} {'capability' if count == 1 else 'capabilities'}"
    return f"{words}: {capabilities}, {output.queries:,} {'query' if output.queries == 1 else 'queries'}"


def _measures(name: str, item: CapabilityOutput) -> tuple[str, ...]:
    return (
        name,
        f"{item.phi:z.2f}",
        _bounds(item.low, item.high),
        f"{item.support}/{item.labelled}",
        f"{item.accuracy:.2f}",
        f"{item.always_false_accuracy:.2f}",
        _share(item.precision),
        _share(item.recall),
        f"{item.brier:.3f}",
        f"{item.ece:.3f}",
    )


def _style(item: CapabilityOutput) -> str | None:
    """Red for what the labels do not show to be better than chance."""
    return "red" if item.low is None or item.low <= 0 else None


def _print_comparison(output: EvaluateOutput, other: AgainstOutput, out: Console) -> None:
    out.print()
    if other.macro_phi is None:
        out.print(f"Against {visible(other.name)}: no capability has a phi", style="bold")
        return
    total = other.macro_phi
    sign = "told apart" if _tells(total) else "not told apart"
    words = f"macro phi {total.difference:+z.3f} {_bounds(total.low, total.high, '+z.3f')}, {sign}"
    out.print(f"Against {visible(other.name)}: {words}", style="bold")
    out.print()
    rows = [
        (_difference(name, item, output, other.measures), _difference_style(item))
        for name, item in other.capabilities.items()
    ]
    _print_table(_DIFFERENCES, rows, out)
    pooled = other.measures.pooled
    out.print()
    out.print(f"the other's calibration: Brier {pooled.brier:.3f}, ECE {pooled.ece:.3f}")
    out.print(f"the other: classifier {_classifier(other.measures)}")


def _difference(name: str, item: DifferenceOutput, ours: MeasuresOutput, theirs: MeasuresOutput) -> tuple[str, ...]:
    return (
        name,
        f"{ours.capabilities[name].phi:z.2f}",
        f"{theirs.capabilities[name].phi:z.2f}",
        f"{item.difference:+z.2f}",
        _bounds(item.low, item.high, "+z.2f"),
        "yes" if _tells(item) else "no",
    )


def _tells(item: DifferenceOutput) -> bool:
    return item.low is not None and item.high is not None and (item.low > 0 or item.high < 0)


def _difference_style(item: DifferenceOutput) -> str | None:
    if not _tells(item):
        return None
    return "green" if item.difference > 0 else "red"


def _print_table(header: Sequence[str], rows: Sequence[tuple[tuple[str, ...], str | None]], out: Console) -> None:
    if not out.is_terminal:
        for row in (tuple(header), *(row for row, _ in rows)):
            # Past rich, which would make spaces of the tabs.
            out.file.write("\t".join(row) + "\n")
        return
    table = Table(box=None, pad_edge=False)
    for place, title in enumerate(header):
        table.add_column(title, justify="right" if place else "left", no_wrap=place > 0)
    for row, style in rows:
        table.add_row(*row, style=style)
    out.print(table, soft_wrap=False)


def _bounds(low: float | None, high: float | None, form: str = "z.2f") -> str:
    return "[–]" if low is None or high is None else f"[{low:{form}}, {high:{form}}]"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _classifier(output: MeasuresOutput) -> str:
    item = output.classifier
    return visible(f"{item.backend} {item.model}, prompt {item.prompt}, {item.samples} samples")
