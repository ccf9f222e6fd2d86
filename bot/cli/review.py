"""``incumbent review``: everything up to the verdicts; writes nothing."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import (
    admit_command,
    all_option,
    print_json,
    progress_bar,
    repository_options,
    show_problems,
    show_usage,
    submission_options,
)
from bot.errors import InputError
from bot.pipeline.preconditions import refuse_incomplete
from bot.pipeline.review import review
from bot.pipeline.workspace import open_backend, open_package, open_platform


@click.command("review")
@submission_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="Console text, the verdict comment as Markdown, or JSON (schema: `incumbent schema review-output`).",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@all_option
@repository_options
def command(
    eval_set_dir: Path,
    customer: str | None,
    agent: str | None,
    form: str,
    as_json: bool,
    everything: bool,
    repo: Path,
    config_path: str,
) -> int:
    """Judge the eval set in EVAL_SET_DIR against the regression set and say why.

    EVAL_SET_DIR holds an agent specification and one or more eval sets, of the kinds that `incumbent formats` lists.
    Nothing is written to the repository; `incumbent admit` does that. In a pipe every verdict is one line, with tabs.

    \b
    Examples:
      incumbent review eval_sets/contoso/repairs
      incumbent review ~/incoming/repairs --customer contoso --format markdown
      incumbent review eval_sets/contoso/repairs --config config/paper.yaml
    """
    platform = open_platform(repo, config_path)
    package = open_package(platform, repo, eval_set_dir, customer, agent)
    backend = open_backend(platform, progress_bar)
    outcome = review(platform, package, backend, progress_bar("classifying"))
    if as_json or form == "json":
        from bot.report.review_json import ReviewOutput

        print_json(ReviewOutput.of(outcome, backend.usage))
    elif form == "markdown":
        from bot.report.review_markdown import render_markdown

        click.echo(render_markdown(outcome))
    else:
        from bot.report.console import Printer
        from bot.report.review_console import print_text

        print_text(outcome, Printer(everything), admit_command(eval_set_dir, customer, agent, repo, config_path))
    show_problems(outcome.problems)
    show_usage(backend)
    refuse_incomplete(outcome.shortfalls, outcome.stopped)
    return InputError.exit_code if outcome.problems else 0
