"""Agreement: what ``incumbent agreement`` prints, as JSON and as text, and what the dashboard says of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias, TypeVar

from pydantic import Field, PlainSerializer, WrapSerializer

from incumbent.files.views import View
from incumbent.ledger.agreement.agreement import (
    Agreement,
    AgreementRow,
    Month,
    Overridden,
    ReasonCount,
    Share,
    agreement_of,
)
from incumbent.ledger.agreement.responses import responses_of
from incumbent.ledger.agreement.statistics import ShareInterval
from incumbent.ledger.clone import FromLedger, recorded_events
from incumbent.ledger.event_files import RecordedEvents
from incumbent.report.escaping import shortened, visible
from incumbent.report.tables import TableSection
from incumbent.report.verdict_text import MarkdownStyle, counted
from incumbent.text.masking import masked

if TYPE_CHECKING:
    # The job that writes on GitHub imports this module, and has no rich.
    from rich.console import Console

Output = TypeVar("Output")

ShareOutput: TypeAlias = Annotated[Share, View("count agreed share low=interval.low high=interval.high", rounds=True)]
RowOutput: TypeAlias = Annotated[
    AgreementRow, View("explicit implicit several alpha", rounds=True, explicit=ShareOutput, implicit=ShareOutput)
]
MonthOutput: TypeAlias = Annotated[Month, View("explicit implicit", explicit=ShareOutput, implicit=ShareOutput)]
OverriddenOutput: TypeAlias = Annotated[
    Overridden, View("capability overrides answers implicit low=interval.low high=interval.high", rounds=True)
]


ReversedOutput: TypeAlias = Annotated[
    Agreement,
    View("explicit=reversed_explicit implicit=reversed_implicit"),
    Field(description="Responses that did not last; they count nowhere else."),
]


@dataclass(frozen=True, kw_only=True)
class AgreementReport:
    """How far people agree, with what was asked and how much of the ledger cannot be read."""

    agreement: Agreement
    ledger: Annotated[bool, Field(description="whether there is a ledger here at all")]
    since: Annotated[str | None, Field(description="responses from this time on; null: from the first")] = None
    until: Annotated[str | None, Field(description="responses before this time; null: to the last")] = None
    by: Annotated[str | None, Field(description="responses of this person alone")] = None
    unread: Annotated[
        int, Field(ge=0, description="faults of lines of the ledger that cannot be read and count for nothing")
    ] = 0


def _by_name(rows: Iterable[AgreementRow]) -> dict[str, AgreementRow]:
    return {row.name: row for row in rows}


def _by_month(months: Iterable[Month]) -> dict[str, Month]:
    return {item.month: item for item in months}


RowsOutput: TypeAlias = Annotated[
    dict[str, RowOutput], WrapSerializer(lambda rows, write: write(_by_name(rows)), return_type=dict[str, RowOutput])
]
MonthsOutput: TypeAlias = Annotated[
    dict[str, MonthOutput],
    WrapSerializer(lambda months, write: write(_by_month(months)), return_type=dict[str, MonthOutput]),
    Field(description="calendar month in UTC, such as 2026-03"),
]
AgreementOutput: TypeAlias = Annotated[
    AgreementReport,
    View(
        "ledger since until by people=agreement.people overall=agreement.overall decisions=agreement.decisions "
        "routes=agreement.routes reasons=agreement.reasons months=agreement.months said=agreement.said "
        "overridden=agreement.overridden reversed=agreement unread",
        people=Annotated[int, Field(ge=0, description="people whose responses count")],
        overall=RowOutput,
        decisions=RowsOutput,
        routes=RowsOutput,
        reasons=Annotated[RowsOutput, Field(description="reason codes of verdicts, and kinds of suggestions")],
        months=MonthsOutput,
        said=Annotated[
            tuple[
                Annotated[ReasonCount, View("text count overrides", text=Annotated[str, PlainSerializer(masked)])], ...
            ],
            Field(description="the most frequent first"),
        ],
        overridden=Annotated[tuple[OverriddenOutput, ...], Field(description="by the lower bound, the highest first")],
        reversed=ReversedOutput,
    ),
]
"""`incumbent agreement --json`."""


_HEADER: Final = ("agrees", "share", "95 %", "let pass", "by several", "alpha")


def print_agreement(report: AgreementReport, console: Console | None = None) -> None:
    """Print the report; a terminal gets tables, anything else one line per row."""
    from rich.console import Console

    out = console or Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    out.print(_headline(report), style="bold")
    found = report.agreement
    if found.reversed_explicit or found.reversed_implicit:
        counts = f"{found.reversed_explicit} explicit, {found.reversed_implicit} implicit"
        out.print(f"Left out, since they did not last: {counts}")
    if not found.decisions:
        return
    for title, rows in (("decision", found.decisions), ("route", found.routes), ("reason", found.reasons)):
        _print_rows(title, rows, out)
    months = [
        (item.month, _counts(item.explicit), _percent(item.explicit), _bounds(item.explicit), str(item.implicit.count))
        for item in found.months
    ]
    _print_table(("month", *_HEADER[:4]), months, out)
    if found.overridden:
        overridden = [
            (visible(item.capability), f"{item.overrides}/{item.answers}", _bounds(item))
            for item in found.overridden[:SHOWN]
        ]
        _print_table(("capability", "overridden", "95 %"), overridden, out)
        _print_rest(len(found.overridden), out)
    if found.said:
        said = [
            (shortened(visible(masked(item.text))), str(item.count), str(item.overrides)) for item in found.said[:SHOWN]
        ]
        _print_table(("what people said", "times", "to override"), said, out)
        _print_rest(len(found.said), out)


def _headline(report: AgreementReport) -> str:
    if not report.ledger:
        return "No ledger branch found (`incumbent/ledger`): there are no responses to measure"
    found, overall = report.agreement, report.agreement.overall
    if not found.decisions:
        return "No one has answered a verdict or a suggestion"
    people = f"{found.people} {'person' if found.people == 1 else 'people'}"
    passed = f"{overall.implicit.count} let pass by a merge"
    if not overall.explicit.count:
        return f"Nothing was answered explicitly; {passed} ({people})"
    words = (
        f"{_percent(overall.explicit)} {_bounds(overall.explicit)} of {overall.explicit.count} explicit responses agree"
    )
    alpha = "" if overall.alpha is None else f"; alpha {overall.alpha:z.2f} over {overall.several} judged by several"
    return f"{words}; {passed} ({people}){alpha}"


def _print_rows(title: str, rows: Iterable[AgreementRow], out: Console) -> None:
    lines = [
        (
            visible(item.name),
            _counts(item.explicit),
            _percent(item.explicit),
            _bounds(item.explicit),
            str(item.implicit.count),
            str(item.several),
            "–" if item.alpha is None else f"{item.alpha:z.2f}",
        )
        for item in rows
    ]
    _print_table((title, *_HEADER), lines, out)


def _print_table(header: Sequence[str], rows: Sequence[tuple[str, ...]], out: Console) -> None:
    from incumbent.report.console import print_numbers

    out.print()
    print_numbers(header, [(row, None) for row in rows], out)


def _print_rest(count: int, out: Console) -> None:
    if count > SHOWN:
        out.print(f"{count - SHOWN} more: see --json")


def _counts(item: Share) -> str:
    return f"{item.agreed}/{item.count}"


def _percent(item: Share) -> str:
    return "–" if item.share is None else f"{item.share:.0%}"


def _bounds(item: Share | Overridden) -> str:
    return "[–]" if item.interval is None else f"[{item.interval.low:.0%}, {item.interval.high:.0%}]"


def agreement_overview(
    repo: Path, since: str | None = None, until: str | None = None, by: str | None = None
) -> FromLedger[AgreementReport]:
    """Agreement over the responses from ``since`` on and before ``until`` (UTC, to the second), of ``by`` alone."""
    recorded = recorded_events(repo)
    found = RecordedEvents((), ()) if isinstance(recorded, str) else recorded
    # Of all events, so that what was reversed after that time is known as such.
    responses = [
        item
        for item in responses_of(found.events)
        if (since is None or since <= item.at)
        and (until is None or item.at < until)
        and (by is None or item.by == by.casefold())
    ]
    output = AgreementReport(
        agreement=agreement_of(responses),
        ledger=not isinstance(recorded, str),
        since=since,
        until=until,
        by=by,
        unread=len(found.problems),
    )
    return FromLedger(output, found.problems, recorded if isinstance(recorded, str) else None)


SHOWN: Final = 10
"""Lists of what people said, and of capabilities, are cut after this many; all are in the JSON report."""

_MORE: Final = "`incumbent agreement`"


def agreement_sections(agreement: Agreement, style: MarkdownStyle) -> tuple[TableSection, ...]:
    """What ``agreement`` says as sections; those that have nothing to say have no rows."""
    answers = counted(agreement.answers, "answer", "answers")
    return (
        TableSection(
            title=f"People and verdicts ({answers})",
            about=(_about(agreement),),
            header=("Decision", "Agree explicitly", "Share", "95 %", "Let pass by a merge", "Alpha"),
            rows=tuple(_row(item, style) for item in agreement.decisions),
            more=_MORE,
        ),
        TableSection(
            title=f"Capabilities whose verdicts are overridden ({len(agreement.overridden)})",
            about=_cut(len(agreement.overridden)),
            header=("Capability", "Overridden", "95 %"),
            rows=tuple(
                (
                    _capability(item.capability, style),
                    f"{item.overrides} of {item.answers}",
                    _interval_words(item.interval),
                )
                for item in agreement.overridden[:SHOWN]
            ),
            more=_MORE,
            fold=counted(len(agreement.overridden[:SHOWN]), "capability", "capabilities"),
        ),
        TableSection(
            title=f"Reasons that people give ({len(agreement.said)})",
            about=_cut(len(agreement.said)),
            header=("Reason", "Times", "To override"),
            rows=tuple(
                (style.quote(item.text), str(item.count), str(item.overrides)) for item in agreement.said[:SHOWN]
            ),
            more=_MORE,
            fold=counted(len(agreement.said[:SHOWN]), "reason", "reasons"),
        ),
    )


def _about(agreement: Agreement) -> str:
    """How many people answered, how far they agree with each other, and what did not last."""
    sentences = [f"By {counted(agreement.people, 'person', 'people')}; bots are not counted."]
    overall = agreement.overall
    if overall.several:
        several = counted(overall.several, "question was", "questions were")
        alpha = "is not defined" if overall.alpha is None else f"is {overall.alpha:z.2f}"
        sentences.append(f"{several} judged by several: Krippendorff's alpha {alpha}.")
    gone = agreement.reversed_explicit + agreement.reversed_implicit
    if gone:
        sentences.append(f"{counted(gone, 'more answer', 'more answers')} did not last.")
    sentences.append(f"By route, reason and month: {_MORE}.")
    return " ".join(sentences)


def _cut(count: int) -> tuple[str, ...]:
    """What is said over a list of ``count`` that is cut: people's words would push out what else the issue says."""
    return (f"The first {SHOWN}; all of them: `incumbent agreement --json`.",) if count > SHOWN else ()


def _row(item: AgreementRow, style: MarkdownStyle) -> tuple[str, ...]:
    explicit = item.explicit
    return (
        style.quote(item.name),
        f"{explicit.agreed} of {explicit.count}",
        _percent(explicit),
        _interval_words(explicit.interval),
        str(item.implicit.count),
        "–" if item.alpha is None else f"{item.alpha:z.2f}",
    )


def _interval_words(interval: ShareInterval | None) -> str:
    return "–" if interval is None else f"{interval.low:.0%} to {interval.high:.0%}"


def _capability(id: str, style: MarkdownStyle) -> str:
    """Its name, or the id of one that the taxonomy has not any more."""
    return style.capability(id) if id in style.taxonomy.by_id else style.name(id)
