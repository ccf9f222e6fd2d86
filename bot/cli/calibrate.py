"""``incumbent calibrate``: per-capability knobs from curators' answers to verdicts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.options import json_option, print_json, repository_options, say, show_problems
from bot.errors import InputError, UsageError
from bot.github.events import server_of
from bot.pipeline.workspace import open_platform
from bot.report.escaping import visible

if TYPE_CHECKING:
    from bot.calibration.calibrate import ConfigEdit
    from bot.github.managed_pull_request import PlannedPullRequest
    from bot.ledger.store import LocalLedger
    from bot.report.calibration import CalibrateOutput


@click.command("calibrate")
@click.option(
    "--pull-request",
    "offers",
    is_flag=True,
    help="Offer what is proposed in a pull request that edits the config; never more than one for the same values.",
)
@click.option(
    "--repository",
    envvar="GITHUB_REPOSITORY",
    metavar="OWNER/NAME",
    help="Where that pull request goes [env: GITHUB_REPOSITORY; default: where the remote `origin` leads].",
)
@repository_options
@json_option
def command(offers: bool, repository: str | None, repo: Path, config_path: str, as_json: bool) -> int:
    """Propose competence bars, winning margins and redundancy floors from people's validated answers; writes no file.

    Answers are read from the branch incumbent/ledger of the local clone, and past states from its history. With
    --pull-request the token is taken from GITHUB_TOKEN or GH_TOKEN.

    \b
    Examples:
      incumbent calibrate
      incumbent calibrate --json | jq '.estimates[] | select(.outcome == "proposed")'
      GH_TOKEN=$(gh auth token) incumbent calibrate --pull-request
    """
    from bot.calibration.calibrate import edit_config, find
    from bot.calibration.replay import reader
    from bot.ledger.event_files import load_events
    from bot.ledger.keys import classifier_key
    from bot.ledger.migrated import capabilities_in, migrated_events
    from bot.report.calibration import CalibrateOutput, calibration_lines
    from bot.taxonomy.migration import comparable_since, lineage

    platform = open_platform(repo, config_path)
    with ExitStack() as stack:
        ledger = _ledger(repo, stack)
        recorded = load_events(None if ledger is None else ledger.snapshot)
        previous = tuple if ledger is None else cache(ledger.previous_taxonomies)
        descent = lineage(platform.taxonomy, capabilities_in(recorded.events), previous)
        open_commit = (lambda _: None) if ledger is None else ledger.open_commit
        read = reader(open_commit, platform.config, config_path, descent)
        identity = platform.regression_set.identity
        classifier = None if identity is None else classifier_key(identity)
        known = migrated_events(recorded.events, descent)
        comparable = comparable_since(platform.taxonomy, previous)
        finding = find(known, read, platform.config, platform.taxonomy.by_id, classifier, comparable)
    text = (repo / config_path).read_text(encoding="utf-8")
    edit = edit_config(config_path, text, finding.estimates)
    output = CalibrateOutput.of(
        finding,
        ledger=ledger is not None,
        config=None if edit is None else edit.text,
        unread=len(recorded.problems),
    )
    if as_json:
        print_json(output)
    else:
        for line in calibration_lines(output, visible):
            say(line)
    show_problems(recorded.problems)
    if offers and edit is not None:
        _print_offer(_offer(edit, output, repo, _repository(repository, repo), os.environ))
    elif offers:
        say("nothing is proposed, so there is nothing to offer", err=True)
    return InputError.exit_code if recorded.problems else 0


def _ledger(repo: Path, stack: ExitStack) -> LocalLedger | None:
    """The local clone's ledger; if there is none, reports that on standard error."""
    from bot.ledger.store import open_ledger

    found = open_ledger(repo, stack)
    if isinstance(found, str):
        say(found, err=True)
        return None
    return found


def _repository(given: str | None, repo: Path) -> str:
    from bot.git.working_copy import read_remote

    found = given or read_remote(repo)
    if found is None:
        raise UsageError("say which repository: --repository OWNER/NAME (there is no remote `origin` here)")
    return found


def _offer(
    edit: ConfigEdit, output: CalibrateOutput, repo: Path, repository: str, environment: Mapping[str, str]
) -> PlannedPullRequest:
    """Make the pull request be there; raises :class:`UsageError` where the config here is not that of GitHub's."""
    from bot.files.snapshot import WorkingTree
    from bot.github.client import GitHubClient
    from bot.github.git_state import offer_from_clone
    from bot.github.managed_pull_request import calibration_offer
    from bot.report.calibration import description

    token = environment.get("GITHUB_TOKEN") or environment.get("GH_TOKEN")
    if not token:
        raise UsageError("there is no token: set GITHUB_TOKEN or GH_TOKEN (`gh auth token` prints yours)")
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
