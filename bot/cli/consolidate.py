"""``incumbent consolidate``: from scores to verdicts (the paper's cs-to-verdict)."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bot.cli.options import json_option, print_json, repository_options, say, warn_of_lag
from bot.errors import InputError, Problem
from bot.files.documents import parse
from bot.pipeline.consolidate import consolidate
from bot.pipeline.workspace import open_platform
from bot.rater.scores import read_scores
from bot.report.output import ConsolidateOutput


@click.command("consolidate")
@click.option("--scores", required=True, metavar="FILE|-", help="JSON or YAML with scored queries; `-` reads JSON.")
@repository_options
@json_option
def command(scores: str, repo: Path, config_path: str, as_json: bool) -> None:
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
    platform = open_platform(repo, config_path)
    name, content = ("<stdin>.json", sys.stdin.buffer.read()) if scores == "-" else (scores, _read(Path(scores)))
    document = parse(content, name, platform.config.limits.reading)
    found = consolidate(platform, read_scores(document, platform.taxonomy))
    warn_of_lag(found.lags)
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


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            [Problem(path.as_posix(), None, f"the file cannot be read: {error.strerror}", "check its name")]
        ) from None
