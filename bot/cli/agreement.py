"""``incumbent agreement``: how far people's answers agree with what they were shown."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import json_option, moment, print_json, say, show_problems, whole_text
from bot.errors import InputError


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
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@json_option
def command(repo: Path, since: str | None, until: str | None, by: str | None, form: str, as_json: bool) -> int:
    """Measure how far people agree with the verdicts and suggestions that they were shown.

    What they answered is read from the branch incumbent/ledger of the local clone; nothing is asked of GitHub. What
    people said explicitly, and what a merge let pass, stand apart. Without a ledger the report is empty.

    \b
    Examples:
      incumbent agreement
      incumbent agreement --since 2026-10-01 --until 2027-01-01
      incumbent agreement --json
    """
    from bot.report.agreement import agreement_overview

    output, problems, without = agreement_overview(repo, since, until, by)
    if without is not None:
        say(without, err=True)
    if as_json or form == "json":
        print_json(output)
    else:
        from bot.report.agreement import print_agreement

        print_agreement(output)
    show_problems(problems)
    return InputError.exit_code if problems else 0
