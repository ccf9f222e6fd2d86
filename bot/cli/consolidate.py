"""``incumbent consolidate``: from scores to verdicts (the paper's cs-to-verdict)."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bot.cli.options import json_option, print_json, repository_options, say, warn_of_lag
from bot.consolidator.cycle import run_cycle
from bot.documents import parse
from bot.errors import InputError, Problem
from bot.opening import open_platform
from bot.rater.scores import read_scores
from bot.report.output import ConsolidateOutput, VerdictOutput


@click.command("consolidate")
@click.option("--scores", required=True, metavar="FILE|-", help="JSON or YAML with scored queries; `-` reads JSON.")
@repository_options
@json_option
def command(scores: str, repo: Path, config_path: str, as_json: bool) -> None:
    """Judge queries that come with their scores against the regression set.

    The input is {"queries": [{"id", "turns": [...], "scores": {CAPABILITY: cs}}]}; the order of the queries does not
    matter. Verdicts come in the cycle's order.

    \b
    Examples:
      incumbent consolidate --scores scores.json --json
      my-classifier | incumbent consolidate --scores - --config config/paper.yaml
    """
    platform = open_platform(repo, config_path)
    name, content = ("<stdin>.json", sys.stdin.buffer.read()) if scores == "-" else (scores, _read(Path(scores)))
    document = parse(content, name, platform.config.limits.reading)
    queries = read_scores(document, platform.taxonomy.by_id)
    residents, lags = platform.regression_set.residents(platform.taxonomy)
    in_line, _ = platform.regression_set.in_line(platform.taxonomy)
    verdicts = run_cycle(queries, (*residents, *in_line), platform.config)
    warn_of_lag(lags)
    if as_json:
        print_json(ConsolidateOutput(verdicts=[VerdictOutput.of(verdict) for verdict in verdicts]))
        return
    for verdict in verdicts:
        names = [f"displaces {id}" for id in verdict.displaces]
        names += [f"alternate of {id}" for id in verdict.alternate_of]
        say("  ".join([verdict.id, verdict.decision.value, verdict.route.value, " ".join(verdict.reasons), *names]))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            [Problem(path.as_posix(), None, f"the file cannot be read: {error.strerror}", "check its name")]
        ) from None
