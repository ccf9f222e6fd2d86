"""``incumbent config``: the config in effect, and where each value comes from."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import json_option, print_json, repository_options, say
from bot.config import config_notes, load_config
from bot.files.snapshot import WorkingTree
from bot.pipeline.effective_config import effective_config
from bot.report.console import Printer
from bot.report.effective_config import print_config
from bot.text.masking import mask_by


@click.command("config")
@repository_options
@json_option
def command(repo: Path, config_path: str, as_json: bool) -> None:
    """Show the config in effect: each key, its value, and the file and line that it comes from.

    A key that the platform's file leaves out has the default that ships with Incumbent.

    \b
    Examples:
      incumbent config
      incumbent config --config config/paper.yaml
      incumbent config --json | jq '.values[] | select(.is_default | not)'
    """
    tree = WorkingTree(repo, "" if repo == Path() else repo.as_posix())
    # The capabilities of overrides are not checked, so that a fault of the taxonomy does not hide the config.
    config = load_config(tree, None, config_path)
    mask_by(config.personal_data.shown)
    for note in config_notes(tree, config_path):
        say(f"note: {note}", err=True)
    output = effective_config(config, tree, config_path)
    if as_json:
        print_json(output)
    else:
        print_config(output, Printer())
