"""``incumbent doctor``: what in a repository's set-up blocks the bot, and the setting to change."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from bot.cli.options import json_option, print_json, say
from bot.errors import UsageError
from bot.github.events import server_of
from bot.report.escaping import visible

if TYPE_CHECKING:
    from rich.console import Console

    from bot.doctor.model import SetupFinding
    from bot.doctor.output import DoctorOutput
    from bot.files.snapshot import Snapshot

_NAME = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")
_COLOURS = {"error": "red", "warning": "yellow", "ok": "green"}


@click.command("doctor")
@click.option(
    "--repository",
    envvar="GITHUB_REPOSITORY",
    metavar="OWNER/NAME",
    help="The repository on GitHub [env: GITHUB_REPOSITORY; default: where the remote `origin` leads].",
)
@json_option
def command(repository: str | None, as_json: bool) -> int:
    """Check settings, permissions, branch protection and token of a repository; reads only.

    Each finding names the setting to change. The token is taken from GITHUB_TOKEN or GH_TOKEN; an administrator's sees
    most. Ends with 1 when a finding is an error.

    \b
    Examples:
      incumbent doctor
      GH_TOKEN=$(gh auth token) incumbent doctor --repository example/platform
      incumbent doctor --json | jq '.findings[] | select(.severity != "ok")'
    """
    from bot.doctor.output import DoctorOutput

    name = _repository(repository)
    output = DoctorOutput.of(name, _findings(name, os.environ))
    if as_json:
        print_json(output)
    else:
        _show(output)
    return 1 if output.errors else 0


def _repository(given: str | None) -> str:
    if given is not None:
        if not _NAME.fullmatch(given):
            raise UsageError("--repository must be OWNER/NAME, as in the repository's address on GitHub")
        return given
    from bot.git.working_copy import read_remote

    found = read_remote(Path())
    if found is None:
        raise UsageError("say which repository: --repository OWNER/NAME (there is no remote `origin` here)")
    return found


def _findings(repository: str, environment: Mapping[str, str]) -> tuple[SetupFinding, ...]:
    from bot.doctor.diagnosis import diagnose
    from bot.doctor.examination import ReadRefusedError, asker, examine
    from bot.doctor.model import unreachable
    from bot.git import ObjectStore

    token = environment.get("GITHUB_TOKEN") or environment.get("GH_TOKEN")
    if not token:
        raise UsageError("there is no token: set GITHUB_TOKEN or GH_TOKEN (`gh auth token` prints yours)")
    api = environment.get("GITHUB_API_URL", "https://api.github.com")
    url = f"{server_of(environment)}/{repository}"
    with tempfile.TemporaryDirectory(prefix="incumbent-") as folder:
        store = ObjectStore.create(Path(folder) / "objects.git")

        def open_files(branch: str) -> Snapshot:
            return store.snapshot(store.fetch(url, {"base": f"refs/heads/{branch}"}, token)["base"])

        try:
            ask = asker(repository, token, api)
            return diagnose(examine(ask, token, open_files, on_github_com=urlsplit(api).hostname == "api.github.com"))
        except ReadRefusedError as error:
            return (unreachable(repository, error.status, error.reason),)
        finally:
            store.close()


def _show(output: DoctorOutput) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    if console.is_terminal:
        _show_table(console, output)
    else:
        for item in output.findings:
            say(f"{item.severity}: {item.about}: {visible(item.what)}")
            if item.severity != "ok":
                say(f"    why: {visible(item.why)}")
                say(f"    change: {visible(item.change)}")
    say(f"{output.repository}: {_count(output.errors, 'error')}, {_count(output.warnings, 'warning')}")


def _show_table(console: Console, output: DoctorOutput) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("", "about", "what is so, and why it matters", "what to change", box=None, pad_edge=False)
    for item in output.findings:
        colour = _COLOURS[item.severity]
        description = Text(visible(item.what), style="" if item.severity == "ok" else "bold")
        if item.why:
            description.append(f"\n{visible(item.why)}", style="not bold")
        table.add_row(Text(item.severity, style=colour), Text(item.about), description, Text(visible(item.change)))
    console.print(table)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else noun + 's'}"
