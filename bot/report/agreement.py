"""Agreement: what ``incumbent agreement`` prints, as JSON and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final, NamedTuple, TypeAlias

from pydantic import BaseModel, Field
from rich.console import Console

from bot.agreement.agreement import Agreement, AgreementRow, Month, Overridden, ReasonCount, Share, agreement_of
from bot.agreement.responses import responses_of
from bot.errors import InputError, Problem
from bot.files.snapshot import WorkingTree
from bot.files.validation import Checked
from bot.files.views import View
from bot.ledger.event_files import RecordedEvents, load_events
from bot.ledger.events import Event
from bot.ledger.migrated import capabilities_in, migrated_events
from bot.ledger.store import LocalLedger, open_ledger
from bot.report.agreement_section import SHOWN
from bot.report.console import print_numbers
from bot.report.escaping import shortened, visible
from bot.taxonomy.loading import load_taxonomy
from bot.taxonomy.migration import lineage
from bot.text.masking import masked

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


class AgreementOutput(BaseModel):
    """`incumbent agreement --json`."""

    ledger: bool = Field(description="whether there is a ledger here at all")
    since: str | None = Field(description="responses from this time on; null: from the first")
    until: str | None = Field(description="responses before this time; null: to the last")
    by: str | None = Field(description="responses of this person alone")
    people: int = Field(ge=0, description="people whose responses count")
    overall: RowOutput
    decisions: dict[str, RowOutput]
    routes: dict[str, RowOutput]
    reasons: dict[str, RowOutput] = Field(description="reason codes of verdicts, and kinds of suggestions")
    months: dict[str, MonthOutput] = Field(description="calendar month in UTC, such as 2026-03")
    said: list[Checked[ReasonCount]] = Field(description="the most frequent first")
    overridden: list[OverriddenOutput] = Field(description="by the lower bound, the highest first")
    reversed: ReversedOutput
    unread: int = Field(ge=0, description="faults of lines of the ledger that cannot be read and count for nothing")

    @staticmethod
    def of(
        agreement: Agreement,
        *,
        ledger: bool,
        since: str | None = None,
        until: str | None = None,
        by: str | None = None,
        unread: int = 0,
    ) -> AgreementOutput:
        """``agreement`` for output, with what was asked and how much of the ledger could not be read."""
        return AgreementOutput(
            ledger=ledger,
            since=since,
            until=until,
            by=by,
            people=agreement.people,
            overall=agreement.overall,
            decisions={item.name: item for item in agreement.decisions},
            routes={item.name: item for item in agreement.routes},
            reasons={item.name: item for item in agreement.reasons},
            months={item.month: item for item in agreement.months},
            said=[replace(item, text=masked(item.text)) for item in agreement.said],
            overridden=list(agreement.overridden),
            reversed=agreement,
            unread=unread,
        )


_HEADER: Final = ("agrees", "share", "95 %", "let pass", "by several", "alpha")


def print_agreement(output: AgreementOutput, console: Console | None = None) -> None:
    """Print the report; a terminal gets tables, anything else one line per row."""
    out = console or Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    out.print(_headline(output), style="bold")
    gone = output.reversed
    if gone.reversed_explicit or gone.reversed_implicit:
        counts = f"{gone.reversed_explicit} explicit, {gone.reversed_implicit} implicit"
        out.print(f"Left out, since they did not last: {counts}")
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
            (visible(item.capability), f"{item.overrides}/{item.answers}", _bounds(item))
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
        return "No ledger branch found (`incumbent/ledger`): there are no responses to measure"
    overall = output.overall
    if not output.decisions:
        return "No one has answered a verdict or a suggestion"
    people = f"{output.people} {'person' if output.people == 1 else 'people'}"
    passed = f"{overall.implicit.count} let pass by a merge"
    if not overall.explicit.count:
        return f"Nothing was answered explicitly; {passed} ({people})"
    words = (
        f"{_percent(overall.explicit)} {_bounds(overall.explicit)} of {overall.explicit.count} explicit responses agree"
    )
    alpha = "" if overall.alpha is None else f"; alpha {overall.alpha:z.2f} over {overall.several} judged by several"
    return f"{words}; {passed} ({people}){alpha}"


def _print_rows(title: str, rows: Mapping[str, AgreementRow], out: Console) -> None:
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


class AgreementOverview(NamedTuple):
    """``problems`` are lines of the ledger that cannot be read; ``without`` says why there is no ledger, if so."""

    output: AgreementOutput
    problems: tuple[Problem, ...]
    without: str | None


def agreement_overview(
    repo: Path, since: str | None = None, until: str | None = None, by: str | None = None
) -> AgreementOverview:
    """Agreement over the responses from ``since`` on and before ``until`` (UTC, to the second), of ``by`` alone."""
    recorded = _recorded(repo)
    found = RecordedEvents((), ()) if isinstance(recorded, str) else recorded
    # Of all events, so that what was reversed after that time is known as such.
    responses = [
        item
        for item in responses_of(found.events)
        if (since is None or since <= item.at)
        and (until is None or item.at < until)
        and (by is None or item.by == by.casefold())
    ]
    output = AgreementOutput.of(
        agreement_of(responses),
        ledger=not isinstance(recorded, str),
        since=since,
        until=until,
        by=by,
        unread=len(found.problems),
    )
    return AgreementOverview(output, found.problems, recorded if isinstance(recorded, str) else None)


def _recorded(repo: Path) -> RecordedEvents | str:
    """The events of the local clone's ledger, or why there are none."""
    with ExitStack() as stack:
        found = open_ledger(repo, stack)
        if isinstance(found, str):
            return found
        recorded = load_events(found.snapshot)
        return RecordedEvents(_carried(recorded.events, repo, found), recorded.problems)


def _carried(events: tuple[Event, ...], repo: Path, ledger: LocalLedger) -> tuple[Event, ...]:
    """``events`` under the ids of the taxonomy of now; as they are where it cannot be read."""
    try:
        taxonomy = load_taxonomy(WorkingTree(repo))
    except InputError:
        return events
    return migrated_events(events, lineage(taxonomy, capabilities_in(events), ledger.previous_taxonomies))
