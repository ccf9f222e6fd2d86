"""How far people agree, from the ledger of a local clone: what the command and the MCP server both answer."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from bot.agreement.agreement import agreement_of
from bot.agreement.responses import responses_of
from bot.errors import InputError, Problem
from bot.files.snapshot import WorkingTree
from bot.ledger.event_files import Recorded, load_events
from bot.ledger.events import Event
from bot.ledger.migrated import capabilities_in, migrated_events
from bot.ledger.store import LocalLedger, open_ledger
from bot.report.agreement_output import AgreementOutput
from bot.taxonomy.loading import load_taxonomy
from bot.taxonomy.migration import lineage


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
    found = Recorded((), ()) if isinstance(recorded, str) else recorded
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


def _recorded(repo: Path) -> Recorded | str:
    """The events of the local clone's ledger, or why there are none."""
    with ExitStack() as stack:
        found = open_ledger(repo, stack)
        if isinstance(found, str):
            return found
        recorded = load_events(found.snapshot)
        return Recorded(_carried(recorded.events, repo, found), recorded.problems)


def _carried(events: tuple[Event, ...], repo: Path, ledger: LocalLedger) -> tuple[Event, ...]:
    """``events`` under the ids of the taxonomy of now; as they are where it cannot be read."""
    try:
        taxonomy = load_taxonomy(WorkingTree(repo))
    except InputError:
        return events
    return migrated_events(events, lineage(taxonomy, capabilities_in(events), ledger.former_taxonomies))
