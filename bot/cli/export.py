"""``incumbent export``: the regression set in the format of another tool's runner."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

import click

from bot.cli.options import (
    dry_run_option,
    json_option,
    one_of,
    print_json,
    repository_options,
    say,
    show_problems,
)
from bot.curator.entry import Entry
from bot.curator.store import FOLDER, entry_path
from bot.errors import IncompleteError, InputError, OutsideError, Problem, UsageError
from bot.export.plan import Export, plan_export, writers
from bot.pipeline.review import Platform
from bot.pipeline.workspace import open_platform
from bot.report.output import ExportOutput, PartOutput
from bot.report.results import local_releases
from bot.report.run_part import Budget, choose_for, part_words
from bot.results.selection import Measure

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
    help="Only the fewest entries that cover these, carry all combinations with them, and ever failed at them.",
)
@click.option("--keep-placeholders", is_flag=True, help="Texts such as {{name}} are meant as they stand.")
@click.option("--strict", is_flag=True, help="End with exit code 3 if an entry was left out.")
@dry_run_option
@repository_options
@json_option
def command(
    target: str,
    output: str | None,
    capabilities: tuple[str, ...],
    customers: tuple[str, ...],
    budget: str | None,
    changed: str | None,
    keep_placeholders: bool,
    strict: bool,
    dry_run: bool,
    repo: Path,
    config_path: str,
    as_json: bool,
) -> None:
    """Write the regression set for a release pipeline's runner.

    Entries that are not ready to run there are left out, and named with the reason.

    \b
    Examples:
      incumbent export --to jsonl > regression_set.jsonl
      incumbent export --to promptfoo --output promptfooconfig.yaml
      incumbent export --to copilot-studio --output test-sets/
      incumbent export --to inspect --capability execution.tools.read --output samples.jsonl
      incumbent export --to promptfoo --budget 20m --output promptfooconfig.yaml
    """
    platform = open_platform(repo, config_path)
    found = _chosen(platform, capabilities, customers)
    choose = _Choice(repo, platform, budget, changed)
    export = plan_export(
        found, writers()[target], platform.fixtures, keep_placeholders=keep_placeholders, choose=choose
    )
    if choose.part is not None:
        say(part_words(choose.part), err=True)
    if not export.ids and choose.part is not None:
        raise InputError([Problem(FOLDER, None, *_nothing(choose.part))])
    if not export.ids:
        raise InputError(
            Problem(entry_path(remark.id), None, remark.message, "make it ready, or export to another target")
            for remark in export.left_out
        )
    output = None if output == "-" else output
    files = _places(export.written.files, output, wanted=not (dry_run or as_json))
    if as_json and output is None and not dry_run:
        raise UsageError("--json prints a summary: say with --output where the export goes, or --dry-run")
    if not dry_run and output is not None:
        _write(files)
        if output.endswith("/") or Path(output).is_dir():
            _name_others(files)
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
        self._budget = None if budget is None else Budget.of(budget)
        if budget is not None and self._budget is None:
            raise UsageError(
                f"--budget {budget!r} is no amount: write a time such as 90s, 20m or 1h, or a cost such as 2.50"
            )
        named = None if changed is None else [name.strip() for name in changed.split(",") if name.strip()]
        if named == []:
            raise UsageError("--changed-capabilities names none: write ids with commas between them")
        for name in named or ():
            one_of(name, tuple(platform.taxonomy.by_id), "capability")
        self._changed = named

    def __call__(self, ids: Collection[str]) -> Collection[str]:
        if self._budget is None and self._changed is None:
            return ids
        records, problems, without = local_releases(self._repo, self._platform)
        show_problems(problems)
        self.part = choose_for(self._platform, records, ids, self._budget, self._changed)
        if self.part is None:
            assert self._budget is not None
            why = without or f"no run on the ledger states {_STATED[self._budget.measure]}"
            raise UsageError(f"a budget needs results of past runs, and {why}: `incumbent results add` counts them")
        return self.part.part.ids


def _nothing(part: PartOutput) -> tuple[str, str]:
    """Why the chosen part is empty, and what to do."""
    if part.budget is None:
        return "no entry that is ready covers these capabilities", "see `incumbent status` for what the set covers"
    return "no entry fits this budget", "give it more"


def _chosen(platform: Platform, capabilities: tuple[str, ...], customers: tuple[str, ...]) -> list[Entry]:
    """The entries that the options select; raises :class:`InputError` if there are none."""
    entries = platform.regression_set.entries.values()
    known = tuple(sorted({entry.source.customer for entry in entries if entry.source is not None}))
    for name in capabilities:
        one_of(name, tuple(platform.taxonomy.by_id), "capability")
    for name in customers:
        one_of(name, known, "customer in the regression set")
    chosen = [
        entry
        for entry in entries
        if (not capabilities or not entry.scores.keys().isdisjoint(capabilities))
        and (not customers or (entry.source is not None and entry.source.customer in customers))
    ]
    if not chosen:
        message = "no entry is there to be exported" + (", of what was asked for" if capabilities or customers else "")
        raise InputError([Problem(FOLDER, None, message, "see `incumbent status` for what the set holds")])
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


def _write(files: Mapping[Path, str]) -> None:
    for place, text in files.items():
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode())
        except OSError as error:
            raise OutsideError(f"{place.as_posix()} could not be written: {error.strerror}") from None


def _name_others(files: Mapping[Path, str]) -> None:
    for place in _others(files):
        say(f"warning: {place.as_posix()} was not written now; it may be left from an earlier export", err=True)


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
    for remark in export.written.remarks:
        say(f"note: {remark.id}: {remark.message}", err=True)
    say(f"{len(export.ids)} entries for {target}, {len(export.left_out)} left out", err=True)
