"""``incumbent classify``: queries to values and confidences."""

from __future__ import annotations

from pathlib import Path

import click

from bot.classifier.classify import classify
from bot.cli.options import (
    json_option,
    print_json,
    progress_bar,
    repository_options,
    say,
    show_problems,
    show_usage,
    submission_options,
)
from bot.errors import InputError
from bot.opening import open_backend, open_package, open_platform
from bot.pipeline import under_corrections
from bot.refusals import refuse_incomplete
from bot.report.classify_output import ClassifyOutput
from bot.report.remarks import remarks_on
from bot.report.voices import PlainVoice
from bot.report.wording import called


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
    backend = open_backend(platform, progress_bar)
    result = classify(
        submission.queries, package.specification, platform.taxonomy, backend, progress_bar("classifying")
    )
    result = under_corrections(platform, submission.queries, result)
    if as_json:
        print_json(ClassifyOutput.of(result, submission.queries, platform.taxonomy, backend.usage))
    else:
        voice = PlainVoice(platform.taxonomy)
        for item in result.classifications:
            true = [
                f"{name} {judged.confidence:.2f} ({judged.path})"
                for name, judged in item.judgements.items()
                if judged.value
            ]
            denied = [f"not {name} (corrected)" for name, value in item.corrected.items() if not value]
            off = [f"off taxonomy: {group}" for group in item.off_taxonomy]
            doubt = ["argues with the classifier, or hides text from people"] if item.attempt else []
            remarks = remarks_on([item]).lines(voice)
            calls = [] if item.calls is None else [f"called tools: {called(item.calls, voice)}"]
            lines = [item.query_id, *(true or ["exercises no capability"]), *denied, *calls, *off, *doubt, *remarks]
            say("\n  ".join(lines))
    show_problems(submission.problems)
    show_usage(backend)
    refuse_incomplete(result.shortfalls, result.stopped)
    return InputError.exit_code if submission.problems else 0
