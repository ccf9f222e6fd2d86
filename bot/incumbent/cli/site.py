"""``incumbent site``: the regression set as a static site."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from incumbent.cli.options import customers_of, one_of, open_backend, repository_options, tree_of, two_commits
from incumbent.cli.output import progress_bar, say, show_usage
from incumbent.curator.store import FOLDER
from incumbent.errors import UsageError
from incumbent.files.git import ObjectStore
from incumbent.files.git.working_copy import read_remote
from incumbent.pipeline.submission import EVAL_SETS, submission_folders
from incumbent.pipeline.workspace import open_platform

if TYPE_CHECKING:
    from incumbent.classifier.model import Backend
    from incumbent.curator.entry import Entry
    from incumbent.pipeline.review import Platform
    from incumbent.site.audience import Audience


@click.command("site")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder to write; an earlier site is replaced.",
)
@click.option("--serve", "served", is_flag=True, help="Show the site on this machine, until you stop it.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="For --serve; 0 takes a free one."
)
@click.option("--without-texts", is_flag=True, help="Leave the texts of queries and expectations out.")
@click.option("--customer", metavar="NAME", help="For this customer alone; of others it has only counts.")
@click.option(
    "--compare", "commits", metavar="BASE..HEAD", help="Show what merging HEAD into BASE would change, instead."
)
@click.option("--title", metavar="TEXT", help="What the site is called (default: the repository's name).")
@repository_options
def site_command(
    output: Path | None,
    served: bool,
    port: int,
    without_texts: bool,
    customer: str | None,
    commits: str | None,
    title: str | None,
    repo: Path,
    config_path: str,
) -> None:
    """Write the regression set as a static site: what is covered, by what, and what is missing.

    The pages need no server and ask nothing of any other machine: open index.html, or publish the folder.

    With --compare it is one page about two commits: verdicts, entries, coverage, pairs, size and cost before and after.
    The working tree does not count, and nothing is checked out. Undecided queries are classified, as by `review`.

    \b
    Examples:
      incumbent site --output site
      incumbent site --serve
      incumbent site --output public --without-texts
      incumbent site --output for-contoso --customer contoso
      incumbent site --compare main..HEAD --serve
    """
    from incumbent.site.audience import Audience
    from incumbent.site.folder import check_folder, write_folder
    from incumbent.site.serve import serve

    if output is None and not served:
        raise UsageError("say where the site goes with --output DIR, or show it on this machine with --serve")
    if output is not None:
        check_folder(output, repo)
    audience = Audience(texts=not without_texts, customer=customer)
    name = title or read_remote(repo) or repo.resolve().name
    if commits is None:
        files = _site(audience, name, repo, config_path)
    else:
        files = _comparison(commits, audience, name, repo, config_path)
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


def _site(audience: Audience, name: str, repo: Path, config_path: str) -> Iterator[tuple[str, bytes]]:
    """The files of the site of the working tree."""
    from incumbent.site.charts import drawing
    from incumbent.site.content import read_site
    from incumbent.site.pages import render_site

    draw = drawing()
    platform = open_platform(repo, config_path)
    _refuse_unknown(audience.customer, [platform], submission_folders(tree_of(repo)))
    return render_site(read_site(platform, repo, name, config_path), audience, draw)


def _comparison(
    commits: str, audience: Audience, name: str, repo: Path, config_path: str
) -> Iterator[tuple[str, bytes]]:
    """The files of the site about two commits."""
    from incumbent.github.local_comparison import read_comparison
    from incumbent.site.comparison_page import render_comparison

    base, head = two_commits(commits, repo)
    with ObjectStore.open(repo) as store:
        opened: list[Backend] = []

        def make(platform: Platform) -> Backend:
            opened.append(open_backend(platform, progress_bar))
            return opened[-1]

        found = read_comparison(store, base, head, name, config_path, make, progress_bar("classifying"))
        folders = submission_folders(store.snapshot(head))
    show_usage(*opened)
    _refuse_unknown(audience.customer, [found.before, found.after], folders)
    return render_comparison(found, audience)


def _refuse_unknown(customer: str | None, platforms: Iterable[Platform], folders: Iterable[str]) -> None:
    """Raise an error if nothing is of ``customer``: a site for a misspelt one would be empty."""
    if customer is None:
        return
    entries: list[Entry] = []
    for platform in platforms:
        entries += [entry for _, entry in platform.regression_set.states.values()]
    names = {*customers_of(entries), *(place.split("/")[1] for place in folders)}
    one_of(customer, tuple(sorted(names)), f"customer in {FOLDER}/ or {EVAL_SETS}/")


def _ready(address: str) -> None:
    say(f"the site is at {address} (end with Ctrl-C)", err=True)
