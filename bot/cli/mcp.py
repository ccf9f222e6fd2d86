"""``incumbent mcp``: the pipeline as tools for a chat assistant, over the Model Context Protocol."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import click

from bot.cli.options import repository_options
from bot.errors import UsageError


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
def command(allow_writes: bool, http: bool, host: str, port: int, repo: Path, config_path: str) -> None:
    """Serve the pipeline to chat assistants and platforms, over the Model Context Protocol.

    An assistant starts this by itself (docs/mcp.md has the set-up of each). Nothing is written to the repository
    without --allow-writes, and nothing outside of it is read.

    \b
    Examples:
      incumbent mcp
      incumbent mcp --repo ~/platform --config config/paper.yaml
      incumbent mcp --http --port 8765
    """
    if find_spec("mcp") is None:
        raise UsageError("the package mcp is missing: say `make mcp` in a clone, or `pip install 'incumbent[mcp]'`")
    from bot.mcp_server.server import make_server
    from bot.mcp_server.serving import loopback, serve_http, serve_stdio
    from bot.mcp_server.workspace import Workspace

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
