"""``incumbent export`` and ``results``: the regression set for the runners of releases, and what they said of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import click

from incumbent.cli.options import (
    FILE,
    all_option,
    at_option,
    customers_of,
    dry_run_option,
    is_of,
    json_option,
    occasion,
    one_of,
    read_all_named,
    repository_options,
    whole_text,
)
from incumbent.cli.output import print_json, say, show_problems, write_files
from incumbent.curator.entry import Entry
from incumbent.curator.store import FOLDER, entry_path
from incumbent.errors import IncompleteError, InputError, Problem, UsageError
from incumbent.ledger.clone import recorded_releases
from incumbent.ledger.releases.selection import Measure
from incumbent.pipeline.review import Platform
from incumbent.pipeline.workspace import open_platform
from incumbent.report.escaping import visible
from incumbent.report.output import ExportOutput, PartOutput
from incumbent.report.run_part import RunBudget, choose_for, part_words
from incumbent.report.verdict_text import counted
from incumbent.runners.export.plan import Export, plan_export, writers

_STATED: Final[dict[Measure, str]] = {"seconds": "how long it took", "cost": "what it cost"}


@click.command("export")
@click.option("--to", "target", required=True, type=click.Choice(list(writers())), help="The target.")
@click.option(
    "--output",
    type=click.Path(),
    metavar="PATH",
    help="The file to write, or the folder: with a slash at the end, or where there are several files (default: "
    "standard output, for one file).",
)
@click.option(
    "--capability", "capabilities", multiple=True, metavar="ID", help="Only entries with it; repeat for any of several."
)
@click.option("--customer", "customers", multiple=True, metavar="NAME", help="Only entries of this customer; repeat.")
@click.option(
    "--budget",
    metavar="AMOUNT",
    help="Only the part of most worth for so much: a time (90s, 20m, 1h) or a cost, as past runs show it.",
)
@click.option(
    "--changed-capabilities",
    "changed",
    metavar="ID,...",
    help="Only the few entries that cover these, carry all their combinations, or ever failed at them.",
)
@click.option("--quarantined", is_flag=True, help="Only the quarantined entries, which are left out otherwise.")
@click.option("--keep-placeholders", is_flag=True, help="Export texts such as {{name}} unchanged.")
@click.option("--strict", is_flag=True, help="End with exit code 3 if an entry was left out.")
@dry_run_option
@repository_options
@json_option
def export_command(
    target: str,
    output: str | None,
    capabilities: tuple[str, ...],
    customers: tuple[str, ...],
    budget: str | None,
    changed: str | None,
    quarantined: bool,
    keep_placeholders: bool,
    strict: bool,
    dry_run: bool,
    repo: Path,
    config_path: str,
    as_json: bool,
) -> None:
    """Write the regression set for a release pipeline's runner.

    Entries that are not ready to run there, or quarantined, are left out, and named with the reason.

    \b
    Examples:
      incumbent export --to jsonl > regression_set.jsonl
      incumbent export --to promptfoo --output promptfooconfig.yaml
      incumbent export --to copilot-studio --output test-sets/
      incumbent export --to inspect --capability execution.tools.read --output samples.jsonl
      incumbent export --to promptfoo --budget 20m --output promptfooconfig.yaml
      incumbent export --to promptfoo --quarantined --output quarantined.yaml
    """
    platform = open_platform(repo, config_path)
    found = _chosen(platform, capabilities, customers, quarantined=quarantined)
    choose = _Choice(repo, platform, budget, changed)
    export = plan_export(
        found,
        writers()[target],
        platform.fixtures,
        keep_placeholders=keep_placeholders,
        in_quarantine=quarantined,
        choose=choose,
    )
    if choose.part is not None:
        say(part_words(choose.part), err=True)
    if not export.ids and choose.part is not None:
        raise InputError([Problem(FOLDER, None, *_nothing(choose.part))])
    if not export.ids:
        fix = "make it ready, or export to another target"
        left_out = [Problem(entry_path(remark.id), None, remark.message, fix) for remark in export.left_out]
        fix = "`incumbent export --quarantined` exports it"
        raise InputError(
            [*left_out, *(Problem(entry_path(item.id), None, item.message, fix) for item in export.quarantined)]
        )
    output = None if output == "-" else output
    files = _places(export.written.files, output, wanted=not (dry_run or as_json))
    if as_json and output is None and not dry_run:
        raise UsageError("--json prints a summary: say with --output where the export goes, or --dry-run")
    if not dry_run and output is not None:
        write_files(files)
        for place in _others(files) if output.endswith("/") or Path(output).is_dir() else ():
            say(f"warning: {place.as_posix()} was not written now; it may be left from an earlier export", err=True)
    _print_remarks(export, target)
    if as_json:
        names = [place.as_posix() for place in files]
        print_json(ExportOutput.of(export, target, names, dry_run=dry_run, chosen=choose.part))
    elif output is None and not dry_run:
        # Bytes: a file's encoding must not depend on the terminal's.
        click.echo("".join(files.values()).encode(), nl=False)
    if strict and export.left_out:
        raise IncompleteError(f"not ready to run there and left out: {len(export.left_out)}")


class _Choice:
    """Chooses the part of the set for a budget and a change; without either it takes all.  ``part`` is the last one.

    Raises :class:`UsageError` for what is no budget, or no capability.
    """

    def __init__(self, repo: Path, platform: Platform, budget: str | None, changed: str | None) -> None:
        self.part: PartOutput | None = None
        self._repo, self._platform = repo, platform
        self._budget = None if budget is None else RunBudget.of(budget)
        if budget is not None and self._budget is None:
            raise UsageError(
                f"--budget {budget!r} is no amount: write a time such as 90s, 20m or 1h, or a cost such as 2.50"
            )
        named = None if changed is None else [name.strip() for name in changed.split(",") if name.strip()]
        if named == []:
            raise UsageError("--changed-capabilities names none: write ids with commas between them")
        for name in named or ():
            one_of(name, tuple(platform.taxonomy.by_id), "capability", "see `incumbent status` for the ids")
            if name in platform.taxonomy.trial:
                raise UsageError(f"--changed-capabilities: {name} is on trial, and counts for nothing yet")
        self._changed = named

    def __call__(self, ids: Collection[str]) -> Collection[str]:
        if self._budget is None and self._changed is None:
            return ids
        records, problems, without = recorded_releases(self._repo, self._platform.config.results.window)
        show_problems(problems)
        self.part = choose_for(self._platform, records, ids, self._budget, self._changed)
        if self.part is None:
            assert self._budget is not None
            why = without or f"no run on the ledger states {_STATED[self._budget.measure]}"
            raise UsageError(f"a budget needs results of past runs, and {why}: `incumbent results add` counts them")
        return self.part.part.ids


def _nothing(part: PartOutput) -> tuple[str, str]:
    """Why the chosen part is empty, and what to do."""
    if part.budget is None or (part.changed is not None and not any(item.total for item in part.part.goals)):
        return "no entry that is ready covers these capabilities", "see `incumbent status` for what the set covers"
    return "no entry fits this budget", "give it more"


def _chosen(
    platform: Platform, capabilities: tuple[str, ...], customers: tuple[str, ...], *, quarantined: bool
) -> list[Entry]:
    """The entries that the options select; raises :class:`InputError` if there are none."""
    entries = platform.regression_set.entries.values()
    for name in capabilities:
        one_of(name, tuple(platform.taxonomy.by_id), "capability", "see `incumbent status` for the ids")
    for name in customers:
        one_of(name, customers_of(entries), "customer in the regression set")
    chosen = [
        entry
        for entry in entries
        if (not capabilities or not entry.scores.keys().isdisjoint(capabilities))
        and (not customers or any(is_of(name, entry) for name in customers))
        and not (quarantined and entry.quarantined is None)
    ]
    if not chosen:
        message = f"there is no {'quarantined ' if quarantined else ''}entry to export"
        message += " of this customer or capability" if capabilities or customers else ""
        raise InputError([Problem(FOLDER, None, message, "see `incumbent status` for what the set contains")])
    return chosen


def _places(files: Mapping[str, str], output: str | None, *, wanted: bool) -> dict[Path, str]:
    """The path of each file: a single one is written to ``output`` itself, unless that is a folder or ends like one."""
    if output is None:
        if wanted and len(files) > 1:
            raise UsageError(f"there are several files ({', '.join(files)}): say with --output which folder they go to")
        return {Path(name): text for name, text in files.items()}
    place = Path(output)
    is_file = len(files) == 1 and not output.endswith("/") and not place.is_dir()
    return {place if is_file else place / name: text for name, text in files.items()}


def _others(files: Mapping[Path, str]) -> list[Path]:
    """Files beside the written ones that look like parts of the same export, such as those of an earlier,
    larger one.
    """
    stems = {(place.stem.partition("-")[0], place.suffix) for place in files}
    return [
        place
        for folder in sorted({place.parent for place in files})
        for place in sorted(folder.iterdir())
        if place not in files
        and any(place.suffix == suffix and place.stem.partition("-")[0].endswith(stem) for stem, suffix in stems)
    ]


def _print_remarks(export: Export, target: str) -> None:
    """Report on standard error what was exported and what was not: standard output may be the export."""
    for remark in export.left_out:
        say(f"left out: {remark.id}: {remark.message}", err=True)
    for remark in export.quarantined:
        say(f"left out: {remark.id}: {visible(remark.message)}", err=True)
    for remark in export.written.remarks:
        say(f"note: {remark.id}: {remark.message}", err=True)
    left_out = len(export.left_out) + len(export.quarantined)
    say(f"{counted(len(export.ids), 'entry', 'entries')} for {target}, {left_out} left out", err=True)


@click.group("results", invoke_without_command=True)
@repository_options
@all_option
@json_option
@click.pass_context
def results_command(
    context: click.Context, repo: Path, config_path: str, everything: bool, as_json: bool
) -> int | None:
    """Show what release runs said of each entry and capability, from the branch incumbent/ledger of this clone.

    No verdict rests on it. It shows which entries flap, which never failed, and what is covered in name alone.

    \b
    Examples:
      incumbent results add out/results.json --release v1.4
      incumbent results
      incumbent results --json | jq '.entries[] | select(.flapping)'
      incumbent results forget v1.4
    """
    if context.invoked_subcommand is not None:
        return None
    from incumbent.report.console import Printer
    from incumbent.report.results import local_results, print_results

    found = local_results(repo, open_platform(repo, config_path))
    if found.without is not None:
        say(found.without, err=True)
    if as_json:
        print_json(found.output)
    else:
        print_results(found.output, Printer(everything))
    show_problems(found.problems)
    return InputError.exit_code if found.problems else 0


@results_command.command("add")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option("--release", metavar="NAME", callback=whole_text, help="The release that ran (default: its commit).")
@click.option(
    "--commit", "commit_name", metavar="COMMIT", help="The commit that was released (default: the current one)."
)
@click.option("--format", "form", metavar="NAME", help="The format of the files (default: what they look like).")
@at_option
@dry_run_option
@repository_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON (schema: `incumbent schema results-add-output`).")
def add(
    files: tuple[Path, ...],
    release: str | None,
    commit_name: str | None,
    form: str | None,
    at: str | None,
    dry_run: bool,
    repo: Path,
    config_path: str,
    as_json: bool,
) -> int:
    """Count what runners wrote of one release, and commit the counts to the local branch incumbent/ledger.

    Results are matched to entries by the id that exports carry, else by their text. Answers and texts are never kept.
    A file that was counted before is not counted again. Publish it with `git push origin incumbent/ledger`.

    \b
    Examples:
      incumbent results add results.json
      incumbent results add junit/*.xml --release v1.4 --commit 3f2a9c1
    """
    from incumbent.files.git.working_copy import commit_on_branch, read_commit, read_top
    from incumbent.ledger.model import BRANCH
    from incumbent.ledger.releases.ledger_records import later_than, load_release, load_releases, with_results
    from incumbent.ledger.releases.record import ReleaseRecord
    from incumbent.ledger.store import format_file, open_ledger
    from incumbent.report.console import Printer
    from incumbent.report.results import added_overview, print_added
    from incumbent.runners.results.reader import match_files
    from incumbent.taxonomy.config import RESULT_FILES

    platform = open_platform(repo, config_path)
    stamp, top = occasion(repo, at, None), read_top(repo)
    if top is None:
        raise UsageError(f"{repo} is not inside a git repository, so there is no ledger to write to")
    released = read_commit(top, commit_name or "HEAD")
    matched = match_files(read_all_named(files, RESULT_FILES.file_bytes), form, platform.regression_set)
    name = (released[:12] if release is None else release).strip()
    if not name:
        raise UsageError("--release is blank: name the release, or leave the option out")
    with ExitStack() as stack:
        ledger = open_ledger(repo, stack)
        snapshot = None if isinstance(ledger, str) else ledger.snapshot
        time = stamp.at if at is not None else later_than(load_releases(snapshot, 1)[0], stamp.at)
        before = load_release(snapshot, name) or ReleaseRecord(release=name, commit=released, at=time)
        addition = with_results(before, matched)
        made = None
        if addition.record != before and not dry_run:
            parent = None if isinstance(ledger, str) else ledger.commit
            written = addition.files | format_file(snapshot)
            made = commit_on_branch(top, BRANCH, parent, written, addition.message, stamp.at, stamp.by or "")
    output = added_overview(addition, made)
    if as_json:
        print_json(output)
    else:
        print_added(output, Printer(True))
    return 0


@results_command.command("forget")
@click.argument("release", metavar="RELEASE")
@at_option
@dry_run_option
@repository_options
def forget(release: str, at: str | None, dry_run: bool, repo: Path, config_path: str) -> None:
    """Delete what is known of a release from the local branch incumbent/ledger.

    \b
    Examples:
      incumbent results forget v1.4
    """
    from incumbent.files.git.working_copy import commit_on_branch
    from incumbent.ledger.model import BRANCH
    from incumbent.ledger.releases.ledger_records import forgetting, load_releases
    from incumbent.ledger.store import open_ledger
    from incumbent.text.did_you_mean import did_you_mean

    stamp = occasion(repo, at, None)
    with ExitStack() as stack:
        ledger = open_ledger(repo, stack)
        if isinstance(ledger, str):
            raise UsageError(ledger)
        files = forgetting(ledger.snapshot, release)
        if not files:
            near = did_you_mean(release, [item.release for item in load_releases(ledger.snapshot)[0]])
            raise UsageError(f"no release is called {release!r}{near}; `incumbent results` lists them")
        if not dry_run:
            message = f"Forget the results of {' '.join(release.split())}"
            commit_on_branch(ledger.top, BRANCH, ledger.commit, files, message, stamp.at, stamp.by or "")
    say(f"{release} {'would be' if dry_run else 'is'} forgotten")
