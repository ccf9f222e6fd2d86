"""``incumbent admit``: the curator stages admissions into the working tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from bot.classifier.usage import Usage
from bot.cli.options import (
    agent_options,
    at_option,
    by_option,
    dry_run_option,
    entry_text,
    json_option,
    occasion,
    one_at_a_time,
    open_backend,
    open_package,
    open_platform,
    print_json,
    progress_bar,
    refuse_incomplete,
    refuse_lag,
    repository_options,
    require_text,
    say,
    show_problems,
    show_usage,
    whole_text,
)
from bot.curator.answers import Answer
from bot.curator.changes import apply
from bot.curator.entry import Entry
from bot.curator.staging import Occasion, Staging, stage_waiting
from bot.errors import InputError, Problem, UsageError
from bot.pipeline import Platform, Review, classify_package, judge, stage_admissions
from bot.report.output import AdmissionOutput


@click.command("admit")
@click.argument(
    "eval_set_dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="[EVAL_SET_DIR]",
    required=False,
)
@agent_options
@click.option("--accept", "accepted", multiple=True, metavar="ID", help="Accept a reviewed query; may be repeated.")
@click.option(
    "--reason",
    metavar="TEXT",
    callback=whole_text,
    help="Why a query whose verdict is EXCLUDE is accepted all the same.",
)
@click.option("--waiting", "line", is_flag=True, help="Judge the entries that wait for a slot again.")
@by_option
@at_option
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def command(
    eval_set_dir: Path | None,
    customer: str | None,
    agent: str | None,
    accepted: tuple[str, ...],
    reason: str | None,
    line: bool,
    by: str | None,
    at: str | None,
    dry_run: bool,
    repo: Path,
    config_path: str,
    as_json: bool,
) -> int:
    """Stage the direct admissions of EVAL_SET_DIR, and what --accept names, into regression_set/.

    Past the ceiling entries wait in regression_set/waiting/; `incumbent admit --waiting` lets them in when slots
    come free. Nothing is committed: look at the change, then commit it.

    \b
    Examples:
      incumbent admit eval_sets/contoso/repairs --dry-run
      incumbent admit eval_sets/contoso/repairs --accept q07 --accept q11
      incumbent admit --waiting
    """
    if (eval_set_dir is None) != line:
        raise UsageError("give either EVAL_SET_DIR or --waiting")
    if reason and not accepted and not line:
        raise UsageError("--reason goes with --accept")
    platform = open_platform(repo, config_path)
    shortfalls: Mapping[str, str] = {}
    problems: tuple[Problem, ...] = ()
    usage: Usage | None = None
    if eval_set_dir is None:
        if accepted or reason:
            raise UsageError("--accept and --reason go with EVAL_SET_DIR: what waits for a slot was accepted before")
        staging = _from_the_line(platform, occasion(repo, at, by))
    else:
        package = open_package(platform, repo, eval_set_dir, customer, agent)
        backend = open_backend(platform)
        classified = classify_package(platform, package, backend, progress_bar("classifying"))
        show_usage(backend)
        usage = backend.usage
        if classified.result.stopped is not None:
            # Who enters depends on who else is judged, and the next run goes on where this one ended.  A query that
            # falls short by itself may do so for ever, and holds up nobody.
            raise classified.result.stopped
        now = occasion(repo, at, by)
        why = reason and require_text(reason, "--reason")
        answers = [
            Answer(id=id, accepts=True, by=now.by or "a person", reason=why, insists=why is not None) for id in accepted
        ]
        outcome = judge(platform, [classified], backend.identity, answers)
        refuse_lag(outcome.lags)
        _serve_the_line_first(platform, now)
        _refuse_without_effect(outcome, answers)
        texts = {entry.id: entry_text(repo, entry.id) for entry in outcome.edited.values()}
        staging = stage_admissions(outcome, texts, now)
        shortfalls, problems = outcome.shortfalls, outcome.problems
    if not dry_run:
        apply(staging.file_changes, repo)
    if as_json:
        print_json(AdmissionOutput.of(staging, dry_run, usage))
    else:
        _show(staging, dry_run)
    show_problems(problems)
    refuse_incomplete(shortfalls, None)
    return InputError.exit_code if problems else 0


def _serve_the_line_first(platform: Platform, now: Occasion) -> None:
    """Newcomers do not pass those that wait for a slot."""
    ready = _from_the_line(platform, now).admitted
    if ready:
        raise InputError(
            [
                Problem(
                    f"regression_set/waiting/{entry.id}.yaml",
                    None,
                    "the entry waits for a slot, and one is free",
                    "run `incumbent admit --waiting` first",
                )
                for entry in ready
            ]
        )


def _refuse_without_effect(outcome: Review, answers: Sequence[Answer]) -> None:
    """Raise what is wrong with acceptances that change nothing: whoever gave them thinks that they do."""
    named = {answer.id for answer in answers}
    refuse_incomplete({id: why for id, why in outcome.shortfalls.items() if id in named}, None)
    problems = [
        _refused(id, "there is no such query that is not settled", f"use one of: {', '.join(sorted(outcome.scored))}")
        for id in dict.fromkeys(answer.id for answer in answers)
        if id not in outcome.scored
    ]
    verdicts = {verdict.id: verdict for verdict in outcome.verdicts}
    for answer in outcome.derivation.unheard:
        verdict = verdicts[answer.id]
        if verdict.admitted:
            problems.append(_refused(answer.id, "it is admitted already, without a person", "leave it out"))
        else:
            said = f"its verdict is EXCLUDE ({', '.join(verdict.reasons)}) after what was admitted before it"
            fix = "leave it out, or give --reason to override the verdict"
            problems.append(_refused(answer.id, said, fix))
    if problems:
        raise InputError(problems)


def _refused(id: str, message: str, fix: str) -> Problem:
    return Problem(f"--accept {id}", None, message, fix)


def _from_the_line(platform: Platform, now: Occasion) -> Staging:
    known = platform.regression_set
    residents, lags = known.residents(platform.taxonomy)
    _, lags_in_line = known.in_line(platform.taxonomy)
    refuse_lag((*lags, *lags_in_line))
    return stage_waiting(tuple(known.waiting.values()), residents, platform.config, platform.taxonomy, now)


def _show(staging: Staging, dry_run: bool) -> None:
    verb = "would be " if dry_run else ""
    for entry in staging.admitted:
        say(f"{verb}admitted: {_line(entry)}")
    for entry in staging.waiting:
        say(f"{verb}waiting for a slot: {_line(entry)}")
    for entry in staging.leaving:
        say(f"{verb}out of the line, since it no longer earns a slot: {_line(entry)}")
    say(f"{len(staging.admitted)} admitted, {len(staging.waiting)} waiting for a slot")


def _line(entry: Entry) -> str:
    named = f" displaces {', '.join(entry.admitted.displaces)}" if entry.admitted.displaces else ""
    return f"{entry.id} ({entry.admitted.decision}, {' '.join(entry.admitted.reasons)}){named}"
