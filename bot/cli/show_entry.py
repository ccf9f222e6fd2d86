"""``incumbent show``: one entry, or the tombstone that it left."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import json_option, one_of, print_json, repository_options
from bot.pipeline.workspace import open_platform
from bot.report.console import Printer
from bot.report.entries import known_entries, print_entry, show_entry


@click.command("show")
@click.argument("id")
@repository_options
@json_option
def command(id: str, repo: Path, config_path: str, as_json: bool) -> None:
    """Show the entry ID: its turns and scores, why it is in, its roles, and who else covers what it covers.

    Of an entry that was evicted it says when, by whom and why, and how to bring it back.

    \b
    Examples:
      incumbent show contoso-repairs-q07-1a2b3c4d
    """
    platform = open_platform(repo, config_path)
    one_of(id, tuple(known_entries(platform)), "entry")
    output = show_entry(platform, id)
    if as_json:
        print_json(output)
    else:
        print_entry(output, platform.taxonomy, Printer())
