"""``incumbent agreement`` and ``calibrate``: how people answered to verdicts, and knobs that would fit that."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from incumbent.cli.options import (
    github_token,
    json_option,
    moment,
    repo_option,
    repository_on_github,
    repository_option,
    repository_options,
    whole_text,
)
from incumbent.cli.output import print_json, say, show_problems
from incumbent.errors import InputError

if TYPE_CHECKING:
    from incumbent.github.managed_pull_request import PlannedPullRequest
    from incumbent.ledger.calibration.calibrate import ConfigEdit
    from incumbent.report.calibration import CalibrateOutput


@click.command("agreement")
@repo_option("The platform repository, a git clone (default: this folder).")
@click.option("--since", metavar="TIME", callback=moment, help="Count responses from this time on, such as 2026-11-01.")
@click.option("--until", metavar="TIME", callback=moment, help="Count responses before this time.")
@click.option("--by", metavar="LOGIN", callback=whole_text, help="Count responses of this person alone.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@json_option
def agreement_command(
    repo: Path, since: str | None, until: str | None, by: str | None, form: str, as_json: bool
) -> int:
    """Measure how far people agree with the verdicts and suggestions that they were shown.

    What they answered is read from the branch incumbent/ledger of the local clone; nothing is asked of GitHub. What
    people said explicitly, and what a merge let pass, are counted apart. Without a ledger the report is empty.

    \b
    Examples:
      incumbent agreement
      incumbent agreement --since 2026-10-01 --until 2027-01-01
      incumbent agreement --json
    """
    from incumbent.report.agreement import AgreementOutput, agreement_overview

    output, problems, without = agreement_overview(repo, since, until, by)
    if without is not None:
        say(without, err=True)
    if as_json or form == "json":
        print_json(output, AgreementOutput)
    else:
        from incumbent.report.agreement import print_agreement

        print_agreement(output)
    show_problems(problems)
    return InputError.exit_code if problems else 0


@click.command("calibrate")
@click.option(
    "--pull-request",
    "offers",
    is_flag=True,
    help="Offer what is proposed in a pull request that edits the config; never more than one for the same values.",
)
@repository_option("The repository of that pull request")
@repository_options
@json_option
def calibrate_command(offers: bool, repository: str | None, repo: Path, config_path: str, as_json: bool) -> int:
    """Propose competence bars, winning margins and redundancy floors from people's validated answers; writes no file.

    Answers are read from the branch incumbent/ledger of the local clone, and past states from its history. With
    --pull-request the token is taken from GITHUB_TOKEN or GH_TOKEN.

    \b
    Examples:
      incumbent calibrate
      incumbent calibrate --json | jq '.estimates[] | select(.outcome == "proposed")'
      GH_TOKEN=$(gh auth token) incumbent calibrate --pull-request
    """
    from incumbent.ledger.calibration.calibrate import edit_config
    from incumbent.ledger.clone import calibration_finding
    from incumbent.pipeline.workspace import open_platform
    from incumbent.report.calibration import CalibrateOutput, calibration_lines
    from incumbent.report.escaping import visible

    platform = open_platform(repo, config_path)
    finding, problems, without = calibration_finding(
        repo, platform.taxonomy, platform.config, config_path, platform.regression_set.identity
    )
    if without is not None:
        say(without, err=True)
    text = (repo / config_path).read_text(encoding="utf-8")
    edit = edit_config(config_path, text, finding.estimates)
    output = CalibrateOutput.of(
        finding, ledger=without is None, config=None if edit is None else edit.text, unread=len(problems)
    )
    if as_json:
        print_json(output)
    else:
        for line in calibration_lines(output, visible):
            say(line)
    show_problems(problems)
    if offers and edit is not None:
        _print_offer(_offer(edit, output, repo, repository_on_github(repository, repo), os.environ))
    elif offers:
        say("nothing is proposed, so there is nothing to offer", err=True)
    return InputError.exit_code if problems else 0


def _offer(
    edit: ConfigEdit, output: CalibrateOutput, repo: Path, repository: str, environment: Mapping[str, str]
) -> PlannedPullRequest:
    """Make the pull request be there; raises :class:`UsageError` where the config here is not that of GitHub's."""
    from incumbent.files.snapshot import WorkingTree
    from incumbent.github.client import GitHubClient
    from incumbent.github.events import server_of
    from incumbent.github.git_state import offer_from_clone
    from incumbent.github.managed_pull_request import calibration_offer
    from incumbent.report.calibration import description

    token = github_token(environment)
    github = GitHubClient(repository, token, environment.get("GITHUB_API_URL", "https://api.github.com"), "")
    desired = calibration_offer(edit, description(output))
    address = f"{server_of(environment)}/{repository}"
    return offer_from_clone(desired, WorkingTree(repo), {edit.path: edit.path}, github, address, token)


def _print_offer(planned: PlannedPullRequest) -> None:
    said = {
        "open": f"a pull request was opened for {planned.branch}",
        "keep": f"#{planned.number} offers the same already",
        "refused": f"#{planned.number} offered the same, and was closed unmerged: "
        "reopen it, or change the knobs by hand",
    }
    say(said[planned.action], err=True)
