"""``incumbent review``, ``explain`` and ``consolidate``: from queries to verdicts, and their reasons; write nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from incumbent.cli.options import (
    admit_line,
    agent_options,
    all_option,
    eval_set_or_none,
    json_option,
    open_backend,
    read_named,
    repository_options,
    submission_options,
)
from incumbent.cli.output import print_json, progress_bar, say, show_preview, show_problems, show_usage, warn_of_stale
from incumbent.errors import InputError, UsageError
from incumbent.pipeline.admit import refuse_incomplete
from incumbent.pipeline.review import review
from incumbent.pipeline.workspace import open_package, open_platform


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
def review_command(
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

    EVAL_SET_DIR contains an agent specification and one or more eval sets, of the kinds that `incumbent formats` lists.
    Nothing is written to the repository; `incumbent admit` does that. In a pipe every verdict is one line, with tabs.

    \b
    Examples:
      incumbent review eval_sets/contoso/repairs
      incumbent review ~/incoming/repairs --customer contoso --format markdown
      incumbent review eval_sets/contoso/repairs --config config/paper.yaml
    """
    platform = open_platform(repo, config_path)
    package = open_package(platform, repo, eval_set_dir, customer, agent)
    backend = open_backend(platform, progress_bar, preview=True)
    outcome = review(platform, package, backend, progress_bar("classifying"))
    preview = show_preview(backend)
    if as_json or form == "json":
        from incumbent.report.review_json import ReviewOutput

        print_json(ReviewOutput.of(outcome, backend.usage, preview))
    elif form == "markdown":
        from incumbent.report.review_markdown import render_markdown

        click.echo(render_markdown(outcome))
    else:
        from incumbent.report.console import Printer
        from incumbent.report.review_console import print_text

        print_text(outcome, Printer(everything), admit_line(eval_set_dir, customer, agent, repo, config_path))
    show_problems(outcome.problems)
    show_usage(backend)
    refuse_incomplete(outcome.shortfalls, outcome.stopped)
    return InputError.exit_code if outcome.problems else 0


@click.command("explain")
@eval_set_or_none
@click.argument("query", metavar="[QUERY]", required=False)
@click.option("--entry", metavar="ID", help="An entry of the regression set, as if it came today.")
@agent_options
@repository_options
@json_option
def explain_command(
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
    from incumbent.pipeline.explain import explain_entry, explain_query
    from incumbent.report.explanation import ExplainOutput, explanation_lines
    from incumbent.report.results import shown_results

    platform = open_platform(repo, config_path)
    if entry is not None:
        if eval_set_dir is not None or query is not None:
            raise UsageError("use --entry alone: leave EVAL_SET_DIR and QUERY out")
        explained, usage, preview = explain_entry(platform, entry), None, None
        results = shown_results(repo, platform)
        history = None if results is None else results.history_of(entry)
    else:
        if eval_set_dir is None or query is None:
            raise UsageError("name a folder and a query of its eval set, or an entry with --entry")
        package = open_package(platform, repo, eval_set_dir, customer, agent)
        backend = open_backend(platform, progress_bar, preview=True)
        outcome = review(platform, package, backend, progress_bar("classifying"))
        explained, usage, history = explain_query(outcome, query), backend.usage, None
        preview = show_preview(backend)
        show_usage(backend)
    if as_json:
        print_json(ExplainOutput.of(explained, usage, history=history, preview=preview))
        return
    for line in explanation_lines(explained, history):
        say(line)


@click.command("consolidate")
@click.option("--scores", required=True, metavar="FILE|-", help="JSON or YAML with scored queries; `-` reads JSON.")
@repository_options
@json_option
def consolidate_command(scores: str, repo: Path, config_path: str, as_json: bool) -> None:
    """Judge queries that come with their scores against the regression set.

    The input is {"queries": [{"id", "turns": [...], "scores": {CAPABILITY: cs}}]}; the order of the queries does not
    matter. Verdicts come in the cycle's order.

    A query may name the "entry" that it has or would have. If that has the same content, the query is already decided;
    else it is judged without it. The input may name the "taxonomy" and the "classifier" of the scores: those of another
    version are refused, and entries of another classifier do not count (schema: `incumbent schema scores`).

    \b
    Examples:
      incumbent consolidate --scores scores.json --json
      my-classifier | incumbent consolidate --scores - --config config/paper.yaml
    """
    from incumbent.files.documents import parse
    from incumbent.pipeline.consolidate import consolidate
    from incumbent.rater.scores import read_scores
    from incumbent.report.output import ConsolidateOutput

    platform = open_platform(repo, config_path)
    name, content = ("<stdin>.json", sys.stdin.buffer.read()) if scores == "-" else (scores, read_named(Path(scores)))
    document = parse(content, name, platform.config.limits.reading)
    found = consolidate(platform, read_scores(document, platform.taxonomy))
    warn_of_stale(found.stale)
    if as_json:
        print_json(
            ConsolidateOutput(
                verdicts=list(found.verdicts),
                settled={name: record.id for name, record in found.settled.items()},
            )
        )
        return
    for verdict in found.verdicts:
        names = [f"displaces {id}" for id in verdict.displaces]
        names += [f"alternate of {id}" for id in verdict.alternate_of]
        say("  ".join([verdict.id, verdict.decision.value, verdict.route.value, " ".join(verdict.reasons), *names]))
    for name, record in found.settled.items():
        say(f"{name}  already decided by {record.id}")
