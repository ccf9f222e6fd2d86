"""Agreement on a console: tables on a terminal, plain lines in a pipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table

from bot.report.agreement_output import AgreementOutput, RowOutput, ShareOutput
from bot.report.agreement_section import SHOWN
from bot.report.escaping import shortened, visible

_HEADER: Final = ("agrees", "share", "95 %", "let pass", "by several", "alpha")


def print_agreement(output: AgreementOutput, console: Console | None = None) -> None:
    """Print the report; a terminal gets tables, anything else one line per row."""
    out = console or Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    out.print(_headline(output), style="bold")
    gone = output.reversed
    if gone.explicit or gone.implicit:
        out.print(f"Left out, since they did not last: {gone.explicit} explicit, {gone.implicit} implicit")
    if not output.decisions:
        return
    for title, rows in (("decision", output.decisions), ("route", output.routes), ("reason", output.reasons)):
        _print_rows(title, rows, out)
    months = [
        (month, _counts(item.explicit), _percent(item.explicit), _bounds(item.explicit), str(item.implicit.count))
        for month, item in output.months.items()
    ]
    _print_table(("month", *_HEADER[:4]), months, out)
    if output.overridden:
        overridden = [
            (visible(item.capability), f"{item.overrides}/{item.answers}", _interval(item.low, item.high))
            for item in output.overridden[:SHOWN]
        ]
        _print_table(("capability", "overridden", "95 %"), overridden, out)
        _print_rest(len(output.overridden), out)
    if output.said:
        said = [(shortened(visible(item.text)), str(item.count), str(item.overrides)) for item in output.said[:SHOWN]]
        _print_table(("what people said", "times", "to override"), said, out)
        _print_rest(len(output.said), out)


def _headline(output: AgreementOutput) -> str:
    if not output.ledger:
        return "No ledger here, so nobody's responses are known"
    overall = output.overall
    if not output.decisions:
        return "Nobody has answered a verdict or a suggestion"
    people = f"{output.people} {'person' if output.people == 1 else 'people'}"
    passed = f"{overall.implicit.count} let pass by a merge"
    if not overall.explicit.count:
        return f"Nothing was answered explicitly; {passed} ({people})"
    words = (
        f"{_percent(overall.explicit)} {_bounds(overall.explicit)} of {overall.explicit.count} explicit responses agree"
    )
    alpha = "" if overall.alpha is None else f"; alpha {overall.alpha:z.2f} over {overall.several} judged by several"
    return f"{words}; {passed} ({people}){alpha}"


def _print_rows(title: str, rows: Mapping[str, RowOutput], out: Console) -> None:
    lines = [
        (
            visible(name),
            _counts(item.explicit),
            _percent(item.explicit),
            _bounds(item.explicit),
            str(item.implicit.count),
            str(item.several),
            "–" if item.alpha is None else f"{item.alpha:z.2f}",
        )
        for name, item in rows.items()
    ]
    _print_table((title, *_HEADER), lines, out)


def _print_table(header: Sequence[str], rows: Sequence[tuple[str, ...]], out: Console) -> None:
    out.print()
    if not out.is_terminal:
        for row in (header, *rows):
            # Past rich, which would make spaces of the tabs.
            out.file.write("\t".join(row) + "\n")
        return
    table = Table(box=None, pad_edge=False)
    for place, title in enumerate(header):
        table.add_column(title, justify="right" if place else "left", no_wrap=place > 0)
    for row in rows:
        table.add_row(*row)
    out.print(table, soft_wrap=False)


def _print_rest(count: int, out: Console) -> None:
    if count > SHOWN:
        out.print(f"{count - SHOWN} more: see --json")


def _counts(item: ShareOutput) -> str:
    return f"{item.agreed}/{item.count}"


def _percent(item: ShareOutput) -> str:
    return "–" if item.share is None else f"{item.share:.0%}"


def _bounds(item: ShareOutput) -> str:
    return "[–]" if item.low is None or item.high is None else _interval(item.low, item.high)


def _interval(low: float, high: float) -> str:
    return f"[{low:.0%}, {high:.0%}]"
