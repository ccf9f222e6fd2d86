"""``incumbent unpin``: removes a person's pin."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import dry_run_option, json_option, one_at_a_time, repository_options
from bot.cli.pin import set_pin


@click.command("unpin")
@click.argument("id")
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def command(id: str, dry_run: bool, repo: Path, config_path: str, as_json: bool) -> None:
    """Take out the pin of the entry ID: it may go once it is redundant. A champion stays while it is champion.

    \b
    Examples:
      incumbent unpin contoso-repairs-q07-1a2b3c4d
    """
    set_pin(id, None, dry_run, repo, config_path, as_json)
