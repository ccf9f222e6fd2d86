"""``incumbent admit``, ``accept`` and ``repack``: what enters the regression set of the working tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from incumbent.classifier.model import Backend
from incumbent.cli.options import (
    admit_line,
    agent_options,
    all_option,
    at_option,
    by_option,
    customers_of,
    dry_run_option,
    eval_set_or_none,
    is_of,
    json_option,
    occasion,
    one_at_a_time,
    one_of,
    open_backend,
    reason_given,
    repository_options,
    whole_text,
)
from incumbent.cli.output import print_json, progress_bar, say, show_problems, show_usage
from incumbent.curator.entry import Entry
from incumbent.curator.file_changes import apply
from incumbent.curator.staging import AuditStamp, Staging
from incumbent.curator.suggestions import SwapSuggestion, confirm_swaps, suggest
from incumbent.errors import InputError, Problem, UsageError
from incumbent.pipeline.admit import (
    Admission,
    CallerTerms,
    admit_package,
    admit_waiting,
    entered_before,
    provisions_of,
    refuse_incomplete,
)
from incumbent.pipeline.review import ClassifiedSubmission, Platform, classify_package
from incumbent.pipeline.submission import refuse_shared_ids, with_agent_in_ids
from incumbent.pipeline.workspace import entry_text, open_package, open_platform, read_packages
from incumbent.report.console import Printer
from incumbent.report.output import AdmissionOutput, RepackOutput
from incumbent.report.review_console import print_accepting, print_provisions
from incumbent.report.verdict_text import PlainStyle, beside, counted, first_turn, why

_ALL: Final = "all"
_WORDS: Final = CallerTerms(accept="--accept", reason="--reason", line="run `incumbent admit --waiting`")
_HEADER: Final = ("entry", "decision", "reasons", "displaces")


@click.command("admit")
@eval_set_or_none
@agent_options
@click.option(
    "--accept",
    "accepted",
    multiple=True,
    metavar="ID",
    help="Accept a query that needs review, or `all` of them; may be repeated. An alternate that `all` leaves out "
    "beside another one may ask again in a second run.",
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
def admit_command(
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
        accept = admit_line(eval_set_dir or Path(), customer, agent, repo, config_path)
        _show_admission(admission, platform, accept, dry_run, Printer(everything))
        before = {} if admission.outcome is None else entered_before(admission.outcome)
        for id in dict.fromkeys(accepted):
            if id in before:
                say(f"--accept {id}: it is there already, as {before[id]}")
        for remark in output.lines(PlainStyle(platform.taxonomy)):
            say(remark)
    show_problems(admission.problems)
    refuse_incomplete(admission.shortfalls, None)
    return InputError.exit_code if admission.problems else 0


def _show_admission(admission: Admission, platform: Platform, admit: str, dry_run: bool, out: Printer) -> None:
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


def _row(entry: Entry) -> tuple[str, ...]:
    verdict = entry.admitted
    return entry.id, verdict.decision, " ".join(verdict.reasons), ", ".join(verdict.displaces)


@click.command("accept")
@click.argument("id", required=False)
@click.option("--suggested", is_flag=True, help="Accept every swap that `incumbent prune` suggests, in place of ID.")
@click.option("--customer", metavar="NAME", help="With --suggested: only swaps that admit an entry of this customer.")
@by_option
@at_option
@dry_run_option
@repository_options
@json_option
@one_at_a_time
def accept_command(
    id: str | None,
    suggested: bool,
    customer: str | None,
    by: str | None,
    at: str | None,
    dry_run: bool,
    repo: Path,
    config_path: str,
    as_json: bool,
) -> None:
    """Accept the swap that admits the waiting entry ID in the place of the entries that it frees.

    With --suggested the command accepts all suggested swaps at once. A swap that rests on others is derived again
    unless these are accepted too. Whichever of them are accepted, the set keeps every floor, every pin and, unless
    `novelty` is `signature`, every combination. Evicted entries leave tombstones. Look at --dry-run first.
    `incumbent admit EVAL_SET_DIR --accept all` accepts queries that need review, and
    `incumbent evict --suggested` evictions.

    \b
    Examples:
      incumbent accept contoso-repairs-q12-5e6f7a8b --dry-run
      incumbent accept --suggested --customer contoso
    """
    from incumbent.ledger.clone import LocalRefusals, refused_in
    from incumbent.report.refusals import refusal_remarks

    if customer is not None and not suggested:
        raise UsageError("--customer chooses among suggested swaps: give --suggested in place of ID")
    if (id is None) is not suggested:
        raise UsageError("name an entry that waits for a slot, or give --suggested, not both")
    platform = open_platform(repo, config_path)
    known, now = platform.regression_set, occasion(repo, at, by)
    if id in known.entries:
        # A run that was stopped before it could report its result is run again.
        nothing = Staging(admitted=(), waiting=(), file_changes=())
        if as_json:
            print_json(AdmissionOutput.of(nothing, dry_run))
        else:
            say(f"{id} is in the regression set already, and nothing changes")
        return
    if id is not None:
        one_of(id, tuple(known.waiting), "entry that waits for a slot", "see `incumbent status` for the ids")
    if customer is not None:
        customers = customers_of(known.waiting.values())
        one_of(customer, customers, "customer with an entry that waits for a slot", "see `incumbent status`")
    refused = refused_in(repo) if suggested else LocalRefusals()
    found = refused.suggestions(platform.regression_set, platform.taxonomy, platform.config)
    swaps = [item for item in found.swaps if id in (None, item.entering.id) and is_of(customer, item.entering)]
    chosen = {item.entering.id for item in swaps}
    if not chosen.issuperset(id for item in swaps for id in item.rests_on):
        # Those on which they rest are not confirmed.
        swaps = list(refused.suggestions(platform.regression_set, platform.taxonomy, platform.config, chosen).swaps)
    if id is not None and not swaps:
        message = "no swap is suggested for it: it frees no entry, or a slot is free"
        raise InputError([Problem(id, None, message, "see `incumbent prune`, and `incumbent admit --waiting`")])
    staging = confirm_swaps(swaps, known, now)
    provisions = provisions_of(staging, platform)
    if not dry_run:
        apply(staging.file_changes, repo)
    if as_json:
        print_json(AdmissionOutput.of(staging, dry_run, provisions=provisions))
        return
    verb = "would be " if dry_run else ""
    for item in swaps:
        say(f"{verb}admitted: {item.swap.admit}; {verb}evicted: {', '.join(item.swap.remove)}")
    if not swaps:
        say("no suggested swap fits, and nothing changes")
    else:
        print_provisions(provisions, PlainStyle(platform.taxonomy), Printer())
        say(f"{counted(len(swaps), 'swap', 'swaps')} in all; to bring an entry back: incumbent restore ID")
    for line in refusal_remarks(refused, found):
        say(line)


@click.command("repack")
@click.argument("ids", nargs=-1)
@by_option
@at_option
@dry_run_option
@repository_options
@all_option
@json_option
@one_at_a_time
def repack_command(
    ids: tuple[str, ...],
    by: str | None,
    at: str | None,
    dry_run: bool,
    repo: Path,
    config_path: str,
    everything: bool,
    as_json: bool,
) -> int:
    """Look back at the queries in eval_sets/ that were excluded: by now one may do the work of several entries.

    Without IDS the command lists the repacks that would free most entries, without those that people refused, and
    writes nothing. With IDS it admits these queries and evicts the entries that each frees. No floor and no pin is
    lost and, unless `novelty` is `signature`, no combination. With the option `fill_to` it lists top-ups instead while
    too few slots are taken: excluded queries that raise expected detection. These evict no entry. All that there are
    are listed, whatever the limits of what may be open.

    \b
    Examples:
      incumbent repack
      incumbent repack contoso-repairs-q07-1a2b3c4d --dry-run
      incumbent repack --json | jq -r '.repacks[] | .admit'
    """
    from incumbent.ledger.clone import LocalRefusals, refused_in
    from incumbent.pipeline.admit import archived_entries
    from incumbent.report.refusals import refusal_remarks
    from incumbent.report.status import print_repacks, repacks_overview, top_ups_overview

    platform = open_platform(repo, config_path)
    backend = open_backend(platform, progress_bar)
    problems: list[Problem] = []
    classified = list(_classified(platform, repo, backend, problems))
    shortfalls = {id: why for item in classified for id, why in item.result.shortfalls.items()}
    stopped = next((item.result.stopped for item in classified if item.result.stopped is not None), None)
    show_usage(backend)
    refuse_incomplete(shortfalls, stopped)
    now = occasion(repo, at, by)
    archived = archived_entries(platform, classified, backend.identity, now)
    all_of_them = {"open_repacks": len(archived), "open_top_ups": len(archived)}
    limits = platform.config.limits.model_copy(update=all_of_them)
    config = platform.config.model_copy(update={"limits": limits})
    # A person who names a query has decided.
    refused = LocalRefusals() if ids else refused_in(repo)
    suggested = suggest(platform.regression_set, platform.taxonomy, config, refused=refused.grounds, archived=archived)
    repacks, top_ups = suggested.repacks, suggested.top_ups
    for id in ids:
        possible = tuple(item.entering.id for item in (*repacks, *top_ups))
        one_of(id, possible, "repack or top-up", "see `incumbent repack`")
    if ids:
        # Without the others, on which these may rest.
        named = suggest(platform.regression_set, platform.taxonomy, config, archived=archived, within=ids)
        repacks, top_ups = named.repacks, named.top_ups
        for id in ids:
            possible = tuple(item.entering.id for item in (*repacks, *top_ups))
            one_of(id, possible, "repack or top-up without others", "name those on which it rests as well")
    wanted = (*repacks, *top_ups) if ids else ()
    staging = confirm_swaps([_accepted(item, now) for item in wanted], platform.regression_set, now)
    provisions = provisions_of(staging, platform)
    if not dry_run:
        apply(staging.file_changes, repo)
    output = RepackOutput(
        repacks=repacks_overview(repacks, platform),
        top_ups=top_ups_overview(top_ups, platform),
        provisions=list(provisions),
        files={item.path: item.change for item in staging.file_changes},
        dry_run=dry_run,
    )
    if as_json:
        print_json(output)
    else:
        print_repacks(output, Printer(everything))
        for line in refusal_remarks(refused, suggested):
            say(line)
        verb = "would be " if dry_run else ""
        for item in wanted:
            evicted = f"; {verb}evicted: {', '.join(item.swap.remove)}" if item.swap.remove else ""
            say(f"{verb}admitted: {item.entering.id}{evicted}")
        print_provisions(provisions, PlainStyle(platform.taxonomy), Printer(everything))
    show_problems(tuple(problems))
    return InputError.exit_code if problems else 0


def _accepted(item: SwapSuggestion, now: AuditStamp) -> SwapSuggestion:
    """``item`` with the person who accepts its query, as `accept` records one."""
    admitted = item.entering.admitted.model_copy(update={"by": now.by or "a person"})
    return replace(item, entering=item.entering.model_copy(update={"admitted": admitted}))


def _classified(
    platform: Platform, repo: Path, backend: Backend, problems: list[Problem]
) -> Iterator[ClassifiedSubmission]:
    """The eval sets of ``repo``, classified; ``problems`` gets what could not be read."""
    packages = tuple(read_packages(platform, repo, problems))
    for package in refuse_shared_ids(packages, platform.regression_set):
        problems.extend(package.submission.problems)
        progress = progress_bar(f"classifying {package.submission.folder}")
        yield classify_package(platform, with_agent_in_ids(package), backend, progress)
