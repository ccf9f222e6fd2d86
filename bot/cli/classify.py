"""``incumbent classify``: queries to values and confidences."""

from __future__ import annotations

from pathlib import Path

import click

from bot.classifier.classify import classify
from bot.cli.options import (
    all_option,
    json_option,
    print_json,
    progress_bar,
    repository_options,
    show_problems,
    show_usage,
    submission_options,
)
from bot.errors import InputError
from bot.pipeline.preconditions import refuse_incomplete
from bot.pipeline.review import under_corrections
from bot.pipeline.workspace import open_backend, open_package, open_platform
from bot.report.classify import ClassifyOutput, print_classified
from bot.report.console import Printer


@click.command("classify")
@submission_options
@repository_options
@all_option
@json_option
def command(
    eval_set_dir: Path,
    customer: str | None,
    agent: str | None,
    repo: Path,
    config_path: str,
    everything: bool,
    as_json: bool,
) -> int:
    """Say which capabilities each query of EVAL_SET_DIR exercises, and how surely.

    \b
    Examples:
      incumbent classify eval_sets/contoso/repairs
      incumbent classify eval_sets/contoso/repairs --json | jq '.queries[0].values'
    """
    platform = open_platform(repo, config_path)
    package = open_package(platform, repo, eval_set_dir, customer, agent)
    submission = package.submission
    backend = open_backend(platform, progress_bar)
    result = classify(
        submission.queries, package.specification, platform.taxonomy, backend, progress_bar("classifying")
    )
    result = under_corrections(platform, submission.queries, result)
    if as_json:
        print_json(ClassifyOutput.of(result, submission.queries, platform.taxonomy, backend.usage))
    else:
        print_classified(result, submission.queries, platform.taxonomy, Printer(everything))
    show_problems(submission.problems)
    show_usage(backend)
    refuse_incomplete(result.shortfalls, result.stopped)
    return InputError.exit_code if submission.problems else 0
