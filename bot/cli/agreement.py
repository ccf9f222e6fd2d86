"""``incumbent agreement``: people's answers against what they were shown."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.options import json_option, moment, print_json, say, show_problems, whole_text
from bot.errors import InputError

if TYPE_CHECKING:
    from bot.cli.ledger import LocalLedger
    from bot.ledger.event_files import Recorded
    from bot.ledger.events import Event


@click.command("agreement")
@click.option(
    "--repo",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    metavar="DIR",
    help="The platform repository, a git clone (default: this folder).",
)
@click.option("--since", metavar="TIME", callback=moment, help="Count responses from this time on, such as 2026-11-01.")
@click.option("--until", metavar="TIME", callback=moment, help="Count responses before this time.")
@click.option("--by", metavar="LOGIN", callback=whole_text, help="Count responses of this person alone.")
@click.option(
    "--plot",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write bars of agreement and its trend there, as SVG.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@json_option
def command(
    repo: Path, since: str | None, until: str | None, by: str | None, plot: Path | None, form: str, as_json: bool
) -> int:
    """Measure how far people agree with the verdicts and suggestions that they were shown.

    What they answered is read from the branch incumbent/ledger of the local clone; nothing is asked of GitHub. What
    people said explicitly, and what a merge let pass, stand apart. Without a ledger the report is empty.

    \b
    Examples:
      incumbent agreement
      incumbent agreement --since 2026-10-01 --until 2027-01-01 --plot plots
      incumbent agreement --json
    """
    from bot.report.agreement_output import AgreementOutput
    from bot.review.agreement import agreement_of
    from bot.review.derive import responses_of

    recorded = _recorded(repo)
    events, problems = ((), ()) if recorded is None else (recorded.events, recorded.problems)
    # Of all events, so that what was reversed after that time is known as such.
    responses = [
        item
        for item in responses_of(events)
        if (since is None or since <= item.at)
        and (until is None or item.at < until)
        and (by is None or item.by == by.casefold())
    ]
    output = AgreementOutput.of(
        agreement_of(responses), ledger=recorded is not None, since=since, until=until, by=by, unread=len(problems)
    )
    if plot is not None:
        from bot.cli.evaluation_sources import write_files
        from bot.report.agreement_plots import plots

        write_files({plot / name: text for name, text in plots(output).items()})
    if as_json or form == "json":
        print_json(output)
    else:
        from bot.report.agreement_text import print_agreement

        print_agreement(output)
    show_problems(problems)
    return InputError.exit_code if problems else 0


def _recorded(repo: Path) -> Recorded | None:
    """The events of the local clone's ledger; where there is none, says so on standard error."""
    from bot.cli.ledger import open_ledger
    from bot.ledger.event_files import Recorded, load_events

    with ExitStack() as stack:
        found = open_ledger(repo, stack)
        if isinstance(found, str):
            say(found, err=True)
            return None
        recorded = load_events(found.snapshot)
        return Recorded(_carried(recorded.events, repo, found), recorded.problems)


def _carried(events: tuple[Event, ...], repo: Path, ledger: LocalLedger) -> tuple[Event, ...]:
    """``events`` under the ids of the taxonomy of now; as they are where it cannot be read."""
    from bot.ledger.migrated import capabilities_in, migrated_events
    from bot.snapshot import WorkingTree
    from bot.taxonomy.loading import load_taxonomy
    from bot.taxonomy.migration import lineage

    try:
        taxonomy = load_taxonomy(WorkingTree(repo))
    except InputError:
        return events
    return migrated_events(events, lineage(taxonomy, capabilities_in(events), ledger.former_taxonomies))
