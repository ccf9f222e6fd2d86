"""``incumbent results``: what release runs say of the entries."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from bot.cli.options import (
    all_option,
    at_option,
    dry_run_option,
    json_option,
    occasion,
    print_json,
    repository_options,
    say,
    show_problems,
    whole_text,
)
from bot.errors import InputError, Problem, UsageError
from bot.pipeline.workspace import open_platform


@click.group("results", invoke_without_command=True)
@repository_options
@all_option
@json_option
@click.pass_context
def command(context: click.Context, repo: Path, config_path: str, everything: bool, as_json: bool) -> int | None:
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
    from bot.report.console import Printer
    from bot.report.results import local_results, print_results

    found = local_results(repo, open_platform(repo, config_path))
    if found.without is not None:
        say(found.without, err=True)
    if as_json:
        print_json(found.output)
    else:
        print_results(found.output, Printer(everything))
    show_problems(found.problems)
    return InputError.exit_code if found.problems else 0


@command.command("add")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE..."
)
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
    from bot.config import RESULT_FILES
    from bot.git.branch_commit import commit_on_branch
    from bot.git.working_copy import read_commit, read_top
    from bot.ledger.model import BRANCH
    from bot.ledger.store import open_ledger
    from bot.report.console import Printer
    from bot.report.results import added_overview, print_added
    from bot.results.ledger_records import load_release, with_results
    from bot.results.matching import match
    from bot.results.reader import read_results
    from bot.results.record import ReleaseRecord
    from bot.text.digests import digest

    platform = open_platform(repo, config_path)
    stamp, top = occasion(repo, at, None), read_top(repo)
    if top is None:
        raise UsageError(f"{repo} is not inside a git repository, so there is no ledger to write to")
    released = read_commit(top, commit_name or "HEAD")
    matched, problems = {}, list[Problem]()
    for file in files:
        content = file.read_bytes()
        results, faults = read_results(content, str(file), form, RESULT_FILES)
        problems += faults
        matched[digest(content.hex())] = match(results, platform.regression_set)
    if problems:
        raise InputError(problems)
    name = (release or released[:12]).strip()
    with ExitStack() as stack:
        ledger = open_ledger(repo, stack)
        snapshot = None if isinstance(ledger, str) else ledger.snapshot
        before = load_release(snapshot, name) or ReleaseRecord(release=name, commit=released, at=stamp.at)
        addition = with_results(before, matched)
        counted = {key: found for key, found in matched.items() if key not in before.files}
        made = None
        if addition.record != before and not dry_run:
            parent = None if isinstance(ledger, str) else ledger.commit
            message = f"Results of {' '.join(name.split())}"
            made = commit_on_branch(top, BRANCH, parent, addition.files, message, stamp.at, stamp.by or "")
    total = sum(
        sum(item.passed + item.failed + item.errors + item.skipped for item in found.entries.values())
        for found in counted.values()
    )
    unmatched = [item for found in counted.values() for item in found.unmatched]
    output = added_overview(addition, unmatched, total, made)
    if as_json:
        print_json(output)
    else:
        print_added(output, Printer(True))
    return 0


@command.command("forget")
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
    from bot.git.branch_commit import commit_on_branch
    from bot.ledger.model import BRANCH
    from bot.ledger.store import open_ledger
    from bot.results.ledger_records import forgetting, load_release, load_releases
    from bot.text.did_you_mean import did_you_mean

    stamp = occasion(repo, at, None)
    with ExitStack() as stack:
        ledger = open_ledger(repo, stack)
        if isinstance(ledger, str):
            raise UsageError(ledger)
        record = load_release(ledger.snapshot, release)
        if record is None:
            near = did_you_mean(release, [item.release for item in load_releases(ledger.snapshot)[0]])
            raise UsageError(f"no release is called {release!r}{near}; `incumbent results` lists them")
        files = forgetting(record)
        if not dry_run:
            message = f"Forget the results of {' '.join(release.split())}"
            commit_on_branch(ledger.top, BRANCH, ledger.commit, files, message, stamp.at, stamp.by or "")
    say(f"{release} {'would be' if dry_run else 'is'} forgotten")
