"""``incumbent mcp``, ``formats`` and ``schema``: what other programs that work with Incumbent call and read."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from incumbent.cli.options import json_option, repository_options
from incumbent.cli.output import print_json, say
from incumbent.errors import UsageError
from incumbent.extras import require_extra
from incumbent.text.did_you_mean import did_you_mean


@click.command("mcp")
@click.option("--allow-writes", is_flag=True, help="Offer the tools that stage admissions and record decisions too.")
@click.option(
    "--http", is_flag=True, help="Serve streamable HTTP on this machine, instead of standard input and output."
)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="With --http: of this machine.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    metavar="N",
    help="With --http: the port; 0 takes any that is free.",
)
@repository_options
def mcp_command(allow_writes: bool, http: bool, host: str, port: int, repo: Path, config_path: str) -> None:
    """Serve the pipeline to chat assistants and platforms, over the Model Context Protocol.

    An assistant starts this by itself (docs/mcp.md has the set-up of each). Nothing is written to the repository
    without --allow-writes, and nothing outside of it is read.

    \b
    Examples:
      incumbent mcp
      incumbent mcp --repo ~/platform --config config/paper.yaml
      incumbent mcp --http --port 8765
    """
    require_extra("mcp", "`incumbent mcp`")
    from incumbent.mcp.server import make_server
    from incumbent.mcp.serving import loopback, serve_http, serve_stdio
    from incumbent.mcp.workspace import Workspace

    if http:
        loopback(host)
    server = make_server(Workspace(repo, config_path, writes=allow_writes))
    if http:
        serve_http(server, host, port, lambda address: click.echo(f"serving {address}; Ctrl-C ends", err=True))
    else:
        # A process may be started without any of its standard streams.
        if sys.stdin is None or sys.stdout is None:
            raise UsageError("standard input or output is closed: there a client speaks; or serve over --http")
        if sys.stdin.isatty():
            click.echo("waiting for a client on standard input; an assistant starts this by itself", err=True)
        serve_stdio(server)


@click.command("formats")
@json_option
def formats_command(as_json: bool) -> None:
    """List the formats that are read: names for formats.yaml, and how each is recognised.

    \b
    Examples:
      incumbent formats
      incumbent formats --json | jq -r '.eval_sets[].name'
    """
    from incumbent.report.output import FormatsOutput

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


@click.command("schema")
@click.argument("name", required=False)
def schema_command(name: str | None) -> None:
    """Print the JSON schema NAME, or the names there are.

    \b
    Examples:
      incumbent schema
      incumbent schema entry > schemas/entry.schema.json
      incumbent schema consolidate-output
    """
    from incumbent.cli.schemas import SCHEMAS, schema

    if name is None:
        for known in SCHEMAS:
            click.echo(known)
        return
    if name not in SCHEMAS:
        raise UsageError(f"there is no schema {name!r}{did_you_mean(name, SCHEMAS)}; `incumbent schema` lists them")
    click.echo(json.dumps(schema(name), ensure_ascii=False, indent=2))
