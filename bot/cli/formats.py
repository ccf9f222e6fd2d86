"""``incumbent formats``: the formats of eval sets and of agent specifications that are read."""

from __future__ import annotations

import click

from bot.cli.options import json_option, print_json, say


@click.command("formats")
@json_option
def command(as_json: bool) -> None:
    """List the formats that are read: names for formats.yaml, and how each is recognised.

    \b
    Examples:
      incumbent formats
      incumbent formats --json | jq -r '.eval_sets[].name'
    """
    from bot.report.output import FormatsOutput

    known = FormatsOutput.known()
    if as_json:
        print_json(known)
        return
    say("eval sets:")
    for each in known.eval_sets:
        say(f"  {each.name} ({', '.join(each.endings)}): {each.title}")
    say("agent specifications:")
    for agent in known.agents:
        say(f"  {agent.name}: {agent.looked_for}")
