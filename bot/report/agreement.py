"""Agreement: what ``incumbent agreement`` prints, as JSON and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import BaseModel, Field
from rich.console import Console

from bot.agreement.agreement import Agreement, AgreementRow, Overridden, ReasonCount, Share, agreement_of
from bot.agreement.responses import responses_of
from bot.errors import InputError, Problem
from bot.files.snapshot import WorkingTree
from bot.files.validation import Checked
from bot.ledger.event_files import RecordedEvents, load_events
from bot.ledger.events import Event
from bot.ledger.migrated import capabilities_in, migrated_events
from bot.ledger.store import LocalLedger, open_ledger
from bot.report.agreement_section import SHOWN
from bot.report.console import print_numbers
from bot.report.escaping import shortened, visible
from bot.taxonomy.loading import load_taxonomy
from bot.taxonomy.migration import lineage
from bot.text.compare import rounded
from bot.text.masking import masked


class ShareOutput(BaseModel):
    """How many responses want what was decided."""

    count: int = Field(ge=0)
    agreed: int = Field(ge=0)
    share: float | None = Field(ge=0, le=1, description="null of no responses")
    low: float | None = Field(ge=0, le=1, description="lower bound of Wilson's 95 % interval; null of no responses")
    high: float | None = Field(ge=0, le=1, description="its upper bound")

    @staticmethod
    def of(item: Share) -> ShareOutput:
        """``item`` for output."""
        bounds = item.interval
        return ShareOutput(
            count=item.count,
            agreed=item.agreed,
            share=None if item.share is None else rounded(item.share),
            low=None if bounds is None else rounded(bounds.low),
            high=None if bounds is None else rounded(bounds.high),
        )


class RowOutput(BaseModel):
    """Responses of one kind."""

    explicit: ShareOutput = Field(description="commands, and merges and closings of suggestions")
    implicit: ShareOutput = Field(description="verdicts that a merge let pass; always in agreement")
    several: int = Field(ge=0, description="verdicts and suggestions that several people judged explicitly")
    alpha: float | None = Field(le=1, description="Krippendorff's alpha of these people; null where it is undefined")

    @staticmethod
    def of(item: AgreementRow) -> RowOutput:
        """``item`` for output."""
        return RowOutput(
            explicit=ShareOutput.of(item.explicit),
            implicit=ShareOutput.of(item.implicit),
            several=item.several,
            alpha=None if item.alpha is None else rounded(item.alpha),
        )


class MonthOutput(BaseModel):
    """Responses of one month."""

    explicit: ShareOutput
    implicit: ShareOutput


class OverriddenOutput(BaseModel):
    """A capability that overridden verdicts rest on."""

    capability: str
    overrides: int = Field(ge=1)
    answers: int = Field(ge=1, description="all answered verdicts that rest on it")
    implicit: int = Field(ge=0, description="those of them that a merge let pass")
    low: float = Field(ge=0, le=1, description="lower bound of Wilson's 95 % interval of overrides in answers")
    high: float = Field(ge=0, le=1, description="its upper bound")

    @staticmethod
    def of(item: Overridden) -> OverriddenOutput:
        """``item`` for output."""
        return OverriddenOutput(
            capability=item.capability,
            overrides=item.overrides,
            answers=item.answers,
            implicit=item.implicit,
            low=rounded(item.interval.low),
            high=rounded(item.interval.high),
        )


class ReversedOutput(BaseModel):
    """Responses that did not last; they count nowhere else."""

    explicit: int = Field(ge=0)
    implicit: int = Field(ge=0)


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
            overall=RowOutput.of(agreement.overall),
            decisions={item.name: RowOutput.of(item) for item in agreement.decisions},
            routes={item.name: RowOutput.of(item) for item in agreement.routes},
            reasons={item.name: RowOutput.of(item) for item in agreement.reasons},
            months={
                item.month: MonthOutput(explicit=ShareOutput.of(item.explicit), implicit=ShareOutput.of(item.implicit))
                for item in agreement.months
            },
            said=[replace(item, text=masked(item.text)) for item in agreement.said],
            overridden=[OverriddenOutput.of(item) for item in agreement.overridden],
            reversed=ReversedOutput(explicit=agreement.reversed_explicit, implicit=agreement.reversed_implicit),
            unread=unread,
        )


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
    print_numbers(header, [(row, None) for row in rows], out)


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
    return migrated_events(events, lineage(taxonomy, capabilities_in(events), ledger.former_taxonomies))
