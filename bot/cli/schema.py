"""``incumbent schema``: the JSON schemas of the files people write and of what commands print."""

from __future__ import annotations

import json

import click

from bot.errors import UsageError
from bot.text.did_you_mean import did_you_mean


@click.command("schema")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Print the JSON schema NAME, or the names there are.

    \b
    Examples:
      incumbent schema
      incumbent schema entry > schemas/entry.schema.json
      incumbent schema consolidate-output
    """
    from bot.schemas import SCHEMAS, schema

    if name is None:
        for known in SCHEMAS:
            click.echo(known)
        return
    if name not in SCHEMAS:
        raise UsageError(f"there is no schema {name!r}{did_you_mean(name, SCHEMAS)}; `incumbent schema` lists them")
    click.echo(json.dumps(schema(name), ensure_ascii=False, indent=2))
