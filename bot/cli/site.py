"""``incumbent site``: the regression set as a static site."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from bot.cli.options import customers_of, one_of, repository_options, tree_of
from bot.cli.output import say
from bot.curator.store import FOLDER
from bot.errors import UsageError
from bot.git.working_copy import read_remote
from bot.pipeline.submission import EVAL_SETS, submission_folders
from bot.pipeline.workspace import open_platform


@click.command("site")
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="DIR", help="The folder to write; a site that is there goes."
)
@click.option("--serve", "served", is_flag=True, help="Show the site on this machine, until you stop it.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="For --serve; 0 takes a free one."
)
@click.option("--without-texts", is_flag=True, help="Leave the texts of queries and expectations out.")
@click.option("--customer", metavar="NAME", help="For this customer alone; of others it has only counts.")
@click.option("--title", metavar="TEXT", help="What the site is called (default: the repository's name).")
@repository_options
def site_command(
    output: Path | None,
    served: bool,
    port: int,
    without_texts: bool,
    customer: str | None,
    title: str | None,
    repo: Path,
    config_path: str,
) -> None:
    """Write the regression set as a static site: what is covered, by what, and what is missing.

    The pages need no server and ask nothing of any other machine: open index.html, or publish the folder.

    \b
    Examples:
      incumbent site --output site
      incumbent site --serve
      incumbent site --output public --without-texts
      incumbent site --output for-contoso --customer contoso
    """
    from bot.site.audience import Audience
    from bot.site.charts import drawing
    from bot.site.content import read_site
    from bot.site.folder import check_folder, write_folder
    from bot.site.render import render_site
    from bot.site.serve import serve

    if output is None and not served:
        raise UsageError("say where the site goes with --output DIR, or show it on this machine with --serve")
    if output is not None:
        check_folder(output)
    draw = drawing()
    platform = open_platform(repo, config_path)
    if customer is not None:
        known = platform.regression_set
        entries = [*known.entries.values(), *known.waiting.values(), *known.evicted.values()]
        brought = [place.split("/")[1] for place in submission_folders(tree_of(repo))]
        one_of(customer, tuple(sorted({*customers_of(entries), *brought})), f"customer in {FOLDER}/ or {EVAL_SETS}/")
    name = title or read_remote(repo) or repo.resolve().name
    content = read_site(platform, repo, name, config_path)
    files = render_site(content, Audience(texts=not without_texts, customer=customer), draw)
    if output is not None:
        count = write_folder(output, files)
        say(f"{count} files: open {output / 'index.html'}", err=True)
        if served:
            serve(output, port, _ready)
        return
    with tempfile.TemporaryDirectory(prefix="incumbent-site-") as scratch:
        folder = Path(scratch) / "site"
        write_folder(folder, files)
        serve(folder, port, _ready)


def _ready(address: str) -> None:
    say(f"the site is at {address} (end with Ctrl-C)", err=True)
