"""``incumbent admit``: the curator stages admissions into the working tree."""

from __future__ import annotations

from pathlib import Path

import click

from bot.cli.options import (
    admit_command,
    agent_options,
    all_option,
    at_option,
    by_option,
    dry_run_option,
    json_option,
    occasion,
    one_at_a_time,
    print_json,
    progress_bar,
    reason_given,
    repository_options,
    say,
    show_problems,
    show_usage,
    whole_text,
)
from bot.curator.entry import Entry
from bot.curator.file_changes import apply
from bot.errors import InputError, UsageError
from bot.pipeline.admit import Admission, CallerTerms, admit_package, admit_waiting, entered_before, provisions_of
from bot.pipeline.preconditions import refuse_incomplete
from bot.pipeline.review import Platform
from bot.pipeline.workspace import entry_text, open_backend, open_package, open_platform
from bot.report.console import Printer
from bot.report.output import AdmissionOutput
from bot.report.review_console import print_accepting, print_provisions
from bot.report.verdict_text import PlainStyle, beside, first_turn, why

_ALL = "all"
_WORDS = CallerTerms(accept="--accept", reason="--reason", line="run `incumbent admit --waiting`")


@click.command("admit")
@click.argument(
    "eval_set_dir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="[EVAL_SET_DIR]",
    required=False,
)
@agent_options
@click.option(
    "--accept",
    "accepted",
    multiple=True,
    metavar="ID",
    help="Accept a query that needs review, or `all` of them; may be repeated.",
)
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
@all_option
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
    everything: bool,
    as_json: bool,
) -> int:
    """Stage the direct admissions of EVAL_SET_DIR, and what --accept names, into regression_set/.

    Past the ceiling entries wait in regression_set/waiting/; `incumbent admit --waiting` lets them in when slots
    come free. Nothing is committed: look at the change, then commit it.

    \b
    Examples:
      incumbent admit eval_sets/contoso/repairs --dry-run
      incumbent admit eval_sets/contoso/repairs --accept q07 --accept q11
      incumbent admit eval_sets/contoso/repairs --accept all --dry-run
      incumbent admit --waiting
    """
    if (eval_set_dir is None) != line:
        raise UsageError("give either EVAL_SET_DIR or --waiting")
    if reason and not accepted and not line:
        raise UsageError("--reason goes with --accept")
    platform = open_platform(repo, config_path)
    if eval_set_dir is None:
        if accepted or reason:
            raise UsageError("--accept and --reason go with EVAL_SET_DIR: what waits for a slot was accepted before")
        staging = admit_waiting(platform, occasion(repo, at, by))
        admission = Admission(staging=staging, provisions=provisions_of(staging, platform))
    else:
        package = open_package(platform, repo, eval_set_dir, customer, agent)
        backend = open_backend(platform, progress_bar)
        now = occasion(repo, at, by)
        why = reason and reason_given(reason)
        named = tuple(id for id in accepted if id != _ALL)
        try:
            admission = admit_package(
                platform,
                package,
                backend,
                progress_bar("classifying"),
                now,
                named,
                why,
                lambda id: entry_text(repo, id),
                _WORDS,
                every=_ALL in accepted,
            )
        finally:
            show_usage(backend)
    if not dry_run:
        apply(admission.staging.file_changes, repo)
    output = AdmissionOutput.of(admission.staging, dry_run, admission.usage, admission.classified, admission.provisions)
    if as_json:
        print_json(output)
    else:
        accept = admit_command(eval_set_dir or Path(), customer, agent, repo, config_path)
        _show(admission, platform, accept, dry_run, Printer(everything))
        before = {} if admission.outcome is None else entered_before(admission.outcome)
        for id in dict.fromkeys(accepted):
            if id in before:
                say(f"--accept {id}: it is there already, as {before[id]}")
        for remark in output.lines(PlainStyle(platform.taxonomy)):
            say(remark)
    show_problems(admission.problems)
    refuse_incomplete(admission.shortfalls, None)
    return InputError.exit_code if admission.problems else 0


def _show(admission: Admission, platform: Platform, admit: str, dry_run: bool, out: Printer) -> None:
    staging, outcome = admission.staging, admission.outcome
    asked = () if outcome is None else outcome.plan.waiting_for_review
    verb, style = "would be " if dry_run else "", PlainStyle(platform.taxonomy)
    out.line(
        f"{len(staging.admitted)} {verb}admitted, {len(staging.waiting)} waiting for a slot, "
        f"{len(asked)} waiting for a person",
        "bold",
    )
    if outcome is not None:
        texts = outcome.queries
        rows = [
            (
                style.name(item.id),
                first_turn(texts[item.id].turns, style),
                " ".join([why(item, outcome, style), *beside(item, outcome, style)]),
            )
            for item in asked
        ]
        out.table(f"Waiting for a person ({len(rows)})", ("query", "text", "why"), rows)
        print_accepting(admit, asked, outcome, out)
    out.table(f"{verb}admitted ({len(staging.admitted)})".capitalize(), _HEADER, list(map(_row, staging.admitted)))
    print_provisions(admission.provisions, style, out)
    waiting = f"{verb}waiting for a slot ({len(staging.waiting)})".capitalize()
    out.table(waiting, _HEADER, list(map(_row, staging.waiting)))
    out.lines("Out of the waitlist: no longer earns a slot", [entry.id for entry in staging.leaving])


_HEADER = ("entry", "decision", "reasons", "displaces")


def _row(entry: Entry) -> tuple[str, ...]:
    verdict = entry.admitted
    return entry.id, verdict.decision, " ".join(verdict.reasons), ", ".join(verdict.displaces)
