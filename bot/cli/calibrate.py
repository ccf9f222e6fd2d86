"""``incumbent calibrate``: per-capability knobs from curators' answers to verdicts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.options import json_option, print_json, repository_options, say, show_problems
from bot.errors import InputError, UsageError
from bot.github.addresses import server_of
from bot.pipeline.workspace import open_platform
from bot.report.escaping import visible

if TYPE_CHECKING:
    from bot.calibration.calibrate import ConfigEdit
    from bot.github.calibration_offer import CalibrationOffer
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
    from bot.calibration.past_sets import reader
    from bot.ledger.event_files import load_events
    from bot.ledger.keys import classifier_key
    from bot.ledger.migrated import capabilities_in, migrated_events
    from bot.report.calibration import CalibrateOutput, calibration_lines
    from bot.taxonomy.migration import comparable_since, lineage

    platform = open_platform(repo, config_path)
    with ExitStack() as stack:
        ledger = _ledger(repo, stack)
        recorded = load_events(None if ledger is None else ledger.snapshot)
        former = tuple if ledger is None else cache(ledger.former_taxonomies)
        descent = lineage(platform.taxonomy, capabilities_in(recorded.events), former)
        open_commit = (lambda _: None) if ledger is None else ledger.open_commit
        read = reader(open_commit, platform.config, config_path, descent)
        identity = platform.regression_set.identity
        classifier = None if identity is None else classifier_key(identity)
        known = migrated_events(recorded.events, descent)
        comparable = comparable_since(platform.taxonomy, former)
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
        _tell(_offer(edit, text, output, _repository(repository, repo), os.environ))
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
    edit: ConfigEdit, text: str, output: CalibrateOutput, repository: str, environment: Mapping[str, str]
) -> CalibrationOffer:
    """Open or update the pull request; raises :class:`UsageError` if the local config differs from that on GitHub."""
    from bot.config import REVIEWED_FILES
    from bot.git import ObjectStore
    from bot.github.calibration_offer import branch_of, plan_offer
    from bot.github.client import GitHubClient
    from bot.github.models import PushBranch
    from bot.report.calibration import description

    token = environment.get("GITHUB_TOKEN") or environment.get("GH_TOKEN")
    if not token:
        raise UsageError("there is no token: set GITHUB_TOKEN or GH_TOKEN (`gh auth token` prints yours)")
    api = environment.get("GITHUB_API_URL", "https://api.github.com")
    github = GitHubClient(repository, token, api, "")
    base_branch = github.default_branch()
    branch = branch_of(edit)
    with tempfile.TemporaryDirectory(prefix="incumbent-") as folder, ExitStack() as stack:
        store = stack.enter_context(ObjectStore.create(Path(folder) / "objects.git"))
        refs = {"base": f"refs/heads/{base_branch}", "tip": f"refs/heads/{branch}"}
        found = store.fetch(f"{server_of(environment)}/{repository}", refs, token, optional=("tip",))
        there = store.snapshot(found["base"])
        if not there.exists(edit.path) or there.read(edit.path, REVIEWED_FILES).decode("utf-8", "replace") != text:
            raise UsageError(f"{edit.path} is not that of {base_branch} on GitHub: bring your clone up to date first")
        pulls = github.pull_requests_of(branch, base_branch)
        offer = plan_offer(
            edit, description(output), base_branch, found["base"], found.get("tip"), pulls, github.closed_by
        )
        for operation in offer.operations:
            tree = store.tree(found["base"]) if isinstance(operation, PushBranch) else None
            github.apply(None, operation, tree)
    return offer


def _tell(offer: CalibrationOffer) -> None:
    if offer.operations:
        say(f"a pull request was opened for {offer.branch}", err=True)
    elif offer.refused:
        say(
            f"#{offer.number} offered the same, and was closed unmerged: reopen it, or change the knobs by hand",
            err=True,
        )
    else:
        say(f"#{offer.number} offers the same already", err=True)
