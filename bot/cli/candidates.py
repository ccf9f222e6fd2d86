"""``incumbent candidates``: groups of queries for which the taxonomy may lack a capability."""

from __future__ import annotations

import os
from pathlib import Path

import click

from bot.classifier.classify import classify
from bot.classifier.usage import total
from bot.cli.options import (
    json_option,
    print_json,
    progress_bar,
    repository_options,
    say,
    show_problems,
    show_usage,
)
from bot.config import REVIEWED_FILES
from bot.curator.entry import Entry
from bot.errors import InputError, Problem
from bot.extension.candidates import find_candidates, why_none
from bot.extension.draft import RefusedCandidates
from bot.extension.model import Core, ExtensionCandidate
from bot.extension.naming import named
from bot.extension.signals import observe_all, observe_entry
from bot.files.documents import parse_yaml
from bot.files.snapshot import WorkingTree
from bot.files.validation import validate
from bot.pipeline.preconditions import refuse_incomplete
from bot.pipeline.review import Platform
from bot.pipeline.submission import agent_name
from bot.pipeline.workspace import open_backend, open_platform, read_packages
from bot.report.candidates import CandidatesOutput
from bot.report.escaping import shortened, visible
from bot.report.verdict_text import counted
from bot.text.masking import masked, masked_together

SHOWN = 5
"""The number of queries of a candidate that the text output shows; the JSON has all."""


@click.command("candidates")
@repository_options
@click.option(
    "--refused",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Cores of candidates that stay away (YAML or JSON: `cores`, a list of lists of digests).",
)
@json_option
def command(repo: Path, config_path: str, refused: Path | None, as_json: bool) -> int:
    """Find groups of queries that the taxonomy seems to have no capability for; writes nothing.

    Looks at eval_sets/ and, by the scores that they were admitted with, at the entries of the regression set.

    \b
    Examples:
      incumbent candidates
      incumbent candidates --json | jq '.candidates[] | {id, kind, core}'
    """
    platform = open_platform(repo, config_path)
    cores = () if refused is None else _cores(refused)
    backend = open_backend(platform, progress_bar)
    observed = {item.id: item for item in (observe_entry(each, platform.taxonomy) for each in _entries(platform))}
    problems: list[Problem] = []
    shortfalls: dict[str, str] = {}
    for package in read_packages(platform, repo, problems):
        submission = package.submission
        place = agent_name(submission.folder)
        problems.extend(submission.problems)
        progress = progress_bar(f"classifying {submission.folder}")
        result = classify(submission.queries, package.specification, platform.taxonomy, backend, progress)
        for item in observe_all(submission, result.classifications, platform.taxonomy, platform.config.extension):
            observed[item.id] = item
        shortfalls |= {f"{place}/{id}": why for id, why in result.shortfalls.items()}
        if result.stopped is not None:
            show_usage(backend)
            refuse_incomplete(shortfalls, result.stopped)
    queries = tuple(observed.values())
    personal = platform.config.personal_data
    found = find_candidates(queries, platform.taxonomy, platform.config.extension, cores, personal.shown)
    found, naming = named(found, platform.taxonomy, platform.config.classifier, os.environ, names=personal.names)
    if as_json:
        print_json(CandidatesOutput.of(len(queries), found, total([backend.usage, naming])))
    else:
        _show(found)
        say(f"{counted(len(found), 'candidate', 'candidates')} in {counted(len(queries), 'query', 'queries')}")
        if not found:
            say(f"none was found, since {why_none(queries, platform.taxonomy, platform.config.extension)}")
    show_problems(tuple(problems))
    show_usage(backend, besides=naming)
    refuse_incomplete(shortfalls, None)
    return InputError.exit_code if problems else 0


def _cores(path: Path) -> tuple[Core, ...]:
    tree = WorkingTree(path.resolve().parent)
    document = parse_yaml(tree.read(path.name, REVIEWED_FILES), path.as_posix(), REVIEWED_FILES)
    return validate(RefusedCandidates, document).cores


def _entries(platform: Platform) -> list[Entry]:
    """The entries whose scores are of the present classifier and taxonomy."""
    known = platform.regression_set
    lagging = {lag.id for lag in known.residents(platform.taxonomy)[1]}
    return [entry for id, entry in known.entries.items() if id not in lagging]


def _show(found: tuple[ExtensionCandidate, ...]) -> None:
    for place, item in enumerate(found, 1):
        about = f" ({', '.join(item.belongs_to)})" if item.belongs_to else ""
        say(f"{place}. {item.id}: {_shown(item.name)}")
        say(f"   kind: {item.kind}{about}; group {item.group}")
        say(
            f"   {len(item.members)} queries of {len(item.customers)} customers "
            f"({', '.join(map(_shown, item.customers))}); "
            f"{100 * item.excess:.0f} % more than the exemplars lead to expect; chance 1 in 10^{item.surprise:.1f}; "
            f"cohesion {item.cohesion:.2f}"
        )
        say(f"   signals: {', '.join(f'{signal.value} {count}' for signal, count in item.signals.items())}")
        for feature in item.telling:
            say(
                f"   - {_shown(feature.trait.words)}: {feature.members} of its queries; {feature.observed} of all, "
                f"{feature.expected:.1f} expected"
            )
        for member in item.members[:SHOWN]:
            # Each turn is masked separately, so that no turn hides the secret of another.
            turns = shortened(visible(" / ".join(masked_together(member.turns))))
            say(f"     {_shown(member.id)}: {turns}")
        if len(item.members) > SHOWN:
            say(f"     and {len(item.members) - SHOWN} more")
        say(f"   refuse it with the core {' '.join(item.core)}")


def _shown(text: str) -> str:
    return visible(masked(text))
