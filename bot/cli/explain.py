"""``incumbent explain``: the reasons of a verdict, and the smallest changes that would change it; writes nothing."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import (
    agent_options,
    json_option,
    print_json,
    progress_bar,
    repository_options,
    say,
    show_usage,
)
from bot.errors import UsageError
from bot.pipeline.explain import explain_entry, explain_query
from bot.pipeline.review import review
from bot.pipeline.workspace import open_backend, open_package, open_platform
from bot.report.explanation import ExplainOutput, explanation_lines


@click.command("explain")
@click.argument(
    "eval_set_dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="[EVAL_SET_DIR]",
    required=False,
)
@click.argument("query", metavar="[QUERY]", required=False)
@click.option("--entry", metavar="ID", help="An entry of the regression set, as if it came today.")
@agent_options
@repository_options
@json_option
def command(
    eval_set_dir: Path | None,
    query: str | None,
    entry: str | None,
    customer: str | None,
    agent: str | None,
    repo: Path,
    config_path: str,
    as_json: bool,
) -> None:
    """Explain the verdict on QUERY of the eval set in EVAL_SET_DIR, and the smallest changes that would change it.

    A change is another score, the absence of an entry, or another knob. The whole cascade judges each change, with
    all else unchanged at the query's turn in the cycle. An outcome is that the query enters, waits for review or stays
    out. If judging the whole cycle with the change gives another outcome, that is shown too. With --entry an entry is
    judged, against all the others.

    \b
    Examples:
      incumbent explain eval_sets/contoso/repairs q7
      incumbent explain --entry contoso-repairs-q7-1a2b3c4d --json
    """
    platform = open_platform(repo, config_path)
    if entry is not None:
        if eval_set_dir is not None or query is not None:
            raise UsageError("use --entry alone: leave EVAL_SET_DIR and QUERY out")
        explained, usage = explain_entry(platform, entry), None
    else:
        if eval_set_dir is None or query is None:
            raise UsageError("name a folder and a query of its eval set, or an entry with --entry")
        package = open_package(platform, repo, eval_set_dir, customer, agent)
        backend = open_backend(platform, progress_bar)
        outcome = review(platform, package, backend, progress_bar("classifying"))
        explained, usage = explain_query(outcome, query), backend.usage
        show_usage(backend)
    if as_json:
        print_json(ExplainOutput.of(explained, usage))
        return
    for line in explanation_lines(explained):
        say(line)
