"""``incumbent classify``: queries to values and confidences."""

from __future__ import annotations

from pathlib import Path

import click

from bot.classifier.classify import classify
from bot.cli.options import (
    json_option,
    open_backend,
    open_package,
    open_platform,
    print_json,
    progress_bar,
    repository_options,
    say,
    show_problems,
    submission_options,
)
from bot.errors import IncompleteError, InputError
from bot.report.output import ClassifyOutput


@click.command("classify")
@submission_options
@repository_options
@json_option
def command(
    eval_set_dir: Path, customer: str | None, agent: str | None, repo: Path, config_path: str, as_json: bool
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
    result = classify(
        submission.queries,
        package.specification,
        platform.taxonomy,
        open_backend(platform),
        progress_bar("classifying"),
    )
    if as_json:
        print_json(ClassifyOutput.of(result, submission.queries, platform.taxonomy))
    else:
        for item in result.classifications:
            true = [
                f"{name} {judged.confidence:.2f} ({judged.path})"
                for name, judged in item.judgements.items()
                if judged.value
            ]
            off = [f"off taxonomy: {group}" for group in item.off_taxonomy]
            say("\n  ".join([item.query_id, *(true or ["exercises no capability"]), *off]))
    show_problems(submission.problems)
    if result.unclassified:
        raise IncompleteError(f"too few valid samples for: {', '.join(result.unclassified)}; run again")
    return InputError.exit_code if submission.problems else 0
